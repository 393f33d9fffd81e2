//! A line trigger: one pulse per period of the mains.

use rand_distr::{Distribution, StandardNormal, StandardUniform};
use rand_pcg::Pcg64Mcg;
use serde_json::{json, Value};

use crate::model::{Change, Model, Outbox};
use crate::signal::{Ns, Signal};

/// The trigger: output 0 is its pulses.
pub struct Line {
    hz: f64,
    /// Standard deviation of an edge in ns.
    jitter: f64,
    pulse: Ns,
    random: Pcg64Mcg,
    /// Phase of the mains at power-up, as a fraction of a period.
    begin: f64,
    edges: u64,
    next: Ns,
}

impl Line {
    /// A trigger with pulses of `pulse` ns.
    pub fn new(hz: f64, jitter: f64, pulse: Ns, mut random: Pcg64Mcg) -> Self {
        let begin = StandardUniform.sample(&mut random);
        let mut line = Self {
            hz,
            jitter,
            pulse,
            random,
            begin,
            edges: 0,
            next: 0,
        };
        line.draw();
        line
    }

    /// Draws the time of the next pulse, which is after the end of the last one.
    fn draw(&mut self) {
        let drawn: f64 = StandardNormal.sample(&mut self.random);
        let due = (self.edges as f64 + self.begin) / self.hz * 1e9 + drawn * self.jitter;
        self.next = (due.max(0.0).round() as Ns).max(self.next + self.pulse + 1);
    }
}

impl Model for Line {
    fn input(&mut self, _at: Ns, _changes: &[Change], _out: &mut Outbox) {}

    fn next(&self) -> Option<Ns> {
        Some(self.next)
    }

    fn act(&mut self, _at: Ns, out: &mut Outbox) {
        self.edges += 1;
        out.send(0, Signal::Level(true));
        out.send_after(self.pulse, 0, Signal::Level(false));
        self.draw();
    }

    fn reseed(&mut self, random: Pcg64Mcg) {
        self.random = random;
    }

    fn report(&self, _at: Ns) -> Value {
        json!({ "part": "line trigger", "hz": self.hz, "edges": self.edges })
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn edges_keep_the_mains_frequency_for_hours() {
        let mut line = Line::new(50.0, 20_000.0, 1_000_000, Pcg64Mcg::seed_from_u64(3));
        let mut edges = Vec::new();
        for _ in 0..180_000 {
            edges.push(line.next);
            line.act(line.next, &mut Outbox::default());
        }
        let off = |n: usize| edges[n] as f64 - edges[0] as f64 - n as f64 * 20e6;
        let late: Vec<f64> = (1..edges.len()).map(off).collect();
        assert!(
            late.iter().all(|late| late.abs() < 200e3),
            "six deviations of two edges"
        );
        let mean = late.iter().sum::<f64>() / late.len() as f64;
        let spread = (late.iter().map(|late| (late - mean).powi(2)).sum::<f64>() / late.len() as f64).sqrt();
        assert!((spread / 20_000.0 - 1.0).abs() < 0.02, "{spread}");
    }
}
