//! The oscillators of a channel as the device announces them, and the samples that follow from that.

use kairos_contracts::chips::phaser::{self as chip, sample, tone};

use super::super::fastlink;
use super::{Accumulator, CHANNELS, OSCILLATORS};
use crate::signal::Ns;

/// Amplitude of the cosines, of 1.
const COSINE: f64 = 1.0 - 1.0 / 16384.0;
/// Differences of a sample of 14 bits that other tables of cosines may make.
const TOLERATED: i32 = 2;

/// Time of a sample.
const SAMPLE: Ns = 40;

/// What an oscillator does from a time on.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Word {
    /// Its accumulator, 32 bits.
    pub accumulator: u32,
    pub ftw: u32,
    /// `TONE`.
    pub output: u32,
}

/// The words of a channel's oscillators.
pub type Words = [Word; OSCILLATORS];

/// Channel, cycles since the first change, and words of an announcement, whose bits begin at `first`.
pub fn announced(bits: &[bool], first: usize) -> (usize, u32, Words) {
    let mut at = first;
    let mut next = |width: u32| {
        at += width as usize;
        fastlink::word(bits, at - width as usize, width as usize) as u32
    };
    let channel = next(1) as usize;
    let cycles = next(chip::ANNOUNCED_CYCLES_BITS);
    let words = std::array::from_fn(|_| Word {
        accumulator: next(chip::ANNOUNCED_PHASE_BITS) << (u32::BITS - chip::ANNOUNCED_PHASE_BITS),
        ftw: next(u32::BITS),
        output: next(u32::BITS),
    });
    (channel, cycles, words)
}

/// I and Q, 14 bits, of sample `number` after an announcement.
fn expected(words: &Words, number: u32) -> [i32; 2] {
    let part = |of: fn(f64) -> f64| {
        let each = words.iter().map(|word| {
            let step = if tone::CLR.get(word.output) != 0 { 0 } else { word.ftw };
            let phase = word.accumulator.wrapping_add(step.wrapping_mul(number));
            let phase = phase.wrapping_add(tone::POW.get(word.output) << 16);
            let turns = f64::from(phase) / 2f64.powi(32);
            f64::from(tone::ASF.get(word.output)) * of(turns * std::f64::consts::TAU) * COSINE
        });
        each.sum::<f64>().round().clamp(-32768.0, 32767.0) as i32 >> 2
    };
    [part(f64::cos), part(f64::sin)]
}

/// Whether the samples of a channel in a body whose bits begin at `first` are those of the words that were
/// announced `frames` frames before.
pub fn agree(bits: &[bool], first: usize, channel: usize, words: &Words, frames: u32) -> bool {
    let width = chip::SAMPLE.width as usize;
    let oldest = chip::ANNOUNCED_FIRST + chip::SAMPLES * (frames - 2);
    (0..chip::SAMPLES).all(|n| {
        // The oldest one is the highest
        let place = first + width * (CHANNELS * (chip::SAMPLES - 1 - n) as usize + channel);
        let found = fastlink::word(bits, place, width) as u32;
        let signed = |value: u32| (value << 18) as i32 >> 18;
        let found = [sample::I.get(found), sample::Q.get(found)].map(signed);
        let pairs = found.into_iter().zip(expected(words, oldest + n));
        pairs.into_iter().all(|(a, b)| (a - b).abs() <= TOLERATED)
    })
}

/// An oscillator from the time on at which it has changed: samples before the one at `at`, and what it did
/// then. `cycles`: since the change, of which each sample has one for each oscillator, the last one in the last.
pub fn changed(words: &Words, m: usize, cycles: u32, at: Ns) -> (Ns, Accumulator) {
    let word = words[m];
    let samples = (cycles + m as u32) / OSCILLATORS as u32;
    let since = at.saturating_sub(Ns::from(samples) * SAMPLE);
    let (hz, step) = match tone::CLR.get(word.output) {
        0 => (super::hertz(word.ftw, chip::OSCILLATOR_RATE), word.ftw),
        _ => (0.0, 0),
    };
    let then = word.accumulator.wrapping_sub(step.wrapping_mul(samples));
    let turns = f64::from(then) / 2f64.powi(32);
    (since, Accumulator { hz, turns, since })
}
