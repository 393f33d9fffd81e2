//! DMA (kernel ABI, section 2.4): recording, the store of traces ([`kairos_kernel::traces`]), and playing them.
//!
//! This core keeps the traces, in memory of their own: they outlive kernels, connections and restarts, and are lost at reset.
//! Outputs are recorded straight in the format that the gateware plays.

use kairos_channel::memory::DMA;
use kairos_kernel::traces::{Full, Recording, Traces};
use kairos_proto::exception::Id;
use kairos_proto::rpc::Memory;

use crate::fault::broken;
use crate::memory::KernelMemory;
use crate::owned::Owned;
use crate::{raise, rtio};

/// The recording under way.
static RECORDING: Owned<Option<Recording>> = Owned::new(None);

const NO_ROOM: &str = "no memory left for DMA recordings: erase some, or record less";

/// Result of `dma_retrieve`.
#[repr(C)]
pub struct Retrieved {
    duration: i64,
    address: u32,
    uses_ddma: u32,
}

/// The store.
///
/// # Safety
/// No other result of this function is in use.
unsafe fn store() -> &'static mut [u32] {
    // SAFETY: mapped memory, set apart for traces; by this function's condition nobody else uses it.
    unsafe { core::slice::from_raw_parts_mut(DMA.start as *mut u32, DMA.len() / 4) }
}

fn traces() -> Traces<'static> {
    // SAFETY: functions here use one at a time, on this core, outside of interrupts; kernels do not know this memory.
    Traces::attach(unsafe { store() })
}

/// Empties the store, at reset of the core only.
pub fn boot() {
    // SAFETY: no kernel runs.
    Traces::new(unsafe { store() });
}

/// In a restart: what the kernel was recording is lost.
pub fn abandon() {
    RECORDING.set(None);
}

/// Records an output of 1 to 16 words.
fn record(target: u32, time: i64, words: &[u32]) {
    if let Some(mut recording) = RECORDING.get() {
        traces().event(&mut recording, target, time, words.iter().copied());
        RECORDING.set(Some(recording));
    }
}

fn name(pointer: u32, length: u32) -> &'static [u8] {
    let memory: &'static KernelMemory = &KernelMemory;
    match memory.bytes(pointer, length) {
        Ok(name) => name,
        Err(error) => broken(format_args!("name of a DMA trace: {error}")),
    }
}

fn error(message: &'static str) {
    raise::firmware(Id::DmaError, message, [0; 3]);
}

/// `dma_record_start`
extern "C" fn record_start(pointer: u32, length: u32) {
    if RECORDING.is_some() {
        return error("DMA is already recording");
    }
    match traces().begin(name(pointer, length)) {
        Ok(begun) => {
            RECORDING.set(Some(begun));
            rtio::record(Some(record));
        }
        Err(Full) => error(NO_ROOM),
    }
}

/// `dma_record_stop`. There are no other boards among which traces could be distributed.
extern "C" fn record_stop(duration: i64, _enable_ddma: u32) {
    let Some(ended) = RECORDING.take() else {
        return error("DMA is not recording");
    };
    rtio::record(None);
    if traces().finish(ended, duration) == Err(Full) {
        error(NO_ROOM);
    }
}

/// `dma_erase`
extern "C" fn erase(pointer: u32, length: u32) {
    traces().erase(name(pointer, length));
}

/// `dma_retrieve`
extern "C" fn retrieve(result: &mut Retrieved, pointer: u32, length: u32) {
    match traces().find(name(pointer, length)) {
        Some(trace) => {
            *result = Retrieved {
                duration: trace.duration,
                address: (DMA.start + trace.offset) as u32,
                uses_ddma: 0,
            }
        }
        None => error("DMA trace not found"),
    }
}

/// `dma_playback`: returns when all events have been submitted.
extern "C" fn playback(time: i64, address: u32, _uses_ddma: u32) {
    let offset = (address as usize).wrapping_sub(DMA.start);
    if !traces().is_trace(offset) {
        return error("DMA trace not found");
    }
    rtio::play(address, time);
}

raise::raising! {
    dma_record_start => record_start;
    dma_record_stop => record_stop;
    dma_erase => erase;
    dma_retrieve => retrieve;
    dma_playback => playback;
}
