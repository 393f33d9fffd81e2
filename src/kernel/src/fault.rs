//! Aborts and undefined instructions. In a kernel they become an exception reported to the host,
//! which the kernel cannot catch. Elsewhere the comms core receives a text, and this core waits to
//! be restarted.

use core::arch::{asm, naked_asm};
use core::fmt::Write;

use kairos_intercore::memory::{KERNEL_GUARD, KERNEL_STACK, REMOTE_WINDOW};
use kairos_kernel::elf::Library;
use kairos_kernel::unwind::{Registers, LR, PC, SP};
use kairos_proto::rpc::Memory;

use crate::comms::{intact, report, Text};
use crate::memory::KernelMemory;
use crate::owned::Owned;
use crate::timer::unmask_interrupts;
use crate::{library, raise, window};

/// Registers at a data abort, except those in [`Registers`] that a call preserves: r0 to r12, pc,
/// CPSR, FPSCR, d0 to d7, d16 to d31.
#[repr(C, align(8))]
pub struct Context([u32; 64]);
pub static CONTEXT: Owned<Context> = Owned::new(Context([0; 64]));

/// The text of a kernel's fault for the host. Static, so that it outlives the handler's stack.
static MESSAGE: Owned<Text> = Owned::new(Text::new());

/// Called by the exception vectors, on a stack of its own, with interrupts masked. `what`: 0
/// undefined instruction, 1 prefetch abort, 2 data abort, 3 supervisor call. In `registers`, those
/// that a call preserves are valid; pc is that of the instruction.
///
/// A fault in a kernel's code, or in a firmware function called with invalid pointers, ends the
/// kernel with an exception. Any other fault is a bug of this image, or a kernel has overwritten
/// the image or the channel: the session ends.
pub extern "C" fn fault(what: u32, registers: &mut Registers) -> ! {
    let mut text = Text::new();
    let (status, address) = match what {
        1 => instruction_fault(),
        _ => data_fault(),
    };
    if what == 2 {
        other_board(status, address, registers);
    }
    let _ = match what {
        0 => text.push_str("undefined instruction").map_err(|_| core::fmt::Error),
        3 => text.push_str("supervisor call").map_err(|_| core::fmt::Error),
        2 if KERNEL_GUARD.contains(&(address as usize)) => {
            text.push_str("stack overflow").map_err(|_| core::fmt::Error)
        }
        2 => write!(text, "data abort ({}) at address {address:#010x}", cause(status)),
        _ => write!(text, "prefetch abort ({})", cause(status)),
    };
    let [sp, lr, pc] = [SP, LR, PC].map(|register| registers.r[register]);
    let _ = write!(text, ", at ");
    locate(&mut text, pc);
    if let Some(library) = library::running() {
        let inside = library.contains(pc);
        if (inside || library.contains(lr)) && intact() {
            // Return addresses follow their call: add 4, so that the instruction is found like a
            // call.
            registers.r[PC] = if inside { pc.wrapping_add(4) } else { lr };
            end_kernel(&library, text, registers);
        }
    }
    let _ = text.push_str(", called from ");
    locate(&mut text, lr);
    let _ = write!(text, ", stack pointer {sp:#010x}");
    report(&text)
}

/// Returns if the abort does not concern another board's memory. The error of a load is reported at
/// the instruction. That of a store is reported later, perhaps in a firmware function, which then
/// continues and raises when it returns (Cortex-A9 TRM, 6.5).
fn other_board(status: u32, address: u32, registers: &mut Registers) {
    let asynchronous = status & 0x40f == 0x406;
    if !asynchronous && (status & 0x40f != 0x008 || !REMOTE_WINDOW.contains(&(address as usize))) {
        return;
    }
    let Some(record) = window::fault((!asynchronous).then_some(address)) else {
        return;
    };
    let pc = registers.r[PC];
    if window::is_access(pc) {
        raise::record(record);
        registers.r[0] = 0;
        registers.r[PC] = registers.r[LR];
    } else if library::running().is_some_and(|library| library.contains(pc)) && intact() {
        registers.r[PC] = pc.wrapping_add(4); // a return address follows its call
        unmask_interrupts();
        raise::raise_in_kernel(record, registers);
    } else if asynchronous {
        raise::record(record);
        // SAFETY: the context is that of this abort, and nothing on this stack is needed any more.
        unsafe { resume(registers) }
    } else {
        return;
    }
    // SAFETY: registers of a landing pad, or of a return; nothing on this stack is needed any more.
    unsafe { go_on(registers) }
}

