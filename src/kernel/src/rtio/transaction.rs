//! Requests to the kernel initiator: a ring in cached memory that the gateware reads, and a reply
//! that it writes, both through the accelerator coherency port (`docs/interfaces.md`, section 5).
//!
//! An output is posted, that is, not waited for, if its time is so far ahead that it cannot be late
//! ([`super::clock`]), its channel is known to take outputs, and nothing before it can block it.
//! Otherwise its own status is waited for. So an underflow is always raised by the call that caused
//! it.
//!
//! [`submit`] and the fast path of an output ([`super::output`]) contain the only `sev`s of the
//! whole firmware: each makes the gateware read a request. Kernels that post by themselves contain
//! the same fast path.

use core::arch::asm;

use kairos_chip::gic::barrier;

use super::clock;
use super::registers::{self, INPUT_UNREACHABLE, OUTPUT_UNREACHABLE};
use super::ring::{self, Ring, Slot, Status, ATTENTION, CREDIT, ERROR, INPUT, NEVER, NUMBERS};
use super::ring::{OUTPUT, POSTED, POSTED_WORD, RING, SLOTS, UNKNOWN};
use crate::owned::{Exposed, Owned};

/// Most requests in flight if there are wide ones among them, which take the gateware longer.
const WIDE_CREDIT: u32 = 7;
/// An output on another board that is due later than this is waited for: it, and everything after
/// it, may be held until its time is nearer (half of `_AHEAD` in `link/rtio_near.py`).
const FURTHEST: i64 = 1 << 46;
/// The status used if there is no gateware.
const UNREACHABLE: u32 = OUTPUT_UNREACHABLE | INPUT_UNREACHABLE;

/// Whether there is an initiator that answers.
static ALLOWED: Owned<bool> = Owned::new(false);

/// An input event.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Event {
    /// Time in machine units.
    pub timestamp: i64,
    /// What the PHY delivered.
    pub data: u32,
}

/// A request that failed.
pub struct Failure {
    /// RTIO status.
    pub status: u32,
    /// channel << 8 | address
    pub target: u32,
    /// Time of the event.
    pub time: i64,
}

/// Physical address of the ring.
pub fn address() -> u32 {
    core::ptr::from_ref(&RING) as u32
}

/// Starts with request number 1. The initiator must be disabled and idle meanwhile.
pub fn begin() {
    // The contents of the lanes are unknown.
    RING.status.set(CREDIT << 1 | ATTENTION);
    set_next(1);
    RING.quick.floor.set(NEVER);
    RING.slots[0].time.set(i64::MIN);
    // The ring may hold numbers that will recur.
    for slot in &RING.slots {
        slot.head.set(0);
    }
    barrier();
    ALLOWED.set(true);
}

fn status() -> Status {
    Status(RING.status.get())
}

/// Number of the next request.
fn next() -> u32 {
    RING.quick.next.get() >> 1 & NUMBERS
}

/// Sets the head in the same way as the fast path, by adding to the previous one: number 0 carries,
/// so that request is not posted without a second check. It must not be: with 15 requests in flight
/// the status word has the greatest number, which is not below 0.
fn set_next(number: u32) {
    RING.quick
        .next
        .set(((number.wrapping_sub(1) & NUMBERS) << 1) + POSTED_WORD + 2);
}

/// The slot of a request.
fn slot(number: u32) -> &'static Slot {
    &RING.slots[(number % SLOTS) as usize]
}

fn under_way() -> u32 {
    next().wrapping_sub(1 + status().number()) & NUMBERS
}

/// Sleeps until the gateware has written a status. The gateware signals an event with each, so none
/// is missed. This core's own `sev` counts as an event too: the first `wfe` falls through, and the
/// condition is checked again before the core really sleeps.
fn wait() {
    // SAFETY: a hint instruction.
    unsafe { asm!("wfe", options(nostack, preserves_flags)) };
}

/// Fills the next slot and signals the gateware. There must be room. `words`: 1 to 16.
#[inline(never)]
fn submit(command: u32, target: u32, time: i64, words: impl ExactSizeIterator<Item = u32>) -> u32 {
    fill(command, target, time, words)
}

