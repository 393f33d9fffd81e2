//! A pulse that a kernel makes from numbers, as words of the stream, without a heap and without tables: constants,
//! splines from knots, and sums of these, as the compiler would make them.

use crate::adjust::Numbers;
use crate::course::{self, CourseError, Quantity};
use crate::units::Rates;
use crate::{word, Segment, Word};
use kairos_contracts::pulse::{
    Parameter, FRAME_FLAG_AT_END, FRAME_FLAG_CLEAR, FRAME_FLAG_FORWARD0, FRAME_FLAG_FORWARD1, FRAME_FLAG_INVERT0,
    FRAME_FLAG_INVERT1, KERNEL_PULSE_FLAG_AT_END0, KERNEL_PULSE_FLAG_CLEAR0, KERNEL_PULSE_FLAG_ENABLE0,
    KERNEL_PULSE_FLAG_FEED_FORWARD0, KERNEL_PULSE_FLAG_FORWARD00, KERNEL_PULSE_FLAG_GPO0, KERNEL_PULSE_FLAG_INVERT00,
    KERNEL_PULSE_FLAG_SYNC0, KERNEL_PULSE_SEGMENTS, PARAMETERS, SEGMENT_CYCLES_MIN, TAU_MAX_BITS, TONE_FLAG_ENABLE,
    TONE_FLAG_FEED_FORWARD, TONE_FLAG_GPO, TONE_FLAG_SYNC,
};

/// Knots of the longest course.
const KNOTS: usize = KERNEL_PULSE_SEGMENTS + 1;
/// Values of all courses of a pulse that has two of the longest for each parameter.
pub const MOST_VALUES: usize = 2 * PARAMETERS * KNOTS;
/// Parameters of a tone; those of both tones precede the frames.
const OF_TONE: u32 = 3;
const FRAMES: u32 = 6;

/// Why a pulse cannot be made. No word has been given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KernelPulseError {
    /// There are more or fewer values than the courses have, a parameter that does not exist, or no channel.
    Malformed,
    /// The pulse is shorter than the shortest segment, or longer than the longest.
    Length { cycles: u32 },
    /// The courses of a parameter have different numbers of values, other than 1, or too many.
    Count { parameter: u32 },
    /// The core cannot represent the sum of a parameter's courses.
    Course { parameter: u32, error: CourseError },
    /// It has this number of different segments, more than its place in the tables.
    Room { segments: u32 },
}

/// A pulse: its channels, the core's other ones, which pause meanwhile, and its courses.
#[derive(Clone, Copy, Debug)]
pub struct KernelPulse<'a> {
    pub(crate) channels: u8,
    others: u8,
    pub(crate) cycles: u32,
    flags: u32,
    /// Parameter and number of values of each.
    courses: &'a [[u32; 2]],
}

impl<'a> KernelPulse<'a> {
    /// Parses a kernel's list: channels, the other ones, cycles, flags, then parameter and number of values of each
    /// course. `None` if it is malformed.
    pub fn new(list: &'a [u32]) -> Option<Self> {
        let (&[channels, others, cycles, flags], rest) = list.split_first_chunk()?;
        let (courses, end) = rest.as_chunks();
        let masks = [channels, others].map(u8::try_from);
        let [Ok(channels), Ok(others)] = masks else { return None };
        let exists = courses.iter().all(|&[parameter, _]| parameter < PARAMETERS as u32);
        (end.is_empty() && exists && channels != 0).then_some(Self {
            channels,
            others,
            cycles,
            flags,
            courses,
        })
    }

    /// Passes the words that stream the pulse to `give`. `values`: of all courses, one after another. Courses of one
    /// parameter add up, knot by knot, a single value to all; a parameter without any is 0.
    pub fn words(self, values: &[f64], rates: &Rates, give: &mut dyn FnMut(&Numbers)) -> Result<(), KernelPulseError> {
        self.check(values)?;
        // The first pass only finds errors.
        for really in [false, true] {
            if really && self.others != 0 {
                let pause = Segment::constant(0, self.cycles.into());
                give(&numbers(&word::bypass(self.others, !0, &pause)));
            }
            for parameter in 0..PARAMETERS as u32 {
                let mut put = |segment: &Segment| {
                    if really {
                        give(&numbers(&word::bypass(self.channels, 1 << parameter, segment)));
                    }
                };
                self.parameter(parameter, values, rates, &mut put)?;
            }
        }
        Ok(())
    }

    /// Whether it has a possible length, and the values that its courses say.
    pub(crate) fn check(&self, values: &[f64]) -> Result<(), KernelPulseError> {
        let cycles = self.cycles;
        if cycles < SEGMENT_CYCLES_MIN || u64::from(cycles) >> TAU_MAX_BITS != 0 {
            return Err(KernelPulseError::Length { cycles });
        }
        let counted = self.courses.iter().map(|&[_, count]| count as usize).sum::<usize>();
        if counted != values.len() || self.courses.iter().any(|&[_, count]| count == 0) {
            return Err(KernelPulseError::Malformed);
        }
        Ok(())
    }