/// Continues with these registers, with interrupts and asynchronous aborts unmasked.
///
/// # Safety
/// The registers must be those of a call's return, or of a landing pad.
#[unsafe(naked)]
unsafe extern "C" fn go_on(registers: &Registers) -> ! {
    naked_asm!(
        "clrex",
        "mov lr, r0",
        "add r12, lr, #64",
        "vldmia r12, {{d8-d15}}",
        "ldm lr, {{r0-r11}}",
        "ldr r12, [lr, #60]",
        "ldr sp, [lr, #52]",
        "ldr lr, [lr, #56]",
        "cpsie ai",
        "bx r12",
    )
}

/// Continues at the instruction before which the abort occurred.
///
/// # Safety
/// [`CONTEXT`] and `registers` must be of the same abort.
#[unsafe(naked)]
unsafe extern "C" fn resume(registers: &Registers) -> ! {
    naked_asm!(
        "clrex",
        "add r1, r0, #64",
        "vldmia r1, {{d8-d15}}",
        "ldr sp, [r0, #52]",
        "ldr lr, [r0, #56]",
        "cps #0x17",
        "add r2, sp, #56",
        "ldm r2!, {{r0, r1}}",
        "msr spsr_cxsf, r0",
        "vmsr fpscr, r1",
        "vldmia r2!, {{d0-d7}}",
        "vldmia r2!, {{d16-d31}}",
        "ldr lr, [sp, #52]",
        "ldm sp, {{r0-r12}}",
        "movs pc, lr",
    )
}

/// Ends the kernel with an exception of this text, and the call frames found from `registers`.
fn end_kernel(library: &Library, text: Text, registers: &mut Registers) -> ! {
    MESSAGE.set(text);
    // SAFETY: the text is read when the end is reported. The next fault that replaces it occurs in
    // a later kernel.
    let message: &'static Text = unsafe { &*MESSAGE.as_ptr() };
    raise::end_kernel(library, message, registers)
}

/// Ends the kernel with an exception, as after a fault, because it has called a firmware function
/// with invalid arguments.
pub fn broken(arguments: core::fmt::Arguments<'_>) -> ! {
    let mut text = Text::new();
    let _ = text.write_fmt(arguments);
    match library::running() {
        Some(library) => end_kernel(&library, text, &mut caller(&library)),
        None => report(&text),
    }
}

/// Stack pointer and return address of the kernel's call. Firmware has no unwind tables: the return
/// address is the first word on the stack that follows a call in the library. The other registers
/// are lost, so unwinding stops at a caller whose frame depends on one of them.
fn caller(library: &Library) -> Registers {
    let mut registers = Registers::default();
    let here = core::ptr::from_ref(&registers) as u32;
    let call = |pc: u32| {
        // `bl`
        library.contains(pc)
            && KernelMemory
                .word(pc.wrapping_sub(4))
                .is_ok_and(|word| word >> 24 == 0xeb)
    };
    let found = (here..KERNEL_STACK.end as u32)
        .step_by(4)
        .find(|&at| KernelMemory.word(at).is_ok_and(call));
    if let Some(at) = found {
        registers.r[PC] = KernelMemory.word(at).unwrap_or(0);
        registers.r[SP] = at + 4;
    }
    registers
}

/// Writes an instruction's address: relative to the library, as `addr2line` and the compiler's
/// tables expect, else absolute.
fn locate(text: &mut Text, pc: u32) {
    let _ = match library::get() {
        Some(library) if library.contains(pc) => write!(text, "+{:#x} of the kernel", pc - library.base),
        _ => write!(text, "{pc:#010x}"),
    };
}

/// Reads the data fault status and address.
fn data_fault() -> (u32, u32) {
    let (status, address): (u32, u32);
    // SAFETY: reads DFSR and DFAR, which has no effect.
    unsafe {
        asm!("mrc p15, 0, {}, c5, c0, 0", out(reg) status, options(nomem, nostack));
        asm!("mrc p15, 0, {}, c6, c0, 0", out(reg) address, options(nomem, nostack));
    }
    (status, address)
}

/// Reads the instruction fault status and address.
fn instruction_fault() -> (u32, u32) {
    let (status, address): (u32, u32);
    // SAFETY: reads IFSR and IFAR, which has no effect.
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
