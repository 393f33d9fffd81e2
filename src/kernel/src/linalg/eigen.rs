//! Similarity transformations to simpler forms.

use super::matrix::Reflection;
use super::{Failure, Matrix, Result, Scratch};

/// Returns `h`, which is zero below its first subdiagonal, and `q`, where `q h q'` is the matrix
/// (section 7.4.3).
pub fn hessenberg<'a>(matrix: &Matrix, scratch: &mut Scratch<'a>) -> Result<[Matrix<'a>; 2]> {
    let size = matrix.size()?;
    let mut h = scratch.copy(matrix)?;
    let mut q = scratch.identity(size)?;
    let mut vector = scratch.matrix(1, size)?;
    for step in 0..size.saturating_sub(2) {
        let first = step + 1;
        let parts = vector.first_mut(size - first);
        (first..size).for_each(|row| parts[row - first] = h.at(row, step));
        let reflection = Reflection::new(parts);
        h.reflect_rows(first, step, &reflection);
        h.reflect_columns(first, size, &reflection);
        q.reflect_columns(first, size, &reflection);
        (first + 1..size).for_each(|row| h.set(row, step, 0.0));
    }
    Ok([h, q])
}

/// Most steps per eigenvalue; two or three are usual.
const STEPS: usize = 60;

/// Returns `t`, upper triangular except for blocks of two rows (pairs of complex eigenvalues), and
/// `z`, where `z t z'` is the matrix (section 7.5).
pub fn schur<'a>(matrix: &Matrix, scratch: &mut Scratch<'a>) -> Result<[Matrix<'a>; 2]> {
    let [mut t, mut z] = hessenberg(matrix, scratch)?;
    let mut end = t.rows;
    let mut steps = 0;
    while end > 1 {
        let start = block_start(&mut t, end);
        match end - start {
            1 => (end, steps) = (end - 1, 0),
            2 => {
                split(&mut t, &mut z, start);
                (end, steps) = (start, 0);
            }
            _ if steps == STEPS => return Err(Failure::NotConverged),
            _ => {
                steps += 1;
                double_step(&mut t, &mut z, start..end, steps % 10 == 0);
            }
        }
    }
    Ok([t, z])
}

/// The start of the last unreduced block; negligible subdiagonal elements are set to zero.
fn block_start(t: &mut Matrix, end: usize) -> usize {
    for row in (1..end).rev() {
        let around = libm::fabs(t.at(row - 1, row - 1)) + libm::fabs(t.at(row, row));
        if libm::fabs(t.at(row, row - 1)) <= f64::EPSILON * around {
            t.set(row, row - 1, 0.0);
            return row;
        }
    }
    0
}

/// Makes a block of two rows triangular, if its eigenvalues are real.
fn split(t: &mut Matrix, z: &mut Matrix, row: usize) {
    let [[a, b], [c, d]] = [row, row + 1].map(|r| [row, row + 1].map(|column| t.at(r, column)));
    if c == 0.0 {
        return;
    }
    // Scaled so that the squares neither overflow nor underflow; this does not change the direction
    // of the vector below.
    let unit = [a / 2.0 - d / 2.0, b, c]
        .map(libm::fabs)
        .into_iter()
        .fold(0.0, f64::max);
    let (half, b, c) = ((a / 2.0 - d / 2.0) / unit, b / unit, c / unit);
    let inside = half * half + b * c;
    if inside < 0.0 {
        return;
    }
    // The first vector becomes the eigenvector of the eigenvalue that is farther from `d`.
    let distance = half + libm::copysign(libm::sqrt(inside), half);
    let mut vector = [distance, c];
    let reflection = Reflection::new(&mut vector);
    t.reflect_rows(row, row, &reflection);
    t.reflect_columns(row, row + 2, &reflection);
    z.reflect_columns(row, z.rows, &reflection);
    t.set(row + 1, row, 0.0);
}

/// A Francis double-shift step in a block. `unusual` selects exceptional shifts, when the usual
/// ones do not converge.
fn double_step(t: &mut Matrix, z: &mut Matrix, block: core::ops::Range<usize>, unusual: bool) {
    let (start, last) = (block.start, block.end - 1);
    let (mut sum, mut product) = (
        t.at(last - 1, last - 1) + t.at(last, last),
        t.at(last - 1, last - 1) * t.at(last, last) - t.at(last - 1, last) * t.at(last, last - 1),
    );
    if unusual {
        let size = libm::fabs(t.at(last, last - 1)) + libm::fabs(t.at(last - 1, last - 2));
        (sum, product) = (1.5 * size, size * size);
    }
    let (a, b) = (t.at(start, start), t.at(start, start + 1));
    let (c, d) = (t.at(start + 1, start), t.at(start + 1, start + 1));
    let mut vector = [
        a * a + b * c - sum * a + product,
        c * (a + d - sum),
        c * t.at(start + 2, start + 1),
    ];
    for row in start..last {
        // Three rows, but two at the end.
        let count = 3.min(block.end - row);
        let reflection = Reflection::new(&mut vector[..count]);
        t.reflect_rows(row, row.saturating_sub(1).max(start), &reflection);
        t.reflect_columns(row, block.end.min(row + 4), &reflection);
        z.reflect_columns(row, z.rows, &reflection);
        if row > start {
            (row + 1..row + count).for_each(|below| t.set(below, row - 1, 0.0));
        }
        for (index, part) in vector.iter_mut().enumerate().take(block.end - row - 1) {
            *part = t.at(row + 1 + index, row);
        }
    }
}
