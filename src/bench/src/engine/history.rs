//! What outputs have had, and what was done to pins: kept for tests and pages.

use serde_json::{json, Value};

use super::{Edge, Engine};
use crate::signal::{Ns, Signal};

/// Changes of tones, voltages, photons and populations that are kept; likewise of input pins.
const HISTORY: usize = if cfg!(test) { 1 << 10 } else { 1 << 22 };
/// (time, model, output, what).
pub(super) type Given = (Ns, usize, usize, Signal);

impl Engine {
    /// Keeps what an output is given: tones, voltages, photons, populations.
    pub(super) fn keep(&mut self, at: Ns, given: Given) {
        if matches!(given.3, Signal::Level(_) | Signal::Light(_) | Signal::Clock(_)) {
            return;
        }
        match self.history.len() {
            HISTORY => self.forget(at, Some(given.1)),
            _ => self.history.push(given),
        }
    }

    /// Keeps what is done to a pin.
    pub(super) fn keep_edge(&mut self, edge: Edge) {
        match self.driven.len() {
            HISTORY if self.forgets => {}
            HISTORY => self.forget(edge.at, self.drivers().get(&edge.pad).copied()),
            _ => self.driven.push(edge),
        }
    }

    /// What a model does now is not kept: told once.
    fn forget(&mut self, at: Ns, model: Option<usize>) {
        if let Some(model) = model.filter(|_| !self.forgets) {
            self.forgets = true;
            let text = format!("more than {HISTORY} changes are not kept: tests and pages have none from now on");
            self.warn(model, at, text);
        }
    }

    /// The tones that an output has had: [time in ns, Hz, dBm or null, turns].
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

    /// The voltages that an output has had: [time in ns, volts].
    pub fn volts(&self, name: &str, output: usize) -> Option<Value> {
        self.history_of(name, output, |at, signal| match signal {
            Signal::Volts(volts) => Some(json!([at, volts])),
            _ => None,
        })
    }

    /// The numbers that an output has had, of photons per second, of a population or of volts:
    /// [time in ns, number].
    pub fn numbers(&self, name: &str, output: usize) -> Option<Value> {
        self.history_of(name, output, |at, signal| match signal {
            Signal::Photons(number) | Signal::Population(number) | Signal::Volts(number) => Some(json!([at, number])),
            _ => None,
        })
    }

    /// What has been done to input pins.
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
        // Given with different delays, they come in another order than they were given in.
        changes.sort_by_key(|(at, _)| *at);
        Some(changes.into_iter().filter_map(|(at, signal)| row(at, signal)).collect())
    }
}