    /// Passes the segments of a parameter to `put`.
    pub(crate) fn parameter(
        &self,
        parameter: u32,
        values: &[f64],
        rates: &Rates,
        put: &mut dyn FnMut(&Segment),
    ) -> Result<(), KernelPulseError> {
        let mut knots = [0.0; KNOTS];
        let count = self.sum(parameter, values, &mut knots)?;
        let number = Parameter::try_from(parameter as u8).map_err(|_| KernelPulseError::Malformed)?;
        let (quantity, failed) = (Quantity::of(number), |error| KernelPulseError::Course {
            parameter,
            error,
        });
        let mut made = [Segment::default(); KERNEL_PULSE_SEGMENTS];
        let segments = if count == 1 {
            let value = quantity
                .constant(knots[0], rates)
                .map_err(|error| failed(error.into()))?;
            made[0] = Segment::constant(value, self.cycles.into());
            1
        } else {
            let mut scratch = [0.0; 3 * KNOTS];
            let cycles = self.cycles.into();
            course::spline(quantity, rates, &knots[..count], cycles, &mut scratch, &mut made).map_err(failed)?
        };
        for (n, segment) in made[..segments].iter().enumerate() {
            let flags = self.flags_of(parameter, n == 0, segments > 1);
            put(&Segment { flags, ..*segment });
        }
        Ok(())
    }

    /// Adds up the courses of a parameter; returns the number of their values, at least 1.
    fn sum(&self, parameter: u32, values: &[f64], knots: &mut [f64; KNOTS]) -> Result<usize, KernelPulseError> {
        let (mut count, mut at) = (1, 0);
        for &[of, more] in self.courses {
            let own = &values[at..at + more as usize];
            at += own.len();
            if of != parameter {
                continue;
            }
            if own.len() > KNOTS || (own.len() > 1 && count > 1 && own.len() != count) {
                return Err(KernelPulseError::Count { parameter });
            }
            if count == 1 {
                count = own.len();
                // What is constant so far holds at all knots.
                let constant = knots[0];
                knots.fill(constant);
            }
            for (n, knot) in knots[..count].iter_mut().enumerate() {
                *knot += own[n.min(own.len() - 1)];
            }
        }
        Ok(count)
    }

    /// The flags of a parameter's segment, as the compiler sets them.
    fn flags_of(&self, parameter: u32, first: bool, several: bool) -> u8 {
        let set = |flag: u32, number: u32, bit: u8| match self.flags & flag << number {
            0 => 0,
            _ => bit,
        };
        if parameter >= FRAMES {
            let (frame, routes) = (parameter - FRAMES, 2 * (parameter - FRAMES));
            return set(KERNEL_PULSE_FLAG_FORWARD00, routes, FRAME_FLAG_FORWARD0)
                | set(KERNEL_PULSE_FLAG_FORWARD00, routes + 1, FRAME_FLAG_FORWARD1)
                | set(KERNEL_PULSE_FLAG_INVERT00, routes, FRAME_FLAG_INVERT0)
                | set(KERNEL_PULSE_FLAG_INVERT00, routes + 1, FRAME_FLAG_INVERT1)
                | if first { set(KERNEL_PULSE_FLAG_CLEAR0, frame, FRAME_FLAG_CLEAR) } else { 0 }
                // Each segment of a rotation adds its own part
                | if first || several { set(KERNEL_PULSE_FLAG_AT_END0, frame, FRAME_FLAG_AT_END) } else { 0 };
        }
        let tone = parameter / OF_TONE;
        set(KERNEL_PULSE_FLAG_ENABLE0, tone, TONE_FLAG_ENABLE)
            | set(KERNEL_PULSE_FLAG_FEED_FORWARD0, tone, TONE_FLAG_FEED_FORWARD)
            | set(KERNEL_PULSE_FLAG_GPO0, tone, TONE_FLAG_GPO)
            | if first {
                set(KERNEL_PULSE_FLAG_SYNC0, tone, TONE_FLAG_SYNC)
            } else {
                0
            }
    }
}

