//! The life of the kernel core between two restarts: load a library, run it, report how it ended.

use kairos_channel::{Kind, Shared};
use kairos_chip::gic;
use kairos_kernel::elf::{self, Library};
use kairos_pl::names;
use kairos_proto::exception::write_report;
use kairos_proto::rpc::{BadAddress, Memory};

use crate::comms::{bell, next_frame, report, report_fmt, MessageSink};
use crate::enter::{self, enter, Ended};
use crate::memory::{self, KernelMemory};
use crate::state::{self, running, Core};
use crate::{calls, raise, rtio, symbols, timer};

/// Set-up after reset of this core, before the first [`restart`]; interrupts masked.
pub extern "C" fn boot() {
    gic::enable_sgis_only();
    timer::initialise();
    memory::protect();
    rtio::boot();
    calls::cache::boot();
    calls::dma::boot();
}

/// Where a restart begins, on an empty stack and with interrupts masked.
pub extern "C" fn restart() -> ! {
    state::forget();
    enter::forget();
    raise::forget();
    calls::dma::abandon();
    calls::i2c::recover();
    rtio::settle();
    // SAFETY: this core only; the ends of before went away with the stack and the state.
    let (sender, receiver) = unsafe { Shared::get().kernel_enter(bell, timer::sleep_masked) };
    state::begin(sender, receiver);
    timer::unmask_interrupts();
    serve()
}

fn serve() -> ! {
    let core = running();
    loop {
        let frame = next_frame(&mut core.receiver);
        match frame.kind {
            Kind::Load => load(core),
            Kind::Run => run(core),
            // Of a call whose kernel has ended: nobody waits for it.
            _ => {}
        }
    }
}

fn load(core: &mut Core) {
    let mut request = [0; 8];
    if core.receiver.read(&mut request) != Ok(request.len()) {
        report("load request without address and length");
    }
    let [address, length] =
        [0, 4].map(|at| u32::from_le_bytes([request[at], request[at + 1], request[at + 2], request[at + 3]]));
    core.exceptions.clear();
    core.awaiting = false;
    core.log_line.clear();
    // SAFETY: the comms core leaves this memory alone until the answer.
    let file = unsafe { core::slice::from_raw_parts(address as *const u8, length as usize) };
    // SAFETY: no kernel runs.
    let image = unsafe { memory::library() };
    let base = image.as_ptr() as u32;
    match elf::load(file, image, base, symbols::find) {
        Ok(library) => {
            memory::publish_code(library.base, library.size);
            core.library = Some(library);
            core.ready = true;
            core.sender.send(Kind::LoadCompleted, &[], timer::sleep_briefly);
        }
        Err(error) => {
            core.library = None;
            core.ready = false;
            let mut text = heapless::String::<256>::new();
            let _ = core::fmt::write(&mut text, format_args!("{error}"));
            core.sender
                .send(Kind::LoadFailed, text.as_bytes(), timer::sleep_briefly);
        }
    }
}

fn run(core: &mut Core) {
    if let (Some(library), true) = (core.library, core.ready) {
        core.ready = false;
        calls::cache::forget_copies();
        // SAFETY: within the image, as the loader has checked.
        let bss = unsafe {
            core::slice::from_raw_parts_mut(library.bss.0 as *mut u8, (library.bss.1 - library.bss.0) as usize)
        };
        bss.fill(0);
        // SAFETY: code of the library, which may do what it likes to this core's memory: faults and a restart recover.
        let ended = unsafe { enter(library.entry) };
        // Taken again: the kernel's calls have used it.
        return finish(running(), &library, ended);
    }
    core.sender.send(Kind::Finished, &[], timer::sleep_briefly);
}

/// Tells how the kernel has ended, after everything that it has left behind.
fn finish(core: &mut Core, library: &Library, ended: Ended) {
    calls::log::flush(core);
    // An output that was posted may have failed since: this is the kernel's exception too, beside one that has ended it.
    // A kernel that has faulted may have overwritten what would be waited for.
    let failed = ended != Ended::Faulted && rtio::posted_error_at_end();
    if failed {
        core.exceptions.add_afterwards(raise::take());
    }
    if failed || ended != Ended::Returned {
        return report_exceptions(core);
    }
    if let Some(table) = library.typeinfo {
        if let Err(error) = write_back(core, table) {
            report_fmt(format_args!("attribute table of the library: {error}"));
        }
    }
    core.sender.send(Kind::Finished, &[], timer::sleep_briefly);
}

/// Reports what nothing catches.
fn report_exceptions(core: &mut Core) {
    let mut sink = MessageSink(core.sender.message(Kind::Exception, timer::sleep_briefly));
    let exceptions = &core.exceptions;
    write_report(
        &mut sink,
        &KernelMemory,
        exceptions.in_flight(),
        exceptions.backtrace(),
        names::channel,
    );
    sink.0.finish();
}

/// Sends every attribute that the table lists to the host: service 0 with object, name and value (kernel ABI, section 6).
fn write_back(core: &mut Core, mut types: u32) -> Result<(), BadAddress> {
    let memory = KernelMemory;
    loop {
        let of_type = memory.word(types)?;
        if of_type == 0 {
            return Ok(());
        }
        let attributes = memory.word(of_type)?;
        let mut object_at = memory.word(of_type + 4)?;
        loop {
            let object = memory.word(object_at)?;
            if object == 0 {
                break;
            }
            let mut attribute_at = attributes;
            loop {
                let attribute = memory.word(attribute_at)?;
                if attribute == 0 {
                    break;
                }
                let tag = attribute.wrapping_add(4);
                if memory.word(tag.wrapping_add(4))? > 0 {
                    let value = object.wrapping_add(memory.word(attribute)?);
                    let data = [object_at, attribute.wrapping_add(12), value];
                    calls::rpc::send(core, Kind::RpcAsync, 0, tag, data.as_ptr() as u32);
                }
                attribute_at = attribute_at.wrapping_add(4);
            }
            object_at = object_at.wrapping_add(4);
        }
        types = types.wrapping_add(4);
    }
}
