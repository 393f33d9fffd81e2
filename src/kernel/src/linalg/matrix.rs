//! Matrices in borrowed memory, and the allocation of that memory.

use super::{Failure, Result};

/// A matrix, stored row by row.
#[derive(Debug)]
pub struct Matrix<'a> {
    pub rows: usize,
    pub columns: usize,
    data: &'a mut [f64],
}

/// Memory for matrices, allocated piece by piece.
#[derive(Debug)]
pub struct Scratch<'a>(&'a mut [f64]);

impl<'a> Scratch<'a> {
    pub fn new(memory: &'a mut [f64]) -> Self {
        Scratch(memory)
    }

    /// Allocates a matrix of zeros.
    pub fn matrix(&mut self, rows: usize, columns: usize) -> Result<Matrix<'a>> {
        let size = rows.checked_mul(columns).ok_or(Failure::TooLarge)?;
        let rest = core::mem::take(&mut self.0);
        if size > rest.len() {
            return Err(Failure::TooLarge);
        }
        let (data, rest) = rest.split_at_mut(size);
        self.0 = rest;
        data.fill(0.0);
        Ok(Matrix { rows, columns, data })
    }

    pub fn identity(&mut self, size: usize) -> Result<Matrix<'a>> {
        let mut made = self.matrix(size, size)?;
        (0..size).for_each(|index| made.set(index, index, 1.0));
        Ok(made)
    }

    pub fn copy(&mut self, of: &Matrix) -> Result<Matrix<'a>> {
        let made = self.matrix(of.rows, of.columns)?;
        made.data.copy_from_slice(of.data);
        Ok(made)
    }

    pub fn transposed(&mut self, of: &Matrix) -> Result<Matrix<'a>> {
        let mut made = self.matrix(of.columns, of.rows)?;
        for row in 0..of.rows {
            (0..of.columns).for_each(|column| made.set(column, row, of.at(row, column)));
        }
        Ok(made)
    }

    pub fn product(&mut self, left: &Matrix, right: &Matrix) -> Result<Matrix<'a>> {
        let mut made = self.matrix(left.rows, right.columns)?;
        made.set_product(left, right);
        Ok(made)
    }
}

impl Matrix<'_> {
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.data[row * self.columns + column]
    }

    pub fn set(&mut self, row: usize, column: usize, value: f64) {
        self.data[row * self.columns + column] = value;
    }

    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        self.data[row * self.columns + column] += value;
    }

    pub fn is_square(&self) -> bool {
        self.rows == self.columns
    }

    /// The number of rows of a square matrix.
    pub fn size(&self) -> Result<usize> {
        match self.is_square() {
            true => Ok(self.rows),
            false => Err(Failure::NotSquare),
        }
    }

    /// The first `count` elements in storage order.
    pub fn first_mut(&mut self, count: usize) -> &mut [f64] {
        &mut self.data[..count]
    }

    pub fn each(&mut self, change: impl Fn(f64) -> f64) {
        self.data.iter_mut().for_each(|value| *value = change(*value));
    }

    /// The largest absolute value; NaN is ignored.
    pub fn largest(&self) -> f64 {
        largest(self.data)
    }

    pub fn set_product(&mut self, left: &Matrix, right: &Matrix) {
        for row in 0..left.rows {
            for column in 0..right.columns {
                let terms = (0..left.columns).map(|inner| left.at(row, inner) * right.at(inner, column));
                self.set(row, column, terms.sum());
            }
        }
    }

    pub fn swap_rows(&mut self, a: usize, b: usize) {
        for column in 0..self.columns {
            self.data.swap(a * self.columns + column, b * self.columns + column);
        }
    }

    pub fn swap_columns(&mut self, a: usize, b: usize) {
        for row in 0..self.rows {
            self.data.swap(row * self.columns + a, row * self.columns + b);
        }
    }

    /// The scalar product of two columns.
    pub fn columns_product(&self, a: usize, b: usize) -> f64 {
        (0..self.rows).map(|row| self.at(row, a) * self.at(row, b)).sum()
    }

    /// Rotates two columns by the angle of this cosine and sine.
    pub fn turn_columns(&mut self, (a, b): (usize, usize), cosine: f64, sine: f64) {
        for row in 0..self.rows {
            let (x, y) = (self.at(row, a), self.at(row, b));
            self.set(row, a, cosine * x - sine * y);
            self.set(row, b, sine * x + cosine * y);
        }
    }

    /// Computes `self = (1 - factor v v') self`, in the rows from `first` and the columns from
    /// `from`.
    pub fn reflect_rows(&mut self, first: usize, from: usize, reflection: &Reflection) {
        for column in from..self.columns {
            let parts = reflection.vector.iter().enumerate();
            let sum: f64 = parts.map(|(index, part)| part * self.at(first + index, column)).sum();
            for (index, part) in reflection.vector.iter().enumerate() {
                self.add(first + index, column, -reflection.factor * sum * part);
            }
        }
    }

    /// Computes `self = self (1 - factor v v')`, in the columns from `first` and the first `rows`
    /// rows.
    pub fn reflect_columns(&mut self, first: usize, rows: usize, reflection: &Reflection) {
        for row in 0..rows {
            let parts = reflection.vector.iter().enumerate();
            let sum: f64 = parts.map(|(index, part)| part * self.at(row, first + index)).sum();
            for (index, part) in reflection.vector.iter().enumerate() {
                self.add(row, first + index, -reflection.factor * sum * part);
            }
        }
    }
}

fn largest(values: &[f64]) -> f64 {
    let larger = |largest: f64, value: &f64| largest.max(libm::fabs(*value));
    values.iter().fold(0.0, larger)
}

/// A Householder reflection `1 - factor v v'`, which zeroes a vector except for its first element
/// (section 5.1).
pub struct Reflection<'v> {
    vector: &'v mut [f64],
    factor: f64,
    /// The resulting first element of the vector.
    pub first: f64,
}

impl<'v> Reflection<'v> {
    /// Creates the reflection of this vector, which is overwritten with `v`.
    pub fn new(vector: &'v mut [f64]) -> Self {
        let largest = largest(vector);
        let rest = vector.get(1..).unwrap_or(&[]).iter().any(|part| *part != 0.0);
        if !rest {
            let first = vector.first().copied().unwrap_or(0.0);
            let factor = 0.0;
            return Reflection { vector, factor, first };
        }
        let squares: f64 = vector.iter().map(|part| (part / largest) * (part / largest)).sum();
        let length = largest * libm::sqrt(squares);
        // The sign that avoids cancellation.
        let first = if vector[0] < 0.0 { length } else { -length };
        let scale = vector[0] - first;
        vector[0] = 1.0;
        vector[1..].iter_mut().for_each(|part| *part /= scale);
        let factor = -scale / first;
        Reflection { vector, factor, first }
    }
}
