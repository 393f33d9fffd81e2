//! Reductions of all elements of an array, or along one dimension: sums, means, extremes, truth.

use super::arguments::Arguments;
use crate::diagnostic::Result;
use crate::emit::Emitter;
use crate::ir::Value;
use crate::language::NumPy;
use crate::types::{Kind, Ty, Types};

pub(super) fn typing(types: &mut Types, args: &Arguments, result: Ty) -> Result<Ty> {
    let (elt, dims) = args.array(types)?;
    types.require_numeric(elt, args.first().0.span)?;
    let axis = args.axis(dims)?;
    let found = match args.function {
        NumPy::Mean => types.new_type(Kind::Float),
        NumPy::Any | NumPy::All => types.new_type(Kind::Bool),
        // The width depends on the use.
        NumPy::ArgMin | NumPy::ArgMax => match types.array_parts(result).map_or(result, |(elt, _)| elt) {
            known if types.is_int(known) => known,
            _ => types.new_type(Kind::IntOpen),
        },
        NumPy::Sum | NumPy::Prod => match types.kind(elt) {
            Kind::Float => elt,
            // As in NumPy on the host.
            _ => types.new_type(Kind::Int64),
        },
        _ => elt,
    };
    Ok(match axis {
        Some(_) if dims > 1 => types.new_type(Kind::Array(found, dims - 1)),
        _ => found,
    })
}

pub(super) fn code(emitter: &mut Emitter, args: &Arguments) -> Result<Value> {
    let array = emitter.array_parts(&args.values[args.first_place()], args.first().1);
    let array = array.expect("checked by inference");
    let axis = args.axis(array.shape.len() as u8)?;
    emitter.reduction(args.function, array, axis, emitter.type_of(args.whole))
}
