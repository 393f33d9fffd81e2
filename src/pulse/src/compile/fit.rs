//! Fits few segments to many samples: greedily, each as long as the tolerance permits.

use crate::knots::{boundary, Cubic};
use alloc::vec::Vec;
use kairos_contracts::pulse::SEGMENT_CYCLES_MIN;

/// A polynomial for the cycles between two boundaries.
pub struct Piece {
    pub cubic: Cubic,
    pub cycles: u64,
}

/// Fits pieces to samples (at least two) over a number of cycles, none further from a sample than
/// `tolerance`. The error is that of the shortest possible piece.
pub fn fit(samples: &[f64], cycles: u64, tolerance: f64) -> Result<Vec<Piece>, f64> {
    let last = samples.len() - 1;
    let at = |i| boundary(i, last, cycles);
    // Both a piece and the rest after it must have at least the minimum number of cycles.
    let shortest = (last as u64 * u64::from(SEGMENT_CYCLES_MIN))
        .div_ceil(cycles.max(1))
        .max(1) as usize;
    let long_enough = |i, j| at(j) - at(i) >= u64::from(SEGMENT_CYCLES_MIN);
    // Boundaries are at whole cycles; samples need not be.
    let piece = |first, end| {
        let (begin, length) = (at(first) as f64, (at(end) - at(first)) as f64);
        let place = |i| ((first + i) as f64 * cycles as f64 / last as f64 - begin) / length;
        cubic(&samples[first..=end], place)
    };
    let mut pieces = Vec::new();
    let mut first = 0;
    while first < last {
        let possible = |end: usize| end == last || end + shortest <= last && long_enough(end, last);
        let good = |end: usize| {
            let (cubic, error) = piece(first, end);
            (error <= tolerance).then_some((end, cubic))
        };
        let mut least = first + shortest;
        while least < last && !(long_enough(first, least) && possible(least)) {
            least += 1;
        }
        let least = least.min(last);
        let mut best = good(least).ok_or_else(|| piece(first, least).1)?;
        // Extend by doubling, then by bisection.
        let mut step = best.0 - first;
        let mut growing = true;
        while step != 0 {
            let end = (best.0 + step).min(last);
            match (possible(end) && end > best.0).then(|| good(end)).flatten() {
                Some(longer) => {
                    best = longer;
                    step = if growing { step * 2 } else { step };
                }
                None => (growing, step) = (false, step / 2),
            }
        }
        let (end, cubic) = best;
        let cycles = at(end) - at(first);
        pieces.push(Piece { cubic, cycles });
        first = end;
    }
    Ok(pieces)
}

/// The least-squares polynomial through samples at the places `x`, and its largest error.
fn cubic(samples: &[f64], x: impl Fn(usize) -> f64) -> (Cubic, f64) {
    let n = samples.len();
    let degree = (n - 1).min(3);
    // Polynomials orthogonal on these points, by the Gram-Schmidt process.
    let mut basis: Vec<Cubic> = Vec::new();
    let mut total: Cubic = [0.0; 4];
    for order in 0..=degree {
        let mut next = [0.0; 4];
        next[order] = 1.0;
        for _ in 0..2 {
            for lower in &basis {
                let share = dot(n, |i| value(&next, x(i)) * value(lower, x(i)));
                next.iter_mut().zip(lower).for_each(|(c, l)| *c -= share * l);
            }
        }
        let norm = libm::sqrt(dot(n, |i| value(&next, x(i)) * value(&next, x(i))));
        next.iter_mut().for_each(|c| *c /= norm);
        let share = dot(n, |i| value(&next, x(i)) * samples[i]);
        total.iter_mut().zip(next).for_each(|(c, b)| *c += share * b);
        basis.push(next);
    }
    let error = (0..n).map(|i| (value(&total, x(i)) - samples[i]).abs());
    (total, error.fold(0.0, f64::max))
}

fn dot(n: usize, term: impl Fn(usize) -> f64) -> f64 {
    (0..n).map(term).sum()
}

fn value(c: &Cubic, x: f64) -> f64 {
    c[0] + x * (c[1] + x * (c[2] + x * c[3]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fit_of_gaussian_needs_few_segments() {
        let samples: Vec<f64> = (0..=1000)
            .map(|i| libm::exp(-libm::pow((i as f64 - 500.0) / 150.0, 2.0)) * 1e6)
            .collect();
        let pieces = fit(&samples, 4096, 500.0).unwrap();
        assert!(pieces.len() <= 12, "{}", pieces.len());
        assert_eq!(pieces.iter().map(|piece| piece.cycles).sum::<u64>(), 4096);
        assert!(pieces.iter().all(|piece| piece.cycles >= 4));
        assert!(fit(&samples, 4096, 5.0).unwrap().len() > pieces.len());
    }

    #[test]
    fn noise_is_refused_with_remaining_error() {
        let samples: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        let error = fit(&samples, 100, 0.01).err().unwrap();
        assert!(error > 0.3 && error < 0.7, "{error}");
    }
}
