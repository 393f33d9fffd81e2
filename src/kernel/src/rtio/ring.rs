//! The memory that this core and the kernel initiator share (`docs/interfaces.md`, section 5), and beside it what an output
//! needs: laid out so that the fast path ([`super::output`]) loads it with few instructions.

use core::mem::{offset_of, size_of};

use kairos_contracts::initiator::{Command, REPLY, REPLY_DATA, REPLY_STATUS, RING_ALIGNMENT};
pub use kairos_contracts::initiator::{ATTENTION, MAX_WORDS, POSTED_ERROR as ERROR, SLOTS, SLOT_BYTES, STATUS_BITS};
use kairos_contracts::initiator::{
    POST_ALLOWED, POST_CHANNELS, POST_COUNTDOWN, POST_CURSOR, POST_FLOOR, POST_HEAD, POST_SLOT,
};
use kairos_contracts::initiator::{SLOT_DATA, SLOT_HEAD, SLOT_TARGET, SLOT_TIME, SLOT_WORDS};

use crate::owned::{Exposed, Owned};

/// Requests under way at most: a slot is not written anew before its request has been answered.
pub const CREDIT: u32 = SLOTS - 1;
/// Commands.
pub const OUTPUT: u32 = Command::Output as u32;
pub const INPUT: u32 = Command::Input as u32;
pub const POSTED: u32 = Command::Posted as u32;
/// Head of a posted output of one word, without its number.
pub const POSTED_WORD: u32 = POSTED | 1 << 8;
/// Time of nothing: any event is before it.
pub const NO_FLOOR: i64 = i64::MAX;
/// Entry of [`Ring::known`] where no channel is.
pub const UNKNOWN: u8 = 0xff;
/// This core's private watchdog as a second private timer (Cortex-A9 MPCore TRM, section 4.1): it counts down once, at the global timer's rate,
/// and stays at 0.
pub const COUNTDOWN: *const u32 = 0xf8f0_0624 as *const u32;

/// What [`super::clock`] knows: the counter is less than `limit - MARGIN + (timer - start) * ratio / 1024`, for `WINDOW` ticks from `start`.
#[repr(C)]
pub struct Estimate {
    /// An event not before this, plus the time that has passed since `start`, is early enough; `i64::MAX`: none is.
    pub limit: Owned<i64>,
    /// An event not before this is early enough while the countdown runs.
    pub earliest: Owned<i64>,
    /// Timer at which the estimate began.
    pub start: Owned<u64>,
    /// Machine units per tick in 1/1024, rounded up; below `1 << 12`.
    pub ratio: Owned<u64>,
}

/// The first 20 bytes are written by one instruction.
#[repr(C)]
pub struct Slot {
    pub target: Exposed<u32>,
    pub word0: Exposed<u32>,
    pub time: Exposed<i64>,
    /// command | words << 8 | number << 16
    pub head: Exposed<u32>,
    pub words: [Exposed<u32>; MAX_WORDS - 1],
    _end: [u32; 12],
}

impl Slot {
    const fn empty() -> Self {
        Self {
            target: Exposed::new(0),
            word0: Exposed::new(0),
            time: Exposed::new(0),
            head: Exposed::new(0),
            words: [const { Exposed::new(0) }; MAX_WORDS - 1],
            _end: [0; 12],
        }
    }
}

/// Requests, reply, and what goes with them.
#[repr(C, align(4096))]
pub struct Ring {
    pub slots: [Slot; SLOTS as usize],
    /// Of an input; where inputs are pushed, the time up to which all have been.
    pub input_timestamp: Exposed<i64>,
    /// RTIO status in bits 3..0, flags, number of the newest event answered in bits 31..16.
    pub status: Exposed<u32>,
    /// Of the first failed posted output: status in bits 3..0, number in bits 31..16.
    pub input_data_or_error: Exposed<u32>,
    _line: [u32; 12],
    /// What only this core uses.
    pub clock: Estimate,
    _state: [u32; 32],
    /// Beside it, what the fast path needs.
    pub quick: Quick,
    /// By the low byte of a channel's number: the high byte of the channel there that is known to take outputs.
    pub known: [Exposed<u8>; 256],
}

