//! Linear algebra for kernels: `np_linalg_…` and `sp_linalg_…` (kernel ABI, section 2.13).
//!
//! A matrix is `{u32 dims, u32 *shape, double *data}`, row by row. The kernel allocates those for
//! the results, and their shapes select how much of a result is wanted: the reduced or the full
//! `q`, `u` and `v'`.

use kairos_intercore::memory::KERNEL_HEAP;
use kairos_kernel::linalg::{self, Failure, Matrix, Scratch};
use kairos_proto::exception::Id;
use kairos_proto::rpc::{BadAddress, Memory, MemoryMut};

use crate::fault::broken;
use crate::memory::{Area, KernelMemory};
use crate::owned::BorrowCell;
use crate::raise;

/// Working memory of computations: above the copies of the cache, below its values.
const SCRATCH_START: usize = KERNEL_HEAP.start + (6 << 20);
const SCRATCH_BYTES: usize = 2 << 20;
static SCRATCH: BorrowCell<Area<SCRATCH_START, { SCRATCH_START + SCRATCH_BYTES }>> = {
    // SAFETY: this part of the heap belongs to this module.
    BorrowCell::new(unsafe { Area::new() })
};

/// Reclaims the memory in a restart, when nobody uses it.
pub fn reclaim() {
    SCRATCH.reclaim();
}

/// Errors of a call.
enum Problem {
    Failure(Failure),
    /// The shape of a result's matrix does not fit the result.
    Shape,
    Address(BadAddress),
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Problem::Failure(failure)
    }
}

impl From<BadAddress> for Problem {
    fn from(error: BadAddress) -> Self {
        Problem::Address(error)
    }
}

type Result<T> = core::result::Result<T, Problem>;

/// A matrix of the kernel: the number of its dimensions, their lengths, and the address of its
/// elements.
struct KernelMatrix {
    dims: u32,
    shape: [usize; 2],
    data: u32,
}

impl KernelMatrix {
    fn at(address: u32) -> Result<KernelMatrix> {
        let word = |offset: u32| KernelMemory.word(address.wrapping_add(offset));
        let (dims, lengths, data) = (word(0)?, word(4)?, word(8)?);
        let mut shape = [1; 2];
        if dims > 2 {
            return Err(Problem::Shape);
        }
        for (index, length) in (0..dims).zip(&mut shape) {
            *length = KernelMemory.word(lengths.wrapping_add(4 * index))? as usize;
        }
        Ok(KernelMatrix { dims, shape, data })
    }

    /// Length of a row of `count` elements, in bytes.
    fn bytes(&self, count: usize) -> Result<u32> {
        let length = count.checked_mul(8).and_then(|length| u32::try_from(length).ok());
        length.ok_or(Problem::Failure(Failure::TooLarge))
    }

    /// Reads a copy; a vector becomes a column.
    fn read<'a>(&self, scratch: &mut Scratch<'a>) -> Result<Matrix<'a>> {
        let mut copy = scratch.matrix(self.shape[0], self.shape[1])?;
        let [rows, columns] = self.shape;
        let length = self.bytes(rows.checked_mul(columns).ok_or(Failure::TooLarge)?)?;
        let memory = KernelMemory;
        let bytes = match length {
            0 => &[],
            _ => memory.bytes(self.data, length)?,
        };
        for (value, bytes) in copy.first_mut(rows * columns).iter_mut().zip(bytes.as_chunks().0) {
            *value = f64::from_le_bytes(*bytes);
        }
        Ok(copy)
    }

    /// Writes as much of a result as the matrix has room for.
    fn write(&self, result: &Matrix) -> Result<()> {
        let [rows, columns] = match self.dims {
            1 if result.rows == 1 => [1, self.shape[0]],
            _ => self.shape,
        };
        if rows > result.rows || columns > result.columns {
            return Err(Problem::Shape);
        }
        let length = self.bytes(columns)?;
        for row in 0..rows {
            let to = self.data.wrapping_add(row as u32 * length);
            if length > 0 {
                let mut memory = KernelMemory;
                let bytes = memory.bytes_mut(to, length)?;
                for (column, bytes) in bytes.as_chunks_mut().0.iter_mut().enumerate() {
                    *bytes = result.at(row, column).to_le_bytes();
                }
            }
        }
        Ok(())
    }
}

/// What a kernel has called. Values in it are addresses.
enum Operation {
    Cholesky,
    Inverse,
    PseudoInverse,
    Determinant,
    /// `q` has as many columns as the kernel's matrix of this address, but at least those of the reduced one.
    Qr(u32),
    Svd,
    /// The exponent is a number or a matrix with one element; no valid exponent is a valid address.
    Power(u32),
    Lu,
    Schur,
    Hessenberg,
    /// Solves `matrix x = right` for `x`.
    Solve(u32),
}

