//! Tests of the model on the bench: averages of many runs against QuTiP, and typical experiments.

use rand::SeedableRng;

use super::wave::Mode;
use super::*;
use crate::physics::four_levels::Levels;
use crate::physics::reference::{reference, System};

fn levels() -> Levels {
    Levels {
        linewidth: std::f64::consts::TAU * 21.6e6,
        branching: [0.5, 0.5, 0.0],
        decay: 0.0,
        dephasing: 0.0,
    }
}

fn options(mode: Mode, drives: Vec<Drive>) -> Options {
    let beam = Beam {
        saturation: 1.0,
        resonance_hz: 0.0,
    };
    Options {
        mode,
        eta_cooling: 0.17,
        heating: 0.0,
        quanta: 0.0,
        levels: levels(),
        linewidth_hz: 21.6e6,
        cooling: beam,
        pumping: beam,
        repump: 1e6,
        drives,
    }
}

fn light(hz: f64, power: f64) -> Signal {
    Signal::Light(Light { hz, power, turns: 0.0 })
}

fn drive(rabi_hz: f64) -> Drive {
    Drive {
        rabi_hz,
        resonance_hz: 0.0,
        ions: 3,
    }
}

/// A crystal with the beams of a system, in its initial state.
fn of(system: &System, seed: u64) -> (Crystal, Vec<Change>) {
    let tones = &system.tones;
    let drives = tones.iter().map(|tone| drive(tone.rabi_hz)).collect();
    let mut crystal = Crystal::new(options(system.mode(), drives), Pcg64Mcg::seed_from_u64(seed));
    crystal.put(system.up, system.quanta as u32);
    let lit = tones
        .iter()
        .enumerate()
        .map(|(n, tone)| (DRIVES + n, light(tone.detuning_hz, 1.0)));
    let lit = lit.collect();
    (crystal, lit)
}

#[test]
fn averages_of_runs_agree_with_qutip() {
    for case in reference().disturbed {
        let runs = 1500;
        let (mut upper, mut quanta) = (Vec::new(), Vec::new());
        let (first, lit) = of(&case.system, 0);
        // Propagators are cached from run to run.
        let mut crystal = first;
        crystal.options.heating = case.heating;
        crystal.options.levels.dephasing = case.dephasing;
        crystal.options.levels.decay = case.leaving;
        for run in 0..runs {
            let begin = run * 10 * case.system.time_ns;
            let out = &mut Outbox::default();
            crystal.at = begin;
            crystal.put(case.system.up, case.system.quanta as u32);
            crystal.input(begin, &lit, out);
            crystal.advance(begin + case.system.time_ns);
            let state = crystal.report(0);
            upper.push(state["upper_population"][0].as_f64().expect("a number"));
            quanta.push(state["quanta"].as_f64().expect("a number"));
        }
        for (what, found, expected) in [("upper", upper, case.upper), ("quanta", quanta, case.mean_quanta)] {
            let mean = found.iter().sum::<f64>() / runs as f64;
            let variance = found.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / runs as f64;
            let error = (variance / runs as f64).sqrt();
            let apart = (mean - expected).abs();
            assert!(
                apart < 4.5 * error + 1e-3,
                "{}: {what} {mean} {expected} {error}",
                case.system.what
            );
        }
    }
}

/// Mean result of `pulses` (light from each time on) over some runs: populations of `D` and quanta.
fn mean(options: &Options, pulses: &[(Ns, Vec<Change>)], runs: u64) -> (f64, f64) {
    let (mut upper, mut quanta) = (0.0, 0.0);
    let mut crystal = Crystal::new(options.clone(), Pcg64Mcg::seed_from_u64(11));
    let length = pulses.last().map_or(0, |(at, _)| at + 1000);
    for run in 0..runs {
        let heat = draw_thermal(options.quanta, &mut crystal.random);
        crystal.put(0, heat);
        crystal.pumped = 0;
        for (at, changes) in pulses {
            let at = run * length + at;
            run_until(&mut crystal, &mut Outbox::default(), at);
            crystal.input(at, changes, &mut Outbox::default());
        }
        let state = crystal.report(0);
        upper += state["upper_population"][0].as_f64().expect("a number");
        quanta += state["quanta"].as_f64().expect("a number");
    }
    (upper / runs as f64, quanta / runs as f64)
}

