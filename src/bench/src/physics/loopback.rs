//! A cable from a pin to a pin.

use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64Mcg;
use serde_json::{json, Value};

use crate::model::{Change, Model, Outbox};
use crate::signal::Ns;

/// The cable, from input 0 to output 0.
pub struct Loopback {
    delay: Ns,
    /// Standard deviation of an edge's delay in ns.
    jitter: f64,
    random: Pcg64Mcg,
    /// Time at which the last edge leaves: later edges do not overtake it.
    newest: Ns,
    edges: u64,
}

impl Loopback {
    /// A cable with this delay, in addition to the cable of each pin.
    pub fn new(delay: Ns, jitter: f64, random: Pcg64Mcg) -> Self {
        Self {
            delay,
            jitter,
            random,
            newest: 0,
            edges: 0,
        }
    }
}

impl Model for Loopback {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        for (_, signal) in changes {
            let drawn: f64 = StandardNormal.sample(&mut self.random);
            let late = (drawn * self.jitter).round();
            let leaves = (at + self.delay)
                .saturating_add_signed(late as i64)
                .max(at)
                .max(self.newest);
            self.newest = leaves;
            self.edges += 1;
            out.send_after(leaves - at, 0, *signal);
        }
    }

    fn reseed(&mut self, random: Pcg64Mcg) {
        self.random = random;
    }

    fn report(&self, _at: Ns) -> Value {
        json!({ "part": "loopback", "edges": self.edges })
    }
}
