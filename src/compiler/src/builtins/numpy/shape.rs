//! Copies, conversions, transposes, reshaping, and products of vectors and matrices.

use super::arguments::{common, of_rank, rank, Arguments};
use crate::diagnostic::{Diagnostic, Result};
use crate::emit::Emitter;
use crate::ir::Value;
use crate::language::{Builtin, NumPy};
use crate::syntax::BinOp;
use crate::types::{Kind, Ty, Types};

pub(super) fn typing(types: &mut Types, args: &Arguments) -> Result<Ty> {
    if matches!(args.function, NumPy::Dot | NumPy::MatMul) {
        return product(types, args);
    }
    let (elt, dims) = args.array(types)?;
    let (elt, dims) = match args.function {
        NumPy::Copy | NumPy::Transpose => (elt, dims),
        NumPy::AsType => {
            let kind = args.dtype(types)?;
            (kind.map_or(elt, |kind| types.new_type(kind)), dims)
        }
        NumPy::Reshape => {
            let (expr, ty) = args.first();
            if let Kind::View(..) = types.kind(ty) {
                let error = Diagnostic::new(
                    expr.span,
                    "a part of an array that is not contiguous cannot be reshaped",
                );
                return Err(error.help("NumPy copies it only if it must: use .copy() first"));
            }
            let lengths = args.many("shape");
            let mut dims = 0;
            for place in lengths.clone() {
                let (expr, ty) = args.given[place];
                dims += rank(types, (expr, ty))?;
                if lengths.len() > 1 && matches!(types.kind(ty), Kind::Tuple(_)) {
                    let error = Diagnostic::new(expr.span, "the new shape must be one tuple, or numbers, and not both");
                    return Err(error.help("write a.reshape((2, 3)) or a.reshape(2, 3)"));
                }
            }
            (elt, dims)
        }
        _ => unreachable!("of other families"),
    };
    Ok(types.new_type(Kind::Array(elt, dims)))
}

/// Types products of matrices and vectors; `dot` accepts numbers too.
fn product(types: &mut Types, args: &Arguments) -> Result<Ty> {
    let operands = args.given.iter().map(|&(expr, ty)| {
        let (elt, dims) = types.array_parts(ty).unwrap_or((ty, 0));
        (expr, elt, dims)
    });
    let operands: Vec<_> = operands.collect();
    let least = if args.function == NumPy::Dot { 0 } else { 1 };
    for &(expr, elt, dims) in &operands {
        types.require_numeric(elt, expr.span)?;
        if !(least..=2).contains(&dims) || *types.kind(elt) == Kind::Bool {
            let name = Builtin::NumPy(args.function).plain_name();
            let text = format!("{name}() works on arrays of numbers, of one or two dimensions");
            return Err(Diagnostic::new(expr.span, text));
        }
    }
    let [(_, a, left), (_, b, right)] = operands[..] else {
        unreachable!("counted")
    };
    let elt = common(types, a, b);
    let dims = match (left, right) {
        (0, dims) | (dims, 0) => dims,
        (left, right) => left + right - 2,
    };
    Ok(of_rank(types, elt, dims))
}

pub(super) fn code(emitter: &mut Emitter, args: &Arguments) -> Result<Value> {
    let result = emitter.type_of(args.whole);
    if matches!(args.function, NumPy::Dot | NumPy::MatMul) {
        let [left, right] = [0, 1].map(|index| {
            let name = args.function.parameters().nth(index).expect("two").name;
            let place = args.place(name).expect("mandatory");
            (args.values[place].clone(), args.given[place].1)
        });
        let is_array = |ty: Ty| emitter.module.program.types.array_parts(ty).is_some();
        return match (is_array(left.1), is_array(right.1)) {
            (true, true) => emitter.array_operation(BinOp::MatMul, left, right, result),
            (false, false) => emitter.arithmetic(BinOp::Mul, left, right, result),
            _ => emitter.array_operation(BinOp::Mul, left, right, result),
        };
    }
    let value = &args.values[args.first_place()];
    let array = emitter
        .array_parts(value, args.first().1)
        .expect("checked by inference");
    let made = match args.function {
        NumPy::Copy => emitter.copied(&array),
        NumPy::AsType => emitter.converted(emitter.result_elements(result), array)?,
        // The transpose of a vector is the vector itself.
        NumPy::Transpose if array.shape.len() == 1 => emitter.together(array),
        NumPy::Transpose => {
            let turned = emitter.transposed(array);
            emitter.together(turned)
        }
        NumPy::Reshape => {
            let mut lengths = vec![];
            for place in args.many("shape") {
                lengths.extend(emitter.lengths(args.values[place].clone()));
            }
            emitter.reshaped(array, lengths)
        }
        _ => unreachable!("of other families"),
    };
    Ok(emitter.array_value(made))
}
