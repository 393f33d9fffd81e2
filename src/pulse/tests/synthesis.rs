//! The specification's checks 53 to 63, by number: phases, samples, feed-forward, crosstalk,
//! spectrum.

mod support;

use kairos_contracts::pulse as facts;
use kairos_pulse::model::{Config, Coupling, Machine};
use kairos_pulse::word;
use proptest::prelude::*;
use support::{flagged, waiting};

const MASK: i64 = (1 << 40) - 1;

/// A machine of one channel in which tone 0 plays these (frequency, amplitude, cycles, flags) one
/// after another; in the cycle before the first one starts.
fn tones(pulses: &[(i64, i64, u64, u8)], config: Config) -> Machine {
    let mut machine = Machine::new(Config { channels: 1, ..config });
    for (n, &(frequency, amplitude, tau, flags)) in pulses.iter().enumerate() {
        let first = if n == 0 { facts::TONE_FLAG_WAIT } else { 0 };
        machine.feed([
            word::bypass(1, 1, &flagged(frequency, tau, first | flags)),
            word::bypass(1, 2, &flagged(amplitude, tau, first)),
            word::bypass(1, 0xfc, &flagged(0, tau, first)),
        ]);
    }
    machine.feed([waiting(1, 0, 8)]);
    machine.run_until_idle(1000);
    machine
}

const F200: i64 = 0x3e_8000_0000;
const F10: i64 = 0x03_2000_0000;

#[test]
fn check_53_to_55_global_phase_follows_the_counter() {
    let cases = [
        (F200, 2000u64, 0x48_0000_0000),
        (F200, (1 << 40) + 2000, 0x48_0000_0000),
        (0xf2_b800_0000u64 as i64 - (1 << 40), 2000, 0x3d_8000_0000),
        (0x5000_0000, 2_000_000, 0x68_0000_0000u64),
    ];
    for (frequency, counter, phase) in cases {
        let mut machine = tones(&[(frequency, 1 << 38, 8, facts::TONE_FLAG_SYNC)], Config::default());
        machine.set_counter(counter.wrapping_sub(2));
        machine.step(true, &mut [Vec::new()]);
        assert_eq!(machine.counter(), counter & MASK as u64);
        machine.step(false, &mut [Vec::new()]);
        let after = machine.synthesiser(0).phase(0);
        let second = phase.wrapping_add(frequency as u64) & MASK as u64;
        assert_eq!(after, second.wrapping_add(frequency as u64) & MASK as u64);
        if frequency == F200 {
            assert_eq!(second, 0x86_8000_0000);
        }
    }
}

#[test]
fn check_56_phase_is_continuous_without_synchronisation() {
    let mut machine = tones(&[(F200, 1 << 38, 12, 0), (F10, 1 << 38, 3, 0)], Config::default());
    machine.step(true, &mut [Vec::new()]);
    machine.run(12, &mut |_, _| (), &mut [Vec::new()]);
    assert_eq!(machine.synthesiser(0).phase(0), 0xdc_0000_0000);
    machine.run(3, &mut |_, _| (), &mut [Vec::new()]);
    assert_eq!(machine.synthesiser(0).phase(0), 0xee_c000_0000);
}

/// Samples of `cycles` cycles from the start on.
fn samples(machine: &mut Machine, cycles: u64) -> Vec<i16> {
    machine.step(true, &mut [Vec::new()]);
    let mut out = [Vec::new()];
    machine.run(cycles, &mut |_, _| (), &mut out);
    let [samples] = out;
    samples
}

proptest! {
    #[test]
    fn check_57_and_58_synchronisation_restores_the_global_phase(first in 4u64..300, gap in 4u64..300, counter in any::<u64>()) {
        let amplitude = 0x3f_ff80_0000;
        let sync = facts::TONE_FLAG_SYNC;
        let start = |pulses: &[(i64, i64, u64, u8)]| {
            let mut machine = tones(pulses, Config::default());
            machine.set_counter(counter);
            samples(&mut machine, first + gap + 20)
        };
        let switched = start(&[(F200, amplitude, first, sync), (F10, amplitude, gap, sync), (F200, amplitude, 20, sync)]);
        let whole = start(&[(F200, amplitude, first + gap + 20, sync)]);
        let from = 2 * (first + gap) as usize;
        prop_assert_eq!(&switched[from..], &whole[from..]);
        let repeated = start(&[(F200, amplitude, first, sync), (F200, amplitude, gap, sync), (F200, amplitude, 20, 0)]);
        prop_assert_eq!(repeated, whole);
    }
}

