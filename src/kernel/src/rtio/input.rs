//! Input events: taken from rings in cached memory into which the gateware pushes them or, if the
//! gateware does not, requested one by one (`docs/interfaces.md`, section 5).
//!
//! A ring's entries are numbered. The next one is recognised by its number, so reading one entry
//! shows whether an event has arrived. If none has, a request waits for it; the request's answer
//! arrives after the entry, and the event itself only in the ring.

use core::arch::asm;
use core::mem::offset_of;

use kairos_chip::gic::barrier;
use kairos_contracts::initiator::{
    ENTRY_DATA, ENTRY_EVENT as EVENT, ENTRY_FLAGS, ENTRY_LOST as LOST, ENTRY_MORE as MORE, ENTRY_TIME, INPUT_CHANNELS,
    INPUT_ENTRIES as ENTRIES, INPUT_ENTRY_BYTES,
};
use kairos_proto::exception::Id;

use super::output::posted_error;
use super::registers::{
    registers, Registers, INPUT_OVERFLOW, INPUT_TIMEOUT, INPUT_UNREACHABLE, NO_GATEWARE, OUTPUT_UNREACHABLE,
};
use super::transaction::{self, Event};
use crate::owned::Exposed;
use crate::raise;

/// Channels that can have a ring.
const CHANNELS: u32 = INPUT_CHANNELS as u32;
/// Number of consumed entries after which the gateware is notified without a request for an event.
const GRANT: u32 = ENTRIES / 2;
/// An expired timeout: the request is answered at once.
const PASSED: i64 = i64::MIN;

#[repr(C)]
struct Entry {
    timestamp: Exposed<i64>,
    data: Exposed<u32>,
    /// flags | number << 16; the gateware writes it with `data`, after `timestamp`.
    tag: Exposed<u32>,
}

#[repr(C, align(0x40000))]
struct Rings([[Entry; ENTRIES as usize]; CHANNELS as usize]);

const _: () = assert!(size_of::<Rings>() == 0x40000 && size_of::<Entry>() == INPUT_ENTRY_BYTES);
const _: () = assert!(offset_of!(Entry, timestamp) == ENTRY_TIME && offset_of!(Entry, data) == ENTRY_DATA);
const _: () = assert!(offset_of!(Entry, tag) == ENTRY_FLAGS);
const FIRST: u32 = 1 << 16 | EVENT;

impl Entry {
    const fn empty() -> Self {
        Self {
            timestamp: Exposed::new(0),
            data: Exposed::new(0),
            tag: Exposed::new(0),
        }
    }
}

/// Written by the gateware; cleared by this core while nothing is pushed.
static RINGS: Rings = Rings([const { [const { Entry::empty() }; ENTRIES as usize] }; CHANNELS as usize]);

/// State of a channel. It survives restarts, which may occur between any two stores.
struct Channel {
    /// The tag of the next event if no further one follows it.
    next: Exposed<u32>,
    /// Number of the newest consumed entry known to the gateware.
    granted: Exposed<u16>,
    /// The channel has inputs.
    exists: Exposed<bool>,
}

impl Channel {
    const fn new() -> Self {
        Self {
            next: Exposed::new(0),
            granted: Exposed::new(0),
            exists: Exposed::new(false),
        }
    }

    /// Number of the newest consumed entry.
    fn consumed(&self) -> u16 {
        ((self.next.get() >> 16) as u16).wrapping_sub(1)
    }

    /// Number of consumed entries that the gateware considers occupied.
    fn open(&self) -> u32 {
        self.consumed().wrapping_sub(self.granted.get()).into()
    }
}

static STATE: [Channel; CHANNELS as usize] = [const { Channel::new() }; CHANNELS as usize];

const NO_EVENT: Event = Event { timestamp: -1, data: 0 };

/// Physical address of the rings.
pub fn address() -> u32 {
    core::ptr::from_ref(&RINGS) as u32
}

/// Empties the rings, which then start with number 1; first called at reset of this core. The
/// gateware must not push meanwhile.
///
/// A ring is filled from number 1 on, so the entries written since the last clear end at the first
/// one without a tag.
pub fn clear() {
    for (channel, state) in (0..).zip(&STATE) {
        for number in 1..=ENTRIES {
            let tag = &entry(channel, number).tag;
            if tag.get() == 0 {
                break;
            }
            tag.set(0);
        }
        state.next.set(FIRST);
        state.granted.set(0);
    }
    barrier();
}

/// An entry of a channel below [`CHANNELS`].
#[inline(always)]
fn entry(channel: u32, number: u32) -> &'static Entry {
    &RINGS.0[(channel % CHANNELS) as usize][(number % ENTRIES) as usize]
}

/// The state of a channel, if it can have a ring.
#[inline(always)]
fn state(channel: u32) -> Option<&'static Channel> {
    STATE.get(channel as usize)
}

/// Orders later reads after earlier ones.
#[inline(always)]
fn read_barrier() {
    // SAFETY: a barrier.
    unsafe { asm!("dmb", options(nostack, preserves_flags)) };
}

/// Takes the next event of a channel, if it has arrived. Can be interrupted at any instruction: the
/// event is then either consumed or not.
#[inline(always)]
fn take(channel: u32) -> Option<Event> {
    let state = state(channel)?;
    let expected = state.next.get();
    let entry = entry(channel, expected >> 16);
    if entry.tag.get() & !MORE != expected {
        return None;
    }
    read_barrier();
    let event = Event {
        timestamp: entry.timestamp.get(),
        data: entry.data.get(),
    };
    state.next.set(expected.wrapping_add(1 << 16));
    if expected >> 16 & (GRANT / 2 - 1) == 0 {
        grant(channel);
    }
    Some(event)
}

