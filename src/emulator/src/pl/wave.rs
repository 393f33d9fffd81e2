//! Square waves of clock generators; their edges are calculated instead of simulated.

use super::event::Event;
use crate::machine::time::NS_PER_PL_CYCLE;

/// A wave as of some cycle: its pad is the highest bit of an accumulator to which a word is added
/// each cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wave {
    /// Index of the pad.
    pub pad: u16,
    /// Half of the accumulator's range: its highest bit.
    pub half: u64,
    /// The accumulator as of that cycle.
    pub accumulator: u64,
    /// Added each cycle, at most `half`.
    pub word: u64,
}

impl Wave {
    /// Number of level changes in the `cycles` cycles that follow.
    pub fn count(&self, cycles: u64) -> u64 {
        let reached = u128::from(self.accumulator & (self.half - 1)) + u128::from(self.word) * u128::from(cycles);
        (reached / u128::from(self.half)) as u64
    }

    /// The level after a number of cycles.
    pub fn level(&self, cycles: u64) -> bool {
        (self.accumulator & self.half != 0) ^ (self.count(cycles) & 1 != 0)
    }

    /// The accumulator after a number of cycles.
    fn accumulator_after(&self, cycles: u64) -> u64 {
        let reached = u128::from(self.accumulator) + u128::from(self.word) * u128::from(cycles);
        (reached % (2 * u128::from(self.half))) as u64
    }

    /// The wave as of an earlier `cycle`, extrapolated from its state in `now`.
    pub fn at_cycle(&self, cycle: u64, now: u64) -> Self {
        // The accumulator wraps at a power of two.
        let turned = self.word.wrapping_mul(now - cycle);
        Self {
            accumulator: self.accumulator.wrapping_sub(turned) & (2 * self.half - 1),
            ..*self
        }
    }

    /// The first cycle from `cycle` on in which it rises, if `self` is as of cycle 0.
    pub fn rises(&self, cycle: u64) -> u64 {
        let before = self.count(cycle.saturating_sub(1));
        let first = if self.level(cycle.saturating_sub(1)) { 1 } else { 0 };
        self.cycles_to(before + first)
    }

    /// Number of cycles until its `number`th change, counted from 0.
    fn cycles_to(&self, number: u64) -> u64 {
        let low = u128::from(self.accumulator & (self.half - 1));
        let reached = u128::from(self.half) * u128::from(number + 1) - low;
        reached.div_ceil(u128::from(self.word)) as u64
    }
}

/// A stretch of an unchanged wave: its changes are only counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The wave as of `cycle`.
    pub wave: Wave,
    /// The cycle after which it begins.
    pub cycle: u64,
    /// Number of changes so far.
    pub count: u64,
}

impl Run {
    /// Time of its beginning in nanoseconds since power-up.
    pub fn start_ns(&self) -> u64 {
        self.cycle * NS_PER_PL_CYCLE
    }

    /// The change with this number.
    fn edge(&self, number: u64) -> Event {
        Event {
            time_ns: (self.cycle + self.wave.cycles_to(number)) * NS_PER_PL_CYCLE,
            pad: self.wave.pad,
            level: Some((self.wave.accumulator & self.wave.half == 0) ^ (number & 1 != 0)),
        }
    }

    /// The next change if it continues.
    pub fn next(&self) -> Event {
        self.edge(self.count)
    }

    /// Whether it has continued up to `cycle`, and is `wave` there.
    pub fn reaches(&self, wave: &Wave, cycle: u64) -> bool {
        let cycles = cycle - self.cycle;
        let accumulator = self.wave.accumulator_after(cycles);
        Wave {
            accumulator,
            ..self.wave
        } == *wave
            && self.wave.count(cycles) == self.count
    }

    /// All its changes as events.
    pub fn edges(self) -> impl Iterator<Item = Event> {
        (0..self.count).map(move |number| self.edge(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wave_rises_at_its_change_of_level() {
        for word in 1..=8 {
            let wave = Wave {
                pad: 0,
                half: 8,
                accumulator: 5,
                word,
            };
            for cycle in 1..60 {
                let rises = |n: &u64| wave.level(*n) && !wave.level(n - 1);
                assert_eq!(Some(wave.rises(cycle)), (cycle..200).find(rises), "{word} from {cycle}");
                let later = Wave {
                    accumulator: (5 + word * cycle) % 16,
                    ..wave
                };
                assert_eq!(later.at_cycle(0, cycle), wave);
            }
        }
    }

    /// All waves with accumulators of up to 6 bits.
    #[test]
    fn wave_edges_equal_those_of_the_accumulator() {
        for (bits, cycle) in [(2, 0), (3, 7), (4, 1 << 40), (6, 3)] {
            let range = 1u64 << bits;
            let half = range / 2;
            for (start, word) in (0..range).flat_map(|start| (1..=half).map(move |word| (start, word))) {
                let wave = Wave {
                    pad: 3,
                    half,
                    accumulator: start,
                    word,
                };
                let mut events = Vec::new();
                let mut accumulator = start;
                for cycles in 0..200 {
                    assert_eq!(wave.level(cycles), accumulator & half != 0);
                    let count = wave.count(cycles);
                    let run = Run { wave, cycle, count };
                    assert_eq!(run.edges().collect::<Vec<_>>(), events);
                    assert!(run.reaches(&Wave { accumulator, ..wave }, cycle + cycles));
                    assert!(!run.reaches(&wave, cycle + cycles) || accumulator == start);
                    let next = (accumulator + word) % range;
                    if (next ^ accumulator) & half != 0 {
                        events.push(Event {
                            time_ns: (cycle + cycles + 1) * NS_PER_PL_CYCLE,
                            pad: 3,
                            level: Some(next & half != 0),
                        });
                    }
                    accumulator = next;
                }
            }
        }
    }
}
