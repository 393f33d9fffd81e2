//! Lines between the processing system and the logic (EMIO), as banks 2 and 3 of the GPIO
//! controller with 32 lines each. Here the processor drives those of bank 2, and reads those of
//! bank 3. Registers: UG585, chapter 14 and appendix B.19.

use core::ptr::{read_volatile, write_volatile};

const DATA_2: *mut u32 = 0xe000_a048 as *mut u32;
const LEVELS_3: *const u32 = 0xe000_a06c as *const u32;
const DIRECTION_2: *mut u32 = 0xe000_a284 as *mut u32;
const ENABLE_2: *mut u32 = 0xe000_a288 as *mut u32;
const DIRECTION_3: *mut u32 = 0xe000_a2c4 as *mut u32;

/// Makes bank 2 an output and bank 3 an input.
#[inline(never)]
pub fn open() {
    // SAFETY: nobody else uses these banks.
    unsafe {
        write_volatile(DIRECTION_2, !0);
        write_volatile(ENABLE_2, !0);
        write_volatile(DIRECTION_3, 0);
    }
}

/// Drives lines 0 to 31.
#[inline(always)]
pub fn write(lines: u32) {
    // SAFETY: nobody else writes to this bank, whose lines lead only to the logic.
    unsafe { write_volatile(DATA_2, lines) };
}

/// Levels of lines 32 to 63.
#[inline(always)]
pub fn read() -> u32 {
    // SAFETY: a register without side effects.
    unsafe { read_volatile(LEVELS_3) }
}
