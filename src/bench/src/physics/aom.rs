//! An acousto-optic modulator, which turns a tone into light.

use std::f64::consts::{FRAC_PI_2, LN_2};

use serde_json::{json, Value};

use crate::model::{Change, Model, Outbox};
use crate::signal::{Light, Ns, Signal, Tone};

/// Parameters of a modulator.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Centre of its band in Hz.
    pub centre_hz: f64,
    /// Full width of the band in Hz, at which a single pass diffracts half of the maximum.
    pub bandwidth_hz: f64,
    /// Power of the tone at maximum diffraction.
    pub saturation_dbm: f64,
    /// Number of passes, 1 or 2; negative for a diffraction order below the laser's frequency.
    pub passes: i32,
    /// Delay from the tone to the light: propagation of the sound to the beam.
    pub delay_ns: Ns,
}

/// The modulator: input 0 is the tone, output 0 the light.
pub struct Aom {
    options: Options,
    tone: Tone,
}

impl Aom {
    /// A modulator without a tone.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            tone: Tone::OFF,
        }
    }

    /// The light that a tone produces.
    pub fn light(&self, tone: Tone) -> Light {
        let passes = f64::from(self.options.passes);
        Light {
            hz: passes * tone.hz,
            power: self.efficiency(tone).powi(self.options.passes.abs()),
            turns: (passes * tone.turns).rem_euclid(1.0),
        }
    }

    /// Diffracted power in a single pass, as a fraction of the maximum.
    fn efficiency(&self, tone: Tone) -> f64 {
        let amplitude = 10f64.powf((tone.dbm - self.options.saturation_dbm) / 20.0);
        let off = 2.0 * (tone.hz - self.options.centre_hz) / self.options.bandwidth_hz;
        // Bragg diffraction: sin^2 of the index modulation; the band is approximated by a Gaussian.
        (FRAC_PI_2 * amplitude).sin().powi(2) * (-LN_2 * off * off).exp()
    }
}

impl Model for Aom {
    fn input(&mut self, _at: Ns, changes: &[Change], out: &mut Outbox) {
        for (_, signal) in changes {
            if let Signal::Tone(tone) = signal {
                let over = tone.dbm - self.options.saturation_dbm;
                if over > 3.0 && self.tone.dbm < tone.dbm {
                    out.warn(format!(
                        "the tone is {over:.1} dB above saturation: less light, and heat"
                    ));
                }
                self.tone = *tone;
                out.send_after(self.options.delay_ns, 0, Signal::Light(self.light(*tone)));
            }
        }
    }

    fn report(&self, _at: Ns) -> Value {
        let light = self.light(self.tone);
        json!({ "part": "AOM", "shift_hz": light.hz, "power": light.power })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aom(passes: i32) -> Aom {
        Aom::new(Options {
            centre_hz: 80e6,
            bandwidth_hz: 20e6,
            saturation_dbm: 0.0,
            passes,
            delay_ns: 0,
        })
    }

    fn power(passes: i32, hz: f64, dbm: f64) -> f64 {
        aom(passes).light(Tone { hz, dbm, turns: 0.0 }).power
    }

    #[test]
    fn diffraction_saturates_and_is_limited_to_a_band() {
        assert_eq!(power(1, 80e6, f64::NEG_INFINITY), 0.0);
        assert!((power(1, 80e6, 0.0) - 1.0).abs() < 1e-12);
        // A quarter of the power: sin^2(pi/4)
        assert!((power(1, 80e6, -20.0 * 2f64.log10()) - 0.5).abs() < 1e-12);
        assert!(power(1, 80e6, 3.0) < 1.0);
        for side in [-10e6, 10e6] {
            assert!((power(1, 80e6 + side, 0.0) - 0.5).abs() < 1e-12);
            assert!((power(2, 80e6 + side, 0.0) - 0.25).abs() < 1e-12);
        }
    }

    #[test]
    fn diffracted_light_follows_frequency_and_phase() {
        let tone = Tone {
            hz: 80e6,
            dbm: 0.0,
            turns: 0.3,
        };
        let light = aom(-2).light(tone);
        assert_eq!(light.hz, -160e6);
        assert!((light.turns - 0.4).abs() < 1e-12);
    }
}
