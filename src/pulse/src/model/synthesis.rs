//! From parameters to samples: two tones per channel, their phases, and their sum.

use super::machine::{Block, Run};
use super::Sine;
use crate::wrap;
use alloc::vec::Vec;
use kairos_contracts::pulse::{self as facts, AMPLITUDE_FRACTION, SINE_PHASE_BITS, TONES, TONE_SHIFT, VALUE_BITS};

/// Phases are kept in the upper bits of a word, so that they wrap naturally.
const UP: u32 = 64 - VALUE_BITS as u32;
const TO_SINE: u32 = 64 - SINE_PHASE_BITS as u32;
const ROUND: i64 = 1 << (TONE_SHIFT - 1);

/// A complex sample: the sum of both tones, 18 bits each part.
pub type Iq = (i32, i32);

/// Feed-forward of a frequency error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedForward {
    /// The error E, a frequency's word.
    pub error: i64,
    /// The phase B accumulated up to this cycle.
    pub phase: u64,
}

impl FeedForward {
    /// Advances by a number of cycles.
    pub fn advance(&mut self, cycles: u64, samples_per_cycle: u64) {
        let phase = (self.error as u64).wrapping_mul(samples_per_cycle).wrapping_mul(cycles);
        self.phase = self.phase.wrapping_add(phase) & ((1 << VALUE_BITS) - 1);
    }
}

/// Phase accumulators of a channel, and the harmonics of its tones.
#[derive(Clone, Debug)]
pub struct Synthesiser {
    samples_per_cycle: u64,
    /// Phase of each tone in this cycle, in the upper bits, before SYNC.
    phase: [u64; TONES],
    /// Harmonics H, signed.
    pub harmonics: [i16; TONES],
}

/// A tone in a cycle, valid while its parameters are constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tone {
    /// Amplitude, signed; AMPLITUDE_MAX is full scale.
    pub amplitude: i64,
    /// Phase increment per sample, in turns times 2^VALUE_BITS, signed.
    pub frequency: i64,
    /// Phase at the first sample, in the same unit.
    pub phase: u64,
}

/// A tone's phase at the first sample of a cycle, and its increment per sample, in the upper bits.
#[derive(Clone, Copy)]
struct Turning {
    phase: u64,
    step: u64,
}

impl Synthesiser {
    /// Creates the state after a reset.
    pub fn new(samples_per_cycle: u32) -> Self {
        Self {
            samples_per_cycle: samples_per_cycle.into(),
            phase: [0; TONES],
            harmonics: [0; TONES],
        }
    }

    /// The accumulated phase of a tone in this cycle, before SYNC, 40 bits.
    pub fn phase(&self, tone: usize) -> u64 {
        self.phase[tone] >> UP
    }

    /// Appends the sums of both tones, real parts, of all samples of a block. `counter`: the global
    /// counter in its first cycle.
    pub fn real(&mut self, block: &Block, counter: u64, forward: &FeedForward, sine: &Sine, out: &mut Vec<i32>) {
        self.render(block, counter, forward, out, |sum, amplitude, k| {
            *sum += scaled(amplitude, sine.cosine(k))
        });
    }

    /// Appends the same sums as complex samples.
    pub fn complex(&mut self, block: &Block, counter: u64, forward: &FeedForward, sine: &Sine, out: &mut Vec<Iq>) {
        self.render(block, counter, forward, out, |sum, amplitude, k| {
            sum.0 += scaled(amplitude, sine.cosine(k));
            sum.1 += scaled(amplitude, sine.sine(k));
        });
    }

    #[inline]
    fn render<T: Clone + Default>(
        &mut self,
        block: &Block,
        counter: u64,
        forward: &FeedForward,
        out: &mut Vec<T>,
        add: impl Fn(&mut T, i64, u64),
    ) {
        let before = out.len();
        out.resize(before + (block.cycles * self.samples_per_cycle) as usize, T::default());
        for t in 0..TONES {
            if block.sync[t] {
                let frequency = block.frequency(t).at(0) as u64;
                self.phase[t] = frequency.wrapping_mul(counter) << UP;
            }
            self.tone(t, block, forward, &mut out[before..], &add);
        }
    }

    /// Advances by a number of cycles of a block with constant values, without samples.
    pub(super) fn skip(&mut self, block: &Block, cycles: u64, counter: u64) {
        for t in 0..TONES {
            let frequency = block.frequency(t).at(0);
            if block.sync[t] {
                self.phase[t] = (frequency as u64).wrapping_mul(counter) << UP;
            }
            self.accumulate(t, frequency, cycles);
        }
    }

