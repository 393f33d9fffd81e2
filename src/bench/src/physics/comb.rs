//! The beat of a pulsed laser's repetition rate with a reference, as a photodiode and a mixer give it: a square wave
//! that drifts and sways. Its phase is a closed expression of time, so it goes on while a switch hides it.

use serde_json::{json, Value};
use std::f64::consts::TAU;

use crate::model::{set_levels, Change, Model, Outbox};
use crate::signal::{Ns, Signal};

/// Steps of Newton's method to a zero crossing: the phase is nearly a straight line.
const STEPS: usize = 4;
/// Times are rounded to nanoseconds.
const ROUNDING_S: f64 = 0.6e-9;
/// Part of the nominal frequency by which the beat may be off: beyond it a detector sees something else.
const WIDEST: f64 = 0.5;

/// How the beat's frequency moves, in Hz and Hz/s.
#[derive(Debug, Clone, Copy)]
pub struct Course {
    pub beat_hz: f64,
    /// At power-up.
    pub offset_hz: f64,
    pub drift_hz_per_s: f64,
    /// Peak deviation of a sinusoidal sway, and its rate.
    pub sway_hz: f64,
    pub sway_rate_hz: f64,
}

impl Course {
    /// By how much the frequency is off the nominal one at `t` seconds, in Hz.
    fn deviation(&self, t: f64) -> f64 {
        self.offset_hz + self.drift_hz_per_s * t + self.sway_hz * (TAU * self.sway_rate_hz * t).sin()
    }

    /// The phase at `t` seconds, in turns from power-up on.
    fn phase(&self, t: f64) -> f64 {
        let swayed = match self.sway_rate_hz {
            0.0 => 0.0,
            rate => self.sway_hz / (TAU * rate) * (1.0 - (TAU * rate * t).cos()),
        };
        (self.beat_hz + self.offset_hz) * t + self.drift_hz_per_s * t * t / 2.0 + swayed
    }

    /// The first time after `t` at which the phase is a multiple of half a turn, and whether of a whole one; `None` if
    /// the frequency is too far off.
    fn crossing(&self, t: f64) -> Option<(f64, bool)> {
        // A crossing at `t` itself, within the rounding of times, is over.
        let halves = (2.0 * self.phase(t + ROUNDING_S)).floor() + 1.0;
        let mut at = t;
        for _ in 0..=STEPS {
            let deviation = self.deviation(at);
            if deviation.abs() > WIDEST * self.beat_hz {
                return None;
            }
            at += (halves / 2.0 - self.phase(at)) / (self.beat_hz + deviation);
        }
        Some((at, halves.rem_euclid(2.0) == 0.0))
    }
}

/// The beat: input 0 is its switch, where it has one; output 0 its wave, high in the first half of a turn.
pub struct Comb {
    course: Course,
    lit: [bool; 1],
    level: bool,
    edges: u64,
    next: Option<(Ns, bool)>,
    lost: bool,
}

impl Comb {
    /// A beat that is there from power-up on, unless it is `switched`.
    pub fn new(course: Course, switched: bool) -> Self {
        let mut comb = Self {
            course,
            lit: [!switched],
            level: false,
            edges: 0,
            next: None,
            lost: false,
        };
        if !switched {
            comb.follow(0);
        }
        comb
    }

    /// Sets the next change after `at`.
    fn follow(&mut self, at: Ns) {
        let crossing = self.course.crossing(at as f64 * 1e-9);
        self.next = crossing.map(|(t, rises)| ((t * 1e9).round().max(at as f64 + 1.0) as Ns, rises));
    }

    fn show(&mut self, level: bool, out: &mut Outbox) {
        if std::mem::replace(&mut self.level, level) != level {
            out.send(0, Signal::Level(level));
            self.edges += u64::from(level);
        }
    }
}

impl Model for Comb {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let before = self.lit;
        set_levels(&mut self.lit, changes);
        match (before, self.lit) {
            ([false], [true]) => self.follow(at),
            ([true], [false]) => {
                self.next = None;
                self.show(false, out);
            }
            _ => (),
        }
    }

    fn next(&self) -> Option<Ns> {
        self.next.map(|(at, _)| at)
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        let Some((_, rises)) = self.next else { return };
        self.show(rises, out);
        self.follow(at);
        if self.next.is_none() && !std::mem::replace(&mut self.lost, true) {
            out.warn("the beat has drifted by more than half of its frequency, and is gone");
        }
    }

    fn report(&self, at: Ns) -> Value {
        json!({
            "part": "comb",
            "beat_hz": self.course.beat_hz,
            "deviation_hz": self.course.deviation(at as f64 * 1e-9),
            "edges": self.edges,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COURSE: Course = Course {
        beat_hz: 1e6,
        offset_hz: 2e3,
        drift_hz_per_s: -3e4,
        sway_hz: 500.0,
        sway_rate_hz: 300.0,
    };

    /// Rising edges up to a time.
    fn rising(comb: &mut Comb, until: Ns) -> Vec<Ns> {
        let mut found = Vec::new();
        while let Some((at, rises)) = comb.next.filter(|(at, _)| *at < until) {
            comb.act(at, &mut Outbox::default());
            if rises {
                found.push(at);
            }
        }
        found
    }

    #[test]
    fn edges_come_at_multiples_of_a_turn() {
        let edges = rising(&mut Comb::new(COURSE, false), 19_900_300);
        for (turn, at) in edges.iter().enumerate() {
            let late = COURSE.phase(*at as f64 * 1e-9) - (turn + 1) as f64;
            assert!(late.abs() < 0.51e-9 * 1.1e6, "turn {turn} at {at} ns: {late}");
        }
        assert_eq!(edges.len() as f64, COURSE.phase(19_900_300e-9).floor());
    }

    #[test]
    fn switched_beat_continues_with_its_own_phase() {
        let always = rising(&mut Comb::new(COURSE, false), 3_000_000);
        let mut comb = Comb::new(COURSE, true);
        assert_eq!(comb.next(), None);
        comb.input(1_000_300, &[(0, Signal::Level(true))], &mut Outbox::default());
        let later = rising(&mut comb, 2_000_000);
        comb.input(2_000_000, &[(0, Signal::Level(false))], &mut Outbox::default());
        assert_eq!(comb.next(), None);
        assert!(!later.is_empty() && always.ends_with(&rising(&mut Comb::new(COURSE, false), 3_000_000)[1..]));
        assert!(later.iter().all(|at| always.contains(at)));
    }

    #[test]
    fn beat_that_drifts_away_is_reported_once() {
        let mut comb = Comb::new(
            Course {
                drift_hz_per_s: 1e9,
                ..COURSE
            },
            false,
        );
        let mut out = Outbox::default();
        while let Some(at) = comb.next() {
            comb.act(at, &mut out);
        }
        assert_eq!(out.warnings.len(), 1);
    }
}
