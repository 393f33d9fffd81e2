//! Calling a kernel, and leaving it from wherever it stands.

use core::arch::naked_asm;

use crate::owned::Owned;

/// How a kernel has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Ended {
    /// Its entry point has returned.
    Returned = 0,
    /// Nothing catches the exception in flight.
    Uncaught = 1,
    /// By an abort or undefined instruction.
    Faulted = 2,
}

/// Stack pointer of [`enter`]; 0 while no kernel is running.
static STACK: Owned<u32> = Owned::new(0);

/// A kernel is running, or a firmware function that it has called.
pub fn entered() -> bool {
    STACK.get() != 0
}

/// In a restart, which has dropped the stack.
pub fn forget() {
    STACK.set(0);
}

/// Calls the function of the kernel at `entry` and returns when it does, or when [`leave`] is called.
///
/// # Safety
/// `entry` is code of the library that was loaded.
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
        // Failed stores in another board's memory are told while the kernel runs
        "cpsie a",
        "blx r1",
        "mov r0, #0",
        "b {leave}",
        stack = sym STACK,
        leave = sym leave,
    )
}

/// Ends the kernel that is running: returns from [`enter`], dropping the stack below it.
///
/// # Safety
/// A kernel is running ([`entered`]), and nothing on its stack is needed any more.
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
