//! Models, the wires between them, and the event queue.
//!
//! All events are in one queue, ordered by time, then by model. The owner of the device reports
//! changes at its pins ([`Engine::pin`]), asks for the time of the bench's next event
//! ([`Engine::next`]), and runs the bench ([`Engine::run`]) before advancing beyond that time. A
//! cable from a pin is [`CABLE`] long, so changes at the pins within a device cycle are known
//! before the bench reaches that time: all times are exact. The pins may belong to several boards
//! ([`divide`]), each of which fetches the changes of its own inputs.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::panic::{catch_unwind, AssertUnwindSafe};

use kairos_pulse::model::Tone as CoreTone;
use serde_json::Value;

use crate::model::{Change, Model, Outbox};
use crate::signal::{Ns, Signal, Square, CORE_LATENCY, SHUTTLER_LATENCY};

mod divide;
mod history;

pub use divide::Divided;

/// Delay from a pin of the device to whatever is wired to it.
pub const CABLE: Ns = 8;
/// Number of events at one time at which the models are considered to loop.
const CIRCLE: u32 = 100_000;
/// Number of warnings kept per model.
const WARNINGS: usize = 20;
/// Simultaneous changes from several boards reach a model in the order of the boards, whichever was
/// run first: the bits from this one up in a change's sequence number hold its origin.
const ORIGIN: u32 = 48;
/// Origin of a change that a model sent.
const MODEL: usize = 0xff;

/// Destination of a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// An input of a model.
    Input {
        /// Number of the model.
        model: usize,
        /// Number of the input there.
        input: usize,
    },
    /// A pin of the device.
    Pin(u16),
}

impl End {
    /// Whether the end is an input of a model that satisfies `wanted`.
    fn is_of(self, wanted: impl Fn(usize) -> bool) -> bool {
        matches!(self, Self::Input { model, .. } if wanted(model))
    }
}

/// A change of an input pin of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Time of the change.
    pub at: Ns,
    /// Index of the pad.
    pub pad: u16,
    /// The level from then on.
    pub level: bool,
}

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

struct Part {
    name: String,
    /// Place in the bench file, followed by a colon; empty if there is none.
    place: String,
    model: Box<dyn Model>,
    /// The ends of the wires of each output.
    wires: Vec<Vec<End>>,
    /// The time at which the model next acts by itself.
    next: Option<Ns>,
    warned: usize,
}

/// A change in flight: ordered by time, model, and order of sending.
struct Coming {
    at: Ns,
    to: End,
    number: u64,
    signal: Signal,
}

impl Coming {
    fn key(&self) -> (Ns, usize, u64) {
        let model = match self.to {
            End::Pin(_) => usize::MAX,
            End::Input { model, .. } => model,
        };
        (self.at, model, self.number)
    }
}

impl PartialEq for Coming {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Coming {}
impl PartialOrd for Coming {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Coming {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// The bench.
#[derive(Default)]
pub struct Engine {
    parts: Vec<Part>,
    /// By pad, the inputs that are wired to it.
    pins: BTreeMap<u16, Vec<End>>,
    queue: BinaryHeap<Reverse<Coming>>,
    numbers: u64,
    /// The number of each board's first pad, in order, if there are several boards.
    starts: Vec<u16>,
    /// By board, changes of its input pins that have not been fetched.
    edges: Vec<VecDeque<Edge>>,
    /// The earliest time of all models and the queue.
    next: Option<Ns>,
    failure: Option<String>,
    warnings: Vec<Warning>,
    /// In the order of sending.
    history: Vec<history::Given>,
    /// Changes driven on input pins.
    driven: Vec<Edge>,
    /// Whether the warning that changes are no longer kept has been given.
    forgets: bool,
    /// Changes delivered to models.
    pub delivered: u64,
}

impl Engine {
    /// Adds a model with `outputs` outputs. Returns its number.
    pub fn add(&mut self, name: &str, outputs: usize, model: Box<dyn Model>) -> usize {
        let next = model.next();
        self.parts.push(Part {
            name: name.into(),
            place: String::new(),
            model,
            wires: vec![Vec::new(); outputs],
            next,
            warned: 0,
        });
        self.look();
        self.parts.len() - 1
    }

    /// Sets a model's place in a file, for messages.
    pub fn found_at(&mut self, model: usize, place: &str) {
        self.parts[model].place = format!("{place}: ");
    }

