//! Crosstalk compensation: adds the signals of neighbours, scaled and delayed as configured.

use super::Iq;
use alloc::vec::Vec;
use kairos_contracts::pulse::{self as facts, CROSSTALK_DELAY_MAX, CROSSTALK_FRACTION};

/// Offsets of the neighbours.
pub const OFFSETS: [isize; facts::CROSSTALK_NEIGHBOURS] = [-2, -1, 1, 2];

/// Coupling of one neighbour into a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coupling {
    /// Real and imaginary factor, 18 bits signed, 17 of them fractional.
    pub factor: Iq,
    /// Delay in cycles, 0 to 63.
    pub delay: u8,
}

/// Factors, delays, and recent signals.
#[derive(Clone, Debug)]
pub struct Crosstalk {
    latency: usize,
    samples_per_cycle: usize,
    /// The delay, in cycles, that corresponds to no delay relative to the own signal.
    pub zero: u8,
    /// For each channel, the couplings of the neighbours at -2, -1, 1 and 2.
    pub couplings: Vec<[Coupling; facts::CROSSTALK_NEIGHBOURS]>,
    past: Vec<Vec<Iq>>,
}

impl Crosstalk {
    /// Creates a compensation with zero couplings. `latency`: that of the multipliers, in cycles.
    pub fn new(channels: usize, samples_per_cycle: u32, latency: usize) -> Self {
        let samples_per_cycle = samples_per_cycle as usize;
        let kept = (latency + CROSSTALK_DELAY_MAX) * samples_per_cycle;
        Self {
            latency,
            samples_per_cycle,
            zero: 0,
            couplings: alloc::vec![Default::default(); channels],
            past: alloc::vec![alloc::vec![(0, 0); kept]; channels],
        }
    }

    /// Appends the real parts of each channel, including the neighbours' contributions, to `out`.
    /// Consumes the `signals` of all channels.
    pub fn apply(&mut self, signals: &mut [Vec<Iq>], out: &mut [Vec<i32>]) {
        for (past, signal) in self.past.iter_mut().zip(signals.iter_mut()) {
            past.append(signal);
        }
        let kept = (self.latency + CROSSTALK_DELAY_MAX) * self.samples_per_cycle;
        for (channel, out) in out.iter_mut().enumerate() {
            let end = self.past[channel].len();
            let own = (self.latency + usize::from(self.zero)) * self.samples_per_cycle;
            out.extend((kept..end).map(|sample| self.past[channel][sample - own].0));
            for (coupling, offset) in self.couplings[channel].iter().zip(OFFSETS) {
                let neighbour = channel.checked_add_signed(offset).and_then(|n| self.past.get(n));
                let (Some(neighbour), true) = (neighbour, coupling.factor != (0, 0)) else {
                    continue;
                };
                let delay = (self.latency + usize::from(coupling.delay)) * self.samples_per_cycle;
                let first = out.len() - (end - kept);
                for (out, sample) in out[first..].iter_mut().zip(kept..end) {
                    *out += product(coupling.factor, neighbour[sample - delay]);
                }
            }
        }
        for past in &mut self.past {
            past.drain(..past.len() - kept);
        }
    }
}

/// Real part of the product, rounded.
pub(super) fn product(factor: Iq, signal: Iq) -> i32 {
    let sum = i64::from(factor.0) * i64::from(signal.0) - i64::from(factor.1) * i64::from(signal.1);
    ((sum + (1 << (CROSSTALK_FRACTION - 1))) >> CROSSTALK_FRACTION) as i32
}
