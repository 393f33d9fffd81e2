//! Input events: taken from rings in cached memory into which the gateware pushes them, or, where the gateware does not,
//! asked for with a request each (`docs/interfaces.md`, section 5).
//!
//! A ring's entries are numbered. The next one is known by its number, so one look at one entry tells whether an event is
//! there. If none is, a request waits for it; its answer comes behind the entry, and events come by the ring alone.

use core::arch::asm;
use core::ptr::{addr_of, addr_of_mut, read_volatile, write_volatile};

use kairos_proto::exception::Id;

use super::output::posted_error;
use super::registers::{registers, INPUT_OVERFLOW, INPUT_TIMEOUT, INPUT_UNREACHABLE, NO_GATEWARE, OUTPUT_UNREACHABLE};
use super::transaction::{self, Event};
use crate::raise;

/// Entries of a channel's ring.
const ENTRIES: u32 = 64;
/// Channels that can have a ring.
const CHANNELS: u32 = 256;
/// Entries consumed after which the gateware is told, without being asked for anything.
const GRANT: u32 = ENTRIES / 2;
/// Flags of an entry: it is an event; it is a place where events were lost; there was more behind it.
const EVENT: u32 = 1;
const LOST: u32 = 2;
const MORE: u32 = 4;
/// A timeout that has passed: the request is answered at once.
const PASSED: i64 = i64::MIN;

#[derive(Clone, Copy)]
#[repr(C)]
struct Entry {
    timestamp: i64,
    data: u32,
    /// flags | number << 16; the gateware writes it with `data`, after `timestamp`.
    tag: u32,
}

#[repr(C, align(0x40000))]
struct Rings([[Entry; ENTRIES as usize]; CHANNELS as usize]);

const _: () = assert!(size_of::<Rings>() == 0x40000);
const NOTHING: Entry = Entry {
    timestamp: 0,
    data: 0,
    tag: 0,
};
const FIRST: u32 = 1 << 16 | EVENT;

/// Written by the gateware; cleared by this core while nothing is pushed.
static mut RINGS: Rings = Rings([[NOTHING; ENTRIES as usize]; CHANNELS as usize]);

/// What this core knows of a channel.
#[derive(Clone, Copy)]
struct Channel {
    /// The tag of the next event, if there is not more behind it.
    next: u32,
    /// Number of the newest entry of which the gateware knows that it was consumed.
    granted: u16,
    /// It has inputs.
    exists: bool,
}

impl Channel {
    /// Entries consumed that the gateware takes to be occupied.
    fn open(&self) -> u32 {
        ((self.next >> 16) as u16)
            .wrapping_sub(1)
            .wrapping_sub(self.granted)
            .into()
    }
}

static mut STATE: [Channel; CHANNELS as usize] = [Channel {
    next: FIRST,
    granted: 0,
    exists: false,
}; CHANNELS as usize];

const NO_EVENT: Event = Event { timestamp: -1, data: 0 };

/// Physical address of the rings.
pub fn address() -> u32 {
    addr_of!(RINGS) as u32
}

/// Empties the rings, which then begin with number 1. The gateware pushes nothing meanwhile.
///
/// A ring is filled from number 1 on, so what was written since it was cleared last ends at the first entry without a tag.
pub fn clear() {
    // SAFETY: one core, and no interrupt handler uses these; so for all accesses to the statics of this module.
    unsafe {
        for channel in 0..CHANNELS {
            for number in 1..=ENTRIES {
                let tag = addr_of_mut!((*entry(channel, number)).tag);
                if read_volatile(tag) == 0 {
                    break;
                }
                write_volatile(tag, 0);
            }
            write_volatile(addr_of_mut!((*state(channel)).next), FIRST);
            write_volatile(addr_of_mut!((*state(channel)).granted), 0);
        }
        asm!("dsb", options(nostack, preserves_flags));
    }
}

fn entry(channel: u32, number: u32) -> *mut Entry {
    let index = channel % CHANNELS * ENTRIES + number % ENTRIES;
    // SAFETY: within the rings.
    unsafe { addr_of_mut!(RINGS).cast::<Entry>().add(index as usize) }
}

fn state(channel: u32) -> *mut Channel {
    // SAFETY: within the table.
    unsafe { addr_of_mut!(STATE).cast::<Channel>().add((channel % CHANNELS) as usize) }
}

