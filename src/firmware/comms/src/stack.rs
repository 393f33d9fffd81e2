//! High-water mark of this core's stack: the free part is filled with a pattern at boot, and is
//! known to be used where the pattern is gone. There is no heap on this core, so the stack and the
//! log rings are the only memory that can run out.

use core::arch::asm;
use core::ops::Range;
use core::ptr::addr_of;

const PAINT: u32 = 0xc0de_57ac;
/// Bytes below the stack pointer that `paint` itself may use.
const RESERVE: usize = 256;

/// Fills the free part of the stack. Called at boot, before interrupts are enabled.
pub fn paint() {
    let (stack, pointer) = stack();
    for address in (stack.start..pointer - RESERVE).step_by(4) {
        // SAFETY: this core's stack below its pointer, which holds no data.
        unsafe { (address as *mut u32).write_volatile(PAINT) };
    }
}

/// Returns the largest number of bytes used, and the size of the stack.
pub fn mark() -> (u32, u32) {
    let (stack, _) = stack();
    let size = stack.len();
    // SAFETY: this core's stack; any bytes are a valid number.
    let painted = |address: &usize| unsafe { (*address as *const u32).read_volatile() } == PAINT;
    let free = 4 * stack.step_by(4).take_while(painted).count();
    ((size - free) as u32, size as u32)
}

/// The bounds of this core's stack, and the stack pointer.
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
    // The linker script gives each core half.
    let middle = (low + high) / 2;
    let stack = if pointer <= middle { low..middle } else { middle..high };
    (stack, pointer)
}
