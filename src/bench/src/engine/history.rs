//! Recorded signals of outputs and changes of pins, for tests and pages.

use serde_json::{json, Value};

use super::{Edge, Engine};
use crate::signal::{Ns, Signal};

/// Maximum number of recorded changes of tones, voltages, photons and populations; likewise of
/// pins.
const HISTORY: usize = if cfg!(test) { 1 << 10 } else { 1 << 22 };
/// (time, model, output, signal).
pub(super) type Given = (Ns, usize, usize, Signal);

impl Engine {
    /// Records a signal of an output: tones, voltages, photons, populations.
    pub(super) fn keep(&mut self, at: Ns, given: Given) {
        if matches!(given.3, Signal::Level(_) | Signal::Light(_) | Signal::Clock(_)) {
            return;
        }
        match self.history.len() {
            HISTORY => self.forget(at, Some(given.1)),
            _ => self.history.push(given),
        }
    }

    /// Records a change of an input pin.
    pub(super) fn keep_edge(&mut self, edge: Edge) {
        match self.driven.len() {
            HISTORY if self.forgets => {}
            HISTORY => self.forget(edge.at, self.drivers().get(&edge.pad).copied()),
            _ => self.driven.push(edge),
        }
    }

    /// Warns, once, that changes are no longer recorded.
    fn forget(&mut self, at: Ns, model: Option<usize>) {
        if let Some(model) = model.filter(|_| !self.forgets) {
            self.forgets = true;
            let text = format!("no more than {HISTORY} changes are kept: tests and pages get none from now on");
            self.warn(model, at, text);
        }
    }

    /// The recorded tones of an output: [time in ns, Hz, dBm or null, turns].
    pub fn tones(&self, name: &str, output: usize) -> Option<Value> {
        self.history_of(name, output, |at, signal| match signal {
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
        self.history_of(name, output, |at, signal| match signal {
            Signal::Volts(volts) => Some(json!([at, volts])),
            _ => None,
        })
    }

    /// The recorded numbers of an output (photons per second, populations or volts): [time in ns,
    /// number].
    pub fn numbers(&self, name: &str, output: usize) -> Option<Value> {
        self.history_of(name, output, |at, signal| match signal {
            Signal::Photons(number) | Signal::Population(number) | Signal::Volts(number) => Some(json!([at, number])),
            _ => None,
        })
    }

    /// The recorded changes of input pins.
    pub fn driven(&self) -> &[Edge] {
        &self.driven
    }

    fn history_of(&self, name: &str, output: usize, row: fn(Ns, Signal) -> Option<Value>) -> Option<Value> {
        let model = self.parts.iter().position(|part| part.name == name)?;
        let of_it = self
            .history
            .iter()
            .filter(|change| (change.1, change.2) == (model, output));
        let mut changes: Vec<(Ns, Signal)> = of_it.map(|(at, _, _, signal)| (*at, *signal)).collect();
        // Different delays may put them out of order.
        changes.sort_by_key(|(at, _)| *at);
        Some(changes.into_iter().filter_map(|(at, signal)| row(at, signal)).collect())
    }
}
