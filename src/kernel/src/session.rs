//! The life of the kernel core between two restarts: load a library, run it, report how it ended.

use core::arch::naked_asm;
use core::mem::MaybeUninit;
use core::ptr::addr_of_mut;
use core::sync::atomic::{AtomicBool, Ordering};

use heapless::Vec;
use kairos_board::channel::{Frame, Kind, Receiver, Sender, Shared};
use kairos_board::gic;
use kairos_kernel::elf::{self, Library};
use kairos_kernel::exceptions::Exceptions;
use kairos_proto::rpc::{BadAddress, Decoder, Memory};

use crate::memory::{self, KernelMemory};
use crate::{calls, fault, raise, rtio, symbols, timer};

/// Everything that a restart resets. The time cursor, the cache and the RTIO state are elsewhere: they outlive it.
pub struct Core {
    /// To the comms core.
    pub sender: Sender<'static>,
    /// From the comms core.
    pub receiver: Receiver<'static>,
    /// The library in memory, running or to be run.
    pub library: Option<Library>,
    /// It has not been run yet.
    ready: bool,
    /// Exceptions in flight.
    pub exceptions: Exceptions,
    /// Decodes replies; in place, as it is large.
    pub decoder: Decoder<'static>,
    /// A reply is awaited, or being received.
    pub awaiting: bool,
    /// Its first frame has been seen.
    pub answered: bool,
    /// The unfinished line of the log.
    pub log_line: Vec<u8, 512>,
}

static mut CORE: MaybeUninit<Core> = MaybeUninit::uninit();
static CORE_VALID: AtomicBool = AtomicBool::new(false);

/// The state, unless the restart handshake is in progress.
///
/// Callers do not hold the result across a call of another function that takes it.
pub fn core() -> Option<&'static mut Core> {
    // SAFETY: written before the flag is set; one thread, no interrupt handler uses it.
    CORE_VALID
        .load(Ordering::Relaxed)
        .then(|| unsafe { (*addr_of_mut!(CORE)).assume_init_mut() })
}

/// The state, in functions that kernels call.
pub fn running() -> &'static mut Core {
    match core() {
        Some(core) => core,
        None => fault::report("called outside of a kernel"),
    }
}

/// Tells the comms core that there is something in the channel.
pub fn bell() {
    gic::send_sgi(0, gic::SGI_DATA);
}

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
    CORE_VALID.store(false, Ordering::Relaxed);
    raise::clear();
    calls::dma::abandon();
    calls::i2c::recover();
    rtio::settle();
    // SAFETY: this core only; the ends of before went away with the stack and CORE.
    let (sender, receiver) = unsafe { Shared::get().kernel_enter(bell, timer::sleep_masked) };
    let core = Core {
        sender,
        receiver,
        library: None,
        ready: false,
        exceptions: Exceptions::new(),
        decoder: Decoder::new(&[]),
        awaiting: false,
        answered: false,
        log_line: Vec::new(),
    };
    // SAFETY: nothing refers to it now.
    unsafe { (*addr_of_mut!(CORE)).write(core) };
    CORE_VALID.store(true, Ordering::Relaxed);
    crate::start::unmask_interrupts();
    serve()
}

/// Ends the kernel that is running, dropping its stack.
#[unsafe(naked)]
pub extern "C" fn abandon_kernel() -> ! {
    naked_asm!(
        "movw sp, #:lower16:__kernel_stack",
        "movt sp, #:upper16:__kernel_stack",
        "b {serve}",
        serve = sym serve,
    )
}

/// Sleeps until a frame arrives.
pub fn next_frame(receiver: &mut Receiver<'static>) -> Frame {
    // Looked at first without masking interrupts: it may be there already.
    let mut arrived = receiver.next_frame();
    if arrived == Ok(None) {
        timer::sleep_until(|| {
            arrived = receiver.next_frame();
            arrived != Ok(None)
        });
    }
    match arrived {
        Ok(Some(frame)) => frame,
        _ => fault::report("the channel between the cores has been overwritten"),
    }
}

extern "C" fn serve() -> ! {
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
        fault::report("load request without address and length");
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
        let entry: extern "C" fn(*mut u8) = unsafe { core::mem::transmute(library.entry as usize) };
        entry(core::ptr::null_mut());
        // Taken again: the kernel's calls have used it.
        let core = running();
        calls::log::flush(core);
        if raise::posted_failure(core) {
            raise::uncaught(core);
        }
        if let Some(table) = library.typeinfo {
            if let Err(error) = write_back(core, table) {
                fault::broken(format_args!("attribute table of the library: {error}"));
            }
        }
    }
    running().sender.send(Kind::Finished, &[], timer::sleep_briefly);
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
