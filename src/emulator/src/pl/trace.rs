//! The trace of the pins: every change of every pad with its exact time.

use super::event::Event;
use super::wave::{Run, Wave};

/// Changes since the last clear.
pub struct Trace {
    /// In the order of time, then of pads.
    events: Vec<Event>,
    /// Runs of the waves of clock generators, which are not among the events. Those of one pad are
    /// in the order of time.
    runs: Vec<Run>,
    /// The latest run of each pad, while it may continue.
    open: Vec<Option<usize>>,
    last: Vec<Option<bool>>,
}

impl Trace {
    /// Creates a trace of `pads` pads, none of them driven.
    pub fn new(pads: usize) -> Self {
        Self {
            events: Vec::new(),
            runs: Vec::new(),
            open: vec![None; pads],
            last: vec![None; pads],
        }
    }

    /// Records the cycle that starts at `start_ns`: eight samples of 1 ns for each pad (bit 0
    /// first), and whether each is driven. Returns the changes, except expected ones of waves.
    pub fn record(&mut self, start_ns: u64, samples: &[u8], drive: &[u8]) -> &[Event] {
        let from = self.events.len();
        for (pad, last) in self.last.iter_mut().enumerate() {
            if drive[pad] == 0 {
                if last.is_some() {
                    self.open[pad] = None;
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
            if let Some(run) = self.open[pad].map(|at| &mut self.runs[at]) {
                let next = run.next();
                let steady = s == if next.level == Some(true) { 0xff } else { 0 };
                if next.time_ns == start_ns && steady {
                    run.count += 1;
                    *last = next.level;
                    continue;
                }
                self.open[pad] = None;
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

    /// Expects the waves, given as of `cycle`, the last one recorded, to continue.
    pub fn expect(&mut self, waves: impl Iterator<Item = Wave>, cycle: u64) {
        for wave in waves {
            if self.open[usize::from(wave.pad)].is_none() {
                self.begin(wave, cycle);
            }
        }
    }

    /// Records that `cycles` cycles were skipped, in which nothing changed but the waves, given as
    /// of `cycle`, the last one before them.
    pub fn skip(&mut self, waves: impl Iterator<Item = Wave>, cycle: u64, cycles: u64) {
        for wave in waves {
            let open = self.open[usize::from(wave.pad)];
            let at = match open.filter(|at| self.runs[*at].reaches(&wave, cycle)) {
                Some(at) => at,
                None => self.begin(wave, cycle),
            };
            self.runs[at].count += wave.count(cycles);
            self.last[usize::from(wave.pad)] = Some(wave.level(cycles));
        }
    }

    /// Begins a run of a new or changed wave.
    fn begin(&mut self, wave: Wave, cycle: u64) -> usize {
        let open = &mut self.open[usize::from(wave.pad)];
        let at = open.filter(|at| self.runs[*at].count == 0).unwrap_or(self.runs.len());
        let run = Run { wave, cycle, count: 0 };
        match self.runs.get_mut(at) {
            Some(unused) => *unused = run,
            None => self.runs.push(run),
        }
        *open = Some(at);
        at
    }

    /// Number of changes, without those of waves.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether nothing but waves has changed.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The changes from number `from` on, without those of waves, in the order of time, then of
    /// pads.
    pub fn since(&self, from: usize) -> &[Event] {
        self.events.get(from..).unwrap_or_default()
    }

    /// The runs of waves that have changed a pad.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        self.runs.iter().filter(|run| run.count != 0).copied()
    }

    /// Clears the recorded changes (the pads keep their levels).
    pub fn clear(&mut self) {
        self.events.clear();
        self.runs.clear();
        self.open.fill(None);
    }

    /// A hash of all events, for comparing runs.
    pub fn digest(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut h = DefaultHasher::new();
        let mut all = self.events.clone();
        all.extend(self.runs.iter().flat_map(|run| run.edges()));
        all.sort_by_key(|event| (event.time_ns, event.pad));
        for e in all {
            (e.time_ns, e.pad, e.level).hash(&mut h);
        }
        h.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_within_a_cycle_and_release_are_traced() {
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

    /// A wave that changes every 16 ns, as of a cycle.
    fn wave(cycle: u64) -> Wave {
        Wave {
            pad: 1,
            half: 8,
            accumulator: (4 + 4 * cycle) % 16,
            word: 4,
        }
    }

    fn sample(cycle: u64) -> u8 {
        if wave(cycle).level(0) {
            0xff
        } else {
            0
        }
    }

    /// Run and skipped cycles extend one wave, whose changes are only counted.
    #[test]
    fn unchanged_wave_is_only_counted() {
        let mut t = Trace::new(2);
        t.record(0, &[0xff, sample(0)], &[1, 1]);
        t.expect([wave(0)].into_iter(), 0);
        for cycle in 1..10 {
            t.record(cycle * 8, &[if cycle == 6 { 0 } else { 0xff }, sample(cycle)], &[1, 1]);
        }
        t.skip([wave(9)].into_iter(), 9, 125_000_000);
        t.record((9 + 125_000_001) * 8, &[0xff, sample(9 + 125_000_001)], &[1, 1]);
        let shown: Vec<_> = t.since(0).iter().map(|e| (e.time_ns, e.pad)).collect();
        assert_eq!(shown, [(0, 0), (0, 1), (48, 0), (56, 0)]);
        let runs: Vec<_> = t.runs().collect();
        let count = wave(0).count(9 + 125_000_001);
        assert_eq!(
            runs,
            [Run {
                wave: wave(0),
                cycle: 0,
                count
            }]
        );
    }

    /// Changes that no wave explains are events, and another wave begins another run.
    #[test]
    fn changed_wave_is_traced_as_events() {
        let mut t = Trace::new(2);
        let mut level = sample(0);
        t.record(0, &[0, level], &[1, 1]);
        t.expect([wave(0)].into_iter(), 0);
        t.skip([wave(0)].into_iter(), 0, 4);
        let shifted = |cycle: u64| wave(cycle + 1);
        t.skip([shifted(4)].into_iter(), 4, 4);
        for cycle in 9..12 {
            // Two successive changes, which no wave with this word has.
            level = !level;
            t.record(cycle * 8, &[0, level], &[1, 1]);
        }
        let runs: Vec<_> = t.runs().map(|run| (run.cycle, run.wave, run.count)).collect();
        assert_eq!(runs[0], (0, wave(0), 2));
        assert_eq!((runs[1].0, runs[1].1), (4, shifted(4)));
        let mut times: Vec<u64> = t.runs().flat_map(|run| run.edges()).map(|e| e.time_ns).collect();
        times.extend(t.since(2).iter().filter(|e| e.pad == 1).map(|e| e.time_ns));
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
        assert!(times.contains(&80) && times.contains(&88));
    }
}
