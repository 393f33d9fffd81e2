//! A gate changed by a kernel equals the one compiled with the change.

mod support;

use kairos_contracts::pulse::{self as facts, Parameter};
use kairos_pulse::adjust::{AdjustError, Adjustable};
use kairos_pulse::compile::{encode, Pulse, Shape};
use kairos_pulse::course::CourseError;
use kairos_pulse::units::{Rates, UnitError};
use kairos_pulse::{word, Segment, Word};
use proptest::prelude::*;
use support::pulse;

const RATES: Rates = Rates::REFERENCE;

fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// The words of a pulse's parameter on each of `channels`, at separate addresses.
fn words(pulse: &Pulse, p: usize, channels: &[u8]) -> Vec<Word> {
    let segments = &encode(pulse, &RATES).unwrap().segments[p];
    let of = |channel: u8| {
        (0..)
            .zip(segments)
            .map(move |(n, s)| word::program_plut(1 << channel, 100 + n, s))
    };
    channels.iter().flat_map(|&channel| of(channel)).collect()
}

/// The list of a gate that is handed to kernels.
fn list(words: &[Word], parameter: u32, shaped: bool, most: f64) -> Vec<u32> {
    let mut list = halves(RATES.samples().to_bits()).to_vec();
    for word in words {
        list.push(parameter | if shaped { facts::ADJUSTABLE_SHAPED } else { 0 });
        list.extend(word.0.iter().flat_map(|&limb| halves(limb)));
        list.extend(halves(most.to_bits()));
    }
    list
}

fn change(list: &[u32], parameter: u32, values: &[f64]) -> Result<Vec<Word>, AdjustError> {
    let (mut made, mut ends) = (Vec::new(), Vec::new());
    Adjustable::new(list)
        .unwrap()
        .change(parameter, values, &mut |numbers, last| {
            made.push(Word(core::array::from_fn(|n| {
                u64::from(numbers[2 * n + 1]) << 32 | u64::from(numbers[2 * n])
            })));
            ends.push(last);
        })?;
    assert_eq!(ends.iter().position(|&last| last), Some(made.len() - 1));
    Ok(made)
}

proptest! {
    #[test]
    fn change_equals_compiled_gate_set(
        p in 0usize..8,
        (before, after) in (1usize..12).prop_flat_map(|n| {
            let values = || prop::collection::vec(-100.0..100.0f64, n);
            (values(), values())
        }),
        steps in any::<bool>(),
        cycles in 60u64..100_000,
        flags in any::<u8>(),
    ) {
        let made = |values: &[f64]| {
            let shape = match values {
                &[value] => Shape::Constant(value),
                _ if steps => Shape::Steps(values.to_vec()),
                _ => Shape::Spline(values.to_vec()),
            };
            let mut pulse = pulse(2, cycles, &[(p, shape)]);
            (pulse.sync, pulse.clear, pulse.at_end, pulse.enable) = (flags & 3, flags >> 2 & 3, flags >> 4 & 3, flags >> 6);
            words(&pulse, p, &[2, 5])
        };
        let list = list(&made(&before), p as u32, before.len() > 1, 1e6);
        prop_assert_eq!(change(&list, p as u32, &after), Ok(made(&after)));
    }

    #[test]
    fn scaled_shape_keeps_its_form(knots in prop::collection::vec(-40.0..40.0f64, 2..8), factor in -2.0..2.0f64) {
        let before = words(&pulse(0, 1000, &[(1, Shape::Spline(knots))]), 1, &[0]);
        let after = change(&list(&before, 1, true, 4.0), 1, &[factor]).unwrap();
        for (before, after) in before.iter().zip(after) {
            let (old, new) = (Segment::from_word(before), Segment::from_word(&after));
            prop_assert_eq!((old.tau, old.flags), (new.tau, new.flags));
            for n in 0..4 {
                let at = |s: &Segment| s.u[n] as f64 / f64::from(s.shift).exp2().powi(n as i32);
                prop_assert!((at(&new) - factor * at(&old)).abs() <= 1.0);
            }
            prop_assert_eq!(word::channels(before), word::channels(&after));
        }
    }
}

#[test]
fn invalid_change_is_refused_before_any_word() {
    let shape = words(
        &pulse(0, 100, &[(1, Shape::Spline(vec![0.0, 50.0, 50.0, 0.0]))]),
        1,
        &[0],
    );
    let shape = list(&shape, Parameter::A0 as u32, true, 3.0);
    let a0 = Parameter::A0 as u32;
    assert_eq!(change(&shape, 0, &[1.0]), Err(AdjustError::Fixed));
    assert_eq!(change(&shape, 8, &[1.0]), Err(AdjustError::Fixed));
    assert_eq!(change(&shape, a0, &[3.1]), Err(AdjustError::Factor));
    assert_eq!(change(&shape, a0, &[f64::NAN]), Err(AdjustError::Factor));
    assert_eq!(change(&shape, a0, &[1.0, 2.0]), Err(AdjustError::Count { segments: 3 }));
    let overshoot = change(&shape, a0, &[0.0, 200.0, 200.0, 0.0]);
    assert!(matches!(
        overshoot,
        Err(AdjustError::Course(CourseError::Overshoot { .. }))
    ));
    let number = list(
        &words(&pulse(0, 100, &[(1, Shape::Constant(7.0))]), 1, &[0]),
        a0,
        false,
        1.0,
    );
    let refused = AdjustError::Course(CourseError::Unit(UnitError::Amplitude { value: 201.0 }));
    assert_eq!(change(&number, a0, &[201.0]), Err(refused));
    assert!(Adjustable::new(&shape[1..]).is_none());
}
