//! Operators of a mode of motion, restricted to its lowest states.

use nalgebra::{Complex, DMatrix};

/// A complex number.
pub type C = Complex<f64>;

/// The elements <row|exp(z a+ - z* a)|column> of a displacement by z in the full space, for the
/// lowest `states` states.
pub fn displacement(z: C, states: usize) -> DMatrix<C> {
    let square = z.norm_sqr();
    DMatrix::from_fn(states, states, |row, column| {
        let (low, high) = (row.min(column), row.max(column));
        let apart = high - low;
        // sqrt(low!/high!) z^apart, factor by factor to avoid overflow.
        let step = if row > column { z } else { -z.conj() };
        let power = (low + 1..=high).fold(C::new(1.0, 0.0), |power, n| power * step / (n as f64).sqrt());
        power * (-square / 2.0).exp() * laguerre(low, apart as f64, square)
    })
}

/// The recoil operator of light: exp(i eta (a + a+)).
pub fn kick(eta: f64, states: usize) -> DMatrix<C> {
    displacement(C::new(0.0, eta), states)
}

/// The associated Laguerre polynomial.
fn laguerre(degree: usize, alpha: f64, x: f64) -> f64 {
    let (mut before, mut now) = (0.0, 1.0);
    for n in 0..degree {
        let n = n as f64;
        let next = ((2.0 * n + 1.0 + alpha - x) * now - (n + alpha) * before) / (n + 1.0);
        (before, now) = (now, next);
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displacements_match_the_untruncated_space() {
        let z = C::new(0.3, -0.4);
        let (there, back) = (displacement(z, 40), displacement(-z, 40));
        let product = there.clone() * back;
        for row in 0..20 {
            for column in 0..20 {
                let expected = if row == column { 1.0 } else { 0.0 };
                assert!((product[(row, column)] - expected).norm() < 1e-9, "{row} {column}");
            }
        }
        // A coherent state: Poisson with the mean |z|^2.
        let mean = z.norm_sqr();
        let mut expected = (-mean).exp();
        for n in 0..10 {
            assert!((there[(n, 0)].norm_sqr() - expected).abs() < 1e-12);
            expected *= mean / (n + 1) as f64;
        }
    }

    #[test]
    fn sideband_strength_equals_the_closed_formula() {
        let eta = 0.1f64;
        let kick = kick(eta, 10);
        let debye_waller = (-eta * eta / 2.0).exp();
        assert!((kick[(0, 0)].re - debye_waller).abs() < 1e-12);
        assert!((kick[(1, 0)].im - eta * debye_waller).abs() < 1e-12);
        assert!((kick[(2, 1)].im - debye_waller * eta * 2f64.sqrt() * (1.0 - eta * eta / 2.0)).abs() < 1e-12);
    }
}
