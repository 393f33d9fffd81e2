//! A photodiode with its amplifier, which turns light into a voltage.

use serde_json::{json, Value};

use crate::model::{Change, Model, Outbox};
use crate::signal::{Ns, Signal};

/// The diode: each input is a beam, output 0 the voltage.
pub struct Photodiode {
    /// Volts at the full power of a beam, and in the dark.
    volts: f64,
    dark: f64,
    delay: Ns,
    powers: Vec<f64>,
    /// No voltage has been sent yet.
    begins: bool,
}

impl Photodiode {
    /// A diode with `beams` beams, all of which are off.
    pub fn new(volts: f64, dark: f64, delay: Ns, beams: usize) -> Self {
        let powers = vec![0.0; beams];
        Self {
            volts,
            dark,
            delay,
            powers,
            begins: true,
        }
    }

    /// The output voltage. Beat notes of beams are beyond the amplifier's bandwidth.
    fn output(&self) -> f64 {
        self.dark + self.volts * self.powers.iter().sum::<f64>()
    }
}

impl Model for Photodiode {
    fn next(&self) -> Option<Ns> {
        self.begins.then_some(0)
    }

    fn act(&mut self, _at: Ns, out: &mut Outbox) {
        self.begins = false;
        out.send(0, Signal::Volts(self.output()));
    }

    fn input(&mut self, _at: Ns, changes: &[Change], out: &mut Outbox) {
        for (beam, signal) in changes {
            if let Signal::Light(light) = signal {
                self.powers[*beam] = light.power;
            }
        }
        out.send_after(self.delay, 0, Signal::Volts(self.output()));
    }

    fn report(&self, _at: Ns) -> Value {
        json!({ "part": "photodiode", "volts": self.output() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Light;

    #[test]
    fn light_becomes_a_delayed_voltage() {
        let mut diode = Photodiode::new(2.0, 0.01, 30, 2);
        let mut out = Outbox::default();
        let light = |power| {
            Signal::Light(Light {
                power,
                ..Light::default()
            })
        };
        diode.act(0, &mut out);
        assert_eq!(diode.next(), None);
        diode.input(5, &[(0, light(0.5))], &mut out);
        diode.input(9, &[(1, light(0.25)), (0, light(0.0))], &mut out);
        let expected = [(0, 0.01), (30, 1.01), (30, 0.51)].map(|(delay, volts)| (delay, 0, Signal::Volts(volts)));
        assert_eq!(out.sent, expected);
    }
}
