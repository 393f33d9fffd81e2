//! A propagator to the power of however many times: as many products as the number has bits.

use nalgebra::{DMatrix, DVector};

use super::oscillator::C;

/// A matrix and its powers of two.
pub struct Powers(Vec<DMatrix<C>>);

impl Powers {
    /// Of this one.
    pub fn of(matrix: DMatrix<C>) -> Self {
        Self(vec![matrix])
    }

    /// `state` after `times` times the matrix.
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
