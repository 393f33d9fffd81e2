//! Settings of the path from parameters to samples over time: feed-forward, couplings and the
//! global counter, from the events of a recording (`pulse/settings.py` of the gateware has the same
//! fields).

use super::{Coupling, FeedForward, Iq, OFFSETS};
use crate::wrap;
use alloc::vec::Vec;
use kairos_contracts::pulse::{CROSSTALK_BITS, CROSSTALK_DELAY_MAX, CROSSTALK_NEIGHBOURS, TONES, VALUE_BITS};

/// Cycles from a channel's engine outputs to the delay lines, and to the multipliers after them.
const TO_DELAYS: u64 = 14;
const TO_FACTORS: u64 = TO_DELAYS + 1;
/// Data bits of an event. Above them is its number: the address of its RTIO event minus that of the
/// first.
const DATA_BITS: u32 = 47;
const FACTOR_BITS: u32 = CROSSTALK_BITS as u32;
const KINDS: [fn(u64) -> Setting; 5] = [error, harmonic, coupling, couple, counter];

/// A change that takes effect from its cycle on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Setting {
    Error(i64),
    Harmonic {
        channel: usize,
        tone: usize,
        harmonic: i16,
    },
    Coupling {
        channel: usize,
        place: usize,
        coupling: Coupling,
    },
    Couple {
        zero: u8,
    },
    Counter(u64),
    /// Reset of the core.
    Reset,
}

fn field(data: u64, at: u32, bits: u32) -> u64 {
    data >> at & ((1 << bits) - 1)
}

fn error(data: u64) -> Setting {
    Setting::Error(wrap(data as i64, VALUE_BITS))
}

fn harmonic(data: u64) -> Setting {
    Setting::Harmonic {
        channel: field(data, 17, 3) as usize,
        tone: field(data, 16, 1) as usize,
        harmonic: data as i16,
    }
}

fn coupling(data: u64) -> Setting {
    let part = |at| wrap(field(data, at, FACTOR_BITS) as i64, CROSSTALK_BITS) as i32;
    Setting::Coupling {
        channel: field(data, 44, 3) as usize,
        place: field(data, 42, 2) as usize,
        coupling: Coupling {
            factor: (part(0), part(FACTOR_BITS)),
            delay: field(data, 36, 6) as u8,
        },
    }
}

fn couple(data: u64) -> Setting {
    Setting::Couple {
        zero: field(data, 0, 6) as u8,
    }
}

fn counter(data: u64) -> Setting {
    Setting::Counter(data & ((1 << VALUE_BITS) - 1))
}

/// Decodes an event of a recording; `None` if it is unknown.
fn setting(event: u64) -> Option<Setting> {
    let make = KINDS.get(field(event, DATA_BITS, 3) as usize)?;
    Some(make(field(event, 0, DATA_BITS)))
}

/// Couplings in use from a cycle on.
#[derive(Clone, Debug)]
struct Used {
    from: u64,
    zero: u8,
    couplings: Vec<[Coupling; CROSSTALK_NEIGHBOURS]>,
}

/// The settings of a core, in the order of time.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    changes: Vec<(u64, Setting)>,
    used: Vec<Used>,
    kept: Vec<[Coupling; CROSSTALK_NEIGHBOURS]>,
}

impl Settings {
    /// Creates the settings of a core with this number of channels.
    pub fn new(channels: usize) -> Self {
        let none: Vec<_> = (0..channels).map(|_| Default::default()).collect();
        Self {
            changes: Vec::new(),
            used: Vec::new(),
            kept: none,
        }
    }

    /// Adds an event of a recording; returns false if it is unknown.
    pub fn add(&mut self, cycle: u64, event: u64) -> bool {
        let Some(setting) = setting(event) else {
            return false;
        };
        self.set(cycle, setting);
        true
    }

    /// Adds a reset of the core, effective from `cycle` on.
    pub fn reset(&mut self, cycle: u64) {
        self.set(cycle, Setting::Reset);
    }

    fn set(&mut self, from: u64, setting: Setting) {
        match setting {
            Setting::Coupling {
                channel,
                place,
                coupling,
            } => {
                if let Some(places) = self.kept.get_mut(channel) {
                    places[place] = coupling;
                }
                return;
            }
            Setting::Couple { zero } => {
                let couplings = self.kept.clone();
                return self.used.push(Used { from, zero, couplings });
            }
            Setting::Reset => {
                self.kept.fill(Default::default());
                // Couplings that were never used need no reset.
                if !self.used.is_empty() {
                    let couplings = self.kept.clone();
                    self.used.push(Used {
                        from,
                        zero: 0,
                        couplings,
                    });
                }
                if self.changes.is_empty() {
                    return;
                }
            }
            _ => (),
        }
        self.changes.push((from, setting));
    }

    /// Whether couplings or delays are ever in use.
    pub fn couples(&self) -> bool {
        self.kept.len() > 1 && !self.used.is_empty()
    }

