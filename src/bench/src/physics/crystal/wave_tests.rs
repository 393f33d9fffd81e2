//! Tests against QuTiP and closed formulas.

use proptest::prelude::*;

use super::*;
use crate::physics::reference::reference;

fn basis(mode: &Mode, up: usize, quanta: usize) -> DVector<C> {
    let mut state = DVector::zeros(mode.size());
    state[up * mode.states + quanta] = C::new(1.0, 0.0);
    state
}

fn upper(mode: &Mode, state: &DVector<C>) -> f64 {
    state.rows(mode.states, mode.states).norm_squared()
}

#[test]
fn evolved_waves_agree_with_qutip() {
    for case in reference().waves {
        let system = &case.system;
        let mode = system.mode();
        let mut propagators = Propagators::new(mode);
        let begin = basis(&mode, system.up, system.quanta);
        let found = propagators.evolve(&begin, &system.tones, 0.0, system.time_ns);
        let apart = found
            .iter()
            .zip(case.end())
            .map(|(a, b)| (a - b).norm())
            .fold(0.0, f64::max);
        assert!(apart < 1e-6, "{}: {apart:e}", system.what);
    }
}

/// Two ions on both sidebands end in a Bell state: fidelity of the closed formula, without carrier
/// and linear in eta.
#[test]
fn gate_on_two_ions_entangles_them() {
    let case = reference()
        .waves
        .into_iter()
        .find(|case| case.system.what == "gate")
        .expect("there is one");
    let mode = case.system.mode();
    let mut propagators = Propagators::new(mode);
    let state = propagators.evolve(&basis(&mode, 0, 0), &case.system.tones, 0.0, case.system.time_ns);
    let of = |up: usize| state.rows(up * mode.states, mode.states).norm_squared();
    let coherence = state
        .rows(0, mode.states)
        .dotc(&state.rows(3 * mode.states, mode.states))
        .norm();
    let fidelity = (of(0) + of(3)) / 2.0 + coherence;
    assert!(fidelity > 0.98, "{fidelity}");
    assert!(of(1) + of(2) < 0.02, "{} {}", of(1), of(2));
    // At half of the time the mode is entangled with the ions.
    let half = propagators.evolve(&basis(&mode, 0, 0), &case.system.tones, 0.0, case.system.time_ns / 2);
    let moved: f64 = half
        .iter()
        .enumerate()
        .map(|(row, a)| (row % mode.states) as f64 * a.norm_sqr())
        .sum();
    assert!(moved > 0.2, "{moved}");
}

/// Rabi frequencies of carrier and sidebands: Omega |<n'|exp(i eta (a + a+))|n>|, with the others
/// far detuned.
#[test]
fn sideband_rabi_frequencies_equal_the_closed_formula() {
    let mode = Mode {
        ions: 1,
        states: 20,
        hz: 5e6,
        eta: 0.1,
    };
    let mut propagators = Propagators::new(mode);
    let (rabi_hz, debye_waller) = (10e3, (-0.005f64).exp());
    let strengths = [
        (0.0, 0, debye_waller),
        (0.0, 1, debye_waller * (1.0 - 0.01)),
        (1.0, 0, debye_waller * 0.1),
        (1.0, 3, debye_waller * 0.1 * 2.0 * (1.0 - 0.01 * 1.5 + 0.5 * 1e-4)),
        (-1.0, 4, debye_waller * 0.1 * 2.0 * (1.0 - 0.01 * 1.5 + 0.5 * 1e-4)),
    ];
    for (sideband, quanta, strength) in strengths {
        let tone = Tone {
            rabi_hz,
            detuning_hz: sideband * mode.hz,
            turns: 0.0,
            ions: 1,
        };
        let half_turn = (0.5 / (rabi_hz * strength) * 1e9) as Ns;
        for part in [0.5, 1.0] {
            let state = propagators.evolve(&basis(&mode, 0, quanta), &[tone], 0.0, (half_turn as f64 * part) as Ns);
            let expected = (std::f64::consts::FRAC_PI_2 * part).sin().powi(2);
            let found = upper(&mode, &state);
            assert!(
                (found - expected).abs() < 5e-3,
                "{sideband} {quanta}: {found} {expected}"
            );
        }
    }
}

#[test]
fn ground_state_ion_has_no_red_sideband() {
    let mode = Mode {
        ions: 1,
        states: 10,
        hz: 2e6,
        eta: 0.1,
    };
    let tone = |sideband: f64| Tone {
        rabi_hz: 20e3,
        detuning_hz: sideband * mode.hz,
        turns: 0.0,
        ions: 1,
    };
    let after = |sideband| {
        let state = Propagators::new(mode).evolve(&basis(&mode, 0, 0), &[tone(sideband)], 0.0, 250_000);
        upper(&mode, &state)
    };
    assert!(after(-1.0) < 1e-3 && after(1.0) > 0.98);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Two consecutive evolutions equal one over the total time, in one tone and in two.
    #[test]
    fn consecutive_evolutions_equal_one_evolution(
        first in 1u64..30_000, second in 1u64..30_000, number in 0usize..3, beat in prop_oneof![Just(0.0), 1e5..3e6f64],
        turns in 0.0..1.0f64, leaving in prop_oneof![Just(0.0), Just(1e4)],
    ) {
        let mode = Mode { ions: 1, states: 6, hz: 1e6, eta: 0.2 };
        let tones = [(4e4, -3e5, turns), (3e4, beat - 3e5, 0.4)].map(|(rabi_hz, detuning_hz, turns)| Tone {
            rabi_hz, detuning_hz, turns, ions: 1,
        });
        let later = tones.map(|tone| Tone {
            turns: (tone.turns + tone.detuning_hz * seconds(first)).rem_euclid(1.0),
            ..tone
        });
        let mut propagators = Propagators::new(mode);
        let begin = (basis(&mode, 0, 1) + basis(&mode, 1, 0) * C::new(0.0, 1.0)).normalize();
        let there = propagators.evolve(&begin, &tones[..number], leaving, first);
        let pieces = propagators.evolve(&there, &later[..number], leaving, second);
        let whole = propagators.evolve(&begin, &tones[..number], leaving, first + second);
        prop_assert!((&pieces - &whole).norm() < 1e-7, "{}", (pieces - whole).norm());
        prop_assert!(whole.norm() <= 1.0 + 1e-9);
    }
}
