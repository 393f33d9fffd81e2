//! What a restart resets. The time cursor, the cache, DMA traces and the state of RTIO are elsewhere: they outlive it.

use core::mem::MaybeUninit;

use heapless::Vec;
use kairos_channel::{Receiver, Sender};
use kairos_kernel::elf::Library;
use kairos_kernel::exceptions::Exceptions;
use kairos_proto::rpc::Decoder;

use crate::owned::Owned;

/// The state.
pub struct Core {
    /// To the comms core.
    pub sender: Sender<'static>,
    /// From the comms core.
    pub receiver: Receiver<'static>,
    /// The library in memory, running or to be run.
    pub library: Option<Library>,
    /// It has not been run yet.
    pub ready: bool,
    /// Exceptions in flight.
    pub exceptions: Exceptions,
    /// Decodes replies; in place, as it is large.
    pub decoder: Decoder<'static>,
    /// A reply is awaited, or being received.
    pub awaiting: bool,
    /// Its first frame has been seen.
    pub answered: bool,
    /// Tag of its type.
    pub return_tag: &'static [u8],
    /// The unfinished line of the log.
    pub log_line: Vec<u8, 512>,
}

static CORE: Owned<MaybeUninit<Core>> = Owned::new(MaybeUninit::uninit());
/// [`CORE`] is there.
static VALID: Owned<bool> = Owned::new(false);

/// Takes the state away, until [`begin`].
pub fn forget() {
    VALID.set(false);
}

/// A fresh state with these ends of the channel.
pub fn begin(sender: Sender<'static>, receiver: Receiver<'static>) {
    let fresh = Core {
        sender,
        receiver,
        library: None,
        ready: false,
        exceptions: Exceptions::new(),
        decoder: Decoder::new(&[]),
        awaiting: false,
        answered: false,
        return_tag: &[],
        log_line: Vec::new(),
    };
    // SAFETY: nothing refers to it now: whoever did went away with the stack.
    unsafe { (*CORE.as_ptr()).write(fresh) };
    VALID.set(true);
}

/// The state, unless the restart handshake is in progress.
///
/// Callers do not hold the result across a call of another function that takes it.
pub fn core() -> Option<&'static mut Core> {
    // SAFETY: written before the flag is set.
    VALID.get().then(|| unsafe { (*CORE.as_ptr()).assume_init_mut() })
}

/// The state, in functions that kernels call.
pub fn running() -> &'static mut Core {
    match core() {
        Some(core) => core,
        None => panic!("called outside of a kernel"),
    }
}