/// Like [`submit`], for a number of words known at compile time.
#[inline(never)]
fn submit_array<const N: usize>(command: u32, target: u32, time: i64, words: &[u32; N]) -> u32 {
    fill(command, target, time, words.iter().copied())
}

#[inline(always)]
fn fill(command: u32, target: u32, time: i64, mut words: impl ExactSizeIterator<Item = u32>) -> u32 {
    let number = next();
    let slot = slot(number);
    slot.target.set(target);
    slot.time.set(time);
    let head = number << 1 | command << 16 | (words.len() as u32) << 24;
    if let Some(word) = words.next() {
        slot.word0.set(word);
    }
    for (place, word) in slot.words.iter().zip(words) {
        place.set(word);
    }
    slot.head.set(head);
    set_next(number.wrapping_add(1));
    if command != INPUT {
        RING.quick.floor.set(time.max(RING.clock.earliest.get()));
    }
    // SAFETY: makes the gateware read the slot; `dsb` completes the writes of the request first.
    unsafe { asm!("dsb", "sev", options(nostack, preserves_flags)) };
    number
}

/// Submits a request and waits for its own status.
fn transact(command: u32, target: u32, time: i64, words: impl ExactSizeIterator<Item = u32>) -> u32 {
    while under_way() >= CREDIT {
        wait();
    }
    status_of(submit(command, target, time, words))
}

/// Waits for the status of the newest request.
#[inline(always)]
fn status_of(number: u32) -> u32 {
    loop {
        let status = status();
        if status.number() == number {
            return status.rtio();
        }
        wait();
    }
}

/// Marks the fill level of the lanes as unknown after another master has filled them, while nothing
/// is in flight: the next output reports it.
pub fn assume_lanes_full() {
    // With nothing to answer, the gateware writes at most the end of a permit.
    RING.status.set(status().with_attention().0);
}

fn known(channel: u32) -> &'static Exposed<u16> {
    &RING.known[Ring::index(channel)]
}

/// Converts `time` to the one that an output of this board would have with the same slack. `None`
/// if the output has to be waited for.
fn comparable(channel: u32, time: i64) -> Option<i64> {
    if channel as i32 <= RING.quick.channel.get() {
        return Some(time);
    }
    if u32::from(known(channel).get()) != channel >> 8 {
        return None;
    }
    let board = channel >> 16;
    if board == 0 {
        return Some(time);
    }
    // Checked once in each permit, so that errors of an unreachable board are raised by the call
    // that caused them.
    let (reached, bit) = (RING.reached.get(), 1 << (board & 31));
    if reached & bit == 0 || !status().permits() {
        if !registers::reaches(board) {
            return None;
        }
        RING.reached.set(reached | bit);
    }
    let time = time.saturating_sub(RING.distance.get());
    (time.saturating_sub(RING.clock.limit.get()) < FURTHEST).then_some(time)
}

/// Records that an output on the channel has succeeded: later ones need not be waited for.
fn learn(channel: u32) {
    if channel >> 8 < u32::from(UNKNOWN) {
        known(channel).set((channel >> 8) as u16);
        if channel >> 16 != 0 {
            let distance = i64::from(registers::distance()) * clock::UNITS;
            RING.distance.set(RING.distance.get().max(distance));
        }
    }
}

/// Submits an event of 1 to 16 words at `time`; returns its status, 0 for a posted one.
pub fn output(target: u32, time: i64, words: impl ExactSizeIterator<Item = u32>) -> u32 {
    if !ALLOWED.get() {
        return UNREACHABLE;
    }
    let channel = target >> 8;
    let credit = if words.len() > 2 { WIDE_CREDIT } else { CREDIT };
    let comparable = comparable(channel, time);
    while comparable.is_some_and(clock::is_early_enough) {
        let (status, under_way) = (status(), under_way());
        let newest_time = slot(next().wrapping_sub(1)).time.get();
        // Nothing blocks it if all lanes have room. If not, an earlier event may have to wait for
        // room, but it receives it before its own time, so a later one is not delayed.
        let free = under_way == 0 || !status.has(ATTENTION) || time >= newest_time;
        if under_way < credit && free {
            submit(POSTED, target, time, words);
            return 0;
        }
        if free && status.has(ATTENTION) {
            // Lanes and ring are full: from here events leave one by one as earlier ones fall due.
            // Waking, and starting a permit, for each of them gains nothing.
            wait_until_half();
        } else {
            wait();
        }
    }
    let status = transact(OUTPUT, target, time, words);
    if status == 0 {
        learn(channel);
    }
    status
}

