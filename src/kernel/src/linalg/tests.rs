//! Checks that the parts of each decomposition have their form, and that their product is the
//! matrix.

use super::*;

/// A matrix of pseudo-random elements from a fixed sequence.
fn matrix<'a>(rows: usize, columns: usize, scratch: &mut Scratch<'a>) -> Matrix<'a> {
    let mut state = 12345u32;
    let mut made = scratch.matrix(rows, columns).unwrap();
    for (row, column) in places(rows, columns) {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        made.set(row, column, f64::from(state >> 8) / f64::from(1 << 23) - 1.0);
    }
    made
}

fn places(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rows).flat_map(move |row| (0..columns).map(move |column| (row, column)))
}

#[track_caller]
fn close(a: &Matrix, b: &Matrix) {
    assert_eq!((a.rows, a.columns), (b.rows, b.columns));
    for (row, column) in places(a.rows, a.columns) {
        let (x, y) = (a.at(row, column), b.at(row, column));
        assert!((x - y).abs() < 1e-9, "{x} is not {y} at {row}, {column}");
    }
}

#[track_caller]
fn orthogonal(q: &Matrix, scratch: &mut Scratch) {
    let turned = scratch.transposed(q).unwrap();
    let product = scratch.product(&turned, q).unwrap();
    close(&product, &scratch.identity(q.columns).unwrap());
}

fn with_scratch(work: impl FnOnce(&mut Scratch)) {
    let mut memory = vec![0.0; 100_000];
    work(&mut Scratch::new(&mut memory));
}

const SHAPES: [(usize, usize); 8] = [(1, 1), (2, 2), (5, 5), (12, 12), (4, 2), (2, 5), (7, 3), (1, 4)];

#[test]
fn product_of_factors_equals_the_matrix() {
    for (rows, columns) in SHAPES {
        with_scratch(|scratch| {
            let a = matrix(rows, columns, scratch);
            for count in [rows.min(columns), rows] {
                let [q, r] = qr(&a, count, scratch).unwrap();
                orthogonal(&q, scratch);
                close(&scratch.product(&q, &r).unwrap(), &a);
                assert!(places(r.rows, r.columns).all(|(row, column)| column >= row || r.at(row, column) == 0.0));
            }
            let [lower, upper] = lu(&a, scratch).unwrap();
            close(&scratch.product(&lower, &upper).unwrap(), &a);
        });
    }
}

/// The product of the parts of a singular value decomposition.
fn joined<'a>([u, values, v]: &[Matrix; 3], scratch: &mut Scratch<'a>) -> Matrix<'a> {
    let mut middle = scratch.matrix(u.columns, v.rows).unwrap();
    (0..values.columns).for_each(|index| middle.set(index, index, values.at(0, index)));
    let left = scratch.product(u, &middle).unwrap();
    scratch.product(&left, v).unwrap()
}

#[test]
fn singular_value_factors_multiply_to_any_matrix() {
    for (rows, columns) in SHAPES {
        with_scratch(|scratch| {
            let a = matrix(rows, columns, scratch);
            let parts = svd(&a, scratch).unwrap();
            assert_eq!((parts[0].rows, parts[0].columns), (rows, rows));
            assert_eq!((parts[2].rows, parts[2].columns), (columns, columns));
            orthogonal(&parts[0], scratch);
            orthogonal(&parts[2], scratch);
            close(&joined(&parts, scratch), &a);
            let values = &parts[1];
            assert!((1..values.columns).all(|index| values.at(0, index) <= values.at(0, index - 1)));
            let inverse = pseudo_inverse(&a, scratch).unwrap();
            let back = scratch.product(&a, &inverse).unwrap();
            close(&scratch.product(&back, &a).unwrap(), &a);
        });
    }
}

#[test]
fn singular_value_factors_multiply_to_low_rank_matrices() {
    with_scratch(|scratch| {
        let (left, right) = (matrix(6, 2, scratch), matrix(2, 4, scratch));
        let a = scratch.product(&left, &right).unwrap();
        let parts = svd(&a, scratch).unwrap();
        orthogonal(&parts[0], scratch);
        orthogonal(&parts[2], scratch);
        close(&joined(&parts, scratch), &a);
        assert!(parts[1].at(0, 1) > 1e-3 && parts[1].at(0, 2) < 1e-14);
        let nothing = scratch.matrix(3, 2).unwrap();
        let parts = svd(&nothing, scratch).unwrap();
        orthogonal(&parts[0], scratch);
        close(
            &pseudo_inverse(&nothing, scratch).unwrap(),
            &scratch.matrix(2, 3).unwrap(),
        );
    });
}

#[test]
fn singular_value_factors_multiply_to_a_large_matrix() {
    with_scratch(|scratch| {
        let a = matrix(60, 60, scratch);
        let parts = svd(&a, scratch).unwrap();
        orthogonal(&parts[0], scratch);
        close(&joined(&parts, scratch), &a);
    });
}

