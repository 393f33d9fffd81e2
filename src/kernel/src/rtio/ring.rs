//! The memory shared by this core and the kernel initiator (`docs/interfaces.md`, section 5),
//! together with the data that an output needs, laid out so that the fast path ([`super::output`])
//! loads them with few instructions.

use core::mem::{offset_of, size_of};

use kairos_contracts::initiator::{Command, REPLY, REPLY_DATA, REPLY_STATUS, RING_ALIGNMENT, STATUS_SHIFT};
pub use kairos_contracts::initiator::{
    ATTENTION, CREDIT, MAX_WORDS, NUMBER_BITS, PERMIT, POSTED_ERROR as ERROR, POSTED_WORD, SLOTS, SLOT_BYTES,
};
use kairos_contracts::initiator::{POST, POST_CHANNEL, POST_CURSOR, POST_END, POST_FLOOR, POST_HEADER, POST_RING};
use kairos_contracts::initiator::{SLOT_DATA, SLOT_HEADER, SLOT_TARGET, SLOT_TIME, SLOT_WORDS};

use crate::owned::{Exposed, Owned};

/// Commands.
pub const OUTPUT: u32 = Command::Output as u32;
pub const INPUT: u32 = Command::Input as u32;
pub const POSTED: u32 = Command::Posted as u32;
/// Value of an unused entry of [`Ring::known`].
pub const UNKNOWN: u16 = 0xffff;
/// Mask of request numbers, as in [`next`](Quick::next).
pub const NUMBERS: u32 = (1 << NUMBER_BITS) - 1;
/// A time that no event reaches: no event is early enough, and all are before it.
pub const NEVER: i64 = i64::MAX;

/// The estimate of [`super::clock`]: the counter is less than `limit - MARGIN + (timer - start) *
/// ratio / 1024`, for `WINDOW` ticks from `start`.
#[repr(C)]
pub struct Estimate {
    /// An event not before this, plus the time passed since `start`, is early enough; [`NEVER`] if
    /// none is.
    pub limit: Owned<i64>,
    /// An event not before this is early enough while the permit runs.
    pub earliest: Owned<i64>,
    /// Timer count at which the estimate began.
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
    /// number << 1 | command << 16 | words << 24
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

/// Requests, reply, and associated state.
#[repr(C, align(4096))]
pub struct Ring {
    pub slots: [Slot; SLOTS as usize],
    /// Time of an input; where inputs are pushed, the time up to which all have been.
    pub input_timestamp: Exposed<i64>,
    /// See [`Status`].
    pub status: Exposed<u32>,
    /// Of the first failed posted output: status in bits 3..0, number in bits 31..16.
    pub input_data_or_error: Exposed<u32>,
    _line: [u32; 12],
    /// State used by this core only.
    pub clock: Estimate,
    /// The additional lead that outputs of other boards need compared with this board's, in machine
    /// units.
    pub distance: Owned<i64>,
    /// Boards found reachable in this permit, a bit for each destination.
    pub reached: Owned<u32>,
    _state: [u32; 29],
    /// Data for the fast path.
    pub quick: Quick,
    /// Channels known to take outputs: the channel number without its low byte, at the index
    /// [`Ring::index`].
    pub known: [Exposed<u16>; 256],
}

impl Ring {
    /// The index of a channel in [`Ring::known`]. Equal channels of different boards have different
    /// indices.
    pub fn index(channel: u32) -> usize {
        ((channel + 37 * (channel >> 16)) & 0xff) as usize
    }
}

/// Data for the fast path, in one cache line and in the order of its registers, so that one
/// instruction loads all of it, and another stores the modified last twelve bytes. Kernels may have
/// a fast path of their own (`rtio_post_2`).
#[repr(C)]
pub struct Quick {
    /// The time cursor.
    pub now: Owned<i64>,
    /// The ring itself.
    pub ring: Owned<*const Ring>,
    /// The channels from 0 to this one take outputs; -1 for none.
    pub channel: Owned<i32>,
    /// An event not before this has sufficient slack while a permit runs, and is not before the newest
    /// output.
    pub floor: Exposed<i64>,
    /// Head of the next request if it is a posted output of one word: [`POSTED_WORD`] and twice its
    /// number. The fast path adds 2, which may carry into the upper half; then no status word lets
    /// it post until [`super::transaction`] has set the head again.
    pub next: Exposed<u32>,
    _end: u32,
}

/// A status word, which the gateware writes with each answer.
#[derive(Clone, Copy)]
pub struct Status(pub u32);

impl Status {
    /// Whether an in-order output may be posted without a second check: status 0, a permit, no
    /// error.
    fn is_open(self) -> bool {
        self.0 & POSTED_WORD == POSTED_WORD
    }

