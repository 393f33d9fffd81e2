//! The pulse compiler: from gates in Hz, degrees and seconds to words of the stream.
//!
//! A [`Pulse`] gives a course ([`Shape`]) for each parameter of a channel; a [`Gate`] is a list of
//! pulses. [`encode`] converts a pulse to segments, [`Image`] packs those of a gate set into the
//! tables, and makes the words that program them, that run a sequence, and that change one gate set
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

/// The course of a parameter during a pulse, in Hz, degrees, or units of which 200 are full scale.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A constant value.
    Constant(f64),
    /// These values, each for an equal share of the pulse.
    Steps(Vec<f64>),
    /// A natural cubic spline through these knots, which are equidistant.
    Spline(Vec<f64>),
    /// These shapes one after another, each for an equal share of the pulse.
    Mixed(Vec<Shape>),
    /// Follows samples, which are equidistant from the pulse's start to its end, to within
    /// `tolerance`.
    Samples { values: Vec<f64>, tolerance: f64 },
}

impl Default for Shape {
    fn default() -> Self {
        Self::Constant(0.0)
    }
}

/// The output of a channel for a number of cycles. Masks have a bit for each tone, or for each
/// frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pulse {
    /// The channel, from 0 on.
    pub channel: u8,
    /// Duration in cycles.
    pub cycles: u64,
    /// Course of each parameter, in the order of `Parameter`.
    pub shapes: [Shape; PARAMETERS],
    /// Hold until the trigger.
    pub wait: bool,
    /// Tones whose phase is synchronised to the global phase at the start.
    pub sync: u8,
    /// Tones whose output-enable pin is high.
    pub enable: u8,
    /// Tones to which feed-forward is applied.
    pub feed_forward: u8,
    /// Tones whose general-purpose pin is high.
    pub gpo: u8,
    /// Frames that are cleared at the start.
    pub clear: u8,
    /// Frames whose rotation is added at the end.
    pub at_end: u8,
    /// For each frame, the tones to which it is applied.
    pub forward: [u8; TONES],
    /// For each frame, the tones for which it is negated.
    pub invert: [u8; TONES],
    /// Parameters whose segments are not merged with equal ones, so that they can be overwritten
    /// individually.
    pub own: u8,
}

impl Pulse {
    /// Creates a pulse of zeros.
    pub fn idle(channel: u8, cycles: u64) -> Self {
        Self {
            channel,
            cycles,
            ..Self::default()
        }
    }
}

/// A named list of pulses: those of one channel play one after another, channels in parallel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gate {
    pub name: String,
    pub pulses: Vec<Pulse>,
}
