//! Tests against QuTiP and closed formulas.

use std::f64::consts::TAU;

use nalgebra::Vector6;

use super::*;
use crate::physics::reference::reference;

fn levels() -> Levels {
    reference().levels
}

#[test]
fn master_equation_agrees_with_qutip() {
    let levels = levels();
    for case in reference().four_levels {
        let found = evolve(Vector6::from(case.begin), &levels, &case.lights, case.time);
        let apart = (found - Vector6::from(case.end)).abs().max();
        assert!(apart < 1e-6, "{}: {apart:e}", case.what);
    }
}

/// Steady state of the optical Bloch equations of two levels.
#[test]
fn scattering_rate_saturates_with_the_power() {
    let levels = Levels {
        branching: [1.0, 0.0, 0.0],
        ..levels()
    };
    for saturation in [0.01, 1.0, 30.0] {
        let cooling = levels.linewidth * saturation / 2.0;
        let lights = Lights {
            cooling,
            ..Lights::default()
        };
        let after = evolve(ground(), &levels, &lights, 1e-6);
        // Light also transfers `P` to `S+`, which only light empties: in the steady state both
        // have the same population.
        let upper = after[SCATTERING];
        assert!(
            (upper - cooling / (levels.linewidth + 3.0 * cooling)).abs() < 1e-9,
            "{saturation}: {upper}"
        );
    }
}

/// Without a path to `D`, the populations conditioned on brightness are those of all ions.
#[test]
fn bright_and_shelved_shares_add_up_to_one() {
    let levels = Levels {
        dephasing: 0.0,
        ..levels()
    };
    let lights = Lights {
        cooling: 3e7,
        ..Lights::default()
    };
    let bright = evolve_bright(Vector3::x(), &levels, &lights, 2e-6);
    let all = evolve(ground(), &levels, &lights, 2e-6);
    assert!(bright.sum() < 0.9, "some left: {}", bright.sum());
    assert!(
        (bright.sum() + all[METASTABLE] - 1.0).abs() < 3e-3,
        "few came back from D"
    );
}

#[test]
fn pumping_ends_in_the_dark_state() {
    let levels = Levels {
        branching: [0.5, 0.5, 0.0],
        ..levels()
    };
    let lights = Lights {
        pumping: 1e7,
        ..Lights::default()
    };
    let after = evolve(Vector6::y(), &levels, &lights, 5e-6);
    assert!(after[LOWER] > 0.999_999 && after[SCATTERING] < 1e-6, "{after}");
}

/// A pi pulse in the middle cancels the detuning: spin echo.
#[test]
fn spin_echo_cancels_the_detuning() {
    let levels = Levels {
        dephasing: 0.0,
        decay: 0.0,
        ..levels()
    };
    let pulse = |state, hz: f64, turns: f64, time: f64| {
        let lights = Lights {
            rabi_hz: 25e6,
            detuning_hz: hz,
            turns,
            ..Lights::default()
        };
        evolve(state, &levels, &lights, time)
    };
    for (detuning, phase) in [(0.0, 0.0), (3e3, 0.1), (-8e3, 0.7)] {
        let pause = 1e-4;
        let turns = |at: f64| detuning * at;
        let state = pulse(ground(), 0.0, turns(0.0), 1e-8);
        let state = pulse(state, 0.0, turns(pause), 2e-8);
        let state = pulse(state, 0.0, phase + turns(2.0 * pause), 1e-8);
        let expected = (1.0 - (TAU * phase).cos()) / 2.0;
        let upper = state[METASTABLE];
        assert!((upper - expected).abs() < 1e-6, "{detuning}: {upper} {expected}");
    }
}