#[test]
fn matrices_of_any_scale_are_decomposed() {
    for unit in [1e-200, 1e200] {
        with_scratch(|scratch| {
            let mut a = matrix(4, 3, scratch);
            let expected = svd(&a, scratch).unwrap();
            a.each(|value| value * unit);
            let mut parts = svd(&a, scratch).unwrap();
            parts[1].each(|value| value / unit);
            parts
                .iter()
                .zip(&expected)
                .for_each(|(part, expected)| close(part, expected));
            let mut a = matrix(2, 2, scratch);
            let [expected, _] = schur(&a, scratch).unwrap();
            a.each(|value| value * unit);
            let [mut t, _] = schur(&a, scratch).unwrap();
            t.each(|value| value / unit);
            close(&t, &expected);
        });
    }
}

#[test]
fn hessenberg_and_schur_forms_multiply_to_the_matrix() {
    for size in [0, 1, 2, 3, 4, 8, 15] {
        with_scratch(|scratch| {
            let a = matrix(size, size, scratch);
            let [h, q] = hessenberg(&a, scratch).unwrap();
            let [t, z] = schur(&a, scratch).unwrap();
            for (middle, around) in [(&h, &q), (&t, &z)] {
                orthogonal(around, scratch);
                let turned = scratch.transposed(around).unwrap();
                let product = scratch.product(around, middle).unwrap();
                close(&scratch.product(&product, &turned).unwrap(), &a);
                let mut below = places(size, size).filter(|(row, column)| column + 1 < *row);
                assert!(below.all(|(row, column)| middle.at(row, column) == 0.0));
            }
            // Blocks of two rows are pairs of complex eigenvalues.
            for row in 1..size {
                if t.at(row, row - 1) != 0.0 {
                    let half = (t.at(row - 1, row - 1) - t.at(row, row)) / 2.0;
                    assert!(half * half + t.at(row - 1, row) * t.at(row, row - 1) < 0.0);
                    assert!(row + 1 == size || t.at(row + 1, row) == 0.0);
                }
            }
        });
    }
}

#[test]
fn eigenvalues_on_a_circle_are_found() {
    with_scratch(|scratch| {
        // A cyclic permutation of the identity's rows: steps with the usual shifts change nothing.
        let mut a = scratch.matrix(4, 4).unwrap();
        (0..4).for_each(|row| a.set(row, (row + 1) % 4, 1.0));
        let [t, z] = schur(&a, scratch).unwrap();
        orthogonal(&z, scratch);
        let turned = scratch.transposed(&z).unwrap();
        let product = scratch.product(&z, &t).unwrap();
        close(&scratch.product(&product, &turned).unwrap(), &a);
    });
}

#[test]
fn inverse_power_and_cholesky_factor_agree_with_the_matrix() {
    for size in [1, 2, 3, 8] {
        with_scratch(|scratch| {
            let a = matrix(size, size, scratch);
            let one = scratch.identity(size).unwrap();
            let inverted = inverse(&a, scratch).unwrap();
            close(&scratch.product(&a, &inverted).unwrap(), &one);
            close(&power(&a, -1, scratch).unwrap(), &inverted);
            let square = scratch.product(&a, &a).unwrap();
            close(&power(&a, 3, scratch).unwrap(), &scratch.product(&square, &a).unwrap());
            close(&power(&a, 0, scratch).unwrap(), &one);
            let turned = scratch.transposed(&a).unwrap();
            let mut positive = scratch.product(&a, &turned).unwrap();
            (0..size).for_each(|index| positive.add(index, index, 1.0));
            let lower = cholesky(&positive, scratch).unwrap();
            assert!(places(size, size).all(|(row, column)| column <= row || lower.at(row, column) == 0.0));
            let upper = scratch.transposed(&lower).unwrap();
            close(&scratch.product(&lower, &upper).unwrap(), &positive);
        });
    }
}

#[test]
fn determinant_has_expected_value() {
    with_scratch(|scratch| {
        let mut a = scratch.matrix(2, 2).unwrap();
        places(2, 2)
            .zip(1..)
            .for_each(|((row, column), value)| a.set(row, column, f64::from(value)));
        assert!((determinant(&a, scratch).unwrap() + 2.0).abs() < 1e-15);
        assert_eq!(determinant(&scratch.matrix(2, 2).unwrap(), scratch), Ok(0.0));
    });
}

#[test]
fn unsolvable_matrix_gives_no_result() {
    with_scratch(|scratch| {
        let zero = scratch.matrix(2, 2).unwrap();
        assert_eq!(inverse(&zero, scratch).unwrap_err(), Failure::Singular);
        assert_eq!(power(&zero, -2, scratch).unwrap_err(), Failure::Singular);
        assert_eq!(solve(&zero, &zero, scratch).unwrap_err(), Failure::Singular);
        assert_eq!(cholesky(&zero, scratch).unwrap_err(), Failure::NotPositiveDefinite);
        let wide = scratch.matrix(2, 3).unwrap();
        assert_eq!(determinant(&wide, scratch), Err(Failure::NotSquare));
        assert_eq!(schur(&wide, scratch).unwrap_err(), Failure::NotSquare);
        let mut unknown = scratch.identity(3).unwrap();
        unknown.set(1, 2, f64::NAN);
        unknown.set(2, 1, f64::NAN);
        assert_eq!(svd(&unknown, scratch).unwrap_err(), Failure::NotConverged);
        assert_eq!(scratch.matrix(1000, 1000).unwrap_err(), Failure::TooLarge);
    });
}
