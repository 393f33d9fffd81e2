//! Inputs of a recorded run: each change comes as long after a change of one of the device's outputs as it did in the
//! run, at whatever time that is now.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{json, Value};

use crate::model::{Change, Model, Outbox};
use crate::signal::{Ns, Signal};

/// A change of an input.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Due {
    /// Number of the output of the device, among the anchors…
    pub anchor: usize,
    /// …how many times that had changed (its level begins with 0)…
    pub count: u32,
    /// …and nanoseconds from then on.
    pub after: Ns,
    /// Number of the input of the device.
    pub input: usize,
    /// Its level.
    pub level: bool,
}

/// All inputs.
pub struct Recorded {
    /// By anchor and count.
    due: HashMap<(usize, u32), Vec<Due>>,
    /// Level of each anchor, and how many times it has changed.
    anchors: Vec<(bool, u32)>,
    /// Whether the inputs have their first levels.
    begun: bool,
}

impl Recorded {
    /// Inputs that follow `anchors` outputs of the device.
    pub fn new(changes: Vec<Due>, anchors: usize) -> Self {
        let mut due: HashMap<_, Vec<Due>> = HashMap::new();
        for change in changes {
            due.entry((change.anchor, change.count)).or_default().push(change);
        }
        Self {
            due,
            anchors: vec![(false, 0); anchors],
            begun: false,
        }
    }
}

impl Model for Recorded {
    fn input(&mut self, _at: Ns, changes: &[Change], out: &mut Outbox) {
        for (number, signal) in changes {
            let (Some(anchor), Signal::Level(level)) = (self.anchors.get_mut(*number), signal) else {
                continue;
            };
            if anchor.0 == *level {
                continue;
            }
            *anchor = (*level, anchor.1 + 1);
            for due in self.due.remove(&(*number, anchor.1)).unwrap_or_default() {
                out.send_after(due.after, due.input, Signal::Level(due.level));
            }
        }
    }

    fn next(&self) -> Option<Ns> {
        (!self.begun).then_some(0)
    }

    /// Gives the levels of before the first change.
    fn act(&mut self, _at: Ns, out: &mut Outbox) {
        self.begun = true;
        for number in 0..self.anchors.len() {
            for due in self.due.remove(&(number, 0)).unwrap_or_default() {
                out.send_after(due.after, due.input, Signal::Level(due.level));
            }
        }
    }

    fn report(&self, _at: Ns) -> Value {
        json!({ "part": "recorded", "left": self.due.values().map(Vec::len).sum::<usize>() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_follow_the_changes_of_outputs() {
        let due = |count, after, level| Due {
            anchor: 0,
            count,
            after,
            input: 1,
            level,
        };
        let mut model = Recorded::new(vec![due(1, 40, true), due(1, 60, false), due(3, 0, true)], 1);
        let mut sent = |level| {
            let mut out = Outbox::default();
            model.input(0, &[(0, Signal::Level(level))], &mut out);
            out.sent
        };
        assert_eq!(sent(false), []);
        assert_eq!(
            sent(true),
            [(40, 1, Signal::Level(true)), (60, 1, Signal::Level(false))]
        );
        assert_eq!(sent(true), [], "the level is the same");
        assert_eq!(sent(false), []);
        assert_eq!(sent(true), [(0, 1, Signal::Level(true))]);
        assert_eq!(model.report(0)["left"], 0);
    }
}
