//! Waveform of an output of a Shuttler, in the integers that the gateware accumulates: exact after
//! any time.
//!
//! n cycles of 8 ns after a trigger the level is a(n) + `TONE_GAIN` b(n) cos(2 pi c(n)), with a(n) =
//! a0 + n a1 + C(n,2) a2 + C(n,3) a3, b(n) likewise, and c(n) = phase + n c1 + C(n,2) c2.

use std::f64::consts::TAU;

use kairos_contracts::chips::shuttler::{FRACTION_BITS, LEVEL_BITS, OUTPUT_SPAN, TONE_GAIN};
use serde_json::{json, Value};

use super::FIELDS;

/// Seconds of a cycle.
const CYCLE: f64 = 8e-9;
/// Volts of a step of the 16-bit level.
pub const STEP: f64 = OUTPUT_SPAN / (1u64 << LEVEL_BITS) as f64;
/// A turn, and a step, in units of the fraction.
const UNIT: f64 = (1u64 << FRACTION_BITS) as f64;
/// Places above those of a level's accumulator.
const ABOVE: u32 = u64::BITS - LEVEL_BITS - FRACTION_BITS;

/// Coefficients, as in the first eleven words of an output.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Waveform {
    level: [u64; 4],
    amplitude: [u64; 4],
    /// Phase at the start, its increment, and the increment of that.
    phase: [u32; 3],
}

impl Waveform {
    /// The waveform that starts with these words.
    pub fn of(words: &[u64; FIELDS]) -> Self {
        Self {
            level: std::array::from_fn(|n| words[n]),
            amplitude: std::array::from_fn(|n| words[4 + n]),
            phase: std::array::from_fn(|n| words[8 + n] as u32),
        }
    }

    /// The cosine's amplitude after `n` cycles, in steps.
    pub fn amplitude(&self, n: u64) -> f64 {
        steps(&self.amplitude, n) * TONE_GAIN
    }

    /// The cosine's phase after `n` cycles, in turns.
    pub fn turns(&self, n: u64) -> f64 {
        let [_, n1, n2, _] = binomials(n).map(|factor| factor as u32);
        let [phase, rate, chirp] = self.phase;
        let sum = phase
            .wrapping_add(rate.wrapping_mul(n1))
            .wrapping_add(chirp.wrapping_mul(n2));
        f64::from(sum) / UNIT
    }

    /// The cosine's mean frequency in Hz in the `cycles` after `n`, at most half of the samples a
    /// second; negative: the phase falls.
    pub fn hz(&self, n: u64, cycles: u64) -> f64 {
        let [_, rate, chirp] = self.phase;
        let now = rate.wrapping_add(chirp.wrapping_mul(n as u32)) as i32;
        let mean = f64::from(now) + f64::from(chirp as i32) * (cycles.saturating_sub(1) as f64) / 2.0;
        // A whole turn per cycle is none.
        let turns = mean / UNIT;
        (turns - turns.round()) / CYCLE
    }

    /// The sum after `n` cycles, in steps.
    pub fn sum(&self, n: u64) -> f64 {
        let level = steps(&self.level, n);
        match self.amplitude(n) {
            0.0 => level,
            amplitude => level + amplitude * (self.turns(n) * TAU).cos(),
        }
    }

    /// The greatest distances of the sum from zero, in steps, in a period of the cosine that begins
    /// after `n` cycles.
    pub fn reach(&self, n: u64) -> [f64; 2] {
        let (level, amplitude) = (steps(&self.level, n), self.amplitude(n).abs());
        [level - amplitude, level + amplitude]
    }

    fn has_tone(&self) -> bool {
        self.amplitude != [0; 4]
    }

    /// Whether the sum changes by itself.
    pub fn moves(&self) -> bool {
        let [_, rate, chirp] = self.phase;
        let grows = |spline: &[u64; 4]| spline[1..] != [0; 3];
        grows(&self.level) || grows(&self.amplitude) || self.has_tone() && (rate, chirp) != (0, 0)
    }

    /// Its polynomials in seconds from the start: the coefficient of the n-th power of the time,
    /// times n factorial, is in volts or turns per s^n.
    pub fn report(&self) -> Value {
        let [level, amplitude] = [&self.level, &self.amplitude].map(derivatives);
        let [phase, rate, chirp] = self.phase.map(|word| f64::from(word as i32) / UNIT);
        let tone = amplitude.map(|derivative| derivative * TONE_GAIN);
        json!({
            "level_v": level[0],
            "level_v_per_s": level[1],
            "level_v_per_s2": level[2],
            "level_v_per_s3": level[3],
            "tone_v": tone[0],
            "tone_v_per_s": tone[1],
            "tone_v_per_s2": tone[2],
            "tone_v_per_s3": tone[3],
            "tone_turns": phase,
            "tone_hz": (rate - chirp / 2.0) / CYCLE,
            "tone_hz_per_s": chirp / CYCLE.powi(2),
        })
    }
}

/// n over 0 to 3, modulo 2^64.
pub fn binomials(n: u64) -> [u64; 4] {
    let halved = |a: u64, b: u64| if a.is_multiple_of(2) { (a / 2, b) } else { (a, b / 2) };
    let (a, b) = halved(n, n.wrapping_sub(1));
    let second = a.wrapping_mul(b);
    let mut factors = [n, n.wrapping_sub(1), n.wrapping_sub(2)];
    // One of three successive numbers is a multiple of 3, and one of the first two of 2.
    if n < 2 {
        return [1, n, 0, 0];
    }
    for factor in &mut factors {
        if factor.is_multiple_of(3) {
            *factor /= 3;
            break;
        }
    }
    let (a, b) = halved(factors[0], factors[1]);
    [1, n, second, a.wrapping_mul(b).wrapping_mul(factors[2])]
}