    /// The models that drive pins of the device, by pad.
    pub fn drivers(&self) -> BTreeMap<u16, usize> {
        let mut drivers = BTreeMap::new();
        for (model, part) in self.parts.iter().enumerate() {
            for end in part.wires.iter().flatten() {
                if let End::Pin(pad) = end {
                    drivers.insert(*pad, model);
                }
            }
        }
        drivers
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
        self.parts[model].wires[output].push(to);
    }

    /// Connects a pin of the device to an input of a model.
    pub fn wire_pin(&mut self, pad: u16, model: usize, input: usize) {
        self.pins.entry(pad).or_default().push(End::Input { model, input });
    }

    /// Whether anything is wired to an output of a model.
    pub fn feeds(&self, model: usize) -> bool {
        self.parts[model].wires.iter().any(|ends| !ends.is_empty())
    }

    /// Whether anything is wired to a pin that the device drives.
    pub fn watches(&self, pad: u16) -> bool {
        self.pins.contains_key(&pad)
    }

    /// The pins of the device through which a model is reached: those wired to it, in either
    /// direction, or, if there are none, those of the models upstream.
    pub fn pads_of(&self, model: usize) -> Vec<u16> {
        let mut reached = BTreeSet::from([model]);
        loop {
            let pads: Vec<u16> = reached.iter().flat_map(|model| self.own_pads(*model)).collect();
            let known = reached.len();
            let before = |part: &Part| {
                part.wires
                    .iter()
                    .flatten()
                    .any(|end| end.is_of(|to| reached.contains(&to)))
            };
            let wired: Vec<usize> = (0..self.parts.len())
                .filter(|part| before(&self.parts[*part]))
                .collect();
            reached.extend(wired);
            if !pads.is_empty() || reached.len() == known {
                return pads;
            }
        }
    }

    /// The pins wired to the model itself.
    fn own_pads(&self, model: usize) -> impl Iterator<Item = u16> + '_ {
        let leads = move |end: &End| end.is_of(|to| to == model);
        let wired = self.pins.iter().filter(move |(_, ends)| ends.iter().any(leads));
        let driven = self.parts[model].wires.iter().flatten().filter_map(|end| match end {
            End::Pin(pad) => Some(*pad),
            End::Input { .. } => None,
        });
        wired.map(|(pad, _)| *pad).chain(driven)
    }

    /// Reports a level change at a pin of the device.
    pub fn pin(&mut self, at: Ns, pad: u16, level: bool) {
        self.lead(at + CABLE, pad, Signal::Level(level));
    }

    /// Reports a new tone of a pulse core, whose number among the pads is `pad`.
    pub fn tone(&mut self, at: Ns, pad: u16, tone: CoreTone) {
        self.lead(at + CORE_LATENCY, pad, Signal::Core(tone));
    }

    /// Reports a new word of a Shuttler's output, whose number among the pads is `pad`.
    pub fn word(&mut self, at: Ns, pad: u16, word: u64) {
        self.lead(at + SHUTTLER_LATENCY, pad, Signal::Word(word));
    }

    /// Reports that a clock at a pin of the device starts, changes or stops.
    pub fn clock(&mut self, at: Ns, pad: u16, wave: Option<Square>) {
        let wave = wave.map(|wave| Square {
            edge: wave.edge + CABLE,
            ..wave
        });
        self.lead(at + CABLE, pad, Signal::Clock(wave));
    }

    /// Queues a signal for everything wired to a pin of the device, at time `at`.
    fn lead(&mut self, at: Ns, pad: u16, signal: Signal) {
        for index in 0..self.pins.get(&pad).map_or(0, Vec::len) {
            let to = self.pins[&pad][index];
            self.push(at, to, signal, self.board_of(pad));
        }
    }

    /// The index of the board that a pad belongs to.
    fn board_of(&self, pad: u16) -> usize {
        self.starts.partition_point(|start| *start <= pad).saturating_sub(1)
    }

    fn push(&mut self, at: Ns, to: End, signal: Signal, origin: usize) {
        self.numbers += 1;
        let origin = if self.starts.len() > 1 { origin as u64 } else { 0 };
        let number = origin << ORIGIN | self.numbers;
        self.queue.push(Reverse(Coming { at, to, number, signal }));
        self.next = Some(self.next.map_or(at, |next| next.min(at)));
    }

