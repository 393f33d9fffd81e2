//! Outputs of kernels: the fast path, all other outputs, and errors.

use core::arch::naked_asm;
use core::mem::offset_of;

use kairos_contracts::initiator::POST_END;
use kairos_proto::exception::Id;
use kairos_proto::rpc::Memory;

use super::cursor::now_mu;
use super::registers::{registers, NO_GATEWARE, OUTPUT_UNDERFLOW, OUTPUT_UNREACHABLE};
use super::ring::{Estimate, Ring, ATTENTION, MAX_WORDS, RING, SLOTS, SLOT_BYTES};
use super::{clock, transaction};
use crate::fault::broken;
use crate::memory::KernelMemory;
use crate::owned::Owned;
use crate::raise;

/// Records the outputs of kernels during a DMA recording: target, time, 1 to 16 words. It may raise.
pub type Recorder = fn(u32, i64, &[u32]);
static RECORDER: Owned<Option<Recorder>> = Owned::new(None);

/// Set between `rtio_batch_start` and `rtio_batch_end`.
static BATCH: Owned<bool> = Owned::new(false);

/// Raises the exception for an output's status; separate from the path of successful outputs.
#[cold]
#[inline(never)]
fn output_error(target: u32, cursor: i64, status: u32) {
    BATCH.set(false);
    let channel = i64::from(target >> 8);
    match registers() {
        None => raise::firmware(Id::RtioDestinationUnreachable, NO_GATEWARE, [channel, cursor, 0]),
        Some(registers) if status & OUTPUT_UNDERFLOW != 0 => raise::firmware(
            Id::RtioUnderflow,
            "RTIO underflow at {1} mu, channel {rtio_channel_info:0}, slack {2} mu",
            [channel, cursor, cursor.wrapping_sub(registers.read_counter())],
        ),
        Some(_) => raise::firmware(
            Id::RtioDestinationUnreachable,
            "RTIO destination unreachable, output, at {1} mu, channel {rtio_channel_info:0}",
            [channel, cursor, 0],
        ),
    }
}

/// Raises the error of a posted output, if any; true if so.
pub fn posted_error() -> bool {
    let Some(registers) = registers() else { return false };
    match transaction::take_error(|| registers.clear.write(1)) {
        Some(failure) => {
            output_error(failure.target, failure.time, failure.status);
            true
        }
        None => false,
    }
}

/// Like `posted_error`, at the end of a kernel or a batch: waits until every posted output is
/// delivered.
pub fn posted_error_at_end() -> bool {
    transaction::wait_until_idle();
    posted_error()
}

/// Directs the outputs of kernels to `recorder`, or to the gateware if there is none. A restart
/// drops the recorder.
pub fn record(recorder: Option<Recorder>) {
    RECORDER.set(recorder);
    clock::forbid(recorder.is_some());
}

/// Clears recorder and batch in a restart.
pub fn reset() {
    record(None);
    BATCH.set(false);
}

/// `rtio_batch_start`. Outputs need no batch to be posted, so they are submitted as usual. An error
/// is raised by the output that caused it, which ends the batch.
extern "C" fn batch_start() {
    if BATCH.replace(true) {
        raise::firmware(Id::RuntimeError, "Batched mode is already running.", [0; 3]);
    }
}

/// `rtio_batch_end`: returns when every output is delivered.
extern "C" fn batch_end() {
    BATCH.set(false);
    posted_error_at_end();
}

/// Passes an output to the recorder; false if there is none.
fn recorded(target: u32, words: impl ExactSizeIterator<Item = u32>) -> bool {
    let Some(recorder) = RECORDER.get() else { return false };
    let mut buffer = [0; MAX_WORDS];
    let count = words.len();
    for (place, word) in buffer.iter_mut().zip(words) {
        *place = word;
    }
    recorder(target, now_mu(), &buffer[..count]);
    true
}

/// Submits an event at the time cursor.
pub fn submit(target: u32, words: impl ExactSizeIterator<Item = u32>) {
    if posted_error() {
        return;
    }
    let time = now_mu();
    let status = transaction::output(target, time, words);
    if status & (OUTPUT_UNDERFLOW | OUTPUT_UNREACHABLE) != 0 {
        output_error(target, time, status);
    }
}

/// Sends an event of `N` words at the time cursor.
pub fn send<const N: usize>(target: u32, words: &[u32; N]) {
    if !recorded(target, words.iter().copied()) {
        submit(target, words.iter().copied());
    }
}

/// Like `send`, for an event that is followed by one of `send_now`, which raises any error: this
/// one is not checked for sufficient slack. If it is late, so is the other, whose time is at most a cycle
/// later.
pub fn send_unasked<const N: usize>(target: u32, words: &[u32; N]) {
    if !recorded(target, words.iter().copied()) {
        transaction::post(target, now_mu(), words);
    }
}