/// A spline after `n` cycles, in steps: the accumulator has 48 bits and wraps.
fn steps(spline: &[u64; 4], n: u64) -> f64 {
    let terms = spline.iter().zip(binomials(n));
    let sum = terms.fold(0u64, |sum, (part, factor)| sum.wrapping_add(part.wrapping_mul(factor)));
    ((sum << ABOVE) as i64 >> ABOVE) as f64 / UNIT
}

/// Volts and their derivatives by the time at the start, from forward differences of the cycles.
fn derivatives(spline: &[u64; 4]) -> [f64; 4] {
    let [a0, a1, a2, a3] = spline.map(|part| ((part << ABOVE) as i64 >> ABOVE) as f64 / UNIT * STEP);
    [
        a0,
        (a1 - a2 / 2.0 + a3 / 3.0) / CYCLE,
        (a2 - a3) / CYCLE.powi(2),
        a3 / CYCLE.powi(3),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_summed_exactly() {
        let mut sums = [0u64; 4];
        for n in 0..200u64 {
            let [_, first, second, third] = binomials(n);
            assert_eq!([first, second, third], [sums[1], sums[2], sums[3]], "{n}");
            sums[3] += sums[2];
            sums[2] += sums[1];
            sums[1] += 1;
        }
        // After a year, in 128 bits.
        let n = 3_942_000_000_000_001u128;
        assert_eq!(
            u128::from(binomials(n as u64)[2]),
            (n * (n - 1) / 2) & u128::from(u64::MAX)
        );
        let third = n * (n - 1) / 2 % (3 << 64) * ((n - 2) % (3 << 64)) % (3 << 64) / 3;
        assert_eq!(u128::from(binomials(n as u64)[3]), third & u128::from(u64::MAX));
    }

    #[test]
    fn waveform_equals_that_of_its_words() {
        let mut words = [0; FIELDS];
        words[0] = (-1000i64 << 32) as u64;
        words[1] = 3 << 31;
        words[2] = (-5i64 << 20) as u64;
        words[3] = 7 << 10;
        (words[4], words[8], words[9], words[10]) = (2000 << 32, 1 << 30, -(1i64 << 24) as u64, 1 << 10);
        let waveform = Waveform::of(&words);
        let n = 1234;
        let (first, second) = (n as f64, 1234.0 * 1233.0 / 2.0);
        let third = second * 1232.0 / 3.0;
        let level = -1000.0 + first * 1.5 - second * 5.0 / 4096.0 + third * 7.0 / 2f64.powi(22);
        let turns = 0.25 - first / 256.0 + second / 2f64.powi(22);
        let sum = level + 2000.0 * TONE_GAIN * (turns * TAU).cos();
        assert!((waveform.sum(n) - sum).abs() < 1e-8);
        assert!((waveform.turns(n) - turns.rem_euclid(1.0)).abs() < 1e-12);
        // The mean frequency leads from one phase to the other.
        let later = waveform.turns(n) + waveform.hz(n, 125) * 1e-6;
        assert!((later - waveform.turns(n + 125) + 0.5).rem_euclid(1.0) - 0.5 < 1e-9);
        assert!(waveform.moves());
    }

    #[test]
    fn levels_wrap_and_phases_stay_exact() {
        let mut words = [0; FIELDS];
        (words[0], words[1]) = (32767 << 32, 1 << 32);
        let waveform = Waveform::of(&words);
        assert_eq!((waveform.sum(0), waveform.sum(1)), (32767.0, -32768.0));
        words[9] = 0x1234_5679;
        let hours = 3_600_000_000_000 * 10 / 8;
        let exact = 0x1234_5679u64.wrapping_mul(hours) as u32;
        assert_eq!(Waveform::of(&words).turns(hours), f64::from(exact) / UNIT);
    }

    #[test]
    fn reports_are_polynomials_in_volts_and_hertz() {
        let [p1, p2, p3] = [1e4, 2e9, -3e14];
        let [a1, a2, a3] = [
            p1 * CYCLE + p2 * CYCLE.powi(2) / 2.0 + p3 * CYCLE.powi(3) / 6.0,
            p2 * CYCLE.powi(2) + p3 * CYCLE.powi(3),
            p3 * CYCLE.powi(3),
        ];
        let mut words = [0; FIELDS];
        for (word, volts) in words.iter_mut().zip([1.25, a1, a2, a3]) {
            *word = (volts / STEP * UNIT).round() as i64 as u64;
        }
        (words[9], words[10]) = ((0.08 * UNIT) as u64, 0);
        let report = Waveform::of(&words).report();
        let of = |name: &str| report[name].as_f64().expect("a number");
        assert_eq!(of("level_v"), 1.25);
        for (name, value) in [("level_v_per_s", p1), ("level_v_per_s2", p2), ("level_v_per_s3", p3)] {
            assert!((of(name) / value - 1.0).abs() < 1e-3, "{name}: {}", of(name));
        }
        assert!((of("tone_hz") - 10e6).abs() < 0.1);
    }
}
