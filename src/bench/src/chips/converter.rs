//! A digital-to-analogue converter with a parallel port, such as an LTC2000 or an AD9739A, at an
//! output of a pulse core: the core's two tones become signals at a connector.
//!
//! The converter holds each sample until the next one, so a tone at the frequency f is weaker by
//! sin(x)/x with x = pi f / (sample rate) (Analog Devices, LTC2000 data sheet, "Frequency
//! Response"; MT-017). Images beyond half of the sample rate are assumed to be filtered.

use std::f64::consts::PI;

use kairos_contracts::pulse::{AMPLITUDE_MAX, TONES, VALUE_BITS};
use kairos_pulse::model::Tone as CoreTone;
use serde_json::{json, Value};

use crate::model::{Change, Model, Outbox};
use crate::signal::{Ns, Signal, Tone};

/// Options of the converter.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Power of a slow full-scale sine.
    pub full_scale_dbm: f64,
    /// Samples per second.
    pub sample_hz: f64,
}

/// The converter: an input and an output for each tone of the core.
pub struct Converter {
    options: Options,
    tones: [CoreTone; TONES],
    /// Samples exceeded full scale at the last check.
    limited: bool,
}

impl Converter {
    /// A converter without input.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            tones: Default::default(),
            limited: false,
        }
    }

    /// The tone at the connector for a tone of the core.
    fn tone(&self, tone: CoreTone) -> Tone {
        let turn = (1u64 << VALUE_BITS) as f64;
        let (cycles, phase) = (tone.frequency as f64 / turn, tone.phase as f64 / turn);
        if tone.amplitude == 0 {
            return Tone::OFF;
        }
        let x = PI * cycles.abs();
        let held = if x == 0.0 { 1.0 } else { x.sin() / x };
        let amplitude = tone.amplitude as f64 / f64::from(AMPLITUDE_MAX);
        // A cosine with negative frequency is one with positive frequency and opposite phase.
        let phase = if cycles < 0.0 { -phase } else { phase };
        let phase = if amplitude < 0.0 { phase + 0.5 } else { phase };
        Tone {
            hz: cycles.abs() * self.options.sample_hz,
            dbm: self.options.full_scale_dbm + 20.0 * (amplitude.abs() * held).log10(),
            turns: phase.rem_euclid(1.0),
        }
    }

    /// Sum of both tones as a fraction of full scale.
    fn peak(&self) -> f64 {
        let sum: i64 = self.tones.iter().map(|tone| tone.amplitude.abs()).sum();
        sum as f64 / f64::from(AMPLITUDE_MAX)
    }
}

impl Model for Converter {
    fn input(&mut self, _at: Ns, changes: &[Change], out: &mut Outbox) {
        for (number, signal) in changes {
            let Signal::Core(tone) = signal else { continue };
            let (before, now) = (self.tone(self.tones[*number]), self.tone(*tone));
            self.tones[*number] = *tone;
            // The frequency of a tone that is off is not reported.
            if before != Tone::OFF || now != Tone::OFF {
                out.send(*number, Signal::Tone(now));
            }
        }
        let peak = self.peak();
        if peak > 1.0 && !self.limited {
            out.warn(format!(
                "both tones together are {:.0} % of full scale: samples clip, which adds spurious tones",
                100.0 * peak
            ));
        }
        self.limited = peak > 1.0;
    }

    fn report(&self, _at: Ns) -> Value {
        let mut report =
            json!({ "part": "converter", "sample_hz": self.options.sample_hz, "of_full_scale": self.peak() });
        for (number, tone) in self.tones.iter().enumerate() {
            let tone = self.tone(*tone);
            report[format!("tone{number}")] =
                json!({ "hz": tone.hz, "dbm": tone.dbm.is_finite().then_some(tone.dbm), "turns": tone.turns });
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converter() -> Converter {
        Converter::new(Options {
            full_scale_dbm: 10.0,
            sample_hz: 1e9,
        })
    }

    fn core(amplitude: i64, hz: f64, turns: f64) -> CoreTone {
        let turn = (1u64 << VALUE_BITS) as f64;
        CoreTone {
            amplitude,
            frequency: (hz / 1e9 * turn).round() as i64,
            phase: (turns * turn) as u64,
        }
    }

    #[test]
    fn power_decreases_with_lower_amplitude_and_higher_frequency() {
        let of = |amplitude, hz| converter().tone(core(amplitude, hz, 0.0)).dbm;
        assert!((of(65535, 1e3) - 10.0).abs() < 1e-9);
        assert!((of(32768, 1e3) - 3.98).abs() < 0.01);
        // 2/pi at half of the sample rate: 3.92 dB
        assert!((of(65535, 499.999e6) - (10.0 - 3.922)).abs() < 0.001);
        assert_eq!(converter().tone(core(0, 80e6, 0.3)), Tone::OFF);
    }

    #[test]
    fn converted_phase_is_that_of_the_cosine_of_the_core() {
        for (amplitude, hz) in [(40000, 80e6), (-40000, 80e6), (40000, -80e6), (-40000, -80e6)] {
            let tone = converter().tone(core(amplitude, hz, 0.2));
            assert!((tone.hz - 80e6).abs() < 1e-3);
            for ns in 0..20 {
                let said = (2.0 * PI * (tone.turns + tone.hz * f64::from(ns) * 1e-9)).cos();
                let meant = (2.0 * PI * (0.2 + hz * f64::from(ns) * 1e-9)).cos() * (amplitude as f64).signum();
                assert!((said - meant).abs() < 1e-6, "{amplitude} {hz}");
            }
        }
    }

    #[test]
    fn tones_beyond_the_range_are_reported_once() {
        let mut converter = converter();
        let mut out = Outbox::default();
        let at = |converter: &mut Converter, out: &mut Outbox, amplitude| {
            let tone = Signal::Core(core(amplitude, 80e6, 0.0));
            converter.input(5, &[(0, tone), (1, tone)], out);
        };
        at(&mut converter, &mut out, 30000);
        assert!(out.warnings.is_empty() && out.sent.len() == 2);
        at(&mut converter, &mut out, 50000);
        at(&mut converter, &mut out, 60000);
        assert_eq!(out.warnings.len(), 1);
        assert!(out.warnings[0].starts_with("both tones together are 153 % of full scale"));
        // Off, and another frequency while off: sent once.
        out.sent.clear();
        at(&mut converter, &mut out, 0);
        at(&mut converter, &mut out, 0);
        assert_eq!(
            out.sent,
            [(0, 0, Signal::Tone(Tone::OFF)), (0, 1, Signal::Tone(Tone::OFF))]
        );
    }
}
