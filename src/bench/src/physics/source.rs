//! A switched source of a single tone, such as a synthesiser that a laboratory sets by hand.

use serde_json::{json, Value};

use crate::model::{Change, Model, Outbox};
use crate::signal::{turns_of, Ns, Signal, Tone};

/// The source: input 0 is its switch, output 0 the tone.
pub struct RfSource {
    hz: f64,
    dbm: f64,
    on: bool,
    /// The initial tone has not been sent yet.
    begins: bool,
}

impl RfSource {
    /// A source that is on from the beginning, or waits for its switch.
    pub fn new(hz: f64, dbm: f64, on: bool) -> Self {
        Self {
            hz,
            dbm,
            on,
            begins: on,
        }
    }

    /// The tone at a time; its phase advances while it is switched off.
    fn tone(&self, at: Ns) -> Tone {
        if !self.on {
            return Tone::OFF;
        }
        Tone {
            hz: self.hz,
            dbm: self.dbm,
            turns: turns_of(self.hz, at),
        }
    }
}

impl Model for RfSource {
    fn next(&self) -> Option<Ns> {
        self.begins.then_some(0)
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        self.begins = false;
        out.send(0, Signal::Tone(self.tone(at)));
    }

    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        for (_, signal) in changes {
            if let Signal::Level(level) = signal {
                self.on = *level;
            }
        }
        out.send(0, Signal::Tone(self.tone(at)));
    }

    fn report(&self, _at: Ns) -> Value {
        json!({ "part": "RF source", "hz": self.hz, "dbm": self.dbm, "on": self.on })
    }
}
