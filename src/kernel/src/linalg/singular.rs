//! Singular values, and functions based on them.

use super::{qr, Failure, Matrix, Result, Scratch};

/// Most sweeps over all pairs of columns; about ten suffice for any matrix.
const SWEEPS: usize = 60;

/// Returns square `u`, the singular values in descending order (one row), and square `v'`.
///
/// Rotates pairs of columns until all are orthogonal (one-sided Jacobi, section 8.6.3), which finds
/// small values as accurately as large ones. Meanwhile the matrix is divided by its largest
/// element, so that the squares of the elements neither overflow nor underflow.
pub fn svd<'a>(matrix: &Matrix, scratch: &mut Scratch<'a>) -> Result<[Matrix<'a>; 3]> {
    if matrix.rows < matrix.columns {
        let turned = scratch.transposed(matrix)?;
        let [u, values, v] = svd(&turned, scratch)?;
        return Ok([scratch.transposed(&v)?, values, scratch.transposed(&u)?]);
    }
    let count = matrix.columns;
    let mut columns = scratch.copy(matrix)?;
    let unit = match columns.largest() {
        0.0 => 1.0,
        largest => largest,
    };
    columns.each(|value| value / unit);
    let mut v = scratch.identity(count)?;
    let mut settled = false;
    for _ in 0..SWEEPS {
        settled = true;
        for a in 0..count {
            for b in a + 1..count {
                settled &= !make_right(&mut columns, &mut v, (a, b));
            }
        }
        if settled {
            break;
        }
    }
    if !settled {
        return Err(Failure::NotConverged);
    }
    let mut values = scratch.matrix(1, count)?;
    for column in 0..count {
        values.set(0, column, libm::sqrt(columns.columns_product(column, column)));
    }
    for place in 0..count {
        let largest = (place..count).fold(place, |best, other| {
            if values.at(0, other) > values.at(0, best) {
                other
            } else {
                best
            }
        });
        for sorted in [&mut values, &mut columns, &mut v] {
            sorted.swap_columns(place, largest);
        }
    }
    let u = completed(&columns, &values, scratch)?;
    values.each(|value| value * unit);
    let turned = scratch.transposed(&v)?;
    Ok([u, values, turned])
}

/// Rotates two columns to make them orthogonal; false if they already are.
fn make_right<'m>(columns: &mut Matrix<'m>, v: &mut Matrix<'m>, (a, b): (usize, usize)) -> bool {
    let [aa, bb, ab] = [(a, a), (b, b), (a, b)].map(|(a, b)| columns.columns_product(a, b));
    // The computed product of orthogonal columns is the sum of this many rounding errors, not zero.
    // A NaN is never below the bound, which lets the sweeps end at their limit.
    let noise = f64::EPSILON * libm::sqrt(columns.rows as f64);
    let right = libm::fabs(ab) <= noise * libm::sqrt(aa * bb);
    if right {
        return false;
    }
    let half = (bb - aa) / (2.0 * ab);
    let tangent = libm::copysign(1.0, half) / (libm::fabs(half) + libm::hypot(1.0, half));
    let cosine = 1.0 / libm::hypot(1.0, tangent);
    for turned in [columns, v] {
        turned.turn_columns((a, b), cosine, cosine * tangent);
    }
    true
}

/// Returns the columns divided by their lengths, completed by further orthonormal ones to a square
/// matrix. Columns whose length is only rounding error are replaced.
fn completed<'a>(columns: &Matrix, lengths: &Matrix, scratch: &mut Scratch<'a>) -> Result<Matrix<'a>> {
    let noise = match columns.columns {
        0 => 0.0,
        count => lengths.at(0, 0) * f64::EPSILON * count.max(columns.rows) as f64,
    };
    let known = (0..columns.columns)
        .filter(|&column| lengths.at(0, column) > noise)
        .count();
    let mut made = scratch.matrix(columns.rows, columns.rows)?;
    let mut wide = scratch.matrix(columns.rows, known + columns.rows)?;
    for row in 0..columns.rows {
        for column in 0..known {
            wide.set(row, column, columns.at(row, column) / lengths.at(0, column));
        }
        wide.set(row, known + row, 1.0);
    }
    let [full, triangle] = qr(&wide, columns.rows, scratch)?;
    for column in 0..columns.rows {
        // The columns themselves, except for their signs.
        let sign = if column < known {
            libm::copysign(1.0, triangle.at(column, column))
        } else {
            1.0
        };
        (0..columns.rows).for_each(|row| made.set(row, column, sign * full.at(row, column)));
    }
    Ok(made)
}

/// Singular values below this fraction of the largest count as zero, as in NumPy.
const SMALLEST: f64 = 1e-15;

pub fn pseudo_inverse<'a>(matrix: &Matrix, scratch: &mut Scratch<'a>) -> Result<Matrix<'a>> {
    let [u, values, v] = svd(matrix, scratch)?;
    let mut made = scratch.matrix(matrix.columns, matrix.rows)?;
    for index in 0..values.columns {
        let value = values.at(0, index);
        if value <= SMALLEST * values.at(0, 0) {
            break;
        }
        for row in 0..matrix.columns {
            let part = v.at(index, row) / value;
            (0..matrix.rows).for_each(|column| made.add(row, column, part * u.at(column, index)));
        }
    }
    Ok(made)
}