    /// The time of the next event; none after a failure.
    pub fn next(&self) -> Option<Ns> {
        if self.failure.is_some() {
            return None;
        }
        self.next
    }

    /// The earliest completion of an operation in progress: pipelines, not endless processes.
    pub fn under_way(&self) -> Option<Ns> {
        self.parts.iter().filter_map(|part| part.model.under_way()).min()
    }

    fn look(&mut self) {
        let queue = self.queue.peek().map(|Reverse(first)| first.at);
        let acts = self.parts.iter().filter_map(|part| part.next);
        self.next = acts.chain(queue).min();
    }

    /// Processes all events before `end`; resulting changes at pins are returned by [`Self::edge`].
    pub fn run(&mut self, end: Ns) {
        let (mut last, mut circle) = (0, 0);
        while let Some(at) = self.next().filter(|at| *at < end) {
            circle = if at == last { circle + 1 } else { 0 };
            last = at;
            if circle == CIRCLE {
                self.failure = Some(format!(
                    "at {at} ns the models trigger each other endlessly without delay"
                ));
                return;
            }
            // A change in the queue is delivered before a model acts by itself at the same time.
            match self.queue.peek() {
                Some(Reverse(first)) if first.at == at => self.deliver(at),
                _ => self.act(at),
            }
            self.look();
        }
    }

    /// Delivers all changes for the first model (or the first pin's change) in the queue at `at`.
    fn deliver(&mut self, at: Ns) {
        let Some(Reverse(first)) = self.queue.pop() else { return };
        let End::Input { model, input } = first.to else {
            return self.drive(at, first.to, first.signal);
        };
        let mut changes: Vec<Change> = vec![(input, first.signal)];
        while let Some(Reverse(Coming { to, .. })) = self.queue.peek().filter(|next| next.0.at == at) {
            match *to {
                End::Input { model: same, input } if same == model => {
                    let Some(Reverse(next)) = self.queue.pop() else { break };
                    changes.push((input, next.signal));
                }
                _ => break,
            }
        }
        self.delivered += changes.len() as u64;
        self.call(model, at, |part, out| part.input(at, &changes, out));
    }

    /// Drives a pin of the device.
    fn drive(&mut self, at: Ns, to: End, signal: Signal) {
        if let (End::Pin(pad), Signal::Level(level)) = (to, signal) {
            let edge = Edge { at, pad, level };
            self.keep_edge(edge);
            let board = self.board_of(pad);
            if self.edges.len() <= board {
                self.edges.resize_with(board + 1, VecDeque::new);
            }
            self.edges[board].push_back(edge);
        }
    }

    fn act(&mut self, at: Ns) {
        let due = self.parts.iter().position(|part| part.next == Some(at));
        if let Some(model) = due {
            self.call(model, at, |part, out| part.act(at, out));
        }
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
            Ok(next) => part.next = next,
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
        for text in out.warnings {
            self.warn(model, at, text);
        }
        for (delay, output, signal) in out.sent {
            self.keep(at, (at + delay, model, output, signal));
            for index in 0..self.parts[model].wires[output].len() {
                let to = self.parts[model].wires[output][index];
                self.push(at + delay, to, signal, MODEL);
            }
        }
    }

    fn fail(&mut self, model: usize, at: Ns, why: &str) {
        let Part { name, place, .. } = &self.parts[model];
        self.failure = Some(format!("{place}the model {name} failed at {at} ns: {why}"));
    }

    /// Records a warning about a model.
    pub fn warn(&mut self, model: usize, at: Ns, text: String) {
        let part = &mut self.parts[model];
        part.warned += 1;
        if part.warned <= WARNINGS {
            let text = format!("{}: {text}", part.name);
            self.warnings.push(Warning { at, part: model, text });
        }
    }

    /// Takes the next change of an input pin of a board, by its number among those of this engine,
    /// if it is before `end`.
    pub fn edge(&mut self, board: usize, end: Ns) -> Option<Edge> {
        self.edges.get_mut(board)?.pop_front_if(|edge| edge.at < end)
    }

    /// The time of that change, as far as it is known.
    pub fn edge_due(&self, board: usize) -> Option<Ns> {
        self.edges.get(board)?.front().map(|edge| edge.at)
    }

    /// Whether there are any parts.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Why the bench has ended, if it has.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Warnings of models, from number `from` on.
    pub fn warnings(&self, from: usize) -> &[Warning] {
        self.warnings.get(from..).unwrap_or_default()
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