/// Posts an event regardless of its time. A late one causes an error.
pub fn post<const N: usize>(target: u32, time: i64, words: &[u32; N]) {
    if !ALLOWED.get() {
        return;
    }
    while under_way() >= WIDE_CREDIT {
        wait();
    }
    submit_array(POSTED, target, time, words);
}

/// Submits an event at once and waits for its status.
pub fn output_now<const N: usize>(target: u32, time: i64, words: &[u32; N]) -> u32 {
    if !ALLOWED.get() {
        return UNREACHABLE;
    }
    while under_way() >= CREDIT {
        wait();
    }
    status_of(submit_array(OUTPUT, target, time, words))
}

/// Whether there is an initiator that answers.
pub fn answers() -> bool {
    ALLOWED.get()
}

/// Takes the error of a posted output, once. Such an error could not be foreseen: a bus error, or a
/// delivery that took longer than [`clock::MARGIN`].
pub fn take_error(clear: impl FnOnce()) -> Option<Failure> {
    if !ALLOWED.get() || !failed() {
        return None;
    }
    wait_until_idle();
    clear();
    // A board that was lost may return with other channels, and over a longer path
    ring::clear_known();
    // From here the gateware writes at most the end of a permit.
    let word = RING.input_data_or_error.get();
    RING.status.set(status().with_attention().0);
    let (number, age) = (word >> 16, next().wrapping_sub(1 + (word >> 16)) & NUMBERS);
    let (target, time) = if age < SLOTS {
        (slot(number).target.get(), slot(number).time.get())
    } else {
        (0, -1)
    };
    Some(Failure {
        status: word & 0xf,
        target,
        time,
    })
}

/// Whether a posted output has failed.
#[inline(always)]
pub fn failed() -> bool {
    status().has(ERROR)
}

/// Where inputs are pushed: the latest known time up to which all of them have been.
pub fn progress() -> i64 {
    RING.input_timestamp.get()
}

/// Whether every request has been answered.
pub fn idle() -> bool {
    under_way() == 0
}

/// Waits until half of the ring is free.
fn wait_until_half() {
    loop {
        wait();
        if under_way() <= CREDIT / 2 {
            return;
        }
    }
}

/// Waits until every request has been answered.
pub fn wait_until_idle() {
    while ALLOWED.get() && !idle() {
        wait();
    }
}

/// Sends an input request without waiting, if nothing is in flight. `word` is called only in that
/// case.
pub fn send_input(channel: u32, timeout: i64, word: impl FnOnce() -> u32) {
    if ALLOWED.get() && idle() {
        submit(INPUT, channel << 8, timeout, core::iter::once(word()));
    }
}

/// Waits for an event on `channel` until the counter passes `timeout` (-1: for ever). Where inputs
/// are pushed, `word` is the number of the newest consumed entry, and the result has no event.
pub fn input(channel: u32, timeout: i64, word: u32) -> (u32, Event) {
    if !ALLOWED.get() {
        return (UNREACHABLE, Event { timestamp: -1, data: 0 });
    }
    let status = transact(INPUT, channel << 8, timeout, core::iter::once(word));
    // The gateware wrote the event before the status.
    // SAFETY: a barrier.
    unsafe { asm!("dmb", options(nostack, preserves_flags)) };
    let event = Event {
        timestamp: RING.input_timestamp.get(),
        data: RING.input_data_or_error.get(),
    };
    (status, event)
}
