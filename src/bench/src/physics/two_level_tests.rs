//! Tests against closed formulas.

use std::f64::consts::{PI, TAU};

use nalgebra::Vector3;
use proptest::prelude::*;

use super::{evolve, Drive};

const DOWN: Vector3<f64> = Vector3::new(0.0, 0.0, -1.0);

fn upper(vector: Vector3<f64>) -> f64 {
    (1.0 + vector.z) / 2.0
}

proptest! {
    /// Rabi's formula.
    #[test]
    fn rabi_oscillation_with_detuning_follows_the_formula(rabi_hz in 1e3..1e6f64, detuning_hz in -1e6..1e6f64, turns in 0.0..1.0f64, time in 0.0..1e-4f64) {
        let drive = Drive { rabi_hz, detuning_hz, turns, ..Drive::default() };
        let whole = rabi_hz.hypot(detuning_hz);
        let expected = (rabi_hz / whole * (PI * whole * time).sin()).powi(2);
        prop_assert!((upper(evolve(DOWN, drive, time)) - expected).abs() < 1e-9);
    }

    /// Two consecutive evolutions equal one over the total time, with any decay.
    #[test]
    fn consecutive_evolutions_equal_one_evolution(
        rabi_hz in 0.0..1e5f64, detuning_hz in -1e5..1e5f64, dephasing in 0.0..1e4f64, decay in 0.0..1e4f64,
        first in 0.0..1e-4f64, second in 0.0..1e-4f64,
    ) {
        let drive = Drive { rabi_hz, detuning_hz, turns: 0.2, dephasing, decay };
        let later = Drive { turns: drive.turns + detuning_hz * first, ..drive };
        let start = Vector3::new(0.6, 0.0, -0.8);
        let pieces = evolve(evolve(start, drive, first), later, second);
        let whole = evolve(start, drive, first + second);
        prop_assert!((pieces - whole).norm() < 1e-9, "{:?} {:?}", pieces, whole);
        prop_assert!(whole.norm() <= 1.0 + 1e-9);
    }

    /// Two pi/2 pulses with a pause: fringes in the detuning and in the second pulse's phase.
    #[test]
    fn ramsey_fringes_follow_detuning_and_phase(detuning_hz in -1e3..1e3f64, pause in 0.0..1e-3f64, phase in 0.0..1.0f64) {
        let quarter = Drive { rabi_hz: 25e6, ..Drive::default() };
        let after = evolve(DOWN, quarter, 1e-8);
        let turns = phase + detuning_hz * pause;
        let after = evolve(after, Drive { turns, ..quarter }, 1e-8);
        prop_assert!((upper(after) - (1.0 + (TAU * turns).cos()) / 2.0).abs() < 1e-9);
    }
}

#[test]
fn coherence_and_upper_state_decay_at_their_rates() {
    let drive = Drive {
        dephasing: 1e3,
        decay: 2e3,
        ..Drive::default()
    };
    let after = evolve(Vector3::new(0.6, 0.0, 0.8), drive, 1e-3);
    assert!((after.x - 0.6 * (-2f64).exp()).abs() < 1e-9);
    assert!((upper(after) - 0.9 * (-2f64).exp()).abs() < 1e-9);
}

/// Torrey's solution on resonance with dephasing alone: the oscillation decays at half of the rate.
#[test]
fn damped_rabi_oscillation_follows_the_solution() {
    let (rabi_hz, dephasing) = (50e3, 5e3);
    let drive = Drive {
        rabi_hz,
        dephasing,
        ..Drive::default()
    };
    let whole = ((TAU * rabi_hz).powi(2) - dephasing * dephasing / 4.0).sqrt();
    for n in 0..50 {
        let time = f64::from(n) * 1.7e-6;
        let swing = (whole * time).cos() + dephasing / 2.0 / whole * (whole * time).sin();
        let expected = -swing * (-dephasing * time / 2.0).exp();
        let vector = evolve(DOWN, drive, time);
        assert!((vector.z - expected).abs() < 1e-9, "{n}: {} {expected}", vector.z);
    }
}
