//! Coefficients of segments from knots, without a heap.

use crate::{wrap, Segment};
use kairos_contracts::pulse::{SHIFT_BITS, VALUE_BITS};

/// Largest coefficient.
const LIMIT: f64 = ((1i64 << (VALUE_BITS - 1)) - 1) as f64;
/// Bound of first and second differences in an engine, so that 48 bits are sufficient for them.
const DIFFERENCE_LIMIT: f64 = (1i64 << 46) as f64;

/// A cubic polynomial over a segment: c0 + c1 x + c2 x^2 + c3 x^3, x from 0 to 1, in units of
/// words.
pub type Cubic = [f64; 4];

/// Boundary `i` when `cycles` are divided into `n` equal shares: nearest, ties to even.
pub fn boundary(i: usize, n: usize, cycles: u64) -> u64 {
    libm::rint(i as f64 * cycles as f64 / n as f64) as u64
}

/// The spline is too steep for the width of the coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooSteep;

/// The natural cubic spline through knots at 0, 1, 2, …: one polynomial for each step.
#[derive(Clone, Copy, Debug)]
pub struct Natural<'a> {
    knots: &'a [f64],
    slopes: &'a [f64],
}

impl<'a> Natural<'a> {
    /// Creates the spline through at least two knots. `slopes` and `pivots` are working space, as
    /// long as the knots.
    ///
    /// Solved for the slopes at the knots, as in SciPy, so that the last bits of coefficients are
    /// JaqalPaw's.
    pub fn new(knots: &'a [f64], slopes: &'a mut [f64], pivots: &mut [f64]) -> Self {
        let last = knots.len() - 1;
        let rise = |i: usize| knots[i + 1] - knots[i];
        for (i, slope) in slopes[..=last].iter_mut().enumerate() {
            *slope = match i {
                0 => 3.0 * rise(0),
                i if i == last => 3.0 * rise(last - 1),
                i => 3.0 * (rise(i - 1) + rise(i)),
            };
        }
        pivots[0] = 2.0;
        for i in 1..=last {
            let share = 1.0 / pivots[i - 1];
            pivots[i] = if i == last { 2.0 } else { 4.0 } - share;
            slopes[i] -= share * slopes[i - 1];
        }
        slopes[last] /= pivots[last];
        for i in (0..last).rev() {
            slopes[i] = (slopes[i] - slopes[i + 1]) / pivots[i];
        }
        Self { knots, slopes }
    }

    /// The polynomials, one for each step.
    pub fn pieces(self) -> impl Iterator<Item = Cubic> + 'a {
        self.knots.windows(2).zip(self.slopes.windows(2)).map(|(knot, slope)| {
            let rise = knot[1] - knot[0];
            let bend = slope[0] + slope[1] - 2.0 * rise;
            [knot[0], slope[0], rise - slope[0] - bend, bend]
        })
    }
}

/// The segment that follows a polynomial for `tau` cycles as closely as its coefficients allow.
pub fn segment(cubic: &Cubic, tau: u64) -> Result<Segment, TooSteep> {
    let [c0, c1, c2, c3] = *cubic;
    let h = 1.0 / tau as f64;
    let differences = [
        c1 * h + c2 * h * h + c3 * h * h * h,
        2.0 * c2 * h * h + 6.0 * c3 * h * h * h,
        6.0 * c3 * h * h * h,
    ];
    // Start one above the estimate: the logarithm of a power of two may have been rounded down.
    let most = (1 << SHIFT_BITS) - 1;
    let mut shift = (first_shift(&differences) + 1).min(most);
    while !fits(&differences, shift, tau) {
        shift = shift.checked_sub(1).ok_or(TooSteep)?;
    }
    let scaled = |n: usize| libm::trunc(libm::scalbn(differences[n], (n as i32 + 1) * shift as i32)) as i64;
    Ok(Segment {
        u: [wrap(whole(c0), VALUE_BITS), scaled(0), scaled(1), scaled(2)],
        tau,
        shift: shift as u8,
        flags: 0,
    })
}

/// Truncates a value in units of words; phases may be several turns beyond 40 bits.
pub fn whole(value: f64) -> i64 {
    libm::trunc(value) as i64
}

