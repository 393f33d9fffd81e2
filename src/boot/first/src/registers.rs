//! Registers of the system level control (UG585, appendix B.28), and writing what the table of a
//! board has for them.

use core::ops::RangeInclusive;
use core::ptr::{read_volatile, write_volatile};

use kairos_chip::boards::Pll;

const UNLOCK: u32 = 0xF800_0008;
const MIO_PIN_00: u32 = 0xF800_0700;
const PLL_STATUS: u32 = 0xF800_010C;
/// Polls until a status that never comes is given up; each takes some 100 ns.
const POLLS: u32 = 10_000_000;

/// Writes a register.
pub fn write(address: u32, value: u32) {
    // SAFETY: a register of the processing system that a board's table or this crate names; nothing
    // else runs.
    unsafe { write_volatile(address as *mut u32, value) };
}

/// Reads a register.
pub fn read(address: u32) -> u32 {
    // SAFETY: a register of the processing system; what reading one of these does, its reader wants.
    unsafe { read_volatile(address as *const u32) }
}

/// Writes (address, value), in that order.
pub fn write_all(table: &[(u32, u32)]) {
    for &(address, value) in table {
        write(address, value);
    }
}

/// Waits until the bits of `mask` have `value`; false if they never do.
pub fn wait(address: u32, mask: u32, value: u32) -> bool {
    (0..POLLS).any(|_| read(address) & mask == value)
}

/// Lets the registers of the system level control be written. Later stages lock them again.
pub fn unlock() {
    write(UNLOCK, 0xDF0D);
}

/// Sets pins of the multiplexed I/O.
pub fn set_pins(pins: &RangeInclusive<u32>, value: u32) {
    for pin in pins.clone() {
        write(MIO_PIN_00 + 4 * pin, value);
    }
}

/// Starts a PLL: bypassed, reset, and used again when it has locked. One that does not lock leaves
/// no way to say so: the chip then runs from its crystal, and DDR does not start.
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
