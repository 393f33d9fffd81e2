//! Tests of scattering ions: Doppler recooling, and changes between dark and bright.

use std::f64::consts::TAU;

use rand::SeedableRng;

use super::super::doppler::{limit, on_resonance, tests::averaged_in};
use super::*;

fn levels() -> Levels {
    Levels {
        linewidth: TAU * 21.6e6,
        branching: [0.5, 0.5, 0.0],
        decay: 0.0,
        dephasing: 0.0,
    }
}

fn shining(saturation: f64) -> Shining {
    let cooling = Cooling {
        linewidth_hz: 21.6e6,
        detuning_hz: -10.8e6,
        mode_hz: 1e6,
        eta: 0.17,
    };
    Shining {
        lights: Lights {
            cooling: on_resonance(cooling.linewidth_hz, saturation) / 2.0,
            ..Lights::default()
        },
        cooling: Some(cooling),
        heating: 0.0,
    }
}

/// Runs the ions to `end`, with a call of `each` after every step.
fn run(fluorescence: &mut Fluorescence, end: Ns, random: &mut Pcg64Mcg, mut each: impl FnMut(&Fluorescence)) {
    while let Some(at) = fluorescence.next().filter(|at| *at < end) {
        fluorescence.act(at, random);
        each(fluorescence);
    }
    fluorescence.advance(end);
}

fn begun(shining: Shining, levels: Levels, quanta: u32, random: &mut Pcg64Mcg) -> Fluorescence {
    let mut fluorescence = Fluorescence::new(levels, shining, &[Level::Lower], quanta, 0);
    fluorescence.shine(shining, random);
    fluorescence
}

/// A hot ion is dim, and cools step by step according to the average over its oscillation.
#[test]
fn hot_ion_cools_and_brightens_as_predicted() {
    let random = &mut Pcg64Mcg::seed_from_u64(1);
    let (shining, levels) = (shining(0.1), levels());
    let mut fluorescence = begun(shining, levels, 40_000, random);
    run(&mut fluorescence, 2_000, random, |_| ());
    let dim = fluorescence.photons();
    let cooling = shining.cooling.expect("it cools");
    let mut quanta = fluorescence.state().1;
    let mut at = 2_000;
    for _ in 0..4 {
        let step = 1e-7;
        for _ in 0..2_000 {
            // Both states of the ground level absorb equally: populations of P from the light's
            // rate.
            let (absorbed, worked) = averaged_in(&cooling, quanta, 200);
            let rate = shining.lights.cooling / cooling.absorption(0.0) * absorbed;
            let upper = rate / (levels.linewidth + 3.0 * rate);
            let gain = 2.0 * cooling.eta * quanta.sqrt() * worked / absorbed + 4.0 / 3.0 * cooling.eta.powi(2);
            quanta += levels.linewidth * upper * step * gain;
        }
        at += 200_000;
        run(&mut fluorescence, at, random, |_| ());
        let found = fluorescence.state().1;
        assert!((found / quanta - 1.0).abs() < 0.03, "{at}: {found} {quanta}");
    }
    run(&mut fluorescence, 20_000_000, random, |_| ());
    let bright = fluorescence.photons();
    assert!(dim < 0.6 * bright, "{dim} {bright}");
    let rate = shining.lights.cooling;
    assert!((bright / (levels.linewidth * rate / (levels.linewidth + 3.0 * rate)) - 1.0).abs() < 1e-3);
    assert_eq!(fluorescence.next(), None, "it is steady, and costs nothing");
}

#[test]
fn cooling_ends_at_the_doppler_limit() {
    let random = &mut Pcg64Mcg::seed_from_u64(2);
    let shining = shining(0.2);
    let (down, up) = shining.cooling.expect("it cools").small();
    let drawn: Vec<f64> = (0..4_000)
        .map(|_| {
            let mut fluorescence = begun(shining, levels(), 3, random);
            run(&mut fluorescence, 1_000_000, random, |_| ());
            f64::from(fluorescence.end(random).1)
        })
        .collect();
    let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
    assert!(
        (mean / limit(down, up) - 1.0).abs() < 0.08,
        "{mean} {}",
        limit(down, up)
    );
}

/// Light that leads to `D` at some rate: bright and dark periods are exponentially distributed.
#[test]
fn dark_periods_have_the_expected_share() {
    let random = &mut Pcg64Mcg::seed_from_u64(3);
    let levels = Levels {
        branching: [0.5, 0.499, 0.001],
        decay: 2e4,
        ..levels()
    };
    let mut shining = shining(1.0);
    shining.cooling = None;
    let mut fluorescence = begun(shining, levels, 0, random);
    let (mut dark, mut last, mut changes) = (0.0, 0, 0);
    let mut was = 0.0;
    let end = 200_000_000;
    run(&mut fluorescence, end, random, |fluorescence| {
        dark += was * seconds(fluorescence.at - last);
        last = fluorescence.at;
        let now = fluorescence.state().0[0];
        changes += u32::from(now != was);
        was = now;
    });
    let upper = shining.lights.cooling / (levels.linewidth + 3.0 * shining.lights.cooling);
    let leaves = 0.001 * levels.linewidth * upper;
    let expected = leaves / (leaves + levels.decay);
    assert!(
        (dark / seconds(end) / expected - 1.0).abs() < 0.1,
        "{} {expected}",
        dark / seconds(end)
    );
    assert!(changes > 1000, "{changes}");
}
