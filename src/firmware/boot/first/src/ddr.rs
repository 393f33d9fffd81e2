//! Starts the DDR controller (UG585, section 10.6): pins, their calibration, timing, training.

use core::ptr::{read_volatile, write_volatile};

use kairos_chip::ddr::Setup;
use kairos_intercore::memory::{DDR_END, RUNTIME};

use crate::registers::{read, wait, write, write_all};

const DCI_CONTROL: u32 = 0xF800_0B70;
const DCI_STATUS: u32 = 0xF800_0B74;
const DCI_DONE: u32 = 1 << 13;
/// `DDRIOB_DATA0`, `1`, `DIFF0`, `1`, and the two bits to be set in them.
const DATA_PINS: [u32; 4] = [0xF800_0B48, 0xF800_0B4C, 0xF800_0B50, 0xF800_0B54];
const DISABLE_MODES: u32 = 0x180;
const CONTROL: u32 = 0xF800_6000;
const OUT_OF_RESET: u32 = 1;
const MODE_STATUS: u32 = 0xF800_6054;

/// Starts the controller and tests the memory. The error is a message for the user.
pub fn start(ddr: &Setup) -> Result<(), &'static str> {
    write(CONTROL, ddr.control & !OUT_OF_RESET);
    write_all(&ddr.pins);
    // Release from reset, assert it, and release it with calibration on; options for DDR3 (UG585,
    // table 10-7).
    let dci = read(DCI_CONTROL);
    write(DCI_CONTROL, dci | 1);
    write(DCI_CONTROL, (dci | 1 << 5) & !1);
    write(DCI_CONTROL, 0x0000_0823);
    write_all(&ddr.timing);
    if !wait(DCI_STATUS, DCI_DONE, DCI_DONE) {
        return Err("the calibration of the DDR pins does not finish: do this board's clocks match its table?");
    }
    write(CONTROL, ddr.control | OUT_OF_RESET);
    if !wait(MODE_STATUS, 7, 1) {
        return Err("the DDR controller does not start: is this the loader for this board?");
    }
    // Receivers and termination of the data pins are off except during reads; calibration needed
    // them on.
    for pin in DATA_PINS {
        write(pin, read(pin) | DISABLE_MODES);
    }
    test()
}

/// Tests each address bit up to the size that the firmware needs, and each bit of a word. Detects
/// missing memory, stuck or shorted lines, and memory that is too small.
fn test() -> Result<(), &'static str> {
    const FIRST: usize = RUNTIME.start;
    const FAULT: Result<(), &str> = Err("DDR does not keep what is written to it");
    let word = |address: usize| address as *mut u32;
    let places = || {
        (2..usize::BITS)
            .map(|bit| 1usize << bit)
            .filter(|step| FIRST + step < DDR_END)
    };
    let pattern = |step: usize| !(step as u32) ^ (step as u32).rotate_left(13);
    // SAFETY: nothing uses the DDR yet.
    unsafe {
        for bit in 0..32 {
            write_volatile(word(FIRST), 1 << bit);
            write_volatile(word(FIRST + 4), !(1 << bit));
            if read_volatile(word(FIRST)) != 1 << bit {
                return FAULT;
            }
        }
        for step in places() {
            write_volatile(word(FIRST + step), pattern(step));
        }
        write_volatile(word(FIRST), 0);
        for step in places() {
            if read_volatile(word(FIRST + step)) != pattern(step) {
                return FAULT;
            }
        }
    }
    Ok(())
}
