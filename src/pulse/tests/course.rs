//! Courses made without a heap equal those of the compiler.

mod support;

use kairos_contracts::pulse::Parameter;
use kairos_pulse::compile::{encode, Pulse, Shape};
use kairos_pulse::course::{update, CourseError, StoredParameter};
use kairos_pulse::units::{Rates, UnitError};
use kairos_pulse::{word, Word};
use proptest::prelude::*;
use support::pulse;

const RATES: Rates = Rates::REFERENCE;

/// The words that write a parameter's segments of a pulse from address 7 on, and their addresses
/// and flags.
fn written(pulse: &Pulse, p: usize) -> (Vec<Word>, Vec<(u16, u8)>) {
    let segments = &encode(pulse, &RATES).unwrap().segments[p];
    let at = |n: usize| 7 + n as u16;
    let words = segments
        .iter()
        .enumerate()
        .map(|(n, s)| word::program_plut(4, at(n), s))
        .collect();
    (
        words,
        segments.iter().enumerate().map(|(n, s)| (at(n), s.flags)).collect(),
    )
}

proptest! {
    #[test]
    fn update_of_parameter_equals_compiled_words(
        p in 0usize..8,
        values in prop::collection::vec(-100.0..100.0f64, 1..12),
        cycles in 60u64..100_000,
        flags in any::<u8>(),
    ) {
        let shape = if values.len() == 1 { Shape::Constant(values[0]) } else { Shape::Spline(values.clone()) };
        let mut pulse = pulse(2, cycles, &[(p, shape)]);
        (pulse.sync, pulse.clear, pulse.at_end, pulse.enable) = (flags & 3, flags >> 2 & 3, flags >> 4 & 3, flags >> 6);
        let (words, segments) = written(&pulse, p);
        let parameter = Parameter::ALL[p];
        let stored = StoredParameter { channels: 4, parameter, cycles, segments: &segments };
        let (mut made, mut scratch) = ([Word::default(); 12], [0.0; 36]);
        let count = update(&stored, &RATES, &values, &mut scratch, &mut made).unwrap();
        prop_assert_eq!(&made[..count], &words[..]);
    }
}

#[test]
fn invalid_course_is_refused() {
    let segments = [(0, 0), (1, 0), (2, 0)];
    let stored = StoredParameter {
        channels: 1,
        parameter: Parameter::A0,
        cycles: 100,
        segments: &segments,
    };
    let mut words = [Word::default(); 3];
    let mut attempt =
        |values: &[f64], scratch: usize| update(&stored, &RATES, values, &mut [0.0; 30][..scratch], &mut words);
    assert_eq!(attempt(&[0.0, 50.0, 50.0, 0.0], 12), Ok(3));
    assert_eq!(attempt(&[0.0, 50.0, 50.0, 0.0], 11), Err(CourseError::Room));
    assert_eq!(attempt(&[0.0, 50.0, 0.0], 12), Err(CourseError::Room));
    assert_eq!(attempt(&[1.0], 12), Err(CourseError::Room));
    assert_eq!(attempt(&[], 12), Err(CourseError::Room));
    assert_eq!(
        attempt(&[0.0, f64::NAN, 0.0, 0.0], 12),
        Err(CourseError::Unit(UnitError::NotFinite))
    );
    assert!(matches!(
        attempt(&[0.0, 200.0, 200.0, 0.0], 12),
        Err(CourseError::Overshoot { .. })
    ));
    let short = StoredParameter { cycles: 10, ..stored };
    let found = update(
        &short,
        &RATES,
        &[0.0, 1.0, 2.0, 3.0],
        &mut [0.0; 12],
        &mut [Word::default(); 3],
    );
    assert_eq!(found, Err(CourseError::TooShort { cycles: 3 }));
}