/// Consumes the entry "events were lost here", if it is next.
fn take_lost(channel: u32) -> bool {
    let Some(state) = state(channel) else { return false };
    let expected = state.next.get();
    let tag = entry(channel, expected >> 16).tag.get();
    let lost = tag & !MORE == expected ^ EVENT ^ LOST;
    if lost {
        state.next.set(expected.wrapping_add(1 << 16));
    }
    lost
}

/// Whether there is certainly no event, neither up to `timeout` nor queued after it: the gateware
/// has already answered that all events up to this time are pushed, there was room in the ring, and
/// nothing followed the newest entry.
fn nothing(channel: u32, timeout: i64) -> bool {
    let Some(state) = state(channel) else { return false };
    if timeout == -1 || !transaction::idle() {
        return false;
    }
    // Only answers change the progress, so it is stable while none is pending.
    read_barrier();
    if timeout > transaction::progress() {
        return false;
    }
    // The newest consumed entry is not overwritten while the ring is empty.
    let newest = entry(channel, state.consumed().into()).tag.get();
    state.exists.get() && state.open() < ENTRIES && newest & MORE == 0
}

/// Records that the channel has inputs, after an answer of the gateware for it.
fn note_existing(channel: u32) {
    if let Some(state) = state(channel) {
        state.exists.set(true);
    }
}

/// Number of the newest consumed entry, to be sent to the gateware.
fn consumed(channel: u32) -> u32 {
    let Some(state) = state(channel) else { return 0 };
    let number = state.consumed();
    state.granted.set(number);
    number.into()
}

/// Reports consumed entries to the gateware, to free them. The request is not waited for. It is
/// sent only while nothing else is pending, so that it delays posted outputs after it by at most
/// one answer.
#[cold]
#[inline(never)]
fn grant(channel: u32) {
    if state(channel).is_some_and(|state| state.open() >= GRANT) {
        transaction::send_input(channel, PASSED, || consumed(channel));
    }
}

/// Waits for an event; `None` after the timeout or if an exception was noted.
#[cold]
#[inline(never)]
fn wait(timeout: i64, channel: u32) -> Option<Event> {
    let Some(registers) = registers() else {
        raise::firmware(Id::RtioDestinationUnreachable, NO_GATEWARE, [i64::from(channel), 0, 0]);
        return None;
    };
    if registers.input_ring.is_none() {
        // The event is stored where the gateware reports a failed posted output: wait until none
        // can fail.
        transaction::wait_until_idle();
    }
    if posted_error() {
        return None;
    }
    let status = if registers.input_ring.is_none() {
        let (status, event) = transaction::input(channel, timeout, 0);
        if status == 0 {
            return Some(event);
        }
        if cut_short(registers, status, timeout) {
            let message = "RTIO was reset while an input was awaited on channel {rtio_channel_info:0}";
            raise::firmware(Id::RtioOverflow, message, [i64::from(channel), 0, 0]);
            return None;
        }
        status
    } else {
        loop {
            // In this order, so that anything pushed before `nothing` became true is seen.
            let nothing = nothing(channel, timeout);
            read_barrier();
            if let Some(event) = take(channel) {
                return Some(event);
            }
            if take_lost(channel) {
                break INPUT_OVERFLOW;
            }
            if nothing {
                return None;
            }
            let (status, _) = transaction::input(channel, timeout, consumed(channel));
            if status & !INPUT_TIMEOUT == 0 {
                note_existing(channel);
            }
            if status != 0 {
                break status;
            }
            read_barrier();
        }
    };
    let parameters = [i64::from(channel), 0, 0];
    if status & INPUT_OVERFLOW != 0 {
        let message = "RTIO input overflow on channel {rtio_channel_info:0}";
        raise::firmware(Id::RtioOverflow, message, parameters);
    } else if status & INPUT_TIMEOUT == 0 && status & (INPUT_UNREACHABLE | OUTPUT_UNREACHABLE) != 0 {
        // The initiator answers a bus error with the output's bit.
        let message = "RTIO destination unreachable, input, on channel {rtio_channel_info:0}";
        raise::firmware(Id::RtioDestinationUnreachable, message, parameters);
    }
    None
}

/// Whether a request was answered as timed out before its time: the upstream board, or a kernel of
/// the satellite that has the input, has reset RTIO. Received events are lost, too. Without links
/// this cannot happen.
#[cold]
fn cut_short(registers: Registers, status: u32, timeout: i64) -> bool {
    status & INPUT_TIMEOUT != 0 && (timeout == -1 || registers.read_counter() < timeout)
}

/// Takes an event that has already arrived, or waits for one.
#[inline(always)]
fn input(timeout: i64, channel: u32) -> Option<Event> {
    if !transaction::failed() {
        if let Some(event) = take(channel) {
            return Some(event);
        }
    }
    wait(timeout, channel)
}

/// `rtio_input_timestamp`
extern "C" fn timestamp(timeout: i64, channel: u32) -> i64 {
    input(timeout, channel).unwrap_or(NO_EVENT).timestamp
}

/// `rtio_input_data`: waits for ever.
extern "C" fn data(channel: u32) -> u32 {
    input(-1, channel).unwrap_or(NO_EVENT).data
}

/// `rtio_input_timestamped_data`
extern "C" fn timestamped_data(result: &mut Event, _: u32, timeout: i64, channel: u32) {
    *result = input(timeout, channel).unwrap_or(NO_EVENT);
}

raise::raising! {
    rtio_input_timestamp => timestamp;
    rtio_input_data => data;
    rtio_input_timestamped_data => timestamped_data, stack 1;
}
