//! Requests to the kernel initiator: a ring in cached memory that the gateware reads, and a reply that it writes, through
//! the accelerator coherency port (`docs/interfaces.md`, section 5).
//!
//! An output is posted, that is, not waited for, when its time is so far ahead that it cannot be late
//! ([`super::clock`]), its channel is known to take outputs, and nothing before it can block it. Otherwise its own status is
//! waited for. So an underflow is always raised by the call that caused it.
//!
//! [`submit`] and the fast path of an output ([`super::output`]) hold the only `sev` in all firmware: each one makes the
//! gateware read a request.

use core::arch::asm;
use core::ptr::{addr_of, addr_of_mut, read_volatile, write_volatile};

use super::clock;
use super::registers::{INPUT_UNREACHABLE, OUTPUT_UNREACHABLE};
use super::ring::{Slot, ATTENTION, CREDIT, ERROR, NO_FLOOR, POSTED, POSTED_WORD, RING, SLOTS, UNKNOWN};

/// Commands, beside [`POSTED`].
const OUTPUT: u32 = 0;
const INPUT: u32 = 1;
/// Requests under way at most when there are wide ones among them, which take the gateware longer.
const WIDE_CREDIT: u32 = 7;
/// A status for when there is no gateware to give one.
const UNREACHABLE: u32 = OUTPUT_UNREACHABLE | INPUT_UNREACHABLE;

/// There is an initiator that answers.
static mut ALLOWED: bool = false;

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
    addr_of!(RING) as u32
}

/// Begins with number 1. The initiator is disabled meanwhile, and at rest.
pub fn begin() {
    // SAFETY: one core, and no interrupt handler uses it; so for all accesses to the statics of this module.
    unsafe {
        // What the lanes hold is not known.
        write_volatile(addr_of_mut!(RING.status), ATTENTION);
        clock::expire();
        set_next(1);
        write_volatile(addr_of_mut!(RING.quick.floor), NO_FLOOR);
        write_volatile(addr_of_mut!(RING.slots[0].time), i64::MIN);
        // The ring may hold numbers that come again.
        for index in 0..SLOTS as usize {
            write_volatile(addr_of_mut!(RING.slots[index].head), 0);
        }
        asm!("dsb", options(nostack, preserves_flags));
        addr_of_mut!(ALLOWED).write(true);
    }
}

fn allowed() -> bool {
    // SAFETY: as above.
    unsafe { addr_of!(ALLOWED).read() }
}

fn status() -> u32 {
    // SAFETY: as above; written by the gateware.
    unsafe { read_volatile(addr_of!(RING.status)) }
}

/// Number of the next request.
fn next() -> u32 {
    // SAFETY: as above.
    unsafe { read_volatile(addr_of!(RING.quick.next)) >> 16 }
}

fn set_next(number: u32) {
    // SAFETY: as above.
    unsafe {
        write_volatile(addr_of_mut!(RING.quick.next), number << 16 | POSTED_WORD);
        write_volatile(addr_of_mut!(RING.quick.slot), slot(number));
    }
}

/// The slot of a request.
fn slot(number: u32) -> *mut Slot {
    // SAFETY: within the ring.
    unsafe { addr_of_mut!(RING.slots).cast::<Slot>().add((number % SLOTS) as usize) }
}

fn under_way() -> u32 {
    next().wrapping_sub(1 + (status() >> 16)) & 0xffff
}

/// Sleeps until the gateware has written a status. It raises an event with each, so none is slept over. This core's own
/// `sev` counts as one too: the first `wfe` falls through, and there is a second look before the core really sleeps.
fn wait() {
    // SAFETY: a hint.
    unsafe { asm!("wfe", options(nostack, preserves_flags)) };
}

/// Fills the next slot and tells the gateware. There must be room. `words`: 1 to 16.
#[inline(never)]
fn submit(command: u32, target: u32, time: i64, words: impl ExactSizeIterator<Item = u32>) -> u32 {
    // SAFETY: as above. `dsb` completes the request before the event is sent.
    unsafe {
        let number = next();
        let slot = slot(number);
        write_volatile(addr_of_mut!((*slot).target), target);
        write_volatile(addr_of_mut!((*slot).time), time);
        let head = command | (words.len() as u32) << 8 | number << 16;
        for (index, word) in words.enumerate() {
            if index == 0 {
                write_volatile(addr_of_mut!((*slot).word0), word);
            } else {
                write_volatile(addr_of_mut!((*slot).words).cast::<u32>().add(index - 1), word);
            }
        }
        write_volatile(addr_of_mut!((*slot).head), head);
        set_next(number.wrapping_add(1));
        if command != INPUT {
            let floor = time.max(addr_of!(RING.clock.earliest).read());
            write_volatile(addr_of_mut!(RING.quick.floor), floor);
        }
        asm!("dsb", "sev", options(nostack, preserves_flags));
        number
    }
}

