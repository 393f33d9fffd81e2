//! Registers of the system level control (UG585, appendix B.28), and writing the values from the
//! table of a board.

use core::ops::RangeInclusive;
use core::ptr::{read_volatile, write_volatile};

use kairos_chip::boards::Pll;

const UNLOCK: u32 = 0xF800_0008;
const MIO_PIN_00: u32 = 0xF800_0700;
const PLL_STATUS: u32 = 0xF800_010C;
/// Most polls of a status; each takes some 100 ns.
const POLLS: u32 = 10_000_000;

/// Writes a register.
pub fn write(address: u32, value: u32) {
    // SAFETY: a register of the processing system from a board's table or this crate; nothing else
    // runs.
    unsafe { write_volatile(address as *mut u32, value) };
}

/// Reads a register.
pub fn read(address: u32) -> u32 {
    // SAFETY: a register of the processing system; any effect of the read is intended by the
    // caller.
    unsafe { read_volatile(address as *const u32) }
}

/// Writes (address, value) pairs in order.
pub fn write_all(table: &[(u32, u32)]) {
    for &(address, value) in table {
        write(address, value);
    }
}

/// Waits until the bits of `mask` have `value`; false if they never do.
pub fn wait(address: u32, mask: u32, value: u32) -> bool {
    (0..POLLS).any(|_| read(address) & mask == value)
}

/// Unlocks the registers of the system level control. Later stages lock them again.
pub fn unlock() {
    write(UNLOCK, 0xDF0D);
}

/// Configures pins of the multiplexed I/O.
pub fn set_pins(pins: &RangeInclusive<u32>, value: u32) {
    for pin in pins.clone() {
        write(MIO_PIN_00 + 4 * pin, value);
    }
}

/// Starts a PLL: bypasses and resets it, and uses it once it has locked. A failure to lock cannot
/// be reported: the chip then runs from its crystal, and DDR does not start.
pub fn start_pll(pll: &Pll) {
    const RESET: u32 = 1;
    const BYPASS: u32 = 1 << 4;
    let multiplier = pll.multiplier << 12;
    write(pll.control + 0x10, pll.configuration);
    write(pll.control, multiplier | BYPASS);
    write(pll.control, multiplier | BYPASS | RESET);
    write(pll.control, multiplier | BYPASS);
    let lock = 1 << ((pll.control >> 2) & 3);
    if wait(PLL_STATUS, lock, lock) {
        write(pll.control, multiplier);
    }
}
