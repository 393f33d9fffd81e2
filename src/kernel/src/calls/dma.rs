//! DMA (kernel ABI, section 2.4): recording, the store of traces ([`kairos_kernel::traces`]), and playing them.
//!
//! This core keeps the traces, in memory of their own: they outlive kernels, connections and restarts, and are lost at reset.
//! Outputs are recorded straight in the format that the gateware plays.

use kairos_channel::memory::DMA;
use kairos_kernel::traces::{Full, Recording, Traces};
use kairos_proto::exception::Id;
use kairos_proto::rpc::Memory;

use crate::fault::broken;
use crate::memory::{Area, KernelMemory};
use crate::owned::{Lent, Owned};
use crate::{raise, rtio};

/// The store.
static STORE: Lent<Area<{ DMA.start }, { DMA.end }>> = {
    // SAFETY: set apart in the memory map for traces, which only this module changes. The gateware reads them.
    Lent::new(unsafe { Area::new() })
};

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

fn with_traces<R>(action: impl FnOnce(&mut Traces<'_>) -> R) -> R {
    STORE.with(|store| action(&mut Traces::attach(store.words())))
}

/// Empties the store, at reset of the core only.
pub fn boot() {
    STORE.with(|store| {
        Traces::new(store.words());
    });
}

/// In a restart: what the kernel was recording is lost.
pub fn abandon() {
    STORE.reclaim();
    RECORDING.set(None);
}

/// Records an output of 1 to 16 words.
fn record(target: u32, time: i64, words: &[u32]) {
    if let Some(mut recording) = RECORDING.get() {
        with_traces(|traces| traces.event(&mut recording, target, time, words.iter().copied()));
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
    let name = name(pointer, length);
    match with_traces(|traces| traces.begin(name)) {
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
    if with_traces(|traces| traces.finish(ended, duration)) == Err(Full) {
        error(NO_ROOM);
    }
}

/// `dma_erase`
extern "C" fn erase(pointer: u32, length: u32) {
    let name = name(pointer, length);
    with_traces(|traces| traces.erase(name));
}

/// `dma_retrieve`
extern "C" fn retrieve(result: &mut Retrieved, pointer: u32, length: u32) {
    let name = name(pointer, length);
    match with_traces(|traces| traces.find(name)) {
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
    if !with_traces(|traces| traces.is_trace(offset)) {
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
