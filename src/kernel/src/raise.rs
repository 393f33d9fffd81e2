//! Raising and unwinding on the chip: the implementation of `__artiq_raise` and its siblings, and
//! exceptions of firmware functions.
//!
//! A firmware function called by a kernel never unwinds itself. It notes an exception with
//! [`firmware`] and returns. As an ordinary function it restores the kernel's registers on return,
//! and the thunk it was called through ([`raising`], [`variadic`]) then raises as if the kernel's
//! call had.

use core::arch::naked_asm;

use kairos_kernel::elf::Library;
use kairos_kernel::exceptions::{firmware_record, Exceptions, Outcome};
use kairos_kernel::unwind::Registers;
use kairos_pl::names;
use kairos_proto::exception::{write_report, Frame, Id, Record, Text};
use kairos_proto::rpc::Sink;

use crate::comms::report;
use crate::enter::{leave, Ended};
use crate::library;
use crate::memory::KernelMemory;
use crate::owned::{BorrowCell, Owned};
use crate::timer::unmask_interrupts;

/// Most frames of another board that are kept.
const PASSED_MAX: usize = 64;
type Passed = heapless::Vec<Frame, PASSED_MAX>;

/// Nonzero if an exception waits in [`RECORD`] for the thunk. Read by assembly.
pub static RAISED: Owned<u32> = Owned::new(0);
/// Frames that the noted exception has already passed on another board.
static PASSED: BorrowCell<Passed> = BorrowCell::new(Passed::new());
static RECORD: Owned<Record> = Owned::new(Record::new(0, Text { pointer: 0, length: 0 }, [0; 3]));

/// The kernel's exceptions in flight. The kernel knows the addresses of their records, and writes
/// to them between calls of this firmware.
static EXCEPTIONS: BorrowCell<Exceptions> = BorrowCell::new(Exceptions::new());

/// Notes an exception, to be raised when the running firmware function returns to its thunk.
#[track_caller]
#[cold]
pub fn firmware(id: Id, message: &'static str, param: [i64; 3]) {
    record(firmware_record(id, message, param));
}

/// Like [`firmware`], for a given record.
pub fn record(record: Record) {
    RECORD.set(record);
    RAISED.set(1);
}

/// Like [`record`], for an exception that ended a subkernel: `frames` are those of its board.
pub fn record_from_board(raised: Record, frames: impl Iterator<Item = Frame>) {
    record(raised);
    PASSED.with(|passed| passed.extend(frames.take(PASSED_MAX)));
}

/// Whether an exception is noted.
pub fn is_noted() -> bool {
    RAISED.get() != 0
}

/// Takes the noted exception.
fn take() -> Record {
    RAISED.set(0);
    RECORD.get()
}

/// Clears the state, before a kernel and in a restart: nothing is noted or in flight.
pub fn reset() {
    RAISED.set(0);
    PASSED.reclaim();
    PASSED.with(Passed::clear);
    EXCEPTIONS.reclaim();
    EXCEPTIONS.with(Exceptions::clear);
}

/// Adds the exception noted after the kernel's end to those that ended it, without a location in
/// the kernel.
pub fn add_noted() {
    let record = take();
    EXCEPTIONS.with(|exceptions| exceptions.add_late(record));
}

/// Writes the report of the uncaught exceptions.
pub fn write_uncaught(sink: &mut impl Sink) {
    EXCEPTIONS.with(|exceptions| {
        write_report(
            sink,
            &KernelMemory,
            exceptions.in_flight(),
            exceptions.backtrace(),
            names::channel,
        );
    });
}

/// Raises an exception at the instruction that `registers` describe, as if it were a call. Updates
/// them to those to continue with.
pub fn raise_in_kernel(record: Record, registers: &mut Registers) {
    unwind(registers, |exceptions, library, registers| {
        exceptions.raise(record, &KernelMemory, library, registers)
    });
}

extern "C" fn raise_noted(registers: &mut Registers) {
    let record = take();
    unwind(registers, |exceptions, library, registers| {
        PASSED.with(|passed| {
            let outcome = exceptions.raise_behind(passed, record, &KernelMemory, library, registers);
            passed.clear();
            outcome
        })
    });
}

extern "C" fn raise_at(address: u32, registers: &mut Registers) {
    unwind(registers, |exceptions, library, registers| {
        exceptions.raise_at(address, &KernelMemory, library, registers)
    });
}

extern "C" fn resume(registers: &mut Registers) {
    unwind(registers, |exceptions, library, registers| {
        exceptions.resume(&KernelMemory, library, registers)
    });
}

/// Ends the kernel with an exception that no handler sees, and the call frames found from
/// `registers`.
pub fn end_kernel(library: &Library, message: &'static str, registers: &mut Registers) -> ! {
    let record = firmware_record(Id::RuntimeError, message, [0; 3]);
    EXCEPTIONS.with(|exceptions| exceptions.fault(record, &KernelMemory, library, registers));
    unmask_interrupts();
    // SAFETY: called in a kernel, or by a handler of its faults; everything needed of it has just
    // been noted, and nothing on its stack borrows a value.
    unsafe { leave(Ended::Faulted) }
}

