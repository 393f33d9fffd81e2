//! DMA (kernel ABI, section 2.4): recording, the store of traces ([`kairos_kernel::traces`]), and
//! playback.
//!
//! This core keeps the traces in a memory region of their own: they survive kernels, connections
//! and restarts, and are lost at reset. Outputs are recorded directly in the format that the
//! gateware plays.

use core::arch::asm;

use kairos_contracts::link::{DESTINATION_MASTER, PLAYED_NOT};
use kairos_contracts::notes::TraceNote;
use kairos_intercore::memory::DMA;
use kairos_intercore::Kind;
use kairos_kernel::traces::{Full, Recording, Traces};
use kairos_pl::names;
use kairos_proto::exception::Id;
use kairos_proto::intercore::{Trace, TracePart, TracePlay};
use kairos_proto::layout::Layout;
use kairos_proto::rpc::Memory;

use super::subkernel::{self, TraceAnswer};
use crate::fault::broken;
use crate::memory::{Area, KernelMemory};
use crate::owned::{BorrowCell, Owned};
use crate::{comms, raise, rtio};

/// The store of traces.
static STORE: BorrowCell<Area<{ DMA.start }, { DMA.end }>> = {
    // SAFETY: reserved in the memory map for traces, which only this module changes. The gateware
    // reads them.
    BorrowCell::new(unsafe { Area::new() })
};

/// The recording in progress, and its name.
static RECORDING: Owned<Option<Recording>> = Owned::new(None);
static NAME: BorrowCell<([u8; NAME_MAX], usize)> = BorrowCell::new(([0; NAME_MAX], 0));
/// Longest name, in bytes.
const NAME_MAX: usize = 1024;
/// Number of the trace distributed last.
static NUMBER: Owned<u32> = Owned::new(0);
/// Most bytes of a request about the parts of a trace, of which there is one per board.
const PARTS_MAX: usize = Trace::LENGTH + TracePart::LENGTH * 256;

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

/// Discards a recording in progress, in a restart.
pub fn abandon() {
    STORE.reclaim();
    NAME.reclaim();
    RECORDING.set(None);
}

/// Tells an emulator the place of an event that was recorded, or copied from `from` if that is
/// nonzero.
fn note_written(event: usize, from: usize) {
    // SAFETY: a hint instruction.
    unsafe {
        asm!("dbg #{note}", note = const TraceNote::Written as u32, in("r0") event, in("r1") from,
             options(nomem, nostack, preserves_flags));
    }
}

/// Tells an emulator that another board is to play the part at an address.
fn note_elsewhere(part: usize, time: i64) {
    // SAFETY: a hint instruction.
    unsafe {
        asm!("dbg #{note}", note = const TraceNote::Elsewhere as u32, in("r0") part, in("r2") time as u32,
             in("r3") (time >> 32) as u32, options(readonly, nostack, preserves_flags));
    }
}

/// Records an output of 1 to 16 words. One for which there is no memory raises at once: a kernel may
/// have millions more.
fn record(target: u32, time: i64, words: &[u32]) {
    if let Some(mut recording) = RECORDING.get() {
        note_written(DMA.start + recording.place(), 0);
        let kept = with_traces(|traces| traces.event(&mut recording, target, time, words.iter().copied()));
        RECORDING.set(Some(recording));
        if kept == Err(Full) {
            too_long(&recording);
        }
    }
}

/// Raises the error of a recording that has become too long, with its length.
#[cold]
fn too_long(recording: &Recording) {
    let (events, time) = recording.length();
    raise::firmware(
        Id::DmaError,
        "no memory left for this DMA recording after {0} outputs, the last at {1} mu: erase others, or record less",
        [events.into(), time, 0],
    );
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
    if name.len() > NAME_MAX {
        return error("names of DMA traces have at most 1024 bytes");
    }
    erase_everywhere(name);
    NAME.with(|(bytes, length)| {
        *length = name.len();
        bytes[..*length].copy_from_slice(name);
    });
    match with_traces(|traces| traces.begin(name)) {
        Ok(begun) => {
            RECORDING.set(Some(begun));
            rtio::record(Some(record));
        }
        Err(Full) => error(NO_ROOM),
    }
}

/// `dma_record_stop`. A recording to be distributed is split by boards, which receive their parts.
extern "C" fn record_stop(duration: i64, enable_ddma: u32) {
    let Some(ended) = RECORDING.take() else {
        return error("DMA is not recording");
    };
    rtio::record(None);
    if with_traces(|traces| traces.finish(ended, duration)) == Err(Full) {
        return too_long(&ended);
    }
    // A satellite's kernel reaches only its own board, and so does its recording.
    if enable_ddma & 1 == 0 || names::destination() != u32::from(DESTINATION_MASTER) {
        return;
    }
    let number = NUMBER.get().wrapping_add(1).max(1);
    NUMBER.set(number);
    let copied = |from, to| note_written(DMA.start + to, DMA.start + from);
    // A card plays no traces: its outputs are sent to it.
    let cards = names::cards();
    let done =
        NAME.with(|(bytes, length)| with_traces(|traces| traces.take_apart(&bytes[..*length], number, cards, copied)));
    if done == Err(Full) {
        return error(NO_ROOM);
    }
    // An unreachable board, or one without room, is reported at playback.
    keep(number);
}

