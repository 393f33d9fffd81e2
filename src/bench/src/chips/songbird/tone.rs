//! A tone of a Songbird, in the integers that the gateware accumulates: exact at any cycle.
//!
//! In the n-th cycle of 8 ns after a trigger, sums and frequency advance if n is a multiple of 2^(shift + 1). A sample
//! is the amplitude times the cosine of the phase, of which a cycle has twenty; a cleared tone rests at its offset.

use std::f64::consts::TAU;

use kairos_contracts::chips::shuttler::FRACTION_BITS;
use kairos_contracts::chips::songbird::{AMPLITUDE_SPAN, FTW_BITS, LEVEL_BITS, PHASE_BITS, SAMPLES};
use serde_json::{json, Value};

use super::super::shuttler::{binomials, cosine, FIELDS};
use crate::signal::{Ns, Tone};

const CYCLE: Ns = 8;
/// Volts of a step.
pub const STEP: f64 = AMPLITUDE_SPAN / (1u64 << LEVEL_BITS) as f64;
/// The greatest sample, in steps.
pub const MOST: f64 = ((1u32 << (LEVEL_BITS - 1)) - 1) as f64;
const TURN: f64 = (1u64 << FTW_BITS) as f64;
const UNIT: f64 = (1u64 << FRACTION_BITS) as f64;
/// Places above those of an amplitude's accumulator.
const ABOVE: u32 = u64::BITS - LEVEL_BITS - FRACTION_BITS;
/// Samples a second.
const RATE: f64 = SAMPLES as f64 / CYCLE as f64 * 1e9;
/// Places of the levels and of the numbers of triggers among the words, and bits of the levels.
const LEVELS: usize = 7;
const TRIGGERS: usize = 8;
const CLEAR: u64 = 1 << 4;
const RESET: u64 = 1 << 5;

/// What advances: its cycles since the trigger.
type Passed = u64;

/// The state at a time, from which it goes on by itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Waveform {
    at: Ns,
    sums: [u64; 4],
    amplitude_passed: Passed,
    phase: u32,
    frequency: u32,
    chirp: u32,
    /// Of 2^PHASE_BITS a turn.
    offset: u32,
    frequency_passed: Passed,
    shift: u32,
    clear: bool,
    reset: bool,
}

/// Number of multiples of 2^(shift + 1) below `n`.
fn multiples(n: u64, shift: u32) -> u64 {
    n.div_ceil(2 << shift)
}

/// The sum of `multiples(j)` for all j below `n`, modulo 2^64.
fn multiples_summed(n: u64, shift: u32) -> u64 {
    let (Some(m), period) = (n.checked_sub(1), 2u128 << shift) else {
        return 0;
    };
    let whole = u128::from(m) / period;
    let pairs = whole * whole.saturating_sub(1) / 2;
    (u128::from(m) + period * pairs + whole * (u128::from(m) - whole * period)) as u64
}

impl Waveform {
    /// Takes new words, in which the events of a time have changed those before.
    pub fn take(&mut self, at: Ns, before: &[u64; FIELDS], words: &[u64; FIELDS]) {
        *self = self.at(at);
        let triggered = |lowest: u32| (words[TRIGGERS] ^ before[TRIGGERS]) >> lowest & u64::from(u32::MAX) != 0;
        if triggered(0) {
            (self.sums, self.amplitude_passed) = (std::array::from_fn(|n| words[n]), 0);
        }
        if triggered(32) {
            [self.offset, self.frequency, self.chirp] = std::array::from_fn(|n| words[4 + n] as u32);
            (self.shift, self.frequency_passed) = (words[LEVELS] as u32 & 0xf, 0);
        }
        self.clear = words[LEVELS] & CLEAR != 0;
        self.reset = words[LEVELS] & RESET != 0;
        if self.clear {
            self.phase = 0;
        }
        if self.reset {
            *self = Self {
                at,
                clear: self.clear,
                reset: true,
                ..Self::default()
            };
        }
    }

    /// The state in the cycle of a later time, of which it keeps the beginning.
    fn at(&self, at: Ns) -> Self {
        let cycles = (at - self.at) / CYCLE;
        let (from, to) = (self.amplitude_passed, self.amplitude_passed + cycles);
        let advances = multiples(to, self.shift) - multiples(from, self.shift);
        let ways = binomials(advances);
        let advanced = |n: usize| {
            let terms = self.sums[n..].iter().zip(ways);
            terms.fold(0u64, |sum, (part, factor)| sum.wrapping_add(part.wrapping_mul(factor)))
        };
        let (begin, end) = (self.frequency_passed, self.frequency_passed + cycles);
        let earlier = multiples(begin, self.shift);
        // Sum of the changes of the frequency, of all cycles from `begin` on
        let summed = multiples_summed(end, self.shift)
            .wrapping_sub(multiples_summed(begin, self.shift))
            .wrapping_sub(cycles.wrapping_mul(earlier));
        let steps = self
            .frequency
            .wrapping_mul(cycles as u32)
            .wrapping_add(self.chirp.wrapping_mul(summed as u32));
        let phase = self.phase.wrapping_add(steps.wrapping_mul(SAMPLES));
        let changes = (multiples(end, self.shift) - earlier) as u32;
        Self {
            at: self.at + cycles * CYCLE,
            sums: std::array::from_fn(advanced),
            amplitude_passed: to,
            phase: if self.clear { 0 } else { phase },
            frequency: self.frequency.wrapping_add(self.chirp.wrapping_mul(changes)),
            frequency_passed: end,
            ..self.clone()
        }
    }

