//! Frames: accumulated rotations, and what of them is applied to each tone.

use super::FrameCommit;
use crate::wrap;
use kairos_contracts::pulse::{
    FRAME_FLAG_AT_END, FRAME_FLAG_CLEAR, FRAME_FLAG_FORWARD0, FRAME_FLAG_FORWARD1, FRAME_FLAG_INVERT0,
    FRAME_FLAG_INVERT1, TONES, VALUE_BITS,
};

/// Accumulator of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The sum of what has ended; while a segment runs, its base.
    accumulated: i64,
    /// What is added when the next segment starts.
    pending: i64,
}

impl Frame {
    /// Segments of no cycles have been passed over: the frame is cleared, then turned.
    pub fn skip(&mut self, cleared: bool, rotation: i64) {
        if cleared {
            *self = Self::default();
        }
        self.pending = wrap(self.pending + rotation, VALUE_BITS);
    }

    /// A segment starts.
    pub fn start(&mut self, flags: u8) {
        if flags & FRAME_FLAG_CLEAR != 0 {
            *self = Self::default();
        }
        self.accumulated = wrap(self.accumulated + self.pending, VALUE_BITS);
        self.pending = 0;
    }

    /// What is shown while the running segment has this value.
    #[inline]
    pub fn shown(&self, value: i64, flags: u8) -> i64 {
        let rotation = if flags & FRAME_FLAG_AT_END != 0 { 0 } else { value };
        wrap(self.accumulated.wrapping_add(rotation), VALUE_BITS)
    }

    /// A segment has ended: its last value, and the one behind it.
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

/// Flags that apply a frame to a tone, and that negate it there.
const ROUTES: [(u8, u8); TONES] = [
    (FRAME_FLAG_FORWARD0, FRAME_FLAG_INVERT0),
    (FRAME_FLAG_FORWARD1, FRAME_FLAG_INVERT1),
];

/// What is applied to a tone: the first frame that is forwarded to it counts.
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
