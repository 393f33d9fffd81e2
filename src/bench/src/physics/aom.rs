//! An acousto-optic modulator, which turns a tone into light.

use std::f64::consts::{FRAC_PI_2, LN_2};

use serde_json::{json, Value};

use crate::model::{Change, Model, Outbox};
use crate::signal::{Light, Ns, Signal, Tone};

/// The part of the full power that does nothing.
const DARK: f64 = 1e-6;

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
    /// Whether there has been a tone, and whether one has made light that is worth the name.
    toned: bool,
    lit: bool,
    /// The first tone that has not.
    lost: Option<(Ns, Tone)>,
}

impl Aom {
    /// A modulator without a tone.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            tone: Tone::OFF,
            toned: false,
            lit: false,
            lost: None,
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
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        for (_, signal) in changes {
            if let Signal::Tone(tone) = signal {
                let over = tone.dbm - self.options.saturation_dbm;
                if over > 3.0 && self.tone.dbm < tone.dbm {
                    out.warn(format!(
                        "the tone is {over:.1} dB above saturation: less light, and heat"
                    ));
                }
                self.tone = *tone;
                self.toned |= tone.dbm > f64::NEG_INFINITY;
                let light = self.light(*tone);
                if light.power > DARK {
                    self.lit = true;
                } else if tone.dbm > f64::NEG_INFINITY {
                    self.lost.get_or_insert((at, *tone));
                }
                out.send_after(self.options.delay_ns, 0, Signal::Light(light));
            }
        }
    }

    fn report(&self, _at: Ns) -> Value {
        let light = self.light(self.tone);
        json!({ "part": "AOM", "shift_hz": light.hz, "power": light.power, "had_tone": self.toned })
    }

    /// A modulator that has had tones and never made light.
    fn unfinished(&self) -> Vec<(Ns, String)> {
        let lost = self.lost.filter(|_| !self.lit);
        let text = |tone: Tone| {
            format!(
                "no tone has made light: the first was {:.6} MHz at {:.1} dBm; its band is {:.6} MHz wide around {:.6} MHz, \
                 and it needs about {:.1} dBm",
                tone.hz * 1e-6,
                tone.dbm,
                self.options.bandwidth_hz * 1e-6,
                self.options.centre_hz * 1e-6,
                self.options.saturation_dbm
            )
        };
        lost.into_iter().map(|(at, tone)| (at, text(tone))).collect()
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

    #[test]
    fn modulator_that_never_makes_light_is_reported() {
        let mut aom = aom(1);
        let mut tone = |at, hz, dbm| {
            let change = (0, Signal::Tone(Tone { hz, dbm, turns: 0.0 }));
            aom.input(at, &[change], &mut Outbox::default());
            aom.unfinished()
        };
        assert_eq!(tone(1, 80e6, f64::NEG_INFINITY), []);
        assert_eq!(
            tone(2, 180e6, 0.0),
            [(
                2,
                "no tone has made light: the first was 180.000000 MHz at 0.0 dBm; its band is 20.000000 MHz wide around \
                 80.000000 MHz, and it needs about 0.0 dBm"
                    .to_string()
            )]
        );
        assert_eq!(tone(3, 80e6, -100.0).len(), 1);
        assert_eq!(tone(4, 81e6, -10.0), []);
    }
}