#[test]
fn check_59_phase_frame_and_feed_forward_add() {
    let rotated = |parameter: usize, angle: i64| {
        let mut machine = Machine::new(Config {
            channels: 1,
            ..Config::default()
        });
        let route = |p: usize| if p >= 6 { facts::FRAME_FLAG_FORWARD0 } else { 0 };
        for p in 0..8 {
            let value = [F200, 0x3f_ff80_0000, 0, 0, 0, 0, 0, 0][p] + if p == parameter { angle } else { 0 };
            machine.feed([word::bypass(
                1,
                1 << p,
                &flagged(value, 50, facts::TONE_FLAG_WAIT | if p == 6 { route(p) } else { 0 }),
            )]);
        }
        machine.feed([waiting(1, 0, 8)]);
        machine.run_until_idle(100);
        samples(&mut machine, 50)
    };
    assert_eq!(rotated(2, 1 << 37), rotated(6, 1 << 37));
    assert_ne!(rotated(2, 1 << 37), rotated(2, 0));
    // Feed-forward: H = -3 and B = 0x1000000000 give the phase 0xD000000000.
    let mut machine = tones(
        &[(F200, 0x3f_ff80_0000, 50, facts::TONE_FLAG_FEED_FORWARD)],
        Config::default(),
    );
    machine.synthesiser(0).harmonics = [-3, 0];
    machine.forward.phase = 0x10_0000_0000;
    assert_eq!(
        samples(&mut machine, 50),
        rotated(2, kairos_pulse::wrap(0xd0_0000_0000, 40))
    );
}

#[test]
fn feed_forward_integrates_the_error() {
    let error = 0x123_4567;
    let mut forwarded = tones(
        &[(F200, 0x3f_ff80_0000, 60, facts::TONE_FLAG_FEED_FORWARD)],
        Config::default(),
    );
    forwarded.synthesiser(0).harmonics = [5, 0];
    forwarded.run_until_idle(100);
    forwarded.step(true, &mut [Vec::new()]);
    forwarded.forward.error = error;
    let mut out = [Vec::new()];
    forwarded.run(60, &mut |_, _| (), &mut out);
    // Equals a tone with a frequency higher by that much, once its phase is the same.
    let mut higher = tones(&[(F200 + 5 * error, 0x3f_ff80_0000, 60, 0)], Config::default());
    assert_eq!(out[0], samples(&mut higher, 60));
}

#[test]
fn check_60_sum_beyond_full_scale_is_limited() {
    let peak = |a0: i64, a1: i64| {
        let mut machine = Machine::new(Config {
            channels: 1,
            ..Config::default()
        });
        for (mask, value) in [(2, a0), (16, a1), (0xed, 0)] {
            machine.feed([word::bypass(1, mask, &flagged(value << 23, 8, facts::TONE_FLAG_WAIT))]);
        }
        machine.run_until_idle(100);
        let first = samples(&mut machine, 4)[0];
        (first, machine.status.saturated)
    };
    assert_eq!(peak(65535, 0), (32767, 0));
    assert_eq!(peak(-65535, 0), (-32768, 0));
    assert_eq!(peak(32767, 32767), (32767, 0));
    assert_eq!(peak(65535, 65535), (32767, 1));
}

