//! Linear algebra of small dense matrices of doubles: the functions of `numpy.linalg` and
//! `scipy.linalg`.
//!
//! Matrices are stored row by row. There is no allocator: temporary memory comes from a
//! [`Scratch`]. The methods are those of the textbooks (Golub and Van Loan, *Matrix Computations*,
//! 4th edition; the sections are named), chosen for being short and accurate; matrices in kernels
//! are small.

mod eigen;
mod matrix;
mod singular;
mod solve;
#[cfg(test)]
mod tests;

pub use eigen::{hessenberg, schur};
pub use matrix::{Matrix, Scratch};
pub use singular::{pseudo_inverse, svd};
pub use solve::{cholesky, determinant, inverse, lu, power, qr, solve};

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    NotSquare,
    Singular,
    NotPositiveDefinite,
    NotConverged,
    TooLarge,
}

impl Failure {
    /// The text of the error, in NumPy's words where it has some.
    pub fn text(self) -> &'static str {
        match self {
            Failure::NotSquare => "Last 2 dimensions of the array must be square",
            Failure::Singular => "Singular matrix",
            Failure::NotPositiveDefinite => "Matrix is not positive definite",
            Failure::NotConverged => "the iteration did not converge",
            Failure::TooLarge => "the matrix is too large for linear algebra in a kernel",
        }
    }
}

pub type Result<T> = core::result::Result<T, Failure>;