/// Estimates the largest shift, from the magnitude of the differences alone.
fn first_shift(differences: &[f64; 3]) -> u32 {
    let most = f64::from((1u32 << SHIFT_BITS) - 1);
    let room = |n: usize| ((VALUE_BITS - 1) as f64 - libm::log2(differences[n].abs() + 1e-23)) / (n + 1) as f64;
    let shift = libm::trunc((0..3).map(room).fold(most, f64::min));
    shift.max(0.0) as u32
}

fn fits(differences: &[f64; 3], shift: u32, tau: u64) -> bool {
    let scaled = |n: usize, value: f64| libm::scalbn(value, (n as i32 + 1) * shift as i32).abs();
    let [d1, d2, d3] = *differences;
    let cycles = tau as f64;
    // Bounds of the second difference at the end, and of the first one anywhere in the segment.
    let (last2, last1) = (
        d2.abs() + cycles * d3.abs(),
        d1.abs() + cycles * d2.abs() + cycles * cycles / 2.0 * d3.abs(),
    );
    let coefficient = |n: usize| libm::trunc(libm::scalbn(differences[n], (n as i32 + 1) * shift as i32));
    (0..3).all(|n| (-LIMIT - 1.0..=LIMIT).contains(&coefficient(n)))
        && scaled(0, last1) < DIFFERENCE_LIMIT
        && scaled(1, last2) < DIFFERENCE_LIMIT
}

/// Lowest and highest value of a polynomial between 0 and 1.
pub fn extremes(cubic: &Cubic) -> (f64, f64) {
    let [c0, c1, c2, c3] = *cubic;
    let at = |x: f64| c0 + x * (c1 + x * (c2 + x * c3));
    let mut places = [0.0, 1.0, 0.0, 0.0];
    let (a, b) = (3.0 * c3, 2.0 * c2);
    let discriminant = b * b - 4.0 * a * c1;
    if a != 0.0 && discriminant >= 0.0 {
        let root = libm::sqrt(discriminant);
        (places[2], places[3]) = ((-b + root) / (2.0 * a), (-b - root) / (2.0 * a));
    } else if b != 0.0 {
        places[2] = -c1 / b;
    }
    let values = places.into_iter().filter(|x| (0.0..=1.0).contains(x)).map(at);
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (low.min(v), high.max(v))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spline;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    fn natural(knots: &[f64]) -> Vec<Cubic> {
        let (mut slopes, mut pivots) = (vec![0.0; knots.len()], vec![0.0; knots.len()]);
        Natural::new(knots, &mut slopes, &mut pivots).pieces().collect()
    }

    #[test]
    fn check_15_slope_of_a_power_of_two_is_exact() {
        for slope in [1048576.0, -1048576.0] {
            let segment = segment(&natural(&[0.0, slope])[0], 16).unwrap();
            let mut spline = Spline::new(&segment);
            spline.skip(16);
            assert_eq!(spline.value(), slope as i64, "shift {}", segment.shift);
            assert!((22..=23).contains(&segment.shift));
        }
    }

    /// Error bound of the specification at the end of a segment, in words.
    fn bound(tau: u64, shift: u32) -> f64 {
        let t = tau as f64;
        let s = |n: i32| libm::scalbn(1.0, n * shift as i32);
        t + t * t / s(1) / 2.0 + t * t * t / 6.0 / s(2) + t * t * t / 6.0 / s(3)
    }

    proptest! {
        #[test]
        fn engines_end_at_the_end_of_the_polynomial(knots in prop::collection::vec(-3e11..3e11f64, 2..6), tau in 4u64..20_000) {
            for cubic in natural(&knots) {
                let segment = segment(&cubic, tau).unwrap();
                let mut spline = Spline::new(&segment);
                spline.skip(tau);
                let end: f64 = cubic.iter().sum();
                let error = wrap(spline.value().wrapping_sub(end as i64), VALUE_BITS) as f64;
                prop_assert!(error.abs() <= bound(tau, segment.shift.into()) + 4.0, "{error} at shift {}", segment.shift);
            }
        }

        #[test]
        fn extremes_bound_all_values_of_the_polynomial(c in prop::array::uniform4(-10.0..10.0f64), x in 0.0..1.0f64) {
            let (low, high) = extremes(&c);
            let value = c[0] + x * (c[1] + x * (c[2] + x * c[3]));
            prop_assert!(low - 1e-9 <= value && value <= high + 1e-9);
        }
    }
}