/// Up to three matrices that an operation results in.
type Results<'a> = [Option<Matrix<'a>>; 3];

impl Operation {
    fn results<'a>(self, matrix: &Matrix, scratch: &mut Scratch<'a>) -> Result<Results<'a>> {
        let two = |[first, second]: [Matrix<'a>; 2]| [Some(first), Some(second), None];
        let one = match self {
            Operation::Cholesky => linalg::cholesky(matrix, scratch)?,
            Operation::Inverse => linalg::inverse(matrix, scratch)?,
            Operation::PseudoInverse => linalg::pseudo_inverse(matrix, scratch)?,
            Operation::Determinant => {
                let value = linalg::determinant(matrix, scratch)?;
                let mut single = scratch.matrix(1, 1)?;
                single.set(0, 0, value);
                single
            }
            Operation::Qr(q) => {
                let wanted = KernelMatrix::at(q)?.shape[1];
                let count = wanted.clamp(matrix.rows.min(matrix.columns), matrix.rows);
                return Ok(two(linalg::qr(matrix, count, scratch)?));
            }
            Operation::Svd => return Ok(linalg::svd(matrix, scratch)?.map(Some)),
            Operation::Power(exponent) => linalg::power(matrix, number(exponent, scratch)?, scratch)?,
            Operation::Lu => return Ok(two(linalg::lu(matrix, scratch)?)),
            Operation::Schur => return Ok(two(linalg::schur(matrix, scratch)?)),
            Operation::Hessenberg => return Ok(two(linalg::hessenberg(matrix, scratch)?)),
            Operation::Solve(right) => {
                let right = KernelMatrix::at(right)?.read(scratch)?;
                if right.rows != matrix.rows {
                    return Err(Problem::Shape);
                }
                linalg::solve(matrix, &right, scratch)?
            }
        };
        Ok([Some(one), None, None])
    }
}

/// The number that an exponent is, or the address of which it is.
fn number(exponent: u32, scratch: &mut Scratch) -> Result<i32> {
    if KernelMemory.bytes(exponent, 12).is_err() {
        return Ok(exponent as i32);
    }
    let single = KernelMatrix::at(exponent)?;
    if single.shape != [1, 1] {
        return Err(Problem::Shape);
    }
    Ok(single.read(scratch)?.at(0, 0) as i32)
}

/// Computes results from a matrix, writes them to the kernel's matrices, and raises any error.
fn compute(operation: Operation, matrix: u32, results: &[u32]) {
    let done = SCRATCH.with(|area| {
        let mut scratch = Scratch::new(area.doubles());
        let matrix = KernelMatrix::at(matrix)?.read(&mut scratch)?;
        let found = operation.results(&matrix, &mut scratch)?;
        results
            .iter()
            .zip(found.iter().flatten())
            .try_for_each(|(address, result)| KernelMatrix::at(*address)?.write(result))
    });
    match done {
        Ok(()) => {}
        Err(Problem::Failure(failure @ Failure::TooLarge)) => raise::firmware(Id::ValueError, failure.text(), [0; 3]),
        Err(Problem::Failure(failure)) => raise::firmware(Id::LinAlgError, failure.text(), [0; 3]),
        Err(Problem::Shape) => {
            let text = "linear algebra: no matrix, or no room for the whole result";
            raise::firmware(Id::ValueError, text, [0; 3]);
        }
        Err(Problem::Address(error)) => broken(format_args!("matrix of a kernel: {error}")),
    }
}

macro_rules! calls {
    ($($name:ident($($result:ident),*) => $operation:ident$(($value:ident))?;)*) => { $(
        extern "C" fn $name(matrix: u32, $($value: u32,)? $($result: u32),*) {
            compute(Operation::$operation$(($value))?, matrix, &[$($result),*]);
        }
    )* };
}
calls! {
    cholesky(result) => Cholesky;
    inverse(result) => Inverse;
    pseudo_inverse(result) => PseudoInverse;
    determinant(result) => Determinant;
    svd(u, values, v) => Svd;
    matrix_power(result) => Power(exponent);
    lu(l, u) => Lu;
    schur(t, z) => Schur;
    hessenberg(h, q) => Hessenberg;
    solve(result) => Solve(right);
}

extern "C" fn qr(matrix: u32, q: u32, r: u32) {
    compute(Operation::Qr(q), matrix, &[q, r]);
}

raise::raising! {
    np_linalg_cholesky => cholesky;
    np_linalg_inv => inverse;
    np_linalg_pinv => pseudo_inverse;
    np_linalg_det => determinant;
    np_linalg_qr => qr;
    np_linalg_svd => svd;
    np_linalg_matrix_power => matrix_power;
    sp_linalg_lu => lu;
    sp_linalg_schur => schur;
    sp_linalg_hessenberg => hessenberg;
    kairos_linalg_solve => solve;
}
