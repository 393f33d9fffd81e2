//! Square waves of clock generators, which need not be run: their edges are known.

use super::trace::Event;
use crate::machine::time::NS_PER_PL_CYCLE;

/// A wave in some cycle: its pad has the highest bit of an accumulator to which a word is added each cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wave {
    /// Index of the pad.
    pub pad: u16,
    /// Half of the accumulator's range: its highest bit.
    pub half: u64,
    /// The accumulator in that cycle.
    pub accumulator: u64,
    /// What is added each cycle, at most `half`.
    pub word: u64,
}

impl Wave {
    /// Levels that it changes to in the `cycles` cycles that follow.
    pub fn count(&self, cycles: u64) -> u64 {
        let reached = u128::from(self.accumulator & (self.half - 1)) + u128::from(self.word) * u128::from(cycles);
        (reached / u128::from(self.half)) as u64
    }

    /// The level after so many cycles.
    pub fn level(&self, cycles: u64) -> bool {
        (self.accumulator & self.half != 0) ^ (self.count(cycles) & 1 != 0)
    }

    /// Its first `count` changes, if it was so in cycle `cycle`.
    fn edges(self, cycle: u64, count: u64) -> impl Iterator<Item = Event> {
        let low = u128::from(self.accumulator & (self.half - 1));
        let high = self.accumulator & self.half != 0;
        (0..count).map(move |number| {
            let reached = u128::from(self.half) * u128::from(number + 1) - low;
            let cycles = reached.div_ceil(u128::from(self.word)) as u64;
            Event {
                time_ns: (cycle + cycles) * NS_PER_PL_CYCLE,
                pad: self.pad,
                level: Some(high ^ (number & 1 == 0)),
            }
        })
    }
}

/// Waves over cycles that were not run.
#[derive(Debug)]
pub struct Stretch {
    /// As they were in `cycle`.
    pub waves: Vec<Wave>,
    /// The last cycle before it that was run.
    pub cycle: u64,
    /// Its length in cycles.
    pub cycles: u64,
}

impl Stretch {
    /// Changes of all waves.
    pub fn count(&self) -> usize {
        self.waves.iter().map(|wave| wave.count(self.cycles) as usize).sum()
    }

    /// All changes in the order of time, then of the pads.
    pub fn events(&self) -> Vec<Event> {
        let edges = |wave: &Wave| wave.edges(self.cycle, wave.count(self.cycles));
        let mut events: Vec<Event> = self.waves.iter().flat_map(edges).collect();
        if self.waves.len() > 1 {
            events.sort_by_key(|event| (event.time_ns, event.pad));
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every wave of accumulators of up to 6 bits.
    #[test]
    fn as_the_logic_counts() {
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
                    let waves = vec![wave];
                    let stretch = Stretch { waves, cycle, cycles };
                    assert_eq!(stretch.count(), events.len());
                    assert_eq!(stretch.events(), events);
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
