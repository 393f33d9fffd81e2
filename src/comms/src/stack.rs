//! How much of this core's stack was ever used: it is painted at boot, and where the paint is gone
//! it was. There is no heap on this core, so that and the rings of the log are what of its memory
//! can run out.

use core::arch::asm;
use core::ops::Range;
use core::ptr::addr_of;

const PAINT: u32 = 0xc0de_57ac;
/// What painting itself may use below the stack pointer.
const RESERVE: usize = 256;

/// Paints what is free of the stack. At boot, before interrupts.
pub fn paint() {
    let (stack, pointer) = stack();
    for address in (stack.start..pointer - RESERVE).step_by(4) {
        // SAFETY: this core's stack below its pointer, where nothing is kept.
        unsafe { (address as *mut u32).write_volatile(PAINT) };
    }
}

/// Bytes that were used at most, and bytes that there are.
pub fn mark() -> (u32, u32) {
    let (stack, _) = stack();
    let size = stack.len();
    // SAFETY: this core's stack; any bytes are a number.
    let painted = |address: &usize| unsafe { (*address as *const u32).read_volatile() } == PAINT;
    let free = 4 * stack.step_by(4).take_while(painted).count();
    ((size - free) as u32, size as u32)
}

/// Where this core's stack is, and where in it the pointer stands.
fn stack() -> (Range<usize>, usize) {
    extern "C" {
        static _sys_stack_low_end: u8;
        static _sys_stack_high_end: u8;
    }
    let (low, high) = (
        addr_of!(_sys_stack_low_end) as usize,
        addr_of!(_sys_stack_high_end) as usize,
    );
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
    // The linker keeps as much for each core.
    let middle = (low + high) / 2;
    let stack = if pointer <= middle { low..middle } else { middle..high };
    (stack, pointer)
}
