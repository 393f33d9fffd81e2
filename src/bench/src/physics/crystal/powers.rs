//! Powers of a propagator, with as many products as the exponent has bits.

use nalgebra::{DMatrix, DVector};

use super::oscillator::C;

/// A matrix and its repeated squares.
pub struct Powers(Vec<DMatrix<C>>);

impl Powers {
    /// Creates the powers of a matrix.
    pub fn of(matrix: DMatrix<C>) -> Self {
        Self(vec![matrix])
    }

    /// Applies the matrix `times` times to `state`.
    pub fn apply(&mut self, mut state: DVector<C>, times: u64) -> DVector<C> {
        for bit in 0..u64::BITS - times.leading_zeros() {
            if self.0.len() == bit as usize {
                let last = &self.0[bit as usize - 1];
                self.0.push(last * last);
            }
            if times >> bit & 1 != 0 {
                state = &self.0[bit as usize] * state;
            }
        }
        state
    }
}