fn two_channels(couple: bool) -> Vec<Vec<i16>> {
    let mut machine = Machine::new(Config {
        channels: 2,
        crosstalk: Some(5),
        ..Config::default()
    });
    let crosstalk = machine.crosstalk.as_mut().unwrap();
    crosstalk.zero = 3;
    for coupling in &mut crosstalk.couplings[0] {
        coupling.delay = 3;
    }
    if couple {
        crosstalk.couplings[0][2] = Coupling {
            factor: (-1 << 17, 0),
            delay: 3,
        };
    }
    for (mask, value) in [(1, F200), (2, 0x3f_ff80_0000), (0xfc, 0)] {
        machine.feed([word::bypass(3, mask, &flagged(value, 100, facts::TONE_FLAG_WAIT))]);
    }
    machine.feed([waiting(3, 0, 8)]);
    machine.run_until_idle(100);
    machine.step(true, &mut [Vec::new(), Vec::new()]);
    let mut out = vec![Vec::new(), Vec::new()];
    machine.run(100, &mut |_, _| (), &mut out);
    out
}

#[test]
fn check_61_crosstalk_of_equal_neighbour_is_cancelled() {
    let plain = two_channels(false);
    let mut alone = tones(&[(F200, 0x3f_ff80_0000, 100, 0)], Config::default());
    let undelayed = samples(&mut alone, 100);
    // Five cycles of the multipliers and three of the zero delay, two samples each.
    assert!(plain[0][..16].iter().all(|&y| y == 0));
    assert_eq!(plain[0][16..], undelayed[..184]);
    assert_eq!(plain[0], plain[1]);
    let cancelled = two_channels(true);
    assert!(cancelled[0].iter().all(|y| y.abs() <= 1));
    assert_eq!(cancelled[1], plain[1]);
}

#[test]
fn check_62_spurs_are_below_minus_90_dbc() {
    const N: usize = 1 << 16;
    // An odd bin of the transform near 200 MHz, so that no sample value repeats.
    let bin = 16_001u64;
    let mut machine = tones(
        &[((bin << 40 >> 16) as i64, 0x3f_ff80_0000, 1 << 15, 0)],
        Config::default(),
    );
    let samples = samples(&mut machine, 1 << 15);
    assert_eq!(samples.len(), N);
    let mut re: Vec<f64> = samples.iter().map(|&y| f64::from(y)).collect();
    let mut im = vec![0.0; N];
    transform(&mut re, &mut im);
    let power: Vec<f64> = (1..N / 2).map(|k| re[k] * re[k] + im[k] * im[k]).collect();
    let carrier = power[bin as usize - 1];
    let spur = power
        .iter()
        .enumerate()
        .filter(|(k, _)| k + 1 != bin as usize)
        .map(|(_, &p)| p)
        .fold(0.0, f64::max);
    let decibels = 10.0 * (spur / carrier).log10();
    assert!(decibels < -90.0, "largest spur {decibels:.1} dBc");
}

/// Fourier transform in place, length a power of two.
fn transform(re: &mut [f64], im: &mut [f64]) {
    let n = re.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            re.swap(i, j);
            im.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        for k in 0..half {
            let (sin, cos) = (-std::f64::consts::PI * k as f64 / half as f64).sin_cos();
            for i in (k..n).step_by(2 * half) {
                let j = i + half;
                let (r, m) = (re[j] * cos - im[j] * sin, re[j] * sin + im[j] * cos);
                (re[j], im[j]) = (re[i] - r, im[i] - m);
                (re[i], im[i]) = (re[i] + r, im[i] + m);
            }
        }
        half *= 2;
    }
}

#[test]
fn check_63_equal_channels_are_bit_identical() {
    let mut machine = Machine::new(Config::default());
    for (mask, value) in [
        (1, F200),
        (2, 0x3f_ff80_0000),
        (8, F10),
        (16, 0x1f_ff80_0000),
        (0xe4, 0),
    ] {
        machine.feed([word::bypass(
            255,
            mask,
            &flagged(value, 500, facts::TONE_FLAG_WAIT | facts::TONE_FLAG_SYNC),
        )]);
    }
    machine.feed([waiting(255, 0, 8)]);
    machine.run_until_idle(100);
    let mut out = vec![Vec::new(); 8];
    machine.step(true, &mut out);
    machine.run(500, &mut |_, _| (), &mut out);
    assert!(out[0].iter().any(|&y| y > 10_000));
    assert!(out.iter().all(|samples| *samples == out[0]));
}