    /// The amplitude at a time, in steps.
    pub fn amplitude(&self, at: Ns) -> f64 {
        self.at(at).steps()
    }

    fn steps(&self) -> f64 {
        ((self.sums[0] << ABOVE) as i64 >> ABOVE) as f64 / UNIT
    }

    /// Samples begun in the `passed` ns of a cycle, as a fraction of its phase: in turns.
    fn turns(&self, passed: Ns) -> f64 {
        let offset = f64::from(self.offset) / f64::from(1u32 << PHASE_BITS);
        f64::from(self.phase) / TURN + offset + self.hz() * passed as f64 * 1e-9
    }

    /// At most half of the sampling rate; negative: the phase falls.
    fn hz(&self) -> f64 {
        if self.clear {
            0.0
        } else {
            f64::from(self.frequency as i32) / TURN * RATE
        }
    }

    /// The tone's part of the sum at a time, in steps.
    pub fn sample(&self, at: Ns) -> f64 {
        let now = self.at(at);
        // The sample of that time, of 2.5 in a nanosecond
        let number = ((at - now.at) * u64::from(SAMPLES) / CYCLE) as u32;
        let within = if now.clear {
            0
        } else {
            now.frequency.wrapping_mul(number)
        };
        let phase = Self {
            phase: now.phase.wrapping_add(within),
            ..now
        };
        match phase.steps() {
            0.0 => 0.0,
            steps => steps * (phase.turns(0) * TAU).cos(),
        }
    }

    /// The tone at a time, with its mean frequency in the `ahead` to come.
    pub fn tone(&self, at: Ns, ahead: Ns) -> Tone {
        let now = self.at(at);
        let steps = now.steps();
        if steps == 0.0 {
            return Tone::OFF;
        }
        let cycles = ahead.div_ceil(CYCLE).max(1);
        let then = self.at(now.at + (cycles - 1) * CYCLE);
        let middle = f64::from(then.frequency.wrapping_sub(now.frequency) as i32) / 2.0 / TURN * RATE;
        let hz = now.hz() + if now.clear { 0.0 } else { middle };
        cosine(steps * STEP, hz, now.turns(at - now.at))
    }

    /// Whether the sum changes by itself.
    pub fn moves(&self) -> bool {
        let plays = self.sums != [0; 4];
        self.sums[1..] != [0; 3] || plays && !self.clear && (self.frequency, self.chirp) != (0, 0)
    }

    /// Amplitude, frequency and phase at a time.
    pub fn report(&self, at: Ns) -> Value {
        let now = self.at(at.max(self.at));
        json!({
            "volts": now.steps() * STEP,
            "hz": now.hz(),
            "turns": now.turns(0).rem_euclid(1.0),
            "hz_per_update": f64::from(now.chirp as i32) / TURN * RATE,
            "shift": now.shift,
            "cleared": now.clear,
            "reset": now.reset,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A cycle further, as the gateware does it.
    fn stepped(state: &Waveform) -> Waveform {
        let mut next = state.clone();
        let period = 2 << state.shift;
        next.at += CYCLE;
        next.phase = match state.clear {
            true => 0,
            false => state.phase.wrapping_add(state.frequency.wrapping_mul(SAMPLES)),
        };
        if state.amplitude_passed.is_multiple_of(period) {
            for n in 0..3 {
                next.sums[n] = state.sums[n].wrapping_add(state.sums[n + 1]);
            }
        }
        if state.frequency_passed.is_multiple_of(period) {
            next.frequency = state.frequency.wrapping_add(state.chirp);
        }
        next.amplitude_passed += 1;
        next.frequency_passed += 1;
        next
    }

    proptest! {
        #[test]
        fn any_number_of_cycles_equals_single_ones(
            sums: [u64; 4], words: [u32; 3], passed in prop::array::uniform2(0u64..100), shift in 0u32..5, clear: bool,
            cycles in 0u64..200,
        ) {
            let [phase, frequency, chirp] = words;
            let [amplitude_passed, frequency_passed] = passed;
            let phase = if clear { 0 } else { phase };
            let begin = Waveform {
                sums, phase, frequency, chirp, shift, clear, amplitude_passed, frequency_passed, ..Waveform::default()
            };
            let each = (0..cycles).fold(begin.clone(), |state, _| stepped(&state));
            prop_assert_eq!(begin.at(cycles * CYCLE), each.clone());
            // In two parts, and also within a cycle.
            let part = begin.at(cycles / 3 * CYCLE + 5);
            prop_assert_eq!(part.at(cycles * CYCLE), each);
        }
    }

    #[test]
    fn years_are_exact() {
        let begin = Waveform {
            sums: [0, 1 << 20, 0, 0],
            frequency: 12345,
            chirp: 7,
            shift: 3,
            ..Waveform::default()
        };
        let cycles = (1u64 << 52) + 3;
        let advances = (1u128 << 48) + 1;
        let now = begin.at(cycles * CYCLE);
        assert_eq!(now.sums[0], (advances << 20) as u64);
        assert_eq!(now.frequency, 12345u32.wrapping_add((7 * advances) as u32));
        // 0 in the first cycle, then 1 in sixteen, 2 in sixteen and so on, and in the last two 2^48 and 2^48 + 1
        let summed = 16 * ((1u128 << 48) * ((1u128 << 48) + 1) / 2) + 2 * advances;
        let phase = (20 * (12345 * u128::from(cycles) + 7 * summed)) as u32;
        assert_eq!(now.phase, phase);
    }
}
