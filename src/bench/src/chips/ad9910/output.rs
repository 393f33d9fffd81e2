//! The output of an AD9910: sources of frequency, phase and amplitude, the phase accumulator, and
//! the pipeline.

use std::collections::VecDeque;
use std::sync::Arc;

use super::clock::Clock;
use super::course::Course;
use crate::signal::Ns;

/// The source of a word.
#[derive(Debug, Clone)]
pub enum Source {
    /// A register.
    Word(u32),
    /// A sequence that advances by itself.
    Course(Arc<Course>),
    /// The upper bits of a sequence; the number of lower bits that are cut off.
    Ramp(Arc<Course>, u32),
}

impl Source {
    /// The word in a cycle.
    pub fn value(&self, cycle: u64) -> u32 {
        match self {
            Self::Word(word) => *word,
            Self::Course(course) => course.value(cycle) as u32,
            Self::Ramp(course, cut) => course.value(cycle) as u32 >> cut,
        }
    }

    /// The sum of the words over cycles `from` to `to`, exclusive.
    fn sum(&self, from: u64, to: u64) -> u32 {
        match self {
            Self::Word(word) => word.wrapping_mul((to - from) as u32),
            // Only frequencies are summed, which have all bits.
            Self::Course(course) | Self::Ramp(course, _) => (course.sum(to) - course.sum(from)) as u32,
        }
    }

    /// The cycle of the next change.
    fn next(&self, cycle: u64) -> Option<u64> {
        match self {
            Self::Word(_) => None,
            Self::Course(course) | Self::Ramp(course, _) => course.next(cycle),
        }
    }
}

/// Frequency and phase from a cycle on.
#[derive(Debug, Clone)]
pub struct Wave {
    pub start: u64,
    /// The phase accumulator at `start`.
    pub turned: u32,
    /// The accumulator is held at zero.
    pub held: bool,
    pub ftw: Source,
    pub pow: Source,
}

impl Wave {
    /// Zero frequency and phase.
    pub fn still() -> Self {
        Self {
            start: 0,
            turned: 0,
            held: false,
            ftw: Source::Word(0),
            pow: Source::Word(0),
        }
    }

    /// The phase accumulator in a cycle, in 2^-32 turns.
    pub fn accumulator(&self, cycle: u64) -> u32 {
        match self.held {
            true => 0,
            false => self
                .turned
                .wrapping_add(self.ftw.sum(self.start, cycle.max(self.start))),
        }
    }

    /// The phase at the output in turns.
    pub fn turns(&self, cycle: u64) -> f64 {
        let offset = self.pow.value(cycle) << 16;
        f64::from(self.accumulator(cycle).wrapping_add(offset)) / 4_294_967_296.0
    }

    fn next(&self, cycle: u64) -> Option<u64> {
        soonest(self.ftw.next(cycle), self.pow.next(cycle))
    }
}

/// The sooner of two times.
pub fn soonest(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// A pipeline to the output.
#[derive(Debug, Clone)]
pub struct Pipe<T> {
    shown: T,
    delay: u64,
    /// (time at the output, delay in cycles, value).
    pending: VecDeque<(Ns, u64, T)>,
}

impl<T> Pipe<T> {
    /// A pipeline with an initial output.
    pub fn new(shown: T) -> Self {
        Self {
            shown,
            delay: 0,
            pending: VecDeque::new(),
        }
    }

    /// The value that entered last.
    pub fn latest(&self) -> &T {
        self.pending.back().map_or(&self.shown, |pending| &pending.2)
    }

    /// The value at the output, and the cycle of it that appears there in `cycle`.
    pub fn shown(&self, cycle: u64) -> (&T, u64) {
        (&self.shown, cycle.saturating_sub(self.delay))
    }

    /// Enters a value.
    pub fn push(&mut self, clock: &Clock, cycle: u64, delay: u64, what: T) {
        // Values do not overtake each other.
        let last = self.pending.back().map_or(0, |pending| pending.0);
        self.pending
            .push_back((clock.time(cycle + delay).max(last), delay, what));
    }

    /// Advances the output to a time; returns whether a new value appeared.
    pub fn advance(&mut self, at: Ns) -> bool {
        let mut fresh = false;
        while let Some((_, delay, what)) = self.pending.pop_front_if(|pending| pending.0 <= at) {
            (self.shown, self.delay, fresh) = (what, delay, true);
        }
        fresh
    }

    /// Advances all values to the output.
    pub fn flush(&mut self) {
        self.advance(Ns::MAX);
    }

    /// The time at which the next value appears.
    pub fn next(&self) -> Option<Ns> {
        self.pending.front().map(|pending| pending.0)
    }

    /// The time after `at` at which the value at the output changes by itself, if it does.
    fn changes(&self, clock: &Clock, at: Ns, next: impl Fn(&T, u64) -> Option<u64>) -> Option<Ns> {
        let (shown, mut cycle) = self.shown(clock.cycle(at));
        loop {
            cycle = next(shown, cycle)?;
            let time = clock.time(cycle + self.delay);
            if time > at {
                return Some(time);
            }
        }
    }
}

/// The two pipelines to the output.
#[derive(Debug, Clone)]
pub struct Output {
    pub waves: Pipe<Wave>,
    /// The amplitude word.
    pub levels: Pipe<Source>,
}

impl Output {
    /// No output.
    pub fn new() -> Self {
        Self {
            waves: Pipe::new(Wave::still()),
            levels: Pipe::new(Source::Word(0)),
        }
    }

    /// The time of the next change after `at`; if inaudible, only new values count.
    pub fn next(&self, clock: &Clock, at: Ns, audible: bool) -> Option<Ns> {
        let pending = soonest(self.waves.next(), self.levels.next());
        if !audible || clock.hz == 0 {
            return pending;
        }
        let changes = soonest(
            self.waves.changes(clock, at, Wave::next),
            self.levels.changes(clock, at, Source::next),
        );
        soonest(pending, changes)
    }
}