/// Runs `search`, and returns if a landing pad is to be entered.
fn unwind(registers: &mut Registers, search: impl FnOnce(&mut Exceptions, &Library, &mut Registers) -> Outcome) {
    let Some(library) = library::running() else {
        report("exception outside of a kernel")
    };
    match EXCEPTIONS.with(|exceptions| search(exceptions, &library, registers)) {
        Outcome::Enter => {}
        // SAFETY: called by a kernel, of which only the exceptions are needed; they are not lent
        // any more.
        Outcome::Uncaught => unsafe { leave(Ended::Uncaught) },
        Outcome::Nothing => end_kernel(
            &library,
            "the kernel resumed an exception, but none was in flight",
            registers,
        ),
    }
}

/// Saves the registers of the kernel's call on the stack as [`Registers`], calls `target` with
/// their address in `argument`, then loads the modified registers: execution continues in a landing
/// pad.
macro_rules! unwinding {
    ($(#[$doc:meta])* $name:ident, $argument:literal, $target:path) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            naked_asm!(
                "sub sp, sp, #128",
                "stm sp, {{r0-r12}}",
                "add r12, sp, #128",
                "str r12, [sp, #52]",
                "str lr, [sp, #56]",
                "str lr, [sp, #60]",
                "add r12, sp, #64",
                "vstmia r12, {{d8-d15}}",
                concat!("mov ", $argument, ", sp"),
                "bl {target}",
                "add r12, sp, #64",
                "vldmia r12, {{d8-d15}}",
                "ldr r12, [sp, #60]",
                "ldm sp, {{r0-r11}}",
                "ldr sp, [sp, #52]",
                "bx r12",
                target = sym $target,
            )
        }
    };
}

unwinding!(
    /// `__artiq_raise(exception *)`
    artiq_raise, "r1", raise_at
);
unwinding!(
    /// `__artiq_resume()`, `_Unwind_Resume(void *)`
    artiq_resume, "r0", resume
);
unwinding!(
    /// The target of thunks when an exception has been noted.
    raise_from_firmware, "r0", raise_noted
);

/// `__artiq_end_catch()`
pub extern "C" fn artiq_end_catch() {
    EXCEPTIONS.with(Exceptions::end_catch);
}

/// `__kairos_in_flight() -> u32`: the number of exceptions in flight.
pub extern "C" fn kairos_in_flight() -> u32 {
    EXCEPTIONS.with(|exceptions| exceptions.depth())
}

/// `__kairos_end_catch(u32)`: ends a handler, leaving this many exceptions in flight.
pub extern "C" fn kairos_end_catch(depth: u32) {
    EXCEPTIONS.with(|exceptions| exceptions.end_catch_to(depth));
}

/// `__artiq_personality`: referenced by every table but never called, since the unwinder reads the
/// tables itself.
pub extern "C" fn artiq_personality() -> u32 {
    // _URC_FAILURE, in case it is called.
    9
}

/// Defines one thunk: `enter` moves the arguments into place and saves lr, `leave` restores it and
/// the stack pointer. The function's result is not touched.
macro_rules! thunk {
    ($name:ident, $target:path, [$($enter:literal),*], [$($leave:literal),*]) => {
        #[doc = concat!("Thunk of [`", stringify!($target), "`].")]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                $($enter,)*
                "bl {target}",
                $($leave,)*
                "ldr r12, 8f",
                "ldr r12, [r12]",
                "cmp r12, #0",
                "bxeq lr",
                "b {raise}",
                "8: .long {raised}",
                target = sym $target,
                raised = sym $crate::raise::RAISED,
                raise = sym $crate::raise::raise_from_firmware,
            )
        }
    };
}
pub(crate) use thunk;

/// Defines thunks. `name => function` for any result; `name => function, stack 1` for a function
/// with one argument on the stack, `stack 3` for up to three.
macro_rules! raising {
    ($($name:ident => $target:path $(, stack $count:tt)?;)*) => {
        $($crate::raise::raising!(@one $name, $target $(, $count)?);)*
    };
    (@one $name:ident, $target:path) => {
        $crate::raise::thunk!($name, $target, ["push {{r12, lr}}"], ["pop {{r12, lr}}"]);
    };
    (@one $name:ident, $target:path, 1) => {
        $crate::raise::thunk!($name, $target, ["ldr r12, [sp]", "push {{r12, lr}}"], ["pop {{r12, lr}}"]);
    };
    (@one $name:ident, $target:path, 3) => {
        $crate::raise::thunk!(
            $name,
            $target,
            [
                "sub sp, sp, #16",
                "str lr, [sp, #12]",
                "ldr r12, [sp, #16]",
                "str r12, [sp]",
                "ldr r12, [sp, #20]",
                "str r12, [sp, #4]",
                "ldr r12, [sp, #24]",
                "str r12, [sp, #8]"
            ],
            ["ldr lr, [sp, #12]", "add sp, sp, #16"]
        );
    };
}
pub(crate) use raising;

/// Defines a thunk of `$target(format, address of the variable arguments)`: registers r1 to r3 are
/// pushed before the arguments on the stack.
macro_rules! variadic {
    ($name:ident => $target:path) => {
        $crate::raise::thunk!(
            $name,
            $target,
            ["push {{r0-r3}}", "add r1, sp, #4", "push {{r12, lr}}"],
            ["pop {{r12, lr}}", "add sp, sp, #16"]
        );
    };
}
pub(crate) use variadic;
