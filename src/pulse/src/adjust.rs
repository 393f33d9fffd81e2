//! Adjustments of a gate by kernels, and the words that carry them out, made without a heap.
//!
//! The host gives kernels a list of the gate's adjustable segments (`kairos.pulse.program`), those
//! of a channel and parameter consecutively in playing order, each with the word that writes it to
//! the pulse table.

use crate::course::{self, CourseError, Quantity, SEGMENTS};
use crate::units::Rates;
use crate::{Segment, Word};
use kairos_contracts::pulse::{self as facts, Parameter, VALUE_BITS};

/// 32-bit numbers per entry.
const ENTRY: usize = facts::ADJUSTABLE_NUMBERS;
/// 32-bit numbers per word of the stream.
const WORD: usize = facts::WORD_BYTES / 4;
/// Upper bound of the magnitude of coefficients.
const END: f64 = (1u64 << (VALUE_BITS - 1)) as f64;

/// A word of the stream, least significant bits first.
pub type Numbers = [u32; WORD];

/// Why a change cannot be made. Nothing has been changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AdjustError {
    /// The parameter has nothing adjustable.
    Fixed,
    /// The number of values is neither one nor the number of steps or knots of the course, which
    /// has `segments` segments.
    Count { segments: usize },
    /// Multiplied by this factor, the course leaves its range.
    Factor,
    /// The core cannot represent the course.
    Course(CourseError),
}

impl From<CourseError> for AdjustError {
    fn from(error: CourseError) -> Self {
        Self::Course(error)
    }
}

/// The adjustable segments of a gate.
#[derive(Clone, Copy, Debug)]
pub struct Adjustable<'a> {
    rates: Rates,
    entries: &'a [[u32; ENTRY]],
}

impl<'a> Adjustable<'a> {
    /// Parses the host's list: samples per second, and an entry for each segment. `None` if it is
    /// malformed.
    pub fn new(list: &'a [u32]) -> Option<Self> {
        let (rate, rest) = list.split_first_chunk::<2>()?;
        let (entries, end) = rest.as_chunks();
        let rates = Rates {
            clock: double(rate),
            samples_per_cycle: 1,
        };
        end.is_empty().then_some(Self { rates, entries })
    }

    /// Passes the words that give a parameter another course, on all of the gate's channels, to
    /// `give`, with whether each is the last one.
    ///
    /// One value: a constant is set to it, any other shape is multiplied by it. As many values as
    /// segments: steps. One more: knots of a spline.
    #[inline]
    pub fn change(
        self,
        parameter: u32,
        values: &[f64],
        give: &mut impl FnMut(&Numbers, bool),
    ) -> Result<(), AdjustError> {
        let number = u8::try_from(parameter).ok().and_then(|p| Parameter::try_from(p).ok());
        let last = self.entries.iter().rposition(|entry| entry[0] & 0xff == parameter);
        let (Some(number), Some(last)) = (number, last) else {
            return Err(AdjustError::Fixed);
        };
        let entries = &self.entries[..=last];
        match *values {
            [value] if entries[last][0] & facts::ADJUSTABLE_SHAPED == 0 => {
                let word = Quantity::of(number)
                    .constant(value, &self.rates)
                    .map_err(CourseError::from)?;
                for (n, entry) in entries.iter().enumerate() {
                    if entry[0] & 0xff == parameter {
                        give(&constant(entry, word), n == last);
                    }
                }
                Ok(())
            }
            [factor] => scale(entries, parameter, factor, give),
            _ => self.courses(entries, Quantity::of(number), parameter, values, give),
        }
    }

    #[inline(never)]
    fn courses(
        self,
        entries: &[[u32; ENTRY]],
        quantity: Quantity,
        parameter: u32,
        values: &[f64],
        give: &mut dyn FnMut(&Numbers, bool),
    ) -> Result<(), AdjustError> {
        let place = |entry: &[u32; ENTRY]| (entry[0] & 0xff, entry[WORD] >> 24);
        let end = entries.as_ptr_range().end;
        // The first pass only finds errors.
        for really in [false, true] {
            let courses = entries.chunk_by(|a, b| place(a) == place(b));
            for course in courses.filter(|course| place(&course[0]).0 == parameter) {
                let mut left = course.len();
                let is_last = course.as_ptr_range().end == end;
                self.course(quantity, course, values, &mut |made| {
                    left -= 1;
                    if really {
                        give(made, is_last && left == 0);
                    }
                })?;
            }
        }
        Ok(())
    }