const MODE: Mode = Mode {
    ions: 1,
    states: 20,
    hz: 1e6,
    eta: 0.1,
};

/// Heights of the two sidebands are in the ratio n to n + 1.
#[test]
fn ratio_of_sidebands_measures_the_quanta() {
    let mut warm = options(MODE, vec![drive(10e3)]);
    warm.quanta = 0.8;
    let side = |hz: f64| {
        let pulses = [
            (0, vec![(DRIVES, light(hz, 1.0))]),
            (300_000, vec![(DRIVES, light(hz, 0.0))]),
        ];
        mean(&warm, &pulses, 1500).0
    };
    let (red, blue) = (side(-1e6), side(1e6));
    let ratio = red / blue;
    assert!((ratio / (1.0 - ratio) - 0.8).abs() < 0.1, "{red} {blue}");
}

#[test]
fn red_sideband_pulses_cool_to_the_ground_state() {
    let mut warm = options(MODE, vec![drive(100e3)]);
    warm.quanta = 2.0;
    let mut pulses = vec![];
    for cycle in 0..25 {
        let at = cycle * 70_000;
        // Two lengths, as a pulse that is a whole turn for some number of quanta removes none.
        let length = if cycle % 2 == 0 { 27_000 } else { 43_000 };
        pulses.push((at, vec![(DRIVES, light(-1e6, 1.0))]));
        pulses.push((at + length, vec![(DRIVES, light(-1e6, 0.0)), (REPUMP, light(0.0, 1.0))]));
        // Pumps ions back that decayed to the other state of the ground level.
        pulses.push((at + 50_000, vec![(REPUMP, light(0.0, 1.0)), (PUMPING, light(0.0, 0.1))]));
        pulses.push((at + 60_000, vec![(REPUMP, light(0.0, 0.0)), (PUMPING, light(0.0, 0.0))]));
    }
    let (upper, quanta) = mean(&warm, &pulses, 200);
    assert!(quanta < 0.15, "{quanta}");
    assert!(upper < 1e-3, "{upper}");
}

fn run_until(crystal: &mut Crystal, out: &mut Outbox, end: Ns) {
    while let Some(next) = crystal.next().filter(|next| *next < end) {
        crystal.act(next, out);
    }
}

#[test]
fn shelved_ions_are_dark_and_others_bright() {
    let mut crystal = Crystal::new(options(MODE, vec![drive(50e3)]), Pcg64Mcg::seed_from_u64(4));
    let out = &mut Outbox::default();
    crystal.input(1000, &[(COOLING, light(0.0, 1.0))], out);
    run_until(&mut crystal, out, 100_000);
    let bright = crystal.photons;
    assert!(bright > 1e7, "{bright}");
    crystal.input(100_000, &[(COOLING, light(0.0, 0.0))], out);
    assert_eq!(crystal.photons, 0.0);
    crystal.put(1, 0);
    crystal.input(200_000, &[(COOLING, light(0.0, 1.0))], out);
    assert_eq!(crystal.photons, 0.0, "it is in D");
    crystal.input(300_000, &[(REPUMP, light(0.0, 1.0))], out);
    run_until(&mut crystal, out, 400_000);
    assert!((crystal.photons / bright - 1.0).abs() < 0.01, "it is repumped");
}

#[test]
fn unintended_light_is_reported_once() {
    let mut crystal = Crystal::new(options(MODE, vec![drive(50e3); 3]), Pcg64Mcg::seed_from_u64(4));
    let out = &mut Outbox::default();
    crystal.put(0, 500);
    let lit: Vec<Change> = (0..3).map(|n| (DRIVES + n, light(0.0, 1.0))).collect();
    crystal.input(1000, &lit, out);
    crystal.input(2000, &lit, out);
    assert_eq!(out.warnings.len(), 2, "each once: {:?}", out.warnings);
}
