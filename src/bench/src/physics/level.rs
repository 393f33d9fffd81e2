//! A level that is high from the beginning.

use serde_json::{json, Value};

use crate::model::{Change, Model, Outbox};
use crate::signal::{Ns, Signal};

/// Drives output 0 high.
#[derive(Default)]
pub struct High {
    is_sent: bool,
}

impl Model for High {
    fn input(&mut self, _at: Ns, _changes: &[Change], _out: &mut Outbox) {}

    fn next(&self) -> Option<Ns> {
        (!self.is_sent).then_some(0)
    }

    fn act(&mut self, _at: Ns, out: &mut Outbox) {
        self.is_sent = true;
        out.send(0, Signal::Level(true));
    }

    fn report(&self, _at: Ns) -> Value {
        json!({ "part": "level", "high": true })
    }
}
