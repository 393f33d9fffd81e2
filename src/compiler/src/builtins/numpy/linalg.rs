//! Linear algebra, computed by the firmware, which receives the operands and arrays for the
//! results.

use super::arguments::Arguments;
use crate::diagnostic::{Diagnostic, Result};
use crate::emit::array::Array;
use crate::emit::Emitter;
use crate::ir::{self, Compare, Value};
use crate::language::{Builtin, Exception, NumPy};
use crate::types::{Kind, Ty, Types};

pub(super) fn typing(types: &mut Types, args: &Arguments) -> Result<Ty> {
    let (expr, _) = args.first();
    let (elt, dims) = args.array(types)?;
    let name = Builtin::NumPy(args.function).plain_name();
    // The results have float elements.
    types.require_kind(Kind::Float, elt, expr.span, "the elements of the matrix")?;
    if dims != 2 {
        return Err(Diagnostic::new(
            expr.span,
            format!("{name}() takes a matrix: an array of two dimensions, not of {dims}"),
        ));
    }
    let mut array = |dims: u8| types.new_type(Kind::Array(elt, dims));
    Ok(match args.function {
        NumPy::Determinant => elt,
        NumPy::Qr => {
            let parts = [array(2), array(2)];
            types.new_type(Kind::Tuple(parts.into()))
        }
        NumPy::Svd => {
            let parts = [array(2), array(1), array(2)];
            types.new_type(Kind::Tuple(parts.into()))
        }
        NumPy::MatrixPower => {
            let result = array(2);
            let (expr, ty) = args.get("n").expect("mandatory");
            types.require_kind(Kind::Int32, ty, expr.span, "the exponent")?;
            result
        }
        NumPy::Solve => {
            let (expr, ty) = args.get("b").expect("mandatory");
            let Some((own, dims @ 1..=2)) = types.array_parts(ty) else {
                let text = format!(
                    "the right side of equations must be an array, not a value of type {}",
                    types.name(ty)
                );
                return Err(Diagnostic::new(expr.span, text).help("give it one or two dimensions"));
            };
            types.require(elt, own, expr.span, "the elements of the right side")?;
            types.new_type(Kind::Array(elt, dims))
        }
        _ => array(2),
    })
}

/// Symbol of the firmware function.
fn symbol(function: NumPy) -> &'static str {
    match function {
        NumPy::Cholesky => "np_linalg_cholesky",
        NumPy::Determinant => "np_linalg_det",
        NumPy::Inverse => "np_linalg_inv",
        NumPy::PseudoInverse => "np_linalg_pinv",
        NumPy::MatrixPower => "np_linalg_matrix_power",
        NumPy::Qr => "np_linalg_qr",
        NumPy::Solve => "kairos_linalg_solve",
        NumPy::Svd => "np_linalg_svd",
        _ => unreachable!("of other families"),
    }
}

pub(super) fn code(emitter: &mut Emitter, args: &Arguments) -> Result<Value> {
    let array = emitter.array_parts(&args.values[args.first_place()], args.first().1);
    let matrix = array.expect("checked by inference");
    let matrix = emitter.together(matrix);
    let (elt, rows, columns) = (matrix.elt, matrix.shape[0].clone(), matrix.shape[1].clone());
    let fewer = emitter.build.compare(Compare::Slt, rows.clone(), columns.clone());
    let smaller = emitter.build.select(fewer, rows.clone(), columns.clone());
    if !matches!(args.function, NumPy::PseudoInverse | NumPy::Qr | NumPy::Svd) {
        let square = emitter.build.compare(Compare::Eq, rows.clone(), columns.clone());
        let text = "Last 2 dimensions of the array must be square";
        emitter.require(square, Exception::LinAlgError, text, &[]);
    }
    let mut given = vec![passed(emitter, &matrix)];
    let place = |name: &str| {
        args.place(name)
            .map(|place| (args.values[place].clone(), args.given[place].1))
    };
    let shapes = match args.function {
        NumPy::Determinant => vec![vec![Value::int(ir::Ty::I32, 1)]],
        NumPy::PseudoInverse => vec![vec![columns, rows]],
        NumPy::Qr => vec![vec![rows, smaller.clone()], vec![smaller, columns]],
        NumPy::Svd => vec![vec![rows.clone(), rows], vec![smaller], vec![columns.clone(), columns]],
        NumPy::MatrixPower => {
            given.push(place("n").expect("mandatory").0);
            vec![vec![rows, columns]]
        }
        NumPy::Solve => {
            let (right, ty) = place("b").expect("mandatory");
            let right = emitter.array_parts(&right, ty).expect("checked by inference");
            let right = emitter.together(right);
            let fits = emitter.build.compare(Compare::Eq, right.shape[0].clone(), rows);
            let text = "solve: the right side has {0} rows, the matrix {1}";
            let lengths = [right.shape[0].clone(), columns];
            emitter.require(fits, Exception::ValueError, text, &lengths);
            given.push(passed(emitter, &right));
            vec![right.shape]
        }
        _ => vec![vec![rows, columns]],
    };
    let results: Vec<Array> = shapes.into_iter().map(|shape| emitter.new_array(elt, shape)).collect();
    for result in &results {
        given.push(passed(emitter, result));
    }
    emitter.call_external(symbol(args.function), given, ir::Ty::unit(), false);
    if args.function == NumPy::Determinant {
        return Ok(emitter.build.load(ir::Ty::F64, &results[0].data));
    }
    let mut found: Vec<Value> = results.into_iter().map(|array| emitter.array_value(array)).collect();
    Ok(match found.len() {
        1 => found.remove(0),
        _ => emitter.build.aggregate(found),
    })
}

/// Address of the firmware's descriptor of an array: `{u32 dims, u32 *shape, f64 *data}`.
fn passed(emitter: &mut Emitter, array: &Array) -> Value {
    let dims = Value::int(ir::Ty::I32, array.shape.len() as i64);
    let lengths = ir::Ty::Struct(vec![ir::Ty::I32; array.shape.len()].into());
    let shape = emitter.build.slot(lengths.clone());
    for (index, length) in array.shape.iter().enumerate() {
        let to = emitter.build.field(&shape, &lengths, index);
        emitter.build.store(length.clone(), &to);
    }
    let layout = ir::Ty::Struct([ir::Ty::I32, ir::Ty::Ptr, ir::Ty::Ptr].into());
    let whole = emitter.build.slot(layout.clone());
    for (index, member) in [dims, shape, array.data.clone()].into_iter().enumerate() {
        let to = emitter.build.field(&whole, &layout, index);
        emitter.build.store(member, &to);
    }
    whole
}
