//! Singular values, and what follows from them.

use super::{qr, Failure, Matrix, Result, Scratch};

/// Sweeps over all pairs of columns; some ten are enough for any matrix.
const SWEEPS: usize = 60;

/// `u`, the singular values from the largest down (one row), and `v'`: `u` and `v` square.
///
/// By turning pairs of columns until all are at right angles (one-sided Jacobi, section 8.6.3),
/// which finds small values as accurately as large ones. The matrix is divided by its largest
/// element meanwhile: the squares of the elements of none are too large or too small for a double
/// then.
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

/// Turns two columns so that they are at right angles; false if they are already.
fn make_right<'m>(columns: &mut Matrix<'m>, v: &mut Matrix<'m>, (a, b): (usize, usize)) -> bool {
    let [aa, bb, ab] = [(a, a), (b, b), (a, b)].map(|(a, b)| columns.columns_product(a, b));
    // The product of columns at right angles is the sum of so many errors, not zero. What is not a
    // number is never below it, which ends the sweeps at their limit.
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

/// The columns divided by their lengths, and further ones at right angles to them up to a square
/// matrix. Those whose length is nothing but the error of the computation are replaced.
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
        // It has the columns themselves, but for their signs.
        let sign = if column < known {
            libm::copysign(1.0, triangle.at(column, column))
        } else {
            1.0
        };
        (0..columns.rows).for_each(|row| made.set(row, column, sign * full.at(row, column)));
    }
    Ok(made)
}

/// Singular values below so many parts of the largest count as zero, as in NumPy.
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