/// Later reads come after those before.
#[inline(always)]
fn read_barrier() {
    // SAFETY: a barrier.
    unsafe { asm!("dmb", options(nostack, preserves_flags)) };
}

/// The next event of a channel, if it is there. May be stopped at any instruction: the event is consumed, or not.
#[inline(always)]
fn take(channel: u32) -> Option<Event> {
    if channel >= CHANNELS {
        return None;
    }
    // SAFETY: as above.
    unsafe {
        let next = addr_of_mut!((*state(channel)).next);
        let expected = read_volatile(next);
        let entry = entry(channel, expected >> 16);
        if read_volatile(addr_of!((*entry).tag)) & !MORE != expected {
            return None;
        }
        read_barrier();
        let event = Event {
            timestamp: read_volatile(addr_of!((*entry).timestamp)),
            data: read_volatile(addr_of!((*entry).data)),
        };
        write_volatile(next, expected.wrapping_add(1 << 16));
        if expected >> 16 & (GRANT / 2 - 1) == 0 {
            grant(channel);
        }
        Some(event)
    }
}

/// Consumes the entry "events were lost here", if that is what comes next.
fn take_lost(channel: u32) -> bool {
    if channel >= CHANNELS {
        return false;
    }
    // SAFETY: as above.
    unsafe {
        let next = addr_of_mut!((*state(channel)).next);
        let expected = read_volatile(next);
        let tag = read_volatile(addr_of!((*entry(channel, expected >> 16)).tag));
        let lost = tag & !MORE == expected ^ EVENT ^ LOST;
        if lost {
            write_volatile(next, expected.wrapping_add(1 << 16));
        }
        lost
    }
}

/// Whether there is certainly no event, neither up to `timeout` nor queued behind it: the gateware has answered before that
/// all events up to this time are pushed; there was room in the ring, and nothing behind the newest entry.
fn nothing(channel: u32, timeout: i64) -> bool {
    if channel >= CHANNELS || timeout == -1 || !transaction::idle() {
        return false;
    }
    // Only answers change the progress, so it holds still while none is expected.
    read_barrier();
    if timeout > transaction::progress() {
        return false;
    }
    // SAFETY: as above. The newest entry consumed is not overwritten while the ring is empty.
    let (state, newest) = unsafe {
        let state = read_volatile(state(channel));
        let newest = entry(channel, (state.next >> 16).wrapping_sub(1));
        (state, read_volatile(addr_of!((*newest).tag)))
    };
    state.exists && state.open() < ENTRIES && newest & MORE == 0
}

/// The gateware has answered for this channel: it has inputs.
fn note_existing(channel: u32) {
    if channel < CHANNELS {
        // SAFETY: as above.
        unsafe { write_volatile(addr_of_mut!((*state(channel)).exists), true) };
    }
}

/// Number of the newest entry that was consumed; the gateware will know it.
fn consumed(channel: u32) -> u32 {
    if channel >= CHANNELS {
        return 0;
    }
    // SAFETY: as above.
    unsafe {
        let number = (read_volatile(addr_of!((*state(channel)).next)) >> 16).wrapping_sub(1) as u16;
        write_volatile(addr_of_mut!((*state(channel)).granted), number);
        number.into()
    }
}

/// Tells the gateware what was consumed, so that there is room again. The request is not waited for. It is sent only while
/// nothing else is under way, so that it delays posted outputs behind it by no more than one answer.
#[cold]
#[inline(never)]
fn grant(channel: u32) {
    // SAFETY: as above.
    let state = unsafe { read_volatile(state(channel)) };
    if state.open() >= GRANT {
        transaction::send_input(channel, PASSED, || consumed(channel));
    }
}

/// Waits for an event; `None` after the timeout or when an exception was noted.
#[cold]
#[inline(never)]
fn wait(timeout: i64, channel: u32) -> Option<Event> {
    let Some(registers) = registers() else {
        raise::firmware(Id::RtioDestinationUnreachable, NO_GATEWARE, [i64::from(channel), 0, 0]);
        return None;
    };
    if registers.input_ring.is_none() {
        // The event comes to where the gateware tells of a posted output that failed: none may fail meanwhile.
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
        status
    } else {
        loop {
            // In this order: what was pushed before that was known is seen.
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

/// The event that is there already, or else what waiting gives.
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
