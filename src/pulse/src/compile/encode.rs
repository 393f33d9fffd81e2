//! Converts a pulse to segments, parameter by parameter.

use super::fit::fit;
use super::{Error, Kind, Pulse, Shape};
use crate::course::{self, CourseError, Quantity};
use crate::knots::{self, boundary};
use crate::units::Rates;
use crate::{wrap, Segment, Spline};
use alloc::{vec, vec::Vec};
use kairos_contracts::pulse::{self as facts, Parameter, PARAMETERS, TONES, VALUE_BITS};

/// Segments of a pulse.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Encoded {
    /// Consecutive segments of each parameter; each list has the pulse's duration in total.
    pub segments: [Vec<Segment>; PARAMETERS],
    /// Largest deviation of the engines from the samples of each parameter, in its unit; 0 without
    /// samples.
    pub errors: [f64; PARAMETERS],
    /// Parameters whose segments are not merged with equal ones.
    pub own: u8,
}

/// Word units per unit of amplitude; below, per degree.
const AMPLITUDE_WORDS: f64 = AMPLITUDE_MAX * (1u32 << facts::AMPLITUDE_FRACTION) as f64 / facts::AMPLITUDE_UNITS as f64;
const AMPLITUDE_MAX: f64 = facts::AMPLITUDE_MAX as f64;
const DEGREE_WORDS: f64 = (1u64 << VALUE_BITS) as f64 / 360.0;

/// Converts a pulse to segments. Errors name channel and parameter.
pub fn encode(pulse: &Pulse, rates: &Rates) -> Result<Encoded, Error> {
    let place = |kind: Kind| Error::new(kind).on_channel(pulse.channel);
    if pulse.cycles >> facts::TAU_MAX_BITS != 0 {
        return Err(place(Kind::TooLong { cycles: pulse.cycles }));
    }
    let mut encoded = Encoded {
        own: pulse.own,
        ..Encoded::default()
    };
    for parameter in Parameter::ALL {
        let p = parameter as usize;
        let mut course = Course {
            rates,
            quantity: Quantity::of(parameter),
            error: 0.0,
        };
        let mut segments = course
            .segments(&pulse.shapes[p], pulse.cycles, false)
            .map_err(|kind| place(kind).of_parameter(parameter))?;
        let turning = course.quantity == Quantity::Rotation && turns_by_pieces(&pulse.shapes[p]);
        for (n, segment) in segments.iter_mut().enumerate() {
            segment.flags = flags(pulse, p, n == 0, turning);
        }
        encoded.segments[p] = segments;
        encoded.errors[p] = course.error;
    }
    Ok(encoded)
}

/// Whether the rotations of a course's segments add up.
fn turns_by_pieces(shape: &Shape) -> bool {
    matches!(shape, Shape::Spline(_) | Shape::Samples { .. } | Shape::Mixed(_))
}

/// Flags of a segment; some are set in the first segment of a parameter only.
fn flags(pulse: &Pulse, p: usize, first: bool, turning: bool) -> u8 {
    let set = |flag: u8, holds: bool| if holds { flag } else { 0 };
    let wait = set(facts::TONE_FLAG_WAIT, pulse.wait && first);
    let of = |mask: u8, n: usize| mask >> n & 1 != 0;
    let Some(frame) = p.checked_sub(Parameter::Z0 as usize) else {
        let tone = p / 3;
        return wait
            | set(facts::TONE_FLAG_SYNC, first && of(pulse.sync, tone))
            | set(facts::TONE_FLAG_ENABLE, of(pulse.enable, tone))
            | set(facts::TONE_FLAG_FEED_FORWARD, of(pulse.feed_forward, tone))
            | set(facts::TONE_FLAG_GPO, of(pulse.gpo, tone));
    };
    let routes: [(u8, u8); TONES] = [
        (facts::FRAME_FLAG_FORWARD0, facts::FRAME_FLAG_INVERT0),
        (facts::FRAME_FLAG_FORWARD1, facts::FRAME_FLAG_INVERT1),
    ];
    let routed = routes.iter().enumerate().map(|(tone, &(forward, invert))| {
        set(forward, of(pulse.forward[frame], tone)) | set(invert, of(pulse.invert[frame], tone))
    });
    wait | routed.fold(0, |flags, flag| flags | flag)
        | set(facts::FRAME_FLAG_CLEAR, first && of(pulse.clear, frame))
        // The segments of a spline, or of a mixed course, are all added at their ends, or only the
        // first one's rotation would be.
        | set(facts::FRAME_FLAG_AT_END, (first || turning) && of(pulse.at_end, frame))
}

struct Course<'a> {
    rates: &'a Rates,
    quantity: Quantity,
    error: f64,
}

