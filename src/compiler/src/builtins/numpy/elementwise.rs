//! Elementwise functions: selection, maximum and minimum, truth, classification of floats.

use super::arguments::{common, of_rank, Arguments};
use crate::diagnostic::{Diagnostic, Result};
use crate::emit::array::Operand;
use crate::emit::Emitter;
use crate::ir::{self, Binary, Compare, Value};
use crate::language::NumPy;
use crate::types::{Kind, Ty, Types};

pub(super) fn typing(types: &mut Types, args: &Arguments) -> Result<Ty> {
    let mut dims = 0;
    let mut elements = vec![];
    for &(expr, ty) in &args.given {
        let (elt, own) = types.array_parts(ty).unwrap_or((ty, 0));
        // A bound of `clip` that is None does not apply.
        if *types.kind(elt) == Kind::None && args.function == NumPy::Clip && !elements.is_empty() {
            continue;
        }
        types.require_numeric(elt, expr.span)?;
        if own > 0 && dims > 0 && own != dims {
            return Err(Diagnostic::new(expr.span, "dimensions of the arrays must match"));
        }
        dims = dims.max(own);
        elements.push(elt);
    }
    let numbers = match args.function {
        NumPy::Where => &elements[1..],
        _ => &elements[..],
    };
    let elt = match args.function {
        NumPy::Where | NumPy::Clip | NumPy::Maximum | NumPy::Minimum | NumPy::Absolute => {
            let (first, rest) = numbers.split_first().expect("counted");
            rest.iter().fold(*first, |a, &b| common(types, a, b))
        }
        _ => types.new_type(Kind::Bool),
    };
    Ok(of_rank(types, elt, dims))
}

pub(super) fn code<'p>(emitter: &mut Emitter<'_, 'p>, args: &Arguments) -> Result<Value> {
    let result = emitter.type_of(args.whole);
    let elt = emitter.result_elements(result);
    // In the order of the parameters, regardless of the order in the call.
    let places: Vec<Option<usize>> = args.function.parameters().map(|known| args.place(known.name)).collect();
    let is_bound = |place: &usize| !args.values[*place].ty.is_unit();
    let given = |place: usize| (args.values[place].clone(), args.given[place].1);
    let operands = places.iter().flatten().copied().filter(is_bound);
    let operands: Vec<Operand> = operands
        .map(given)
        .map(|(value, ty)| emitter.operand(value, ty))
        .collect();
    let lower = places.get(1).copied().flatten().is_some_and(|place| is_bound(&place));
    let function = args.function;
    let one = |emitter: &mut Emitter<'_, 'p>, values| Ok(element(emitter, function, lower, elt, values));
    match emitter.module.program.types.kind(result) {
        Kind::Array(..) => emitter.map_operands(elt, operands, one),
        _ => {
            let numbers = operands.into_iter().map(|operand| match operand {
                Operand::Number(value, ty) => (value, ty),
                Operand::Array(_) => unreachable!("arrays give arrays"),
            });
            one(emitter, numbers.collect())
        }
    }
}

/// The result for one element of each operand. `lower`: whether the lower bound of `clip` is given.
fn element(emitter: &mut Emitter, function: NumPy, lower: bool, elt: Ty, values: Vec<(Value, Ty)>) -> Value {
    let all = values.clone();
    let truths = |emitter: &mut Emitter| -> Vec<Value> {
        all.iter()
            .map(|(value, ty)| emitter.truth(value.clone(), *ty))
            .collect()
    };
    let numbers = |emitter: &mut Emitter| -> Vec<Value> {
        let numbers = all
            .iter()
            .map(|(value, ty)| emitter.as_element(value.clone(), *ty, elt));
        numbers.collect()
    };
    match function {
        NumPy::Where => {
            let condition = truths(emitter).remove(0);
            let [_, yes, no] = <[_; 3]>::try_from(values).unwrap_or_else(|_| unreachable!("counted"));
            let [yes, no] = [yes, no].map(|(value, ty)| emitter.as_element(value, ty, elt));
            emitter.build.select(condition, yes, no)
        }
        NumPy::Maximum | NumPy::Minimum => {
            let [a, b] = <[_; 2]>::try_from(numbers(emitter)).expect("counted");
            extreme(emitter, function == NumPy::Minimum, a, b)
        }
        NumPy::Clip => {
            let mut bounds = numbers(emitter).into_iter();
            let mut value = bounds.next().expect("counted");
            if lower {
                let bound = bounds.next().expect("counted");
                value = extreme(emitter, false, value, bound);
            }
            match bounds.next() {
                Some(bound) => extreme(emitter, true, value, bound),
                None => value,
            }
        }
        NumPy::Absolute => {
            let number = numbers(emitter).remove(0);
            emitter.absolute(number)
        }
        NumPy::LogicalNot => {
            let truth = truths(emitter).remove(0);
            emitter.build.not(truth)
        }
        NumPy::LogicalAnd | NumPy::LogicalOr | NumPy::LogicalXor => {
            let op = match function {
                NumPy::LogicalAnd => Binary::And,
                NumPy::LogicalOr => Binary::Or,
                _ => Binary::Xor,
            };
            let [a, b] = <[_; 2]>::try_from(truths(emitter)).expect("counted");
            emitter.build.binary(op, a, b)
        }
        NumPy::IsNan | NumPy::IsInf | NumPy::IsFinite => {
            let number = emitter.build.convert(values[0].0.clone(), &ir::Ty::F64);
            let size = emitter.absolute(number.clone());
            let infinite = Value::float(f64::INFINITY);
            match function {
                NumPy::IsNan => emitter.build.compare(Compare::FUne, number.clone(), number),
                NumPy::IsInf => emitter.build.compare(Compare::FOeq, size, infinite),
                _ => emitter.build.compare(Compare::FOlt, size, infinite),
            }
        }
        _ => unreachable!("of other families"),
    }
}

/// The smaller or larger of two numbers; NaN takes precedence.
fn extreme(emitter: &mut Emitter, smaller: bool, a: Value, b: Value) -> Value {
    let second = emitter.wins(smaller, b.clone(), a.clone());
    emitter.build.select(second, b, a)
}
