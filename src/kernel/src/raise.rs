//! Raising and unwinding on the chip: what `__artiq_raise` and its siblings do, and how firmware functions raise.
//!
//! A firmware function that a kernel calls never unwinds itself. It notes an exception with [`firmware`] and returns; since
//! it is an ordinary function, its return restores the kernel's registers, and the thunk it was called through (see
//! [`crate::calls`]) then raises as if the kernel's call had.

use core::arch::naked_asm;
use core::ptr::addr_of_mut;

use kairos_board::channel::{Kind, Message};
use kairos_kernel::exceptions::{firmware_record, Outcome};
use kairos_kernel::unwind::Registers;
use kairos_proto::exception::{write_report, Id, Record, Text};
use kairos_proto::rpc::Sink;

use crate::memory::KernelMemory;
use crate::session::{self, Core};
use crate::{rtio, timer};

/// Not 0: an exception waits in [`RECORD`] for the thunk. Read by assembly.
pub static mut RAISED: u32 = 0;
static mut RECORD: Record = Record::new(0, Text { pointer: 0, length: 0 }, [0; 3]);

/// Notes an exception to be raised when the firmware function that is running returns to its thunk.
#[track_caller]
#[cold]
pub fn firmware(id: Id, message: &'static str, param: [i64; 3]) {
    record(firmware_record(id, message, param));
}

/// As [`firmware`], for a record made elsewhere.
pub fn record(record: Record) {
    // SAFETY: only this core uses these, outside of interrupts.
    unsafe {
        addr_of_mut!(RECORD).write(record);
        addr_of_mut!(RAISED).write(1);
    }
}

/// At the end of a kernel: an output that was posted may have failed since, and this is the kernel's exception too, beside
/// one that has ended it. Returns whether there is one.
pub fn posted_failure(core: &mut Core) -> bool {
    let failed = rtio::posted_error_at_end();
    if failed {
        // SAFETY: as above.
        core.exceptions.add_afterwards(unsafe { addr_of_mut!(RECORD).read() });
        clear();
    }
    failed
}

/// Forgets a noted exception.
pub fn clear() {
    // SAFETY: as above.
    unsafe { addr_of_mut!(RAISED).write(0) };
}

/// A message written by an encoder.
pub struct MessageSink<'s, W: FnMut()>(pub Message<'s, 'static, W>);

impl<W: FnMut()> Sink for MessageSink<'_, W> {
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }
}

extern "C" fn raise_noted(registers: &mut Registers) {
    // SAFETY: as in `record`.
    let record = unsafe { addr_of_mut!(RECORD).read() };
    clear();
    unwind(registers, |core, library, registers| {
        core.exceptions.raise(record, &KernelMemory, library, registers)
    });
}

extern "C" fn raise_at(address: u32, registers: &mut Registers) {
    unwind(registers, |core, library, registers| {
        core.exceptions.raise_at(address, &KernelMemory, library, registers)
    });
}

extern "C" fn resume(registers: &mut Registers) {
    unwind(registers, |core, library, registers| {
        core.exceptions.resume(&KernelMemory, library, registers)
    });
}

/// Returns when a landing pad is to be entered.
fn unwind(
    registers: &mut Registers,
    search: impl FnOnce(&mut Core, &kairos_kernel::elf::Library, &mut Registers) -> Outcome,
) {
    let core = session::running();
    let Some(library) = core.library else {
        crate::fault::report("exception outside of a kernel")
    };
    match search(core, &library, registers) {
        Outcome::Enter => {}
        Outcome::Uncaught => {
            posted_failure(core);
            uncaught(core)
        }
        Outcome::Nothing => fault(
            core,
            &library,
            "the kernel resumed an exception, but none was in flight",
            registers,
        ),
    }
}

/// Reports what nothing catches; the kernel ends.
pub fn uncaught(core: &mut Core) -> ! {
    crate::calls::log::flush(core);
    let mut sink = MessageSink(core.sender.message(Kind::Exception, timer::sleep_briefly));
    let exceptions = &core.exceptions;
    write_report(
        &mut sink,
        &KernelMemory,
        exceptions.in_flight(),
        exceptions.backtrace(),
        rtio::channel_name,
    );
    sink.0.finish();
    session::abandon_kernel()
}

/// Reports a fault of the kernel as an exception, with the frames that `registers` lead to; the kernel ends.
#[track_caller]
pub fn fault(
    core: &mut Core,
    library: &kairos_kernel::elf::Library,
    message: &'static str,
    registers: &mut Registers,
) -> ! {
    let record = firmware_record(Id::RuntimeError, message, [0; 3]);
    core.exceptions.fault(record, &KernelMemory, library, registers);
    crate::start::unmask_interrupts();
    uncaught(core)
}

/// Puts the registers of the kernel's call on the stack as [`Registers`], calls `target` with their address in `argument`,
/// then loads what it made of them: execution goes on in a landing pad.
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
    /// Where thunks go when an exception has been noted.
    raise_from_firmware, "r0", raise_noted
);

/// `__artiq_end_catch()`
pub extern "C" fn artiq_end_catch() {
    session::running().exceptions.end_catch();
}

/// `__kairos_in_flight() -> u32`: how many exceptions are in flight.
pub extern "C" fn kairos_in_flight() -> u32 {
    session::running().exceptions.depth()
}

/// `__kairos_end_catch(u32)`: a handler has ended, and so many exceptions remain in flight.
pub extern "C" fn kairos_end_catch(depth: u32) {
    session::running().exceptions.end_catch_to(depth);
}

/// `__artiq_personality`: named by every table, called by none, since the unwinder reads the tables itself.
pub extern "C" fn artiq_personality() -> u32 {
    // _URC_FAILURE, for whoever calls it all the same.
    9
}
