//! Sine and cosine as computed by the logic: a table of a quadrant, with a first-order correction
//! between its entries.
//!
//! The numeric target is round((2^17 - 1) cos(2 pi (k + 1/2) / 2^18)); the result is within 1 of
//! it. The table has twice the scale and is evaluated at the middle of its steps, so that the
//! correction's sign follows from the low bits of the phase.

use alloc::{boxed::Box, vec::Vec};
use core::f64::consts::PI;
use kairos_contracts::pulse::{
    SINE_BITS, SINE_COARSE_BITS, SINE_FINE_BITS, SINE_PHASE_BITS, SINE_SLOPE_SCALE, SINE_SLOPE_SHIFT,
};

const QUADRANT_BITS: usize = SINE_COARSE_BITS + SINE_FINE_BITS;
const QUADRANT: usize = 1 << QUADRANT_BITS;
const FULL_SCALE: i32 = (1 << (SINE_BITS - 1)) - 1;
const _: () = assert!(QUADRANT_BITS + 2 == SINE_PHASE_BITS);

/// Sine and cosine of 18-bit phases.
#[derive(Clone)]
pub struct Sine {
    /// The cosine of every phase of the first quadrant, computed once from the logic's tables.
    quadrant: Box<[i32; QUADRANT]>,
}

impl Sine {
    /// Computes the table.
    pub fn new() -> Self {
        let coarse: Vec<i64> = (0..1 << SINE_COARSE_BITS).map(coarse).collect();
        let slopes: Vec<i64> = (0..1 << SINE_FINE_BITS).map(slope).collect();
        let mut quadrant = alloc::vec![0; QUADRANT].into_boxed_slice();
        for (k, cosine) in quadrant.iter_mut().enumerate() {
            *cosine = first_quadrant(&coarse, &slopes, k);
        }
        match quadrant.try_into() {
            Ok(quadrant) => Self { quadrant },
            Err(_) => unreachable!("it was made with this length"),
        }
    }

    /// Cosine of phase `k`, full scale 2^17 - 1. Upper bits of `k` are whole turns.
    #[inline]
    pub fn cosine(&self, k: u64) -> i32 {
        let turned = (k >> QUADRANT_BITS) as i32;
        // Odd quadrants are read in reverse; the second and third are negative.
        let backwards = (turned & 1).wrapping_neg() as usize;
        let negative = (((turned + 1) >> 1) & 1).wrapping_neg();
        (self.quadrant[(k as usize ^ backwards) % QUADRANT] ^ negative) - negative
    }

    /// Sine of phase `k`.
    #[inline]
    pub fn sine(&self, k: u64) -> i32 {
        self.cosine(k.wrapping_sub(QUADRANT as u64))
    }
}

impl Default for Sine {
    fn default() -> Self {
        Self::new()
    }
}

/// Entry of the logic's table: a sine in the first quadrant, with twice the scale.
fn coarse(entry: usize) -> i64 {
    let middle = (entry as f64 + 0.5) * f64::from(1 << SINE_FINE_BITS);
    let angle = middle * 2.0 * PI / (4 * QUADRANT) as f64;
    libm::round(2.0 * f64::from(FULL_SCALE) * libm::sin(angle)) as i64
}

/// Entry of the logic's table of slopes: the angle from the middle of a step, scaled.
fn slope(fine: i32) -> i64 {
    let halves = 2 * fine - ((1 << SINE_FINE_BITS) - 1);
    libm::round(f64::from(halves) * PI * f64::from(SINE_SLOPE_SCALE)) as i64
}

/// Cosine in the first quadrant.
fn first_quadrant(coarse: &[i64], slopes: &[i64], k: usize) -> i32 {
    let (entry, fine) = (k >> SINE_FINE_BITS, k & ((1 << SINE_FINE_BITS) - 1));
    let (sine, cosine) = (coarse[entry], coarse[coarse.len() - 1 - entry]);
    let correction = (sine * slopes[fine] + (1 << (SINE_SLOPE_SHIFT - 1))) >> SINE_SLOPE_SHIFT;
    (((cosine - correction) + 1) >> 1).min(FULL_SCALE.into()) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_is_within_one_of_the_target() {
        let sine = Sine::new();
        let target = |k: f64| {
            libm::round(f64::from(FULL_SCALE) * libm::cos(2.0 * PI * (k + 0.5) / (4 * QUADRANT) as f64)) as i32
        };
        for k in 0..4 * QUADRANT as u64 {
            assert!((sine.cosine(k) - target(k as f64)).abs() <= 1, "cosine of {k}");
            assert!(
                (sine.sine(k) - target(k as f64 - QUADRANT as f64)).abs() <= 1,
                "sine of {k}"
            );
        }
    }
}