    fn course(
        self,
        quantity: Quantity,
        entries: &[[u32; ENTRY]],
        values: &[f64],
        give: &mut dyn FnMut(&Numbers),
    ) -> Result<(), AdjustError> {
        let segments = entries.len();
        if values.len() == segments {
            for (entry, &value) in entries.iter().zip(values) {
                let word = quantity.constant(value, &self.rates).map_err(CourseError::from)?;
                give(&constant(entry, word));
            }
            return Ok(());
        }
        if values.len() != segments + 1 || segments > SEGMENTS {
            return Err(AdjustError::Count { segments });
        }
        let mut made = [Segment::default(); SEGMENTS];
        let mut scratch = [0.0; 3 * (SEGMENTS + 1)];
        let cycles = entries.iter().map(|entry| Segment::from_word(&old(entry)).tau).sum();
        course::spline(quantity, &self.rates, values, cycles, &mut scratch, &mut made)?;
        for (entry, segment) in entries.iter().zip(&made) {
            give(&with(entry, segment.u, segment.tau, segment.shift));
        }
        Ok(())
    }
}

/// Passes the words of a parameter's entries, multiplied by a factor, to `give`.
#[inline(never)]
fn scale(
    entries: &[[u32; ENTRY]],
    parameter: u32,
    factor: f64,
    give: &mut dyn FnMut(&Numbers, bool),
) -> Result<(), AdjustError> {
    let of_parameter = |entry: &&[u32; ENTRY]| entry[0] & 0xff == parameter;
    // Rejects NaN as well.
    let fits = |entry: &[u32; ENTRY]| factor.abs() <= double(&[entry[WORD + 1], entry[WORD + 2]]);
    if !entries.iter().filter(of_parameter).all(fits) {
        return Err(AdjustError::Factor);
    }
    for (n, entry) in entries.iter().enumerate().filter(|(_, entry)| of_parameter(entry)) {
        give(
            &scaled(entry, factor).ok_or(AdjustError::Factor)?,
            n + 1 == entries.len(),
        );
    }
    Ok(())
}

fn double(halves: &[u32; 2]) -> f64 {
    f64::from_bits(u64::from(halves[1]) << 32 | u64::from(halves[0]))
}

/// The word of an entry.
fn old(entry: &[u32; ENTRY]) -> Word {
    Word(core::array::from_fn(|n| {
        u64::from(entry[2 * n + 2]) << 32 | u64::from(entry[2 * n + 1])
    }))
}

// Positions, within the numbers of a word, of the fields that a constant changes.
const _: () = assert!(facts::TAU_AT == 5 * 32 && facts::SHIFT_AT >= 6 * 32 && facts::VALUE_BITS < 64);

/// The word of an entry with a constant value.
fn constant(entry: &[u32; ENTRY], value: i64) -> Numbers {
    let value = value as u64 & ((1 << VALUE_BITS) - 1);
    let shift = ((1 << facts::SHIFT_BITS) - 1) << (facts::SHIFT_AT - 6 * 32);
    let of_old = [entry[6], entry[7] & !shift, entry[8]];
    [
        value as u32,
        (value >> 32) as u32,
        0,
        0,
        0,
        of_old[0],
        of_old[1],
        of_old[2],
    ]
}

/// The word of an entry with other coefficients, duration and shift.
fn with(entry: &[u32; ENTRY], u: [i64; 4], tau: u64, shift: u8) -> Numbers {
    let segment = Segment {
        u,
        tau,
        shift,
        ..Segment::from_word(&old(entry))
    };
    let Word(new) = segment.to_word();
    let numbers: Numbers = core::array::from_fn(|n| (new[n / 2] >> (32 * (n % 2))) as u32);
    // The bits above the segment are its destination.
    let above = !0 << (facts::BODY_BITS % 32);
    let mut made = numbers;
    made[WORD - 2] |= entry[WORD - 1] & above;
    made[WORD - 1] = entry[WORD];
    made
}

/// The word of an entry multiplied by `factor`, with a smaller shift if the coefficients do not
/// fit.
fn scaled(entry: &[u32; ENTRY], factor: f64) -> Option<Numbers> {
    let segment = Segment::from_word(&old(entry));
    let mut u = segment.u.map(|u| u as f64 * factor);
    let mut shift = segment.shift;
    while u[1..].iter().any(|u| u.abs() >= END) {
        shift = shift.checked_sub(1)?;
        u = [u[0], u[1] / 2.0, u[2] / 4.0, u[3] / 8.0];
    }
    Some(with(entry, u.map(|u| u as i64), segment.tau, shift))
}
