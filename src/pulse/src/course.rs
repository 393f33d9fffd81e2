//! The course of one parameter as segments and words, without a heap: for a kernel that changes an
//! angle or an amplitude.
//!
//! The compiler uses the same code for its splines, so that both generate the same words.

use crate::knots::{self, boundary, Cubic, Natural, TooSteep};
use crate::units::{self, Rates, UnitError};
use crate::{word, Segment, Word};
use kairos_contracts::pulse::{self as facts, Parameter, AMPLITUDE_FRACTION, SEGMENT_CYCLES_MIN, VALUE_BITS};

/// Physical quantity of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    Frequency,
    Amplitude,
    Phase,
    Rotation,
}

/// Why the core cannot represent a course.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CourseError {
    /// A value is out of range.
    Unit(UnitError),
    /// Between its knots an amplitude's spline reaches this value, in units of which 200 are full
    /// scale.
    Overshoot { reaches: f64 },
    /// Too steep for the coefficients.
    TooSteep,
    /// A segment would be too short: it would have this number of cycles.
    TooShort { cycles: u64 },
    /// There are no values, or the buffers are too small: a segment for each step between knots
    /// (one for a constant), and three numbers for each knot.
    Room,
}

impl From<UnitError> for CourseError {
    fn from(error: UnitError) -> Self {
        Self::Unit(error)
    }
}

impl From<TooSteep> for CourseError {
    fn from(_: TooSteep) -> Self {
        Self::TooSteep
    }
}

/// Full scale of the amplitude register; a trajectory must not wrap.
const AMPLITUDE_END: f64 = (1i64 << (VALUE_BITS - 1)) as f64;

impl Quantity {
    /// Returns the quantity of a parameter.
    pub const fn of(parameter: Parameter) -> Self {
        match parameter {
            Parameter::F0 | Parameter::F1 => Self::Frequency,
            Parameter::A0 | Parameter::A1 => Self::Amplitude,
            Parameter::P0 | Parameter::P1 => Self::Phase,
            Parameter::Z0 | Parameter::Z1 => Self::Rotation,
        }
    }

    /// Converts a constant value to a word.
    #[inline]
    pub fn constant(self, value: f64, rates: &Rates) -> Result<i64, UnitError> {
        match self {
            Self::Frequency => rates.frequency(value),
            Self::Amplitude => units::amplitude(value),
            Self::Phase | Self::Rotation => units::phase(value),
        }
    }

    /// Converts a knot to a number in units of words.
    pub fn knot(self, value: f64, rates: &Rates) -> Result<f64, UnitError> {
        match self {
            Self::Phase | Self::Rotation => units::phase_knot(value),
            _ => Ok(self.constant(value, rates)? as f64),
        }
    }

    /// Checks that a polynomial stays within the range of the register.
    pub fn check_range(self, cubic: &Cubic) -> Result<(), CourseError> {
        if self != Self::Amplitude {
            return Ok(());
        }
        let (low, high) = knots::extremes(cubic);
        let furthest = if -low > high { low } else { high };
        if furthest.abs() >= AMPLITUDE_END {
            let unit = units::to_amplitude(1 << AMPLITUDE_FRACTION) / f64::from(1u32 << AMPLITUDE_FRACTION);
            return Err(CourseError::Overshoot {
                reaches: furthest * unit,
            });
        }
        Ok(())
    }
}

/// Writes the segments of the natural spline through equidistant values to `out`; returns their
/// number. `scratch`: three numbers per value. The segments have no flags.
pub fn spline(
    quantity: Quantity,
    rates: &Rates,
    values: &[f64],
    cycles: u64,
    scratch: &mut [f64],
    out: &mut [Segment],
) -> Result<usize, CourseError> {
    let (n, steps) = (values.len(), values.len().saturating_sub(1));
    if steps == 0 || out.len() < steps || scratch.len() < 3 * n {
        return Err(CourseError::Room);
    }
    let (points, rest) = scratch.split_at_mut(n);
    let (slopes, pivots) = rest.split_at_mut(n);
    for (point, &value) in points.iter_mut().zip(values) {
        *point = quantity.knot(value, rates)?;
    }
    let pieces = Natural::new(points, &mut slopes[..n], pivots).pieces();
    for (i, (cubic, segment)) in pieces.zip(out).enumerate() {
        let tau = boundary(i + 1, steps, cycles) - boundary(i, steps, cycles);
        if tau < SEGMENT_CYCLES_MIN.into() {
            return Err(CourseError::TooShort { cycles: tau });
        }
        quantity.check_range(&cubic)?;
        *segment = knots::segment(&cubic, tau)?;
        if quantity == Quantity::Rotation && i != 0 {
            // The frame's accumulator holds the rotation so far.
            segment.u[0] = 0;
        }
    }
    Ok(steps)
}

/// A parameter's segments in the tables of a core: their location, and the properties that are kept
/// when the course changes.
#[derive(Clone, Copy, Debug)]
pub struct StoredParameter<'a> {
    pub channels: u8,
    pub parameter: Parameter,
    /// Duration of the parameter in its pulse.
    pub cycles: u64,
    /// Address of each segment in the pulse table, and its flags.
    pub segments: &'a [(u16, u8)],
}

/// Makes the words that give the parameter `stored` another course: one constant value, or one
/// knot more than there are segments. Writes one word per segment to `words`; returns their number.
/// `scratch`: three numbers per value.
pub fn update(
    stored: &StoredParameter,
    rates: &Rates,
    values: &[f64],
    scratch: &mut [f64],
    words: &mut [Word],
) -> Result<usize, CourseError> {
    let quantity = Quantity::of(stored.parameter);
    let mut made = [Segment::default(); SEGMENTS];
    let count = match values {
        [value] => {
            made[0] = Segment::constant(quantity.constant(*value, rates)?, stored.cycles);
            1
        }
        _ => spline(quantity, rates, values, stored.cycles, scratch, &mut made)?,
    };
    if count != stored.segments.len() || words.len() < count {
        return Err(CourseError::Room);
    }
    for ((word, segment), &(address, flags)) in words.iter_mut().zip(&made).zip(stored.segments) {
        *word = word::program_plut(stored.channels, address, &Segment { flags, ..*segment });
    }
    Ok(count)
}

/// Maximum number of segments of a parameter that can be updated at once: the size of a segment
/// FIFO of the reference core.
pub const SEGMENTS: usize = facts::SEGMENT_FIFO;