/// What the fast path needs, in the order of its registers, so that one instruction loads it. It ends where
/// [`Ring::known`] begins. Kernels may have a fast path of their own (`rtio_ring_1`).
#[repr(C)]
pub struct Quick {
    /// [`POSTED_WORD`], or 0 while nothing is to be posted without a second look.
    pub allowed: Exposed<u32>,
    /// Address of the countdown of [`super::clock`].
    pub countdown: Owned<*const u32>,
    /// The time cursor.
    pub now: Owned<i64>,
    /// An event that is not before this has ample time while the countdown runs, and is not before the newest output.
    pub floor: Exposed<i64>,
    /// Head of the next request if it is a posted output of one word: its number in bits 31..16, below [`POSTED_WORD`].
    pub next: Exposed<u32>,
    /// The slot of the next request.
    pub slot: Exposed<*const Slot>,
}

/// Where [`Ring::known`] is.
pub const KNOWN: usize = offset_of!(Ring, known);
const _: () = assert!(size_of::<Slot>() == SLOT_BYTES && align_of::<Ring>() == RING_ALIGNMENT);
const _: () = assert!(offset_of!(Slot, target) == SLOT_TARGET && offset_of!(Slot, word0) == SLOT_DATA);
const _: () = assert!(offset_of!(Slot, time) == SLOT_TIME && offset_of!(Slot, head) == SLOT_HEAD);
const _: () = assert!(offset_of!(Slot, words) == SLOT_WORDS && offset_of!(Ring, input_timestamp) == REPLY);
const _: () = assert!(offset_of!(Ring, status) == REPLY_STATUS && offset_of!(Ring, input_data_or_error) == REPLY_DATA);
const _: () = assert!(offset_of!(Ring, quick) + size_of::<Quick>() == KNOWN);
// What `rtio_ring_1` promises: another layout needs another name.
const QUICK: usize = offset_of!(Ring, quick);
const _: () = assert!(QUICK + offset_of!(Quick, allowed) == POST_ALLOWED && KNOWN == POST_CHANNELS);
const _: () = assert!(QUICK + offset_of!(Quick, countdown) == POST_COUNTDOWN);
const _: () = assert!(QUICK + offset_of!(Quick, now) == POST_CURSOR && QUICK + offset_of!(Quick, floor) == POST_FLOOR);
const _: () = assert!(QUICK + offset_of!(Quick, next) == POST_HEAD && QUICK + offset_of!(Quick, slot) == POST_SLOT);

pub static RING: Ring = Ring {
    slots: [const { Slot::empty() }; SLOTS as usize],
    input_timestamp: Exposed::new(0),
    status: Exposed::new(0),
    input_data_or_error: Exposed::new(0),
    _line: [0; 12],
    clock: Estimate {
        limit: Owned::new(0),
        earliest: Owned::new(0),
        start: Owned::new(0),
        ratio: Owned::new(0),
    },
    _state: [0; 32],
    quick: Quick {
        allowed: Exposed::new(0),
        countdown: Owned::new(core::ptr::null()),
        now: Owned::new(0),
        floor: Exposed::new(0),
        next: Exposed::new(0),
        slot: Exposed::new(core::ptr::null()),
    },
    known: [const { Exposed::new(0) }; 256],
};

/// After reset of this core: nothing is early enough, no channel is known. (All zero in the image, so that it is not in the
/// image.)
pub fn boot() {
    RING.clock.limit.set(i64::MAX);
    RING.clock.earliest.set(i64::MAX);
    RING.quick.allowed.set(POSTED_WORD);
    RING.quick.countdown.set(COUNTDOWN);
    RING.quick.floor.set(NO_FLOOR);
    RING.quick.next.set(POSTED_WORD);
    for entry in &RING.known {
        entry.set(UNKNOWN);
    }
}
