//! Tests against averages over an oscillation and closed formulas.

use rand::SeedableRng;

use super::*;

const COOLING: Cooling = Cooling {
    linewidth_hz: 21.6e6,
    detuning_hz: -10.8e6,
    mode_hz: 1e6,
    eta: 0.17,
};

/// Mean over an oscillation of the absorption, and of the absorption times the velocity, cosine of
/// the phase.
fn averaged(cooling: &Cooling, quanta: f64) -> (f64, f64) {
    averaged_in(cooling, quanta, 20_000)
}

/// The same averages, in `steps` steps.
pub fn averaged_in(cooling: &Cooling, quanta: f64, steps: usize) -> (f64, f64) {
    let shift = 2.0 * cooling.eta * cooling.mode_hz * quanta.sqrt();
    let at = |n: usize| {
        let cosine = (TAU * (n as f64 + 0.5) / steps as f64).cos();
        let seen = 2.0 * (cooling.detuning_hz - shift * cosine) / cooling.linewidth_hz;
        (1.0 / (1.0 + seen * seen), cosine / (1.0 + seen * seen))
    };
    let sum = (0..steps)
        .map(at)
        .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (sum.0 / steps as f64, sum.1 / steps as f64)
}

#[test]
fn scattering_rate_is_averaged_over_the_oscillation() {
    for quanta in [1.0, 100.0, 5e3, 2e5] {
        let (absorbed, worked) = averaged(&COOLING, quanta);
        assert!((COOLING.absorption(quanta) / absorbed - 1.0).abs() < 1e-6, "{quanta}");
        // A photon absorbed at velocity v adds hbar k v: 2 eta sqrt(n) quanta at maximum velocity.
        let recoil = (1.0 + SCATTERED) * COOLING.eta.powi(2);
        let expected = 2.0 * COOLING.eta * quanta.sqrt() * worked / absorbed + recoil;
        assert!(
            (COOLING.per_photon(quanta) - expected).abs() < 1e-6 * (1.0 + expected.abs()),
            "{quanta}"
        );
    }
}

/// Both descriptions agree where both are valid: a small wave packet with many quanta.
#[test]
fn small_motion_agrees_with_the_general_description() {
    let gentle = Cooling { eta: 0.01, ..COOLING };
    let (down, up) = gentle.small();
    for quanta in [100.0, 400.0] {
        let small = -down * quanta + up * (quanta + 1.0);
        let any = gentle.per_photon(quanta);
        assert!((small / any - 1.0).abs() < 0.03, "{quanta}: {small} {any}");
    }
}

#[test]
fn doppler_limit_equals_the_closed_formula() {
    let broad = Cooling {
        mode_hz: 0.2e6,
        ..COOLING
    };
    let (down, up) = broad.small();
    // Half a linewidth below resonance, G/(2 mode) (1 + 1/3)/2 in a broad line, less half a
    // quantum.
    let expected = broad.linewidth_hz / broad.mode_hz / 2.0 * (1.0 + SCATTERED) / 2.0;
    assert!(
        (limit(down, up) / expected - 1.0).abs() < 0.02,
        "{} {expected}",
        limit(down, up)
    );
    assert!(limit(up, down).is_infinite(), "above resonance it heats");
}

fn moments(mut draw: impl FnMut(&mut Pcg64Mcg) -> u32) -> (f64, f64) {
    let mut random = Pcg64Mcg::seed_from_u64(5);
    let drawn: Vec<f64> = (0..40_000).map(|_| f64::from(draw(&mut random))).collect();
    let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
    (
        mean,
        drawn.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / drawn.len() as f64,
    )
}

#[test]
fn quanta_relax_as_in_a_birth_death_process() {
    for (quanta, down, up) in [
        (20u32, 0.7, 0.3),
        (0, 0.5, 0.5),
        (7, 0.0, 0.4),
        (9, 0.6, 0.0),
        (5, 40.0, 10.0),
    ] {
        let (left, steady) = (f64::exp(up - down), limit(down, up));
        let n = f64::from(quanta);
        let grows = down <= up;
        let mean = match (down - up).abs() < 1e-12 {
            true => n + up,
            false => n * left + up / (down - up) * (1.0 - left),
        };
        let (found, variance) = moments(|random| draw_quanta(quanta, down, up, random));
        let error = (variance / 40_000.0).sqrt();
        assert!(
            (found - mean).abs() < 4.5 * error + 1e-9,
            "{quanta} {down} {up}: {found} {mean}"
        );
        if !grows && left < 1e-9 {
            assert!(
                (variance / (steady * (steady + 1.0)) - 1.0).abs() < 0.06,
                "thermal: {variance}"
            );
        }
    }
}

#[test]
fn thermal_quanta_have_expected_mean_and_variance() {
    let (mean, variance) = moments(|random| draw_thermal(3.0, random));
    assert!(
        (mean - 3.0).abs() < 0.08 && (variance / 12.0 - 1.0).abs() < 0.06,
        "{mean} {variance}"
    );
    assert_eq!(moments(|random| draw_thermal(0.0, random)), (0.0, 0.0));
}
