//! Float functions implemented by the firmware. They also map over arrays.

use super::{Call, Site};
use crate::diagnostic::{Diagnostic, Result};
use crate::emit::Emitter;
use crate::ir::{self, Value};
use crate::language::Mathematics;
use crate::types::{Kind, Ty, Types};

pub fn typing(types: &mut Types, call: &Call) -> Result<Ty> {
    if types.is_var(call.types[0]) {
        return Ok(types.var());
    }
    let mut result = types.new_type(Kind::Float);
    let mut dims = 0;
    for (arg, &ty) in call.args.iter().zip(call.types) {
        let (elt, own) = types.array_parts(ty).unwrap_or((ty, 0));
        types.require_kind(Kind::Float, elt, arg.span, "this argument")?;
        if own > 0 && dims > 0 && own != dims {
            return Err(Diagnostic::new(arg.span, "dimensions of the arrays must match"));
        }
        if own > 0 {
            dims = own;
            result = types.new_type(Kind::Array(elt, own));
        }
    }
    Ok(result)
}

pub fn code<'p>(
    emitter: &mut Emitter<'_, 'p>,
    function: Mathematics,
    site: Site<'p>,
    values: Vec<Value>,
) -> Result<Value> {
    let Kind::Array(elt, _) = *emitter.kind_of(site.whole) else {
        return Ok(emitter.call_external(function.symbol(), values, ir::Ty::F64, true));
    };
    let operands = site.args.iter().zip(values);
    let operands = operands
        .map(|(arg, value)| emitter.operand(value, emitter.type_of(arg)))
        .collect();
    emitter.map_operands(elt, operands, |emitter, values| {
        let values = values.into_iter().map(|(value, _)| value).collect();
        Ok(emitter.call_external(function.symbol(), values, ir::Ty::F64, true))
    })
}
