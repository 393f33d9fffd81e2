//! Aborts and undefined instructions. In a kernel they become an exception at the host, which the kernel cannot catch.
//! Elsewhere the comms core gets a text, and this core waits to be restarted.

use core::arch::asm;
use core::fmt::Write;
use core::ptr::{addr_of, addr_of_mut};

use kairos_board::memory::KERNEL_GUARD;
use kairos_kernel::exceptions::firmware_record;
use kairos_kernel::unwind::{Registers, LR, PC, SP};
use kairos_proto::exception::Id;

use crate::comms::{report, Text};
use crate::enter::{entered, leave, Ended};
use crate::memory::KernelMemory;
use crate::state::core;
use crate::timer::unmask_interrupts;

/// What the host is told of a fault in a kernel: it outlives the handler's stack.
static mut MESSAGE: Text = Text::new();

/// Called by the exception vectors, on a stack of its own, with interrupts masked. `what`: 0 undefined instruction, 1
/// prefetch abort, 2 data abort. Of the registers, those are valid that a call preserves; pc is that of the instruction.
///
/// A fault in a kernel's code, or in a firmware function it has called with bad pointers, ends the kernel with an exception.
/// Elsewhere it is a bug of this image, or a kernel has overwritten it, or the channel: the session ends.
pub extern "C" fn fault(what: u32, registers: &mut Registers) -> ! {
    let mut text = Text::new();
    let (status, address) = match what {
        1 => instruction_fault(),
        _ => data_fault(),
    };
    let _ = match what {
        0 => text.push_str("undefined instruction").map_err(|_| core::fmt::Error),
        2 if KERNEL_GUARD.contains(&(address as usize)) => {
            text.push_str("stack overflow").map_err(|_| core::fmt::Error)
        }
        2 => write!(text, "data abort ({}) at address {address:#010x}", cause(status)),
        _ => write!(text, "prefetch abort ({})", cause(status)),
    };
    let [sp, lr, pc] = [SP, LR, PC].map(|register| registers.r[register]);
    let _ = write!(text, ", at ");
    place(&mut text, pc);
    let loaded = core().and_then(|core| core.library.map(|library| (core, library)));
    if let Some((core, library)) = loaded {
        let inside = |pc: u32| pc.wrapping_sub(library.base) < library.size;
        if entered() && (inside(pc) || inside(lr)) && core.sender.intact() {
            // Return addresses lie behind their call: so this must lie behind the instruction, to be found like one.
            registers.r[PC] = if inside(pc) { pc.wrapping_add(4) } else { lr };
            // SAFETY: this core only, and a fault in here ends in the same handler, which comes this way once.
            let message: &'static Text = unsafe {
                addr_of_mut!(MESSAGE).write(text);
                &*addr_of!(MESSAGE)
            };
            let record = firmware_record(Id::RuntimeError, message, [0; 3]);
            core.exceptions.fault(record, &KernelMemory, &library, registers);
            unmask_interrupts();
            // SAFETY: in a kernel, of which only what `core` holds is needed; this stack is the handler's own.
            unsafe { leave(Ended::Faulted) }
        }
    }
    let _ = text.push_str(", called from ");
    place(&mut text, lr);
    let _ = write!(text, ", stack pointer {sp:#010x}");
    report(&text)
}

/// Names an instruction's place: relative to the library, as `addr2line` and the compiler's tables want it, else absolute.
fn place(text: &mut Text, pc: u32) {
    let library = core().and_then(|core| core.library);
    let _ = match library {
        Some(library) if pc.wrapping_sub(library.base) < library.size => {
            write!(text, "+{:#x} of the kernel", pc - library.base)
        }
        _ => write!(text, "{pc:#010x}"),
    };
}

/// Data fault status and address.
fn data_fault() -> (u32, u32) {
    let (status, address): (u32, u32);
    // SAFETY: reads two system registers.
    unsafe {
        asm!("mrc p15, 0, {}, c5, c0, 0", out(reg) status, options(nomem, nostack));
        asm!("mrc p15, 0, {}, c6, c0, 0", out(reg) address, options(nomem, nostack));
    }
    (status, address)
}

/// Instruction fault status and address.
fn instruction_fault() -> (u32, u32) {
    let (status, address): (u32, u32);
    // SAFETY: reads two system registers.
    unsafe {
        asm!("mrc p15, 0, {}, c5, c0, 1", out(reg) status, options(nomem, nostack));
        asm!("mrc p15, 0, {}, c6, c0, 2", out(reg) address, options(nomem, nostack));
    }
    (status, address)
}

/// Fault status encodings of the short-descriptor format (ARM ARM, table B3-23).
fn cause(status: u32) -> &'static str {
    match (status & 0x400) >> 6 | status & 0xf {
        0b00001 => "alignment",
        0b00101 | 0b00111 => "nothing is mapped there",
        0b01001 | 0b01011 | 0b01101 | 0b01111 => "not permitted",
        0b01000 | 0b10110 => "bus error",
        0b00010 => "debug event",
        _ => "unknown cause",
    }
}
