//! Recorded signals of outputs, changes of pins and warnings, for tests and pages.

use serde_json::Value;

use super::edges::Edge;
use crate::signal::{Ns, Signal};

/// Maximum number of recorded changes of tones, voltages, photons and populations; likewise of
/// pins.
const CHANGES: usize = if cfg!(test) { 1 << 10 } else { 1 << 22 };
/// Number of warnings kept per model.
const WARNINGS: usize = 20;

/// A warning of a model for the owner of the bench.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Time of the warning.
    pub at: Ns,
    /// Number of the model.
    pub part: usize,
    /// The model's name and the message.
    pub text: String,
}

/// A change of an output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Output {
    /// Time at which it takes effect.
    pub(super) at: Ns,
    pub(super) model: usize,
    pub(super) output: usize,
    pub(super) signal: Signal,
}

/// What has happened so far. Each list is bounded: what comes after that is lost, of which the owner
/// is warned once.
#[derive(Default)]
pub(super) struct Record {
    /// In the order of sending.
    outputs: Vec<Output>,
    /// Changes driven on input pins.
    edges: Vec<Edge>,
    /// Whether the warning that changes are no longer recorded has been given.
    full_reported: bool,
    warnings: Vec<Warning>,
    /// By model, the number of its warnings, of which the first are kept.
    warned: Vec<usize>,
}

impl Record {
    /// Records a change of an output: tones, voltages, photons, populations. Returns false if it is
    /// lost and no warning of that has been given.
    pub(super) fn add_output(&mut self, change: Output) -> bool {
        if matches!(change.signal, Signal::Level(_) | Signal::Light(_) | Signal::Clock(_)) {
            return true;
        }
        if self.outputs.len() == CHANGES {
            return self.full_reported;
        }
        self.outputs.push(change);
        true
    }

    /// Records a change of an input pin. Returns as [`Self::add_output`].
    pub(super) fn add_edge(&mut self, edge: Edge) -> bool {
        if self.edges.len() == CHANGES {
            return self.full_reported;
        }
        self.edges.push(edge);
        true
    }

    /// Warns, as the model `part` with this name, that changes are no longer recorded.
    pub(super) fn warn_full(&mut self, part: usize, name: &str, at: Ns) {
        self.full_reported = true;
        let text = format!("no more than {CHANGES} changes are kept: tests and pages get none from now on");
        self.warn(part, name, at, &text);
    }

    /// Records a warning of the model `part` with this name.
    pub(super) fn warn(&mut self, part: usize, name: &str, at: Ns, text: &str) {
        if self.warned.len() <= part {
            self.warned.resize(part + 1, 0);
        }
        self.warned[part] += 1;
        if self.warned[part] <= WARNINGS {
            let text = format!("{name}: {text}");
            self.warnings.push(Warning { at, part, text });
        }
    }

    /// Warnings from number `from` on.
    pub(super) fn warnings(&self, from: usize) -> &[Warning] {
        self.warnings.get(from..).unwrap_or_default()
    }

    /// The recorded changes of input pins.
    pub(super) fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The recorded changes of an output in the order of time, as far as `row` makes rows of them.
    pub(super) fn outputs(&self, model: usize, output: usize, row: fn(Ns, Signal) -> Option<Value>) -> Value {
        let of_it = self.outputs.iter();
        let of_it = of_it.filter(|change| (change.model, change.output) == (model, output));
        let mut changes: Vec<&Output> = of_it.collect();
        // Different delays may put them out of order.
        changes.sort_by_key(|change| change.at);
        let rows = changes.into_iter().filter_map(|change| row(change.at, change.signal));
        rows.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn volts(at: Ns, volts: f64) -> Output {
        Output {
            at,
            model: 0,
            output: 0,
            signal: Signal::Volts(volts),
        }
    }

    fn row(at: Ns, signal: Signal) -> Option<Value> {
        match signal {
            Signal::Volts(volts) => Some(json!([at, volts])),
            _ => None,
        }
    }

    #[test]
    fn changes_are_shown_in_order_of_time() {
        let mut record = Record::default();
        for (sent, delay) in [(0, 79), (5, 47), (10, 79)] {
            assert!(record.add_output(volts(sent + delay, sent as f64)));
        }
        let other = Output {
            output: 1,
            ..volts(60, 3.0)
        };
        record.add_output(other);
        assert_eq!(record.outputs(0, 0, row), json!([[52, 5.0], [79, 0.0], [89, 10.0]]));
    }

    #[test]
    fn full_record_is_reported_once() {
        let mut record = Record::default();
        let edge = |at| Edge {
            at,
            pad: 3,
            level: true,
        };
        assert!((0..CHANGES as Ns).all(|at| record.add_output(volts(at, 0.0)) && record.add_edge(edge(at))));
        assert!(!record.add_output(volts(5000, 0.0)) && !record.add_edge(edge(5000)));
        record.warn_full(0, "dac", 5000);
        assert!(record.add_output(volts(5001, 0.0)) && record.add_edge(edge(5001)));
        assert_eq!((record.outputs.len(), record.edges().len()), (CHANGES, CHANGES));
        let texts: Vec<&str> = record.warnings(0).iter().map(|warning| warning.text.as_str()).collect();
        assert_eq!(
            texts,
            ["dac: no more than 1024 changes are kept: tests and pages get none from now on"]
        );
    }

    #[test]
    fn first_warnings_of_each_model_are_kept() {
        let mut record = Record::default();
        (0..100).for_each(|at| record.warn(3, "dds", at, "too fast"));
        record.warn(1, "dac", 100, "too slow");
        assert_eq!(record.warnings(0).len(), WARNINGS + 1);
        let last = Warning {
            at: 100,
            part: 1,
            text: "dac: too slow".into(),
        };
        assert_eq!(record.warnings(WARNINGS), [last]);
        assert!(record.warnings(1000).is_empty());
    }
}
