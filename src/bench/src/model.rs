//! The interface between a model and the engine. A model is notified of changes at its inputs,
//! sends changes at its outputs, and states when it next acts by itself. It has no other clock, so
//! time can be skipped, and an idle model costs nothing.

use rand_pcg::Pcg64Mcg;
use serde_json::Value;

use crate::signal::{Ns, Signal};

/// A change at an input: the input's number and its new signal.
pub type Change = (usize, Signal);

/// A part of the bench.
pub trait Model {
    /// Handles changes at inputs, all of them at the same time `at`.
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox);

    /// The time at which the model next acts by itself.
    fn next(&self) -> Option<Ns> {
        None
    }

    /// The time at which a pipeline in progress completes, if any: a run does not end before it.
    fn under_way(&self) -> Option<Ns> {
        None
    }

    /// Acts at the time that [`Self::next`] returned.
    fn act(&mut self, _at: Ns, _out: &mut Outbox) {}

    /// Takes other random numbers from now on.
    fn reseed(&mut self, _random: Pcg64Mcg) {}

    /// Settings and state at `at`, with units in the names.
    fn report(&self, at: Ns) -> Value;

    /// Operations begun but incomplete, a mistake if no more input follows: (start, description).
    fn unfinished(&self) -> Vec<(Ns, String)> {
        Vec::new()
    }
}

/// Updates a model's lines, which are its first inputs, from changes.
pub fn set_levels(lines: &mut [bool], changes: &[Change]) {
    for (input, signal) in changes {
        if let (Some(line), Signal::Level(level)) = (lines.get_mut(*input), signal) {
            *line = *level;
        }
    }
}

/// Collects the outputs of a model.
#[derive(Default)]
pub struct Outbox {
    /// (delay in ns, output, signal).
    pub(crate) sent: Vec<(Ns, usize, Signal)>,
    /// Messages for the bench's owner: violations of a chip's data sheet, and inputs that cannot be
    /// intended.
    pub(crate) warnings: Vec<String>,
    /// Why the model cannot continue.
    pub(crate) failure: Option<String>,
}

impl Outbox {
    /// Changes an output immediately.
    pub fn send(&mut self, output: usize, signal: Signal) {
        self.sent.push((0, output, signal));
    }

    /// Changes an output `delay` ns later, whatever the model does meanwhile.
    pub fn send_after(&mut self, delay: Ns, output: usize, signal: Signal) {
        self.sent.push((delay, output, signal));
    }

    /// Reports that the model cannot continue, which ends the bench.
    pub fn fail(&mut self, why: impl Into<String>) {
        self.failure = Some(why.into());
    }

    /// Warns the owner of the bench.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }

    /// Warns the owner of the bench about a channel.
    pub fn warn_of(&mut self, channel: usize, texts: impl IntoIterator<Item = String>) {
        let warnings = texts.into_iter().map(|text| format!("ch{channel}: {text}"));
        self.warnings.extend(warnings);
    }
}
