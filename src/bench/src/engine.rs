//! Models, the wires between them, and the event queue.
//!
//! All events are in one queue, ordered by time, then by model. The owner of the device reports
//! changes at its pins ([`Engine::pin`]), asks for the time of the bench's next event
//! ([`Engine::next`]), and runs the bench ([`Engine::run`]) before advancing beyond that time. A
//! cable from a pin is [`CABLE`] long, so changes at the pins within a device cycle are known
//! before the bench reaches that time: all times are exact. The pins may belong to several boards
//! ([`divide`]), each of which fetches the changes of its own inputs.

use std::collections::BTreeMap;
use std::panic::{catch_unwind, AssertUnwindSafe};

use kairos_pulse::model::Tone as CoreTone;
use serde_json::Value;

use crate::model::{Model, Outbox};
use crate::random::random_of;
use crate::signal::{Ns, Signal, Square, CORE_LATENCY, WAVEFORM_LATENCY};

mod divide;
mod edges;
mod outputs;
mod record;
mod schedule;
mod wiring;

use self::edges::Edges;
use self::record::{Output, Record};
use self::schedule::{Event, Schedule};
use self::wiring::Wiring;

pub use divide::Divided;
pub use edges::Edge;
pub use record::Warning;
pub use wiring::End;

/// Delay from a pin of the device to whatever is wired to it.
pub const CABLE: Ns = 8;
/// Number of events at one time at which the models are considered to loop.
const LOOP: u32 = 100_000;

/// A model with its name.
struct Part {
    name: String,
    /// Location in the bench file, followed by a colon; empty if there is none.
    location: String,
    model: Box<dyn Model>,
}

/// The bench.
///
/// Parts, wiring and schedule number the models alike, in the order in which they were added. After
/// a failure nothing happens any more.
#[derive(Default)]
pub struct Engine {
    parts: Vec<Part>,
    wiring: Wiring,
    schedule: Schedule,
    /// Changes of input pins that have not been fetched.
    edges: Edges,
    record: Record,
    failure: Option<String>,
    /// Changes delivered to models.
    delivered: u64,
}

impl Engine {
    /// Adds a model with `outputs` outputs. Returns its number.
    pub fn add(&mut self, name: &str, outputs: usize, model: Box<dyn Model>) -> usize {
        self.wiring.add_model(outputs);
        self.schedule.add_model(model.next());
        self.parts.push(Part {
            name: name.into(),
            location: String::new(),
            model,
        });
        self.parts.len() - 1
    }

    /// Sets a model's location in a file, for messages.
    pub fn set_location(&mut self, model: usize, location: &str) {
        self.parts[model].location = format!("{location}: ");
    }

    /// The models that drive pins of the device, by pad.
    pub fn drivers(&self) -> BTreeMap<u16, usize> {
        self.wiring.drivers()
    }