/// Submits a request and waits for its own status.
fn transact(command: u32, target: u32, time: i64, words: impl ExactSizeIterator<Item = u32>) -> u32 {
    while under_way() >= CREDIT {
        wait();
    }
    let number = submit(command, target, time, words);
    loop {
        let status = status();
        if status >> 16 == number {
            return status & 0xf;
        }
        wait();
    }
}

/// After somebody else has filled the lanes, while nothing is under way: the next output tells how full they are.
pub fn distrust() {
    // SAFETY: as above. The gateware writes nothing now.
    unsafe { write_volatile(addr_of_mut!(RING.status), status() | ATTENTION) };
}

fn known(channel: u32) -> *mut u8 {
    // SAFETY: within the table.
    unsafe { addr_of_mut!(RING.known).cast::<u8>().add((channel & 0xff) as usize) }
}

/// Submits an event of 1 to 16 words at `time`; returns its status, 0 for a posted one.
pub fn output(target: u32, time: i64, words: impl ExactSizeIterator<Item = u32>) -> u32 {
    if !allowed() {
        return UNREACHABLE;
    }
    let channel = target >> 8;
    let credit = if words.len() > 2 { WIDE_CREDIT } else { CREDIT };
    // SAFETY: as above.
    let postable = unsafe { u32::from(read_volatile(known(channel))) == channel >> 8 };
    while postable && clock::ample(time) {
        let (status, under_way) = (status(), under_way());
        // SAFETY: as above.
        let newest_time = unsafe { (*slot(next().wrapping_sub(1))).time };
        // Nothing blocks it if all lanes have room. If not, an earlier event may have to wait for room; that one gets it
        // before its own time, so a later one is not hindered.
        let free = under_way == 0 || status & ATTENTION == 0 || time >= newest_time;
        if under_way < credit && free {
            submit(POSTED, target, time, words);
            return 0;
        }
        wait();
    }
    let status = transact(OUTPUT, target, time, words);
    if status == 0 && channel >> 8 < u32::from(UNKNOWN) {
        // SAFETY: as above.
        unsafe { write_volatile(known(channel), (channel >> 8) as u8) };
    }
    status
}

/// Makes the fast path leave every event to `rtio_output_checked`, or lets it post again.
pub fn forbid_posting(forbidden: bool) {
    let allowed = if forbidden { 0 } else { POSTED_WORD };
    // SAFETY: as above.
    unsafe { write_volatile(addr_of_mut!(RING.quick.allowed), allowed) };
}

/// The error of a posted output, once. It is one that could not be foreseen: a bus error, or a delivery that took longer
/// than [`clock::MARGIN`].
pub fn take_error(clear: impl FnOnce()) -> Option<Failure> {
    if !allowed() || status() & ERROR == 0 {
        return None;
    }
    wait_until_idle();
    clear();
    // SAFETY: as above. The gateware writes nothing now.
    unsafe {
        let word = read_volatile(addr_of!(RING.input_data_or_error));
        write_volatile(addr_of_mut!(RING.status), status() & !(ERROR | 0xf));
        let (number, age) = (word >> 16, next().wrapping_sub(1 + (word >> 16)) & 0xffff);
        let (target, time) = if age < SLOTS {
            ((*slot(number)).target, (*slot(number)).time)
        } else {
            (0, -1)
        };
        Some(Failure {
            status: word & 0xf,
            target,
            time,
        })
    }
}

/// Whether a posted output has failed.
#[inline(always)]
pub fn failed() -> bool {
    status() & ERROR != 0
}

/// Where inputs are pushed: the time up to which all of them have been, as far as known.
pub fn progress() -> i64 {
    // SAFETY: as above; written by the gateware, as a whole.
    unsafe { read_volatile(addr_of!(RING.input_timestamp)) }
}

/// Every request has been answered.
pub fn idle() -> bool {
    under_way() == 0
}

/// Waits until every request has been answered.
pub fn wait_until_idle() {
    while allowed() && !idle() {
        wait();
    }
}

/// Sends an input request that is not waited for, if nothing is under way. `word` is called only then.
pub fn send_input(channel: u32, timeout: i64, word: impl FnOnce() -> u32) {
    if allowed() && idle() {
        submit(INPUT, channel << 8, timeout, core::iter::once(word()));
    }
}

/// Waits for an event on `channel` until the counter passes `timeout` (-1: for ever). Where inputs are pushed, `word` is the
/// number of the newest entry consumed, and the result has no event.
pub fn input(channel: u32, timeout: i64, word: u32) -> (u32, Event) {
    if !allowed() {
        return (UNREACHABLE, Event { timestamp: -1, data: 0 });
    }
    let status = transact(INPUT, channel << 8, timeout, core::iter::once(word));
    // SAFETY: as above. The gateware wrote these before the status.
    unsafe {
        asm!("dmb", options(nostack, preserves_flags));
        let timestamp = read_volatile(addr_of!(RING.input_timestamp));
        let data = read_volatile(addr_of!(RING.input_data_or_error));
        (status, Event { timestamp, data })
    }
}
