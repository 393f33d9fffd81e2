//! What happened at the pins: every change of every pad with its exact time.

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
    /// In the order of time, then of the pads.
    pub events: Vec<Event>,
    last: Vec<Option<bool>>,
}

impl Trace {
    /// For `pads` pads, none of them driven.
    pub fn new(pads: usize) -> Self {
        Self {
            events: Vec::new(),
            last: vec![None; pads],
        }
    }

    /// Records the cycle that starts at `start_ns`: eight samples of 1 ns for each pad (bit 0 first), and who drives.
    pub fn record(&mut self, start_ns: u64, samples: &[u8], drive: &[u8]) {
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
    }

    /// Forgets the events (the pads keep their levels).
    pub fn clear(&mut self) {
        self.events.clear();
    }

    /// A number that depends on every event, for comparing runs.
    pub fn digest(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut h = DefaultHasher::new();
        for e in &self.events {
            (e.time_ns, e.pad, e.level).hash(&mut h);
        }
        h.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_cycle_edges_and_release() {
        let mut t = Trace::new(2);
        t.record(0, &[0, 0], &[1, 0]);
        t.record(8, &[0b0011_1000, 0], &[1, 0]);
        t.record(16, &[0, 0xff], &[1, 1]);
        t.record(24, &[0, 0xff], &[0, 1]);
        let e: Vec<_> = t.events.iter().map(|e| (e.time_ns, e.pad, e.level)).collect();
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
}