    /// Operations that models have begun and not completed: warnings, if no more input follows.
    pub fn unfinished(&self) -> Vec<Warning> {
        let mut found = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            found.extend(part.model.unfinished().into_iter().map(|(at, text)| Warning {
                at,
                part: number,
                text: format!("{}: {text}", part.name),
            }));
        }
        found
    }

    /// Connects an output of a model to an input or to a pin.
    pub fn wire(&mut self, model: usize, output: usize, to: End) {
        self.wiring.wire(model, output, to);
    }

    /// Connects a pin of the device to an input of a model.
    pub fn wire_pin(&mut self, pad: u16, model: usize, input: usize) {
        self.wiring.wire_pin(pad, End::Input { model, input });
    }

    /// Whether anything is wired to an output of a model.
    pub fn feeds(&self, model: usize) -> bool {
        self.wiring.ends_of_model(model).next().is_some()
    }

    /// Whether anything is wired to a pin that the device drives.
    pub fn watches(&self, pad: u16) -> bool {
        !self.wiring.ends_of_pin(pad).is_empty()
    }

    /// The pins of the device through which a model is reached: those wired to it, in either
    /// direction, or, if there are none, those of the models upstream.
    pub fn pads_of(&self, model: usize) -> Vec<u16> {
        self.wiring.pads_of(model)
    }

    /// Reports a level change at a pin of the device.
    pub fn pin(&mut self, at: Ns, pad: u16, level: bool) {
        self.send_from_pin(at + CABLE, pad, Signal::Level(level));
    }

    /// Reports a new tone of a pulse core, whose number among the pads is `pad`.
    pub fn tone(&mut self, at: Ns, pad: u16, tone: CoreTone) {
        self.send_from_pin(at + CORE_LATENCY, pad, Signal::Core(tone));
    }

    /// Reports a new word of an output of a Shuttler or Songbird, whose number among the pads is `pad`.
    pub fn word(&mut self, at: Ns, pad: u16, word: u64) {
        self.send_from_pin(at + WAVEFORM_LATENCY, pad, Signal::Word(word));
    }

    /// Reports that a clock at a pin of the device starts, changes or stops.
    pub fn clock(&mut self, at: Ns, pad: u16, wave: Option<Square>) {
        let wave = wave.map(|wave| Square {
            edge: wave.edge + CABLE,
            ..wave
        });
        self.send_from_pin(at + CABLE, pad, Signal::Clock(wave));
    }

    /// Sends a signal to everything wired to a pin of the device, where it arrives at `at`.
    fn send_from_pin(&mut self, at: Ns, pad: u16, signal: Signal) {
        let origin = self.wiring.origin_of_pin(pad);
        for to in self.wiring.ends_of_pin(pad) {
            self.schedule.send(at, *to, signal, origin);
        }
    }

    /// The time of the next event; none after a failure.
    pub fn next(&self) -> Option<Ns> {
        if self.failure.is_some() {
            return None;
        }
        self.schedule.next()
    }

    /// The earliest completion of an operation in progress: pipelines, not endless processes.
    pub fn under_way(&self) -> Option<Ns> {
        self.parts.iter().filter_map(|part| part.model.under_way()).min()
    }

    /// Processes all events before `end`; resulting changes at pins are returned by [`Self::edge`].
    pub fn run(&mut self, end: Ns) {
        let (mut last, mut repeats) = (0, 0);
        while self.failure.is_none() {
            let Some((at, event)) = self.schedule.take(end) else {
                return;
            };
            repeats = if at == last { repeats + 1 } else { 0 };
            last = at;
            if repeats == LOOP {
                self.failure = Some(format!(
                    "at {at} ns the models trigger each other endlessly without delay"
                ));
                return;
            }
            match event {
                Event::Input { model, changes } => {
                    self.delivered += changes.len() as u64;
                    self.call(model, at, |part, out| part.input(at, &changes, out));
                }
                Event::Pin { pad, signal } => self.drive(at, pad, signal),
                Event::Act { model } => self.call(model, at, |part, out| part.act(at, out)),
            }
        }
    }

    /// Drives a pin of the device, which only levels can.
    fn drive(&mut self, at: Ns, pad: u16, signal: Signal) {
        let Signal::Level(level) = signal else { return };
        let edge = Edge { at, pad, level };
        if !self.record.add_edge(edge) {
            if let Some(model) = self.drivers().get(&pad) {
                self.record.warn_full(*model, &self.parts[*model].name, at);
            }
        }
        self.edges.push(self.wiring.board_of(pad), edge);
    }

    /// Calls a model; one that panics ends the bench.
    fn call(&mut self, model: usize, at: Ns, what: impl FnOnce(&mut dyn Model, &mut Outbox)) {
        let mut out = Outbox::default();
        let part = &mut self.parts[model];
        let done = catch_unwind(AssertUnwindSafe(|| {
            what(part.model.as_mut(), &mut out);
            part.model.next()
        }));
        match done {
            Ok(next) => self.schedule.set_act(model, next),
            Err(cause) => {
                let text = cause.downcast_ref::<String>().map(String::as_str);
                let text = text
                    .or_else(|| cause.downcast_ref::<&str>().copied())
                    .unwrap_or("no reason");
                return self.fail(model, at, text);
            }
        }
        if let Some(why) = &out.failure {
            self.fail(model, at, why);
        }
        for text in &out.warnings {
            self.warn(model, at, text);
        }
        let origin = self.wiring.origin_of_models();
        for (delay, output, signal) in out.sent {
            let change = Output {
                at: at + delay,
                model,
                output,
                signal,
            };
            if !self.record.add_output(change) {
                self.record.warn_full(model, &self.parts[model].name, at);
            }
            for to in self.wiring.ends_of_output(model, output) {
                self.schedule.send(at + delay, *to, signal, origin);
            }
        }
    }

    fn fail(&mut self, model: usize, at: Ns, why: &str) {
        let Part { name, location, .. } = &self.parts[model];
        self.failure = Some(format!("{location}the model {name} failed at {at} ns: {why}"));
    }

    /// Records a warning about a model.
    pub fn warn(&mut self, model: usize, at: Ns, text: &str) {
        self.record.warn(model, &self.parts[model].name, at, text);
    }

    /// Takes the next change of an input pin of a board, by its number among those of this engine,
    /// if it is before `end`.
    pub fn edge(&mut self, board: usize, end: Ns) -> Option<Edge> {
        self.edges.take(board, end)
    }

    /// The time of that change, as far as it is known.
    pub fn edge_due(&self, board: usize) -> Option<Ns> {
        self.edges.due(board)
    }

    /// Gives each part the random numbers of a bench with this seed, from now on.
    pub fn reseed(&mut self, seed: u64) {
        for part in &mut self.parts {
            part.model.reseed(random_of(&part.name, seed));
        }
    }

    /// Whether there are any parts.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Why the bench has ended, if it has.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Number of changes delivered to models.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Warnings of models, from number `from` on.
    pub fn warnings(&self, from: usize) -> &[Warning] {
        self.record.warnings(from)
    }

    /// The report of each model, by name.
    pub fn report(&self, at: Ns) -> Value {
        let parts = self.parts.iter().map(|part| (part.name.clone(), part.model.report(at)));
        Value::Object(parts.collect())
    }
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