/// Like `send`, for an event that is due very soon: it is not checked for sufficient slack, and its
/// status is waited for.
pub fn send_now<const N: usize>(target: u32, words: &[u32; N]) {
    if recorded(target, words.iter().copied()) {
        return;
    }
    let time = now_mu();
    let status = transaction::output_now(target, time, words);
    // An earlier error is raised first.
    if !posted_error() && status & (OUTPUT_UNDERFLOW | OUTPUT_UNREACHABLE) != 0 {
        output_error(target, time, status);
    }
}

/// `rtio_output`, if it cannot simply be posted.
extern "C" fn output(target: u32, data: u32) {
    if !recorded(target, core::iter::once(data)) {
        submit(target, core::iter::once(data));
    }
}

/// `rtio_output_wide`: up to 16 words.
extern "C" fn output_wide(target: u32, list: u32) {
    let memory = KernelMemory;
    let data = memory.word(list).and_then(|elements| {
        let count = memory.word(list.wrapping_add(4))?;
        Ok((count, memory.bytes(elements, count.min(MAX_WORDS as u32) * 4)?))
    });
    match data {
        Err(error) => broken(format_args!("data of a wide output: {error}")),
        Ok((0, _)) => {}
        Ok((count, _)) if count > MAX_WORDS as u32 => raise::firmware(
            Id::ValueError,
            "a wide output takes at most 16 words, not {0}",
            [i64::from(count), 0, 0],
        ),
        Ok((_, bytes)) => {
            let words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
            if !recorded(target, words.clone()) {
                submit(target, words);
            }
        }
    }
}

/// `rtio_output(target, data)`: posts the event if the rules of [`transaction::output`] allow it
/// without a second check; otherwise calls `rtio_output_checked`. 16 instructions.
///
/// How each rule is checked:
/// - Early enough: the time is not before `floor`, or else not before `earliest` ([`super::clock`];
///   both are [`super::ring::NEVER`] while posting is forbidden), and a permit runs: without one
///   the status word is not open, that is, less than any head.
/// - Not blocked: the time is not before `floor`, or else the status word has no attention bit.
/// - No pending error: with one the status word is not open.
/// - A free slot: the head, with the number in its lower half, is not above the open status word,
///   which contains the limit there.
/// - The channel takes outputs: it is not above `channel`.
#[unsafe(naked)]
pub unsafe extern "C" fn rtio_output() {
    naked_asm!(
        "push {{r4-r9, lr}}",
        "ldr r7, 8f",
        // r2 and r3 time, r4 ring, r5 channel, r6 and r12 floor, lr head
        "ldmdb r7, {{r2-r6, r12, lr}}",
        "cmp r2, r6",
        "sbcs r6, r3, r12",
        "ldr r6, [r7, #{status}]",
        "cmpge r6, lr",
        "cmpge r5, r0, lsr #8",
        "blt 2f",
        "1:",
        // Twice the number: half a slot for each
        "bfi r4, lr, #{half_slot}, #{slots} + 1",
        "stm r4, {{r0-r3, lr}}",
        "add lr, lr, #2",
        // The time becomes the floor.
        "stmdb r7, {{r2, r3, lr}}",
        "dsb",
        "sev",
        "pop {{r4-r9, pc}}",
        // Before the floor, or another condition failed
        "2:",
        "ldrd r8, r9, [r7, #{earliest}]",
        "tst r6, #{attention}",
        "bne 9f",
        "cmp r2, r8",
        "sbcs r8, r3, r9",
        "cmpge r6, lr",
        "cmpge r5, r0, lsr #8",
        "bge 1b",
        "9:",
        "pop {{r4-r9, lr}}",
        "b {checked}",
        "8: .long {ring} + {end}",
        ring = sym RING,
        end = const END,
        status = const offset_of!(Ring, status) as i32 - END as i32,
        earliest = const (offset_of!(Ring, clock) + offset_of!(Estimate, earliest)) as i32 - END as i32,
        attention = const ATTENTION,
        // The ring is aligned to more than its length, so the low bits of the number are inserted
        // into its address.
        half_slot = const SLOT_BYTES.ilog2() - 1,
        slots = const SLOTS.ilog2(),
        checked = sym rtio_output_checked,
    )
}

/// End of the words that the fast path loads, as an offset in the ring.
const END: usize = offset_of!(Ring, quick) + POST_END;

raise::raising! {
    rtio_output_checked => output;
    rtio_output_wide => output_wide;
    rtio_batch_start => batch_start;
    rtio_batch_end => batch_end;
}
