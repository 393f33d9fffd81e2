//! What was set of the way from parameters to samples, in its time: feed-forward, couplings and the
//! global counter, as events of a recording say (`pulse/settings.py` of the gateware, which has the
//! same fields).

use super::{Coupling, FeedForward, Iq, OFFSETS};
use crate::wrap;
use alloc::vec::Vec;
use kairos_contracts::pulse::{CROSSTALK_BITS, CROSSTALK_DELAY_MAX, CROSSTALK_NEIGHBOURS, TONES, VALUE_BITS};

/// Cycles from what a channel shows to the delay lines, and to the factors behind them.
const TO_DELAYS: u64 = 14;
const TO_FACTORS: u64 = TO_DELAYS + 1;
/// Of an event: its number is the address of its RTIO event less that of the first, behind the data.
const DATA_BITS: u32 = 47;
const FACTOR_BITS: u32 = CROSSTALK_BITS as u32;
const KINDS: [fn(u64) -> Setting; 5] = [error, harmonic, coupling, couple, counter];

/// A change, which counts from its cycle on.
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
    /// The core is reset.
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

/// What an event of a recording sets, if there is such an event.
fn setting(event: u64) -> Option<Setting> {
    let make = KINDS.get(field(event, DATA_BITS, 3) as usize)?;
    Some(make(field(event, 0, DATA_BITS)))
}

/// Couplings that are used from a cycle on.
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
    /// Of a core with so many channels.
    pub fn new(channels: usize) -> Self {
        let none: Vec<_> = (0..channels).map(|_| Default::default()).collect();
        Self {
            changes: Vec::new(),
            used: Vec::new(),
            kept: none,
        }
    }

    /// Adds an event of a recording; false if there is no such event.
    pub fn add(&mut self, cycle: u64, event: u64) -> bool {
        let Some(setting) = setting(event) else {
            return false;
        };
        self.set(cycle, setting);
        true
    }

    /// The core is reset, from that cycle on.
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
                // Where nothing was set, nothing is.
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

    /// Whether channels are coupled, or delayed, at some time.
    pub fn couples(&self) -> bool {
        self.kept.len() > 1 && !self.used.is_empty()
    }

    /// What is set in a channel at the begin of time.
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

    /// Cycles before a sample from which something of it may come.
    pub const REACH: u64 = CROSSTALK_DELAY_MAX as u64;

    /// Sums of a channel in some cycles with what it takes of its neighbours. `signals`: of each
    /// channel, if it counts, in these cycles and in the `REACH` before. The multipliers' latency
    /// is not in it.
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

/// What is set of a channel's tones in a cycle.
#[derive(Clone, Debug, Default)]
pub struct Now {
    channel: usize,
    cycle: u64,
    /// The feed-forward.
    pub forward: FeedForward,
    /// Harmonics of the tones.
    pub harmonics: [i16; TONES],
    /// By how much the global counter is ahead of time.
    ahead: u64,
}

impl Now {
    /// At the begin of time.
    pub fn new(channel: usize) -> Self {
        Self {
            channel,
            ..Self::default()
        }
    }

    /// Goes on to a cycle, in which nothing is set before it.
    pub fn pass(&mut self, to: u64, per_cycle: u64) {
        self.forward.advance(to - self.cycle, per_cycle);
        self.cycle = to;
    }

    /// Takes an event of a recording, in its cycle; what there is no event for changes nothing.
    pub fn take(&mut self, cycle: u64, event: u64, per_cycle: u64) {
        if let Some(setting) = setting(event) {
            self.set(cycle, setting, per_cycle);
        }
    }

    /// The core is reset, from that cycle on.
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

/// What is set in a cycle, and what will be.
#[derive(Clone, Debug)]
pub struct State<'a> {
    /// Those that are still to come.
    changes: &'a [(u64, Setting)],
    /// What is set.
    pub now: Now,
}

impl State<'_> {
    /// Goes on to a cycle.
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