    /// The tones in the first cycle of a block. SYNC and the advance of phases are left to `skip`.
    pub(super) fn tones(&self, block: &Block, forward: &FeedForward) -> [Tone; TONES] {
        core::array::from_fn(|t| {
            let Turning { phase, step } = self.turning(t, block, forward, 0);
            Tone {
                amplitude: block.amplitude(t).at(0) >> AMPLITUDE_FRACTION,
                frequency: step as i64 >> UP,
                phase: phase >> UP,
            }
        })
    }

    /// Resets the phases.
    pub(super) fn reset(&mut self) {
        self.phase = [0; TONES];
    }

    /// Adds a tone to the sums of all samples of a block.
    #[inline]
    fn tone<T>(
        &mut self,
        t: usize,
        block: &Block,
        forward: &FeedForward,
        sums: &mut [T],
        add: &impl Fn(&mut T, i64, u64),
    ) {
        let amplitude = block.amplitude(t);
        let turning = [block.frequency(t), block.phase(t), &block.applied[t]];
        let per_cycle = self.samples_per_cycle as usize;
        if !turning.into_iter().all(Run::is_constant) {
            let mut forward = *forward;
            for (cycle, sums) in sums.chunks_exact_mut(per_cycle).enumerate() {
                let turning = self.turning(t, block, &forward, cycle);
                self.accumulate(t, block.frequency(t).at(cycle), 1);
                along(turning, amplitude.at(cycle) >> AMPLITUDE_FRACTION, sums, add);
                forward.advance(1, self.samples_per_cycle);
            }
            return;
        }
        // The phase increment is the same across cycles.
        let mut turning = self.turning(t, block, forward, 0);
        self.accumulate(t, block.frequency(t).at(0), block.cycles);
        if amplitude.is_constant() {
            along(turning, amplitude.at(0) >> AMPLITUDE_FRACTION, sums, add);
            return;
        }
        for (cycle, sums) in sums.chunks_exact_mut(per_cycle).enumerate() {
            turning = along(turning, amplitude.at(cycle) >> AMPLITUDE_FRACTION, sums, add);
        }
    }

    fn accumulate(&mut self, t: usize, frequency: i64, cycles: u64) {
        let turned = (frequency as u64).wrapping_mul(self.samples_per_cycle.wrapping_mul(cycles));
        self.phase[t] = self.phase[t].wrapping_add(turned << UP);
    }

    #[inline]
    fn turning(&self, t: usize, block: &Block, forward: &FeedForward, cycle: usize) -> Turning {
        let harmonic = if block.feed_forward[t] {
            self.harmonics[t] as u64
        } else {
            0
        };
        let turned = (block.phase(t).at(cycle) + block.applied[t].at(cycle)) as u64;
        let turned = turned.wrapping_add(harmonic.wrapping_mul(forward.phase));
        let step = (block.frequency(t).at(cycle) as u64).wrapping_add(harmonic.wrapping_mul(forward.error as u64));
        Turning {
            phase: self.phase[t].wrapping_add(turned << UP),
            step: step << UP,
        }
    }
}

/// Adds samples of constant amplitude; returns the phase after them.
#[inline]
fn along<T>(turning: Turning, amplitude: i64, sums: &mut [T], add: &impl Fn(&mut T, i64, u64)) -> Turning {
    let Turning { mut phase, step } = turning;
    if amplitude == 0 {
        phase = phase.wrapping_add(step.wrapping_mul(sums.len() as u64));
        return Turning { phase, step };
    }
    for sum in sums {
        add(sum, amplitude, phase >> TO_SINE);
        phase = phase.wrapping_add(step);
    }
    Turning { phase, step }
}

#[inline]
fn scaled(amplitude: i64, part: i32) -> i32 {
    ((amplitude * i64::from(part) + ROUND) >> TONE_SHIFT) as i32
}

/// Converts a sum to a 16-bit sample; also returns whether it was clamped.
#[inline]
pub fn saturate(sum: i32) -> (i16, bool) {
    let limit = 1i64 << (facts::OUTPUT_BITS - 1);
    let value = i64::from(sum >> 1);
    let limited = value.clamp(-limit, limit - 1);
    (wrap(limited, facts::OUTPUT_BITS) as i16, limited != value)
}
