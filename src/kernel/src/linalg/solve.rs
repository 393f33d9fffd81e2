//! Triangular factorisations, and functions based on them.

use super::matrix::Reflection;
use super::{Failure, Matrix, Result, Scratch};

/// Factors a matrix in place, with row pivoting (section 3.4): the upper factor and, below the
/// diagonal, the lower one, whose diagonal is 1. `rows` receives the permutation. Returns the sign
/// of the permutation.
fn factor(a: &mut Matrix, rows: &mut Matrix) -> f64 {
    let mut sign = 1.0;
    for row in 0..a.rows {
        rows.set(0, row, row as f64);
    }
    for step in 0..a.rows.min(a.columns) {
        let size = |row: &usize| libm::fabs(a.at(*row, step));
        let candidates = step..a.rows;
        let pivot = candidates.reduce(|best, row| if size(&row) > size(&best) { row } else { best });
        let pivot = pivot.expect("there are rows left");
        if pivot != step {
            a.swap_rows(pivot, step);
            rows.swap_columns(pivot, step);
            sign = -sign;
        }
        let divisor = a.at(step, step);
        if divisor == 0.0 {
            continue;
        }
        for row in step + 1..a.rows {
            let multiple = a.at(row, step) / divisor;
            a.set(row, step, multiple);
            for column in step + 1..a.columns {
                a.add(row, column, -multiple * a.at(step, column));
            }
        }
    }
    sign
}

/// Returns `L`, with its rows in the order of the matrix, and `U`, where `L U` is the matrix.
pub fn lu<'a>(matrix: &Matrix, scratch: &mut Scratch<'a>) -> Result<[Matrix<'a>; 2]> {
    let mut factors = scratch.copy(matrix)?;
    let mut rows = scratch.matrix(1, matrix.rows)?;
    factor(&mut factors, &mut rows);
    let inner = matrix.rows.min(matrix.columns);
    let mut lower = scratch.matrix(matrix.rows, inner)?;
    let mut upper = scratch.matrix(inner, matrix.columns)?;
    for row in 0..matrix.rows {
        let own = rows.at(0, row) as usize;
        for column in 0..inner.min(row + 1) {
            let value = if column == row { 1.0 } else { factors.at(row, column) };
            lower.set(own, column, value);
        }
        if row < inner {
            (row..matrix.columns).for_each(|column| upper.set(row, column, factors.at(row, column)));
        }
    }
    Ok([lower, upper])
}

pub fn determinant(matrix: &Matrix, scratch: &mut Scratch) -> Result<f64> {
    let size = matrix.size()?;
    let mut factors = scratch.copy(matrix)?;
    let mut rows = scratch.matrix(1, size)?;
    let sign = factor(&mut factors, &mut rows);
    Ok((0..size).fold(sign, |product, index| product * factors.at(index, index)))
}

/// Solves `matrix x = right` for `x`.
pub fn solve<'a>(matrix: &Matrix, right: &Matrix, scratch: &mut Scratch<'a>) -> Result<Matrix<'a>> {
    let size = matrix.size()?;
    let mut factors = scratch.copy(matrix)?;
    let mut rows = scratch.matrix(1, size)?;
    factor(&mut factors, &mut rows);
    let mut result = scratch.matrix(size, right.columns)?;
    for column in 0..right.columns {
        for row in 0..size {
            let known = (0..row).map(|inner| factors.at(row, inner) * result.at(inner, column));
            let known: f64 = known.sum();
            result.set(row, column, right.at(rows.at(0, row) as usize, column) - known);
        }
        for row in (0..size).rev() {
            let divisor = factors.at(row, row);
            if divisor == 0.0 {
                return Err(Failure::Singular);
            }
            let known = (row + 1..size).map(|inner| factors.at(row, inner) * result.at(inner, column));
            let known: f64 = known.sum();
            result.set(row, column, (result.at(row, column) - known) / divisor);
        }
    }
    Ok(result)
}

pub fn inverse<'a>(matrix: &Matrix, scratch: &mut Scratch<'a>) -> Result<Matrix<'a>> {
    let one = scratch.identity(matrix.size()?)?;
    solve(matrix, &one, scratch)
}

/// Computes a power by squaring; a negative one is a power of the inverse.
pub fn power<'a>(matrix: &Matrix, exponent: i32, scratch: &mut Scratch<'a>) -> Result<Matrix<'a>> {
    let size = matrix.size()?;
    let mut factor = match exponent < 0 {
        true => inverse(matrix, scratch)?,
        false => scratch.copy(matrix)?,
    };
    let (mut product, mut next) = (scratch.identity(size)?, scratch.matrix(size, size)?);
    let mut rest = exponent.unsigned_abs();
    while rest > 0 {
        if rest & 1 != 0 {
            next.set_product(&product, &factor);
            core::mem::swap(&mut next, &mut product);
        }
        rest >>= 1;
        if rest > 0 {
            next.set_product(&factor, &factor);
            core::mem::swap(&mut next, &mut factor);
        }
    }
    Ok(product)
}

/// Returns the Cholesky factor of a symmetric matrix (section 4.2), a lower triangle. The upper
/// half of the matrix is not read, as in NumPy.
pub fn cholesky<'a>(matrix: &Matrix, scratch: &mut Scratch<'a>) -> Result<Matrix<'a>> {
    let size = matrix.size()?;
    let mut lower = scratch.matrix(size, size)?;
    for row in 0..size {
        for column in 0..=row {
            let known: f64 = (0..column)
                .map(|inner| lower.at(row, inner) * lower.at(column, inner))
                .sum();
            let rest = matrix.at(row, column) - known;
            if column < row {
                lower.set(row, column, rest / lower.at(column, column));
            } else if rest > 0.0 {
                lower.set(row, row, libm::sqrt(rest));
            } else {
                return Err(Failure::NotPositiveDefinite);
            }
        }
    }
    Ok(lower)
}

/// Returns `count` orthonormal columns and an upper triangle with as many rows (section 5.2), for
/// any `count` from the smaller side of the matrix up to its number of rows.
pub fn qr<'a>(matrix: &Matrix, count: usize, scratch: &mut Scratch<'a>) -> Result<[Matrix<'a>; 2]> {
    let steps = matrix.rows.min(matrix.columns);
    let mut upper = scratch.copy(matrix)?;
    let mut full = scratch.identity(matrix.rows)?;
    let mut vector = scratch.matrix(1, matrix.rows)?;
    for step in 0..steps {
        let parts = vector.first_mut(matrix.rows - step);
        (step..matrix.rows).for_each(|row| parts[row - step] = upper.at(row, step));
        let reflection = Reflection::new(parts);
        upper.reflect_rows(step, step, &reflection);
        full.reflect_columns(step, matrix.rows, &reflection);
        upper.set(step, step, reflection.first);
        (step + 1..matrix.rows).for_each(|row| upper.set(row, step, 0.0));
    }
    let mut orthonormal = scratch.matrix(matrix.rows, count)?;
    for row in 0..matrix.rows {
        (0..count).for_each(|column| orthonormal.set(row, column, full.at(row, column)));
    }
    let mut triangle = scratch.matrix(count, matrix.columns)?;
    for row in 0..count {
        (row..matrix.columns).for_each(|column| triangle.set(row, column, upper.at(row, column)));
    }
    Ok([orthonormal, triangle])
}
