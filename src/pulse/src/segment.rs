//! Segments of splines: the 216 bits stored in the pulse table and carried by the parameters'
//! FIFOs.

use crate::Word;
use kairos_contracts::pulse::{self as facts, FRAME_FLAG_WAIT, TONE_FLAG_WAIT};

/// A piece of a parameter's trajectory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Segment {
    /// U0 to U3, 40 bits in two's complement; Un is scaled by 2^(n s).
    pub u: [i64; 4],
    /// Duration in cycles, 40 bits.
    pub tau: u64,
    /// The shift s, 0 to 31.
    pub shift: u8,
    /// Bits 207..200 of the word: `ToneFlag` or `FrameFlag`.
    pub flags: u8,
}

const UNSCALED: [usize; 4] = [facts::U0_AT, facts::U1_AT, facts::U2_AT, facts::U3_AT];
// The wait flag has the same position in both kinds, so that tones and frames may share a segment.
const _: () = assert!(TONE_FLAG_WAIT == FRAME_FLAG_WAIT);

impl Segment {
    /// A segment that holds a value for `tau` cycles.
    pub const fn constant(value: i64, tau: u64) -> Self {
        Self {
            u: [value, 0, 0, 0],
            tau,
            shift: 0,
            flags: 0,
        }
    }

    /// Reads bits 215..0 of a word. Unused bits are ignored.
    pub fn from_word(word: &Word) -> Self {
        Self {
            u: UNSCALED.map(|at| word.get_signed(at, facts::VALUE_BITS)),
            tau: word.get(facts::TAU_AT, facts::TAU_BITS),
            shift: word.get(facts::SHIFT_AT, facts::SHIFT_BITS) as u8,
            flags: word.get(facts::FLAGS_AT, facts::FLAGS_BITS) as u8 & !1,
        }
    }

    /// Encodes the segment in bits 215..0 of a word; the others are 0.
    pub fn to_word(&self) -> Word {
        let word = Word::default()
            .with(facts::TAU_AT, facts::TAU_BITS, self.tau)
            .with(facts::SHIFT_AT, facts::SHIFT_BITS, self.shift.into())
            .with(facts::FLAGS_AT, facts::FLAGS_BITS, self.flags.into());
        UNSCALED
            .iter()
            .zip(self.u)
            .fold(word, |word, (&at, u)| word.with(at, facts::VALUE_BITS, u as u64))
    }

    /// Whether the segment is held until the trigger.
    pub const fn waits(&self) -> bool {
        self.flags & TONE_FLAG_WAIT != 0
    }

    /// Whether its value is constant.
    pub const fn is_constant(&self) -> bool {
        self.u[1] | self.u[2] | self.u[3] == 0
    }
}
