//! The life cycle of the kernel core between two restarts: load a library, run it, report its end.

use kairos_chip::gic;
use kairos_intercore::memory::KERNEL_LIBRARY;
use kairos_intercore::{Frame, Kind};
use kairos_kernel::elf;
use kairos_proto::intercore::Library;
use kairos_proto::kernel_message::Cursor;
use kairos_proto::rpc::{BadAddress, Memory};

use crate::comms::{self, next_frame, receiving, report, report_fmt, send, send_pieces};
use crate::enter::{self, enter, Ended};
use crate::memory::{self, Area, KernelMemory};
use crate::owned::BorrowCell;
use crate::{calls, library, measure, raise, rtio, symbols, timer, window};

/// The memory for the library's image. It belongs to the kernel while that runs.
static IMAGE: BorrowCell<Area<{ KERNEL_LIBRARY.start }, { KERNEL_LIBRARY.end }>> = {
    // SAFETY: reserved in the memory map for libraries, which only this module loads.
    BorrowCell::new(unsafe { Area::new() })
};

/// Set-up after reset of this core, before the first [`restart`], with interrupts masked.
pub extern "C" fn boot() {
    gic::enable_sgis_only();
    timer::initialise();
    let slots = window::boot();
    memory::protect(slots);
    if slots != 0 {
        calls::remote::boot();
    }
    rtio::boot();
    calls::cache::boot();
    calls::dma::boot();
}

/// Start of a restart, on an empty stack and with interrupts masked.
pub extern "C" fn restart() -> ! {
    comms::drop_ends();
    library::loaded(None);
    enter::reset();
    window::complete_stores();
    reset_calls();
    IMAGE.reclaim();
    calls::cache::reclaim();
    calls::linalg::reclaim();
    calls::pulse::reclaim();
    calls::remote::reclaim();
    window::reclaim();
    calls::dma::abandon();
    calls::i2c::recover();
    rtio::end_requests();
    comms::begin();
    timer::unmask_interrupts();
    serve()
}

/// Clears the exceptions, calls and text of the previous kernel.
fn reset_calls() {
    raise::reset();
    calls::rpc::reset();
    calls::subkernel::reset();
    calls::log::discard();
}

fn serve() -> ! {
    loop {
        let frame = receiving(next_frame);
        match frame.kind {
            Kind::Load => load(),
            Kind::Run => run(),
            Kind::Measure | Kind::Echo => measure(frame),
            Kind::SetCursor => set_cursor(),
            // Belongs to a call of an ended kernel, for which no kernel waits.
            _ => {}
        }
    }
}

/// Measures in the memory of the library, which is overwritten.
fn measure(frame: Frame) {
    library::loaded(None);
    IMAGE.with(|image| measure::serve(frame, image.bytes()));
}

fn load() {
    let Some(Library { address, length }) = receiving(comms::record) else {
        report("load request without address and length");
    };
    reset_calls();
    // SAFETY: the comms core does not touch this memory until the answer.
    let file = unsafe { core::slice::from_raw_parts(address as *const u8, length as usize) };
    match IMAGE.with(|image| elf::load(file, image.bytes(), KERNEL_LIBRARY.start as u32, symbols::find)) {
        Ok(loaded) => {
            memory::publish_code(loaded.base, loaded.size);
            library::loaded(Some(loaded));
            send(Kind::LoadCompleted, &[]);
        }
        Err(error) => {
            library::loaded(None);
            let mut text = heapless::String::<256>::new();
            let _ = core::fmt::write(&mut text, format_args!("{error}"));
            send(Kind::LoadFailed, text.as_bytes());
        }
    }
}

/// Sets a subkernel's cursor to that of the kernel that starts it.
fn set_cursor() {
    if let Some(Cursor { time }) = receiving(comms::record) {
        rtio::cursor::at_mu(time);
    }
}

fn run() {
    let Some(library) = library::take_fresh() else {
        return send(Kind::Finished, &[]);
    };
    calls::cache::drop_copies();
    IMAGE.with(|image| {
        let (start, end) = library.bss;
        let [start, end] = [start, end].map(|address| (address - library.base) as usize);
        image.bytes()[start..end].fill(0);
    });
    // SAFETY: code of the library, which may do anything to this core's memory: faults and a
    // restart recover. No state is lent meanwhile, so it is available to the functions that the
    // kernel calls.
    let ended = unsafe { enter(library.entry) };
    finish(library.typeinfo, ended);
}

/// Reports how the kernel has ended, after everything that it has left: text, errors, attributes.
fn finish(attributes: Option<u32>, ended: Ended) {
    calls::log::flush();
    // A posted output may have failed since: this is also an exception of the kernel, in addition
    // to one that has ended it. A kernel that has faulted may have overwritten the state needed for
    // waiting.
    let failed = ended != Ended::Faulted && rtio::posted_error_at_end();
    window::complete_stores();
    let failed = failed || ended != Ended::Faulted && raise::is_noted();
    if failed {
        raise::add_noted();
    }
    if failed || ended != Ended::Returned {
        return send_pieces(Kind::Exception, |message| raise::write_uncaught(message));
    }
    if let Some(table) = attributes {
        if let Err(error) = write_back(table) {
            report_fmt(format_args!("attribute table of the library: {error}"));
        }
    }
    send(Kind::Finished, &[]);
}

/// Sends every attribute that the table lists to the host: service 0 with object, name and value
/// (kernel ABI, section 6).
fn write_back(mut types: u32) -> Result<(), BadAddress> {
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
                    calls::rpc::send(Kind::RpcAsync, 0, tag, data.as_ptr() as u32);
                }
                attribute_at = attribute_at.wrapping_add(4);
            }
            object_at = object_at.wrapping_add(4);
        }
        types = types.wrapping_add(4);
    }
}
