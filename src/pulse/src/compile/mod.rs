//! The pulse compiler: from gates in Hz, degrees and seconds to words of the stream.
//!
//! A [`Pulse`] says for each parameter of a channel what it does ([`Shape`]); a [`Gate`] is a list
//! of pulses. [`encode`] makes segments of a pulse, [`Image`] packs those of a gate set into the
//! tables, and gives the words that program them, that run a sequence, and that change one gate set
//! into another.

mod diff;
mod encode;
mod error;
mod fit;
mod image;
mod sequence;
mod stats;
mod stream;

pub use encode::{encode, Encoded};
pub use error::{Error, Kind};
pub use image::{Image, Limits, Owned, Placed};
pub use sequence::{Sequence, Step};
pub use stats::{GateStats, Stats};
pub use stream::{stream, Timed};

use alloc::{string::String, vec::Vec};
use kairos_contracts::pulse::{PARAMETERS, TONES};

/// What a parameter does in a pulse, in Hz, degrees, or parts of 200.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// It stays.
    Constant(f64),
    /// It takes these values, each for an equal share of the pulse.
    Steps(Vec<f64>),
    /// It goes through these knots, which are equally far apart, as a natural cubic spline.
    Spline(Vec<f64>),
    /// These one after another, each for an equal share of the pulse.
    Mixed(Vec<Shape>),
    /// It follows samples, which are equally far apart from the pulse's begin to its end, to within
    /// `tolerance`.
    Samples { values: Vec<f64>, tolerance: f64 },
}

impl Default for Shape {
    fn default() -> Self {
        Self::Constant(0.0)
    }
}

/// What a channel does for some cycles. Masks have a bit for each tone, or for each frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pulse {
    /// The channel, from 0 on.
    pub channel: u8,
    /// Its length.
    pub cycles: u64,
    /// What each parameter does, in the order of `Parameter`.
    pub shapes: [Shape; PARAMETERS],
    /// It is held until the trigger.
    pub wait: bool,
    /// Tones that begin at the global phase.
    pub sync: u8,
    /// Tones whose output-enable pin is high.
    pub enable: u8,
    /// Tones that follow the feed-forward.
    pub feed_forward: u8,
    /// Tones whose general-purpose pin is high.
    pub gpo: u8,
    /// Frames that are cleared first.
    pub clear: u8,
    /// Frames whose rotation is added at the end.
    pub at_end: u8,
    /// For each frame, the tones that it is applied to.
    pub forward: [u8; TONES],
    /// For each frame, the tones for which it is negated.
    pub invert: [u8; TONES],
    /// Parameters whose segments are kept apart from equal ones, so that they can be overwritten alone.
    pub own: u8,
}

impl Pulse {
    /// Zeros.
    pub fn idle(channel: u8, cycles: u64) -> Self {
        Self {
            channel,
            cycles,
            ..Self::default()
        }
    }
}

/// Pulses under a name: those of one channel one after another, channels beside each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gate {
    pub name: String,
    pub pulses: Vec<Pulse>,
}