    /// Number of the newest answered request.
    pub fn number(self) -> u32 {
        (self.0 >> 1).wrapping_sub(CREDIT) & NUMBERS
    }

    /// RTIO status of that request.
    pub fn rtio(self) -> u32 {
        if self.is_open() {
            0
        } else {
            self.0 >> STATUS_SHIFT & 0xf
        }
    }

    /// Whether one of `flags` ([`ATTENTION`], [`ERROR`]) is set. An open word contains none of
    /// their bits.
    #[inline(always)]
    pub fn has(self, flags: u32) -> bool {
        self.0 & flags != 0
    }

    /// Whether a permit runs.
    pub fn permits(self) -> bool {
        self.is_open() || self.0 & PERMIT != 0
    }

    /// The same number with only the attention bit: neither open nor with a permit, whose end may
    /// be reported while this is stored.
    pub fn with_attention(self) -> Self {
        Self(self.0 & (NUMBERS << 1) | ATTENTION)
    }
}

const _: () = assert!(size_of::<Slot>() == SLOT_BYTES && align_of::<Ring>() == RING_ALIGNMENT);
const _: () = assert!(offset_of!(Slot, target) == SLOT_TARGET && offset_of!(Slot, word0) == SLOT_DATA);
const _: () = assert!(offset_of!(Slot, time) == SLOT_TIME && offset_of!(Slot, head) == SLOT_HEADER);
const _: () = assert!(offset_of!(Slot, words) == SLOT_WORDS && offset_of!(Ring, input_timestamp) == REPLY);
const _: () = assert!(offset_of!(Ring, status) == REPLY_STATUS && offset_of!(Ring, input_data_or_error) == REPLY_DATA);
// The contract of `rtio_post_2`: another layout needs another name.
const _: () = assert!(offset_of!(Ring, quick) == POST && POST.is_multiple_of(32) && size_of::<Quick>() == 32);
const _: () = assert!(offset_of!(Quick, now) == POST_CURSOR && offset_of!(Quick, ring) == POST_RING);
const _: () = assert!(offset_of!(Quick, channel) == POST_CHANNEL && offset_of!(Quick, floor) == POST_FLOOR);
const _: () = assert!(offset_of!(Quick, next) == POST_HEADER && offset_of!(Quick, _end) == POST_END);
const _: () = assert!(POSTED_WORD & (ATTENTION | ERROR | PERMIT) == 0 && POSTED_WORD == (POSTED | 1 << 8) << 16);

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
    distance: Owned::new(0),
    reached: Owned::new(0),
    _state: [0; 29],
    quick: Quick {
        now: Owned::new(0),
        ring: Owned::new(core::ptr::null()),
        channel: Owned::new(0),
        floor: Exposed::new(0),
        next: Exposed::new(0),
        _end: 0,
    },
    known: [const { Exposed::new(0) }; 256],
};

/// After reset of this core: nothing is early enough, no channel is known. (Zero in the image, so
/// that it takes no space there.)
pub fn boot() {
    RING.clock.limit.set(NEVER);
    RING.clock.earliest.set(NEVER);
    RING.quick.floor.set(NEVER);
    RING.quick.next.set(POSTED_WORD);
    RING.quick.channel.set(-1);
    RING.quick.ring.set(&RING);
    clear_known();
}

/// Clears the channels known to take outputs, except for the range from 0.
pub fn clear_known() {
    RING.distance.set(0);
    for entry in &RING.known {
        entry.set(UNKNOWN);
    }
}
