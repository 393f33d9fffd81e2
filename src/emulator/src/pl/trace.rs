//! What happened at the pins: every change of every pad with its exact time.

use super::wave::Stretch;

/// One change of a pad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds since power-up.
    pub time_ns: u64,
    /// Index of the pad.
    pub pad: u16,
    /// Level, or `None` while the PL does not drive the pad.
    pub level: Option<bool>,
}

/// Changes since the last clear.
pub struct Trace {
    /// Of cycles that were run, in the order of time, then of the pads.
    events: Vec<Event>,
    /// Cycles that were not run, with what waves did meanwhile.
    stretches: Vec<Placed>,
    last: Vec<Option<bool>>,
}

/// A stretch among the events.
struct Placed {
    stretch: Stretch,
    /// How many of `events` are before it.
    at: usize,
    /// How many changes are before it.
    before: usize,
    /// How many it has.
    count: usize,
}

impl Trace {
    /// For `pads` pads, none of them driven.
    pub fn new(pads: usize) -> Self {
        Self {
            events: Vec::new(),
            stretches: Vec::new(),
            last: vec![None; pads],
        }
    }

    /// Records the cycle that starts at `start_ns`: eight samples of 1 ns for each pad (bit 0 first), and who drives.
    /// Returns what has changed.
    pub fn record(&mut self, start_ns: u64, samples: &[u8], drive: &[u8]) -> &[Event] {
        let from = self.events.len();
        for (pad, last) in self.last.iter_mut().enumerate() {
            if drive[pad] == 0 {
                if last.is_some() {
                    *last = None;
                    self.events.push(Event {
                        time_ns: start_ns,
                        pad: pad as u16,
                        level: None,
                    });
                }
                continue;
            }
            let s = samples[pad];
            if (s == 0 && *last == Some(false)) || (s == 0xff && *last == Some(true)) {
                continue;
            }
            for bit in 0..8 {
                let level = Some(s >> bit & 1 != 0);
                if *last != level {
                    *last = level;
                    self.events.push(Event {
                        time_ns: start_ns + bit,
                        pad: pad as u16,
                        level,
                    });
                }
            }
        }
        self.events[from..].sort_by_key(|e| (e.time_ns, e.pad));
        &self.events[from..]
    }

    /// Records that cycles were not run, in which nothing changed but these waves.
    pub fn skip(&mut self, stretch: Stretch) {
        let count = stretch.count();
        if count == 0 {
            return;
        }
        for wave in &stretch.waves {
            self.last[usize::from(wave.pad)] = Some(wave.level(stretch.cycles));
        }
        self.stretches.push(Placed {
            stretch,
            at: self.events.len(),
            before: self.len(),
            count,
        });
    }

    /// How many changes there are.
    pub fn len(&self) -> usize {
        let before = |last: &Placed| last.before + last.count - last.at;
        self.events.len() + self.stretches.last().map_or(0, before)
    }

    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The changes from number `from` on, in the order of time, then of the pads.
    pub fn since(&self, from: usize) -> Vec<Event> {
        let mut found = Vec::with_capacity(self.len().saturating_sub(from));
        // How many changes, and how many events among them, have been passed.
        let (mut passed, mut at) = (0, 0);
        let first = self
            .stretches
            .partition_point(|placed| placed.before + placed.count <= from);
        if let Some(last) = first.checked_sub(1).map(|last| &self.stretches[last]) {
            (passed, at) = (last.before + last.count, last.at);
        }
        for placed in &self.stretches[first..] {
            found.extend(self.events[at..placed.at].iter().skip(from.saturating_sub(passed)));
            let events = placed.stretch.events();
            found.extend(events.into_iter().skip(from.saturating_sub(placed.before)));
            (passed, at) = (placed.before + placed.count, placed.at);
        }
        found.extend(self.events[at..].iter().skip(from.saturating_sub(passed)));
        found
    }

    /// Forgets the changes (the pads keep their levels).
    pub fn clear(&mut self) {
        self.events.clear();
        self.stretches.clear();
    }

    /// A number that depends on every event, for comparing runs.
    pub fn digest(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut h = DefaultHasher::new();
        for e in self.since(0) {
            (e.time_ns, e.pad, e.level).hash(&mut h);
        }
        h.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::wave::Wave;
    use super::*;

    #[test]
    fn sub_cycle_edges_and_release() {
        let mut t = Trace::new(2);
        t.record(0, &[0, 0], &[1, 0]);
        t.record(8, &[0b0011_1000, 0], &[1, 0]);
        t.record(16, &[0, 0xff], &[1, 1]);
        t.record(24, &[0, 0xff], &[0, 1]);
        let e: Vec<_> = t.since(0).iter().map(|e| (e.time_ns, e.pad, e.level)).collect();
        assert_eq!(
            e,
            [
                (0, 0, Some(false)),
                (11, 0, Some(true)),
                (14, 0, Some(false)),
                (16, 1, Some(true)),
                (24, 0, None)
            ]
        );
    }

    #[test]
    fn waves_between_cycles_that_were_run() {
        let wave = |accumulator| Wave {
            pad: 1,
            half: 8,
            accumulator,
            word: 4,
        };
        let mut t = Trace::new(2);
        t.record(0, &[0xff, 0], &[1, 1]);
        let skip = |cycle, accumulator| Stretch {
            waves: vec![wave(accumulator)],
            cycle,
            cycles: 5,
        };
        t.skip(skip(0, 4));
        t.record(48, &[0, 0xff], &[1, 1]);
        t.skip(skip(6, 12));
        t.record(96, &[0xff, 0], &[1, 1]);
        let all = [
            (0, 0),
            (0, 1),
            (8, 1),
            (24, 1),
            (40, 1),
            (48, 0),
            (56, 1),
            (72, 1),
            (88, 1),
            (96, 0),
        ];
        let shown = |from| t.since(from).iter().map(|e| (e.time_ns, e.pad)).collect::<Vec<_>>();
        assert_eq!(t.len(), all.len());
        for from in 0..=all.len() {
            assert_eq!(shown(from), all[from..]);
        }
        let levels: Vec<_> = t
            .since(2)
            .iter()
            .filter(|e| e.pad == 1)
            .map(|e| e.level == Some(true))
            .collect();
        assert!(levels.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
