//! Effects of cooling light on a mode of motion: mean rates for an ion that oscillates with any
//! energy, and the exact distribution of quanta after cooling for a wave packet that is small
//! compared to the wavelength.
//!
//! An oscillating ion absorbs light of detuning d according to the Lorentz curve averaged over the
//! Doppler shift; in units of half of the linewidth, at x = 2d/G and with a swing b = 2kv/G, this
//! is Re 1/sqrt((1 + ix)^2 + b^2) (Wesenberg et al., Phys. Rev. A 76, 053416 (2007), has the method
//! and the curve of recooling).

use std::f64::consts::TAU;

use nalgebra::Complex;
use rand_distr::{Distribution, StandardUniform};
use rand_pcg::Pcg64Mcg;

/// Mean square recoil of emitted photons along the mode, relative to that of absorbed ones:
/// emission is isotropic.
const SCATTERED: f64 = 1.0 / 3.0;

/// The cooling light and the mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cooling {
    /// Linewidth in Hz.
    pub linewidth_hz: f64,
    /// Detuning of the light from the transition in Hz.
    pub detuning_hz: f64,
    /// Frequency of the mode in Hz.
    pub mode_hz: f64,
    /// Lamb-Dicke parameter of this light.
    pub eta: f64,
}

impl Cooling {
    /// Absorption at a detuning, relative to that on resonance.
    fn lorentz(&self, detuning_hz: f64) -> f64 {
        1.0 / (1.0 + (2.0 * detuning_hz / self.linewidth_hz).powi(2))
    }

    /// Amplitude of the Doppler shift in half linewidths, for a number of quanta.
    fn swing(&self, quanta: f64) -> f64 {
        4.0 * self.eta * self.mode_hz * quanta.max(0.0).sqrt() / self.linewidth_hz
    }

    /// Absorption for a number of quanta, relative to that on resonance at rest.
    pub fn absorption(&self, quanta: f64) -> f64 {
        let (at, swing) = self.at(quanta);
        (at * at + swing * swing).sqrt().inv().re
    }

    fn at(&self, quanta: f64) -> (Complex<f64>, f64) {
        let detuning = 2.0 * self.detuning_hz / self.linewidth_hz;
        (Complex::new(1.0, detuning), self.swing(quanta))
    }

    /// Mean number of quanta that a scattered photon adds; negative for cooling.
    pub fn per_photon(&self, quanta: f64) -> f64 {
        let (at, swing) = self.at(quanta);
        let recoil = (1.0 + SCATTERED) * self.eta * self.eta;
        if swing < 1e-6 {
            return recoil;
        }
        let work = (at / (at * at + swing * swing).sqrt() - 1.0) / Complex::new(0.0, swing);
        let shift_over_mode = swing * self.linewidth_hz / (2.0 * self.mode_hz);
        shift_over_mode * work.re / self.absorption(quanta) + recoil
    }

    /// For a small wave packet, per scattered photon: the rate from n to n - 1 quanta divided by n,
    /// and that from n to n + 1 divided by n + 1.
    pub fn small(&self) -> (f64, f64) {
        let here = self.lorentz(self.detuning_hz);
        let side = |mode: f64| {
            let beside = self.lorentz(self.detuning_hz + mode);
            self.eta * self.eta * (beside / here + SCATTERED)
        };
        (side(self.mode_hz), side(-self.mode_hz))
    }

    /// Whether the wave packet is small enough for [`Self::small`].
    pub fn is_small(&self, quanta: f64) -> bool {
        self.swing(quanta) < 0.2 && self.eta * self.eta * (2.0 * quanta + 1.0) < 0.5
    }
}

/// Draws the number of quanta after a time in which it falls at the rate `down` n and rises at the
/// rate `up` (n + 1), from the exact distribution. `down` and `up` are rates times the time.
pub fn draw_quanta(quanta: u32, down: f64, up: f64, random: &mut Pcg64Mcg) -> u32 {
    // A birth and death process at constant rates with immigration: each quantum vanishes with
    // probability `none` or else becomes a geometric number; immigration adds a geometric number
    // with the same parameter (Kendall 1949).
    let grown = (up - down).exp();
    let (none, more) = match (up - down).abs() < 1e-9 {
        true => (down / (1.0 + down), up / (1.0 + up)),
        false => {
            let scale = (grown - 1.0) / (up * grown - down);
            (down * scale, up * scale)
        }
    };
    let mut uniform = || -> f64 { StandardUniform.sample(random) };
    let geometric = |uniform: f64| (uniform.max(f64::MIN_POSITIVE).ln() / more.ln()).floor().min(1e9) as u32;
    let mut left = 0u32;
    if more > 0.0 {
        left += geometric(uniform());
    }
    for _ in 0..quanta {
        if uniform() >= none {
            left += 1;
            if more > 0.0 {
                left += geometric(uniform());
            }
        }
    }
    left
}

/// Mean quanta of the steady state of [`draw_quanta`]'s rates; infinite without cooling.
pub fn limit(down: f64, up: f64) -> f64 {
    if down > up {
        up / (down - up)
    } else {
        f64::INFINITY
    }
}

/// Draws from a thermal distribution of this mean.
pub fn draw_thermal(mean: f64, random: &mut Pcg64Mcg) -> u32 {
    if mean <= 0.0 {
        return 0;
    }
    let drawn: f64 = StandardUniform.sample(random);
    (drawn.max(f64::MIN_POSITIVE).ln() / (mean / (1.0 + mean)).ln())
        .floor()
        .min(1e9) as u32
}

/// Absorption rate in 1/s on resonance for a saturation parameter.
pub fn on_resonance(linewidth_hz: f64, saturation: f64) -> f64 {
    TAU * linewidth_hz * saturation / 2.0
}

#[cfg(test)]
#[path = "doppler_tests.rs"]
pub mod tests;
