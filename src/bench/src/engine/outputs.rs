//! The recorded outputs of models, as rows of numbers.

use serde_json::{json, Value};

use super::{Edge, Engine};
use crate::signal::{Ns, Signal};

impl Engine {
    /// The recorded tones of an output: [time in ns, Hz, dBm or null, turns].
    pub fn tones(&self, name: &str, output: usize) -> Option<Value> {
        self.outputs(name, output, |at, signal| match signal {
            Signal::Tone(tone) => Some(json!([
                at,
                tone.hz,
                tone.dbm.is_finite().then_some(tone.dbm),
                tone.turns
            ])),
            _ => None,
        })
    }

    /// The recorded voltages of an output: [time in ns, volts].
    pub fn volts(&self, name: &str, output: usize) -> Option<Value> {
        self.outputs(name, output, |at, signal| match signal {
            Signal::Volts(volts) => Some(json!([at, volts])),
            _ => None,
        })
    }

    /// The recorded numbers of an output (photons per second, populations or volts): [time in ns,
    /// number].
    pub fn numbers(&self, name: &str, output: usize) -> Option<Value> {
        self.outputs(name, output, |at, signal| match signal {
            Signal::Photons(number) | Signal::Population(number) | Signal::Volts(number) => Some(json!([at, number])),
            _ => None,
        })
    }

    /// The recorded changes of input pins.
    pub fn driven(&self) -> &[Edge] {
        self.record.edges()
    }

    fn outputs(&self, name: &str, output: usize, row: fn(Ns, Signal) -> Option<Value>) -> Option<Value> {
        let model = self.parts.iter().position(|part| part.name == name)?;
        Some(self.record.outputs(model, output, row))
    }
}