/// The word as 32-bit numbers, least significant first.
pub(crate) fn numbers(word: &Word) -> Numbers {
    core::array::from_fn(|n| (word.0[n / 2] >> (32 * (n % 2))) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word::{decode, Decoded, RunFormat};
    use std::{vec, vec::Vec};

    const RATES: Rates = Rates {
        clock: 1e9,
        samples_per_cycle: 1,
    };

    /// (channels, parameters, segment) of each word.
    fn words_of(list: &[u32], values: &[f64]) -> Result<Vec<(u8, u8, Segment)>, KernelPulseError> {
        let mut found = Vec::new();
        let pulse = KernelPulse::new(list).ok_or(KernelPulseError::Malformed)?;
        pulse.words(values, &RATES, &mut |numbers| {
            let word = Word(core::array::from_fn(|n| {
                u64::from(numbers[2 * n + 1]) << 32 | u64::from(numbers[2 * n])
            }));
            let Some(Decoded::Bypass { parameters, segment }) = decode(&word, RunFormat::Counted) else {
                panic!("no segment")
            };
            found.push((word::channels(&word), parameters, segment));
        })?;
        Ok(found)
    }

    fn of(found: &[(u8, u8, Segment)], parameter: u8) -> Vec<Segment> {
        let own = found
            .iter()
            .filter(|(channels, mask, _)| *channels == 1 && *mask == 1 << parameter);
        own.map(|(_, _, segment)| *segment).collect()
    }

    #[test]
    fn constants_and_zeros_last_as_long_as_the_pulse() {
        let found = words_of(&[1, 2, 100, KERNEL_PULSE_FLAG_SYNC0, 0, 1, 1, 1], &[200e6, 50.0]).unwrap();
        assert_eq!(found.len(), 9);
        assert_eq!(found[0], (2, 0xff, Segment::constant(0, 100)));
        let frequency = RATES.frequency(200e6).unwrap();
        let flags = TONE_FLAG_SYNC;
        assert_eq!(
            of(&found, 0),
            vec![Segment {
                flags,
                ..Segment::constant(frequency, 100)
            }]
        );
        assert_eq!(of(&found, 3), vec![Segment::constant(0, 100)]);
    }

    #[test]
    fn sum_of_splines_is_the_spline_of_the_sums() {
        let both = words_of(
            &[1, 0, 100, 0, 1, 4, 1, 4, 1, 1],
            &[0.0, 50.0, 60.0, 0.0, 5.0, 5.0, -5.0, 5.0, 1.0],
        )
        .unwrap();
        let sum = words_of(&[1, 0, 100, 0, 1, 4], &[6.0, 56.0, 56.0, 6.0]).unwrap();
        let first = words_of(&[1, 0, 100, 0, 1, 1, 1, 4], &[6.0, 0.0, 50.0, 50.0, 0.0]).unwrap();
        assert_eq!(both, sum);
        assert_eq!(first, sum);
        assert_eq!(of(&sum, 1).len(), 3);
    }

    #[test]
    fn rotation_over_several_segments_adds_up_each() {
        let flags = KERNEL_PULSE_FLAG_AT_END0
            | KERNEL_PULSE_FLAG_CLEAR0
            | KERNEL_PULSE_FLAG_FORWARD00
            | KERNEL_PULSE_FLAG_INVERT00 << 1;
        let found = of(&words_of(&[1, 0, 100, flags, 6, 3], &[0.0, 40.0, 90.0]).unwrap(), 6);
        let always = FRAME_FLAG_AT_END | FRAME_FLAG_FORWARD0 | FRAME_FLAG_INVERT1;
        assert_eq!(
            found.iter().map(|s| s.flags).collect::<Vec<_>>(),
            [always | FRAME_FLAG_CLEAR, always]
        );
        assert_eq!(found[1].u[0], 0);
    }

    #[test]
    fn impossible_pulse_is_refused_before_any_word() {
        let course = |parameter, error| KernelPulseError::Course { parameter, error };
        for (list, values, wanted) in [
            (&[1, 0, 3, 0][..], &[][..], KernelPulseError::Length { cycles: 3 }),
            (&[0, 0, 30, 0], &[], KernelPulseError::Malformed),
            (&[1, 0, 30, 0, 8, 1], &[1.0], KernelPulseError::Malformed),
            (&[1, 0, 30, 0, 1], &[1.0], KernelPulseError::Malformed),
            (&[1, 0, 30, 0, 1, 2], &[1.0], KernelPulseError::Malformed),
            (&[1, 0, 30, 0, 1, 0], &[], KernelPulseError::Malformed),
            (
                &[1, 0, 300, 0, 1, 2, 1, 3],
                &[1.0; 5],
                KernelPulseError::Count { parameter: 1 },
            ),
            (
                &[1, 0, 300, 0, 1, 18],
                &[1.0; 18],
                KernelPulseError::Count { parameter: 1 },
            ),
            (
                &[1, 0, 8, 0, 1, 4],
                &[1.0; 4],
                course(1, CourseError::TooShort { cycles: 3 }),
            ),
        ] {
            assert_eq!(words_of(list, values), Err(wanted), "{list:?}");
        }
        let Err(KernelPulseError::Course { parameter: 4, .. }) = words_of(&[1, 0, 30, 0, 4, 1, 4, 1], &[150.0, 60.0])
        else {
            panic!("beyond full scale")
        };
    }
}