    /// The settings of a channel at cycle 0.
    pub fn begin(&self, channel: usize) -> State<'_> {
        State {
            changes: &self.changes,
            now: Now::new(channel),
        }
    }

    fn used(&self, cycle: u64) -> Option<&Used> {
        let later = self.used.partition_point(|used| used.from <= cycle);
        self.used[..later].last()
    }

    /// Number of earlier cycles that may contribute to a sample.
    pub const REACH: u64 = CROSSTALK_DELAY_MAX as u64;

    /// Sums of a channel in the given cycles, including crosstalk compensation. `signals`: for each
    /// channel that contributes, in these cycles and the `REACH` before. The latency of the
    /// multipliers is not included.
    pub fn compensate(
        &self,
        channel: usize,
        from: u64,
        cycles: u64,
        signals: &[Vec<Iq>],
        per_cycle: usize,
    ) -> Vec<i32> {
        let mut out = Vec::with_capacity(cycles as usize * per_cycle);
        let zero = Used {
            from: 0,
            zero: 0,
            couplings: alloc::vec![Default::default(); self.kept.len()],
        };
        for cycle in 0..cycles {
            let at = |cycle| self.used(cycle).unwrap_or(&zero);
            let (delays, factors) = (at(from + cycle + TO_DELAYS), at(from + cycle + TO_FACTORS));
            let place = |delay: u8| (Self::REACH + cycle - u64::from(delay)) as usize * per_cycle;
            let own = &signals[channel][place(delays.zero)..][..per_cycle];
            let begin = out.len();
            out.extend(own.iter().map(|signal| signal.0));
            for (n, offset) in OFFSETS.iter().enumerate() {
                let neighbour = channel.checked_add_signed(*offset).and_then(|other| signals.get(other));
                let factor = factors.couplings[channel][n].factor;
                let (Some(neighbour), true) = (neighbour, factor != (0, 0)) else {
                    continue;
                };
                let late = &neighbour[place(delays.couplings[channel][n].delay)..];
                for (sum, signal) in out[begin..].iter_mut().zip(late) {
                    *sum += super::crosstalk::product(factor, *signal);
                }
            }
        }
        out
    }
}

/// Settings of a channel's tones in a cycle.
#[derive(Clone, Debug, Default)]
pub struct Now {
    channel: usize,
    cycle: u64,
    /// The feed-forward.
    pub forward: FeedForward,
    /// Harmonics of the tones.
    pub harmonics: [i16; TONES],
    /// Offset of the global counter from the time in samples.
    ahead: u64,
}

impl Now {
    /// Creates the settings at cycle 0.
    pub fn new(channel: usize) -> Self {
        Self {
            channel,
            ..Self::default()
        }
    }

    /// Advances to a cycle; there must be no change before it.
    pub fn pass(&mut self, to: u64, per_cycle: u64) {
        self.forward.advance(to - self.cycle, per_cycle);
        self.cycle = to;
    }

    /// Applies an event of a recording in its cycle; unknown events are ignored.
    pub fn take(&mut self, cycle: u64, event: u64, per_cycle: u64) {
        if let Some(setting) = setting(event) {
            self.set(cycle, setting, per_cycle);
        }
    }

    /// Resets the settings, effective from `cycle` on.
    pub fn reset(&mut self, cycle: u64, per_cycle: u64) {
        self.set(cycle, Setting::Reset, per_cycle);
    }

    fn set(&mut self, cycle: u64, setting: Setting, per_cycle: u64) {
        self.pass(cycle, per_cycle);
        match setting {
            Setting::Error(error) => self.forward.error = error,
            Setting::Harmonic {
                channel,
                tone,
                harmonic,
            } if channel == self.channel => self.harmonics[tone] = harmonic,
            Setting::Counter(value) => self.ahead = value.wrapping_sub(cycle.wrapping_mul(per_cycle)),
            Setting::Reset => (self.forward, self.harmonics, self.ahead) = Default::default(),
            _ => (),
        }
    }

    /// The global counter in this cycle.
    pub fn counter(&self, per_cycle: u64) -> u64 {
        self.cycle.wrapping_mul(per_cycle).wrapping_add(self.ahead)
    }
}

/// Settings in a cycle, and later changes.
#[derive(Clone, Debug)]
pub struct State<'a> {
    /// Changes not yet applied.
    changes: &'a [(u64, Setting)],
    /// Current settings.
    pub now: Now,
}

impl State<'_> {
    /// Advances to a cycle.
    pub fn advance(&mut self, to: u64, per_cycle: u64) {
        while let Some((&(cycle, setting), rest)) = self.changes.split_first().filter(|(first, _)| first.0 <= to) {
            self.now.set(cycle, setting, per_cycle);
            self.changes = rest;
        }
        self.now.pass(to, per_cycle);
    }

    /// The cycle of the next change.
    pub fn until(&self) -> u64 {
        self.changes.first().map_or(u64::MAX, |first| first.0)
    }
}
