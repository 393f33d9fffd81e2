//! Compensation of crosstalk: what neighbours give is subtracted, as factors and delays say.

use super::Iq;
use alloc::vec::Vec;
use kairos_contracts::pulse::{self as facts, CROSSTALK_DELAY_MAX, CROSSTALK_FRACTION};

/// Neighbours by their offset.
pub const OFFSETS: [isize; facts::CROSSTALK_NEIGHBOURS] = [-2, -1, 1, 2];

/// What a channel takes of one neighbour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coupling {
    /// Real and imaginary factor, 18 bits signed, of which 17 are behind the point.
    pub factor: Iq,
    /// Delay in cycles, 0 to 63.
    pub delay: u8,
}

/// Factors, delays, and the signals of the last cycles.
#[derive(Clone, Debug)]
pub struct Crosstalk {
    latency: usize,
    samples_per_cycle: usize,
    /// The delay that means no delay against the own signal, cycles.
    pub zero: u8,
    /// For each channel, what it takes of the neighbours at -2, -1, 1 and 2.
    pub couplings: Vec<[Coupling; facts::CROSSTALK_NEIGHBOURS]>,
    past: Vec<Vec<Iq>>,
}

impl Crosstalk {
    /// Nothing is taken of anybody. `latency`: that of the multipliers, cycles.
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

    /// The real parts with what is taken of the neighbours, from the signals of all channels; those
    /// are taken away.
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