impl Course<'_> {
    fn segments(&mut self, shape: &Shape, cycles: u64, nested: bool) -> Result<Vec<Segment>, Kind> {
        match shape {
            Shape::Constant(value) => self.steps(&[*value], cycles),
            Shape::Steps(values) => self.steps(values, cycles),
            Shape::Spline(values) if values.len() < 2 => Err(Kind::Empty),
            Shape::Spline(values) => self.spline(values, cycles),
            Shape::Mixed(_) if nested => Err(Kind::Nested),
            Shape::Mixed(items) if items.is_empty() => Err(Kind::Empty),
            Shape::Mixed(items) => {
                let mut all = Vec::new();
                for (i, item) in items.iter().enumerate() {
                    let share = boundary(i + 1, items.len(), cycles) - boundary(i, items.len(), cycles);
                    all.extend(self.segments(item, share, true)?);
                }
                Ok(all)
            }
            Shape::Samples { values, .. } if values.len() < 2 => Err(Kind::Empty),
            Shape::Samples { values, tolerance } => self.samples(values, cycles, *tolerance),
        }
    }

    /// Divides the cycles into shares; none may be shorter than the compiler's minimum.
    fn shares(&self, n: usize, cycles: u64) -> Result<Vec<u64>, Kind> {
        let shares: Vec<u64> = (0..n)
            .map(|i| boundary(i + 1, n, cycles) - boundary(i, n, cycles))
            .collect();
        match shares.iter().find(|&&share| share < facts::SEGMENT_CYCLES_MIN.into()) {
            Some(&cycles) => Err(Kind::TooShort { cycles }),
            None => Ok(shares),
        }
    }

    fn steps(&self, values: &[f64], cycles: u64) -> Result<Vec<Segment>, Kind> {
        if values.is_empty() {
            return Err(Kind::Empty);
        }
        let shares = self.shares(values.len(), cycles)?;
        let pairs = values.iter().zip(shares);
        pairs
            .map(|(&value, share)| Ok(Segment::constant(self.quantity.constant(value, self.rates)?, share)))
            .collect()
    }

    fn spline(&self, values: &[f64], cycles: u64) -> Result<Vec<Segment>, Kind> {
        self.shares(values.len() - 1, cycles)?;
        let mut scratch = vec![0.0; 3 * values.len()];
        let mut segments = vec![Segment::default(); values.len() - 1];
        course::spline(self.quantity, self.rates, values, cycles, &mut scratch, &mut segments)?;
        Ok(segments)
    }

    /// Word units per unit of the quantity.
    fn scale(&self) -> f64 {
        match self.quantity {
            Quantity::Frequency => (1u64 << VALUE_BITS) as f64 / self.rates.samples(),
            Quantity::Amplitude => AMPLITUDE_WORDS,
            Quantity::Phase | Quantity::Rotation => DEGREE_WORDS,
        }
    }

    fn samples(&mut self, values: &[f64], cycles: u64, tolerance: f64) -> Result<Vec<Segment>, Kind> {
        if cycles < facts::SEGMENT_CYCLES_MIN.into() {
            return Err(Kind::TooShort { cycles });
        }
        for &value in values {
            self.quantity.knot(value, self.rates)?;
        }
        let scale = self.scale();
        let words: Vec<f64> = values.iter().map(|value| value * scale).collect();
        let unfit = |error: f64| Kind::Fit {
            error: error / scale,
            tolerance,
        };
        let mut segments = Vec::new();
        let mut turned = 0;
        for piece in fit(&words, cycles, tolerance * scale).map_err(unfit)? {
            self.quantity.check_range(&piece.cubic)?;
            let mut segment = knots::segment(&piece.cubic, piece.cycles).map_err(CourseError::from)?;
            if self.quantity == Quantity::Rotation {
                segment.u[0] = wrap(segment.u[0].wrapping_sub(turned), VALUE_BITS);
                let mut spline = Spline::new(&segment);
                spline.skip(segment.tau);
                turned = wrap(turned.wrapping_add(spline.value()), VALUE_BITS);
            }
            segments.push(segment);
        }
        let error = self.distance(&segments, &words, cycles) / scale;
        self.error = self.error.max(error);
        Ok(segments)
    }

    /// The largest deviation of the engine's values from the samples, in words: at a sample's time,
    /// interpolated linearly between the adjacent cycles.
    fn distance(&self, segments: &[Segment], words: &[f64], cycles: u64) -> f64 {
        let time = |sample: usize| sample as f64 * cycles as f64 / (words.len() - 1) as f64;
        let (mut start, mut base, mut sample, mut worst) = (0u64, 0, 0, 0.0f64);
        let mut played = vec![0; 4097];
        for segment in segments {
            let mut spline = Spline::new(segment);
            let mut left = segment.tau;
            while left != 0 {
                let n = left.min(4096) as usize;
                spline.fill(&mut played[..n]);
                // The cycle after a segment is its continuation.
                played[n] = spline.value();
                while sample < words.len() && time(sample) < (start + n as u64) as f64 {
                    let at = time(sample) - start as f64;
                    let before = at as usize;
                    let apart = |cycle: usize| {
                        let value = played[cycle].wrapping_add(base);
                        wrap(value.wrapping_sub(libm::rint(words[sample]) as i64), VALUE_BITS) as f64
                    };
                    let share = at - before as f64;
                    worst = worst.max((apart(before) * (1.0 - share) + apart(before + 1) * share).abs());
                    sample += 1;
                }
                (start, left) = (start + n as u64, left - n as u64);
            }
            if self.quantity == Quantity::Rotation {
                base = wrap(base.wrapping_add(spline.value()), VALUE_BITS);
            }
        }
        worst
    }
}
