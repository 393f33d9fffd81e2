//! Frames: accumulated rotations, and their application to tones.

use super::FrameCommit;
use crate::wrap;
use kairos_contracts::pulse::{
    FRAME_FLAG_AT_END, FRAME_FLAG_CLEAR, FRAME_FLAG_FORWARD0, FRAME_FLAG_FORWARD1, FRAME_FLAG_INVERT0,
    FRAME_FLAG_INVERT1, TONES, VALUE_BITS,
};

/// Accumulator of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The sum of finished segments; base of the running one.
    accumulated: i64,
    /// Added when the next segment starts.
    pending: i64,
}

impl Frame {
    /// Applies skipped zero-length segments: the frame is cleared, then rotated.
    pub fn skip(&mut self, cleared: bool, rotation: i64) {
        if cleared {
            *self = Self::default();
        }
        self.pending = wrap(self.pending + rotation, VALUE_BITS);
    }

    /// Starts a segment.
    pub fn start(&mut self, flags: u8) {
        if flags & FRAME_FLAG_CLEAR != 0 {
            *self = Self::default();
        }
        self.accumulated = wrap(self.accumulated + self.pending, VALUE_BITS);
        self.pending = 0;
    }

    /// The output while the running segment has this value.
    #[inline]
    pub fn shown(&self, value: i64, flags: u8) -> i64 {
        let rotation = if flags & FRAME_FLAG_AT_END != 0 { 0 } else { value };
        wrap(self.accumulated.wrapping_add(rotation), VALUE_BITS)
    }

    /// Ends a segment. `last`: its last value; `behind`: the value after it.
    pub fn end(&mut self, last: i64, behind: i64, constant: bool, flags: u8, commit: FrameCommit) {
        let (value, at_end) = match commit {
            FrameCommit::Emulator if !constant => (last, false),
            _ => (behind, flags & FRAME_FLAG_AT_END != 0),
        };
        if at_end {
            self.pending = value;
        } else {
            self.accumulated = wrap(self.accumulated + value, VALUE_BITS);
        }
    }
}

/// For each tone, the flags that apply a frame to it and that negate it.
const ROUTES: [(u8, u8); TONES] = [
    (FRAME_FLAG_FORWARD0, FRAME_FLAG_INVERT0),
    (FRAME_FLAG_FORWARD1, FRAME_FLAG_INVERT1),
];

/// The rotation applied to a tone: that of the first frame forwarded to it.
#[inline]
pub fn applied(tone: usize, shown: [i64; 2], flags: [u8; 2]) -> i64 {
    let (forward, invert) = ROUTES[tone];
    for (shown, flags) in shown.into_iter().zip(flags) {
        if flags & forward != 0 {
            return if flags & invert != 0 {
                wrap(-shown, VALUE_BITS)
            } else {
                shown
            };
        }
    }
    0
}
