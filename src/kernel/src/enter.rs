//! Calling a kernel, and leaving it from any point.

use core::arch::naked_asm;

use crate::owned::Owned;

/// How a kernel has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Ended {
    /// Its entry point has returned.
    Returned = 0,
    /// No handler catches the exception in flight.
    Uncaught = 1,
    /// An abort or undefined instruction occurred.
    Faulted = 2,
}

/// Stack pointer of [`enter`]; 0 while no kernel is running.
static STACK: Owned<u32> = Owned::new(0);

/// Whether a kernel, or a firmware function that it has called, is running.
pub fn entered() -> bool {
    STACK.get() != 0
}

/// Clears the state in a restart, which has dropped the stack.
pub fn reset() {
    STACK.set(0);
}

/// Calls the kernel's function at `entry`. Returns when it returns, or when [`leave`] is called.
///
/// # Safety
/// `entry` must be code of the loaded library.
#[unsafe(naked)]
pub unsafe extern "C" fn enter(entry: u32) -> Ended {
    naked_asm!(
        "push {{r3-r11, lr}}",
        "vpush {{d8-d15}}",
        "movw r12, #:lower16:{stack}",
        "movt r12, #:upper16:{stack}",
        "str sp, [r12]",
        "mov r1, r0",
        "mov r0, #0",
        // Report failed stores in another board's memory while the kernel runs
        "cpsie a",
        "blx r1",
        "mov r0, #0",
        "b {leave}",
        stack = sym STACK,
        leave = sym leave,
    )
}

/// Ends the running kernel: returns from [`enter`], dropping the stack below it.
///
/// # Safety
/// A kernel must be running ([`entered`]), and nothing on its stack may be needed any more.
#[unsafe(naked)]
pub unsafe extern "C" fn leave(ended: Ended) -> ! {
    naked_asm!(
        "movw r12, #:lower16:{stack}",
        "movt r12, #:upper16:{stack}",
        "ldr sp, [r12]",
        "mov r1, #0",
        "str r1, [r12]",
        "cpsid a",
        "vpop {{d8-d15}}",
        "pop {{r3-r11, pc}}",
        stack = sym STACK,
    )
}