/// Ensures that all other boards have their parts.
fn keep(number: u32) -> TraceAnswer {
    let mut parts = heapless::Vec::<u8, PARTS_MAX>::new();
    let _ = parts.extend_from_slice(&Trace { number }.encode());
    with_traces(|traces| {
        for part in traces
            .parts(number)
            .filter(|part| part.destination != DESTINATION_MASTER)
        {
            let part = TracePart {
                destination: u32::from(part.destination),
                address: (DMA.start + part.offset) as u32,
                bytes: part.bytes as u32,
            };
            let _ = parts.extend_from_slice(&part.encode());
        }
    });
    if parts.len() == Trace::LENGTH {
        return TraceAnswer::Done;
    }
    comms::send(Kind::TraceKeep, &parts);
    subkernel::trace_answer()
}

/// Erases a trace on all boards.
fn erase_everywhere(name: &[u8]) {
    if let Some(number) = with_traces(|traces| traces.erase(name)) {
        comms::send(Kind::TraceErase, &Trace { number }.encode());
    }
}

/// Raises the error that kept another board from playing its part, if any.
fn raise_of_others(answer: TraceAnswer) {
    let (message, board) = match answer {
        TraceAnswer::Done => return,
        TraceAnswer::Failed(failed) if failed.bits < PLAYED_NOT => return rtio::fail(failed),
        TraceAnswer::Failed(failed) => (
            "Error running DMA on satellite device, it has no such trace or plays another one: destination {0}",
            (failed.channel >> 16) as u8,
        ),
        TraceAnswer::NoRoom(board) => (
            "Error running DMA on satellite device, no memory left for traces: destination {0}",
            board,
        ),
        TraceAnswer::Late(board) => (
            "Error running DMA on satellite device, timed out waiting for results: destination {0}",
            board,
        ),
        TraceAnswer::Lost(board) => (
            "Error running DMA on satellite device, it does not answer: destination {0}",
            board,
        ),
        TraceAnswer::NotLocal => (
            "only kernels of the board with the network can play traces on others",
            0,
        ),
    };
    raise::firmware(Id::DmaError, message, [i64::from(board), 0, 0]);
}

/// `dma_erase`
extern "C" fn erase(pointer: u32, length: u32) {
    erase_everywhere(name(pointer, length));
}

/// `dma_retrieve`
extern "C" fn retrieve(result: &mut Retrieved, pointer: u32, length: u32) {
    let name = name(pointer, length);
    match with_traces(|traces| traces.find(name)) {
        Some(trace) => {
            *result = Retrieved {
                duration: trace.duration,
                address: (DMA.start + trace.offset) as u32,
                uses_ddma: u32::from(trace.number != 0),
            };
            // Another board may have dropped its part since.
            if trace.number != 0 {
                raise_of_others(keep(trace.number));
            }
        }
        None => error("DMA trace not found"),
    }
}

/// `dma_playback`: returns when all events have been submitted.
extern "C" fn playback(time: i64, address: u32, _uses_ddma: u32) {
    let offset = (address as usize).wrapping_sub(DMA.start);
    match with_traces(|traces| traces.named_at(offset)) {
        Some(0) => rtio::play(address, time),
        Some(number) => play_everywhere(number, time),
        None => error("DMA trace not found"),
    }
}

/// Every board plays its part, all at the same time.
fn play_everywhere(number: u32, time: i64) {
    if !rtio::prepare() {
        return;
    }
    let (mut own, mut others) = (None, 0u32);
    with_traces(|traces| {
        for part in traces.parts(number) {
            let place = DMA.start + part.offset;
            match part.destination {
                DESTINATION_MASTER => own = Some(place as u32),
                destination => {
                    others |= 1u32.checked_shl(u32::from(destination)).unwrap_or(0);
                    note_elsewhere(place, time);
                }
            }
        }
    });
    if others != 0 {
        let request = TracePlay {
            number,
            boards: others,
            time,
        };
        comms::send(Kind::TracePlay, &request.encode());
    }
    let failed = rtio::play_prepared(own, time);
    let answer = match others {
        0 => TraceAnswer::Done,
        _ => subkernel::trace_answer(),
    };
    match failed {
        Some(failed) => rtio::fail(failed),
        None => raise_of_others(answer),
    }
}

raise::raising! {
    dma_record_start => record_start;
    dma_record_stop => record_stop;
    dma_erase => erase;
    dma_retrieve => retrieve;
    dma_playback => playback;
}
