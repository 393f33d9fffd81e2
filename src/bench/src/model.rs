//! What a model is to the engine: it is told what changes at its inputs, and says what changes at
//! its outputs, and when it next acts by itself. It has no other clock, so time may be skipped, and
//! a model that waits costs nothing.

use serde_json::Value;

use crate::signal::{Ns, Signal};

/// A change at an input: its number, and what is there from now on.
pub type Change = (usize, Signal);

/// A part of the bench.
pub trait Model {
    /// At `at` these inputs have changed, at once.
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox);

    /// When it next acts by itself.
    fn next(&self) -> Option<Ns> {
        None
    }

    /// When what it has been told is done, if it still does that: a run is not over before.
    fn under_way(&self) -> Option<Ns> {
        None
    }

    /// It is the time that it said.
    fn act(&mut self, _at: Ns, _out: &mut Outbox) {}

    /// Its settings and state at `at`, with units in the names.
    fn report(&self, at: Ns) -> Value;

    /// What has been begun and waits for more, which is a mistake if nothing comes: since when, and what.
    fn unfinished(&self) -> Vec<(Ns, String)> {
        Vec::new()
    }
}

/// Sets those of a model's lines, which are its first inputs, that have changed.
pub fn set_levels(lines: &mut [bool], changes: &[Change]) {
    for (input, signal) in changes {
        if let (Some(line), Signal::Level(level)) = (lines.get_mut(*input), signal) {
            *line = *level;
        }
    }
}

/// Where a model puts what it does.
#[derive(Default)]
pub struct Outbox {
    /// (delay in ns, output, signal).
    pub(crate) sent: Vec<(Ns, usize, Signal)>,
    /// What the bench's owner should hear: something that the chip's data sheet forbids, or that
    /// cannot have been meant.
    pub(crate) warnings: Vec<String>,
    /// Why the model cannot go on.
    pub(crate) failure: Option<String>,
}

impl Outbox {
    /// An output changes now.
    pub fn send(&mut self, output: usize, signal: Signal) {
        self.sent.push((0, output, signal));
    }

    /// An output changes so many ns later, whatever the model does meanwhile.
    pub fn send_after(&mut self, delay: Ns, output: usize, signal: Signal) {
        self.sent.push((delay, output, signal));
    }

    /// It cannot go on, and the bench ends.
    pub fn fail(&mut self, why: impl Into<String>) {
        self.failure = Some(why.into());
    }

    /// Tells the owner of the bench.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }

    /// Tells what there is to be told of a channel.
    pub fn warn_of(&mut self, channel: usize, texts: impl IntoIterator<Item = String>) {
        let told = texts.into_iter().map(|text| format!("ch{channel}: {text}"));
        self.warnings.extend(told);
    }
}
