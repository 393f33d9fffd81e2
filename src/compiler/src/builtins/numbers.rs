//! Numbers: conversions, rounding, the smaller and the larger one.

use super::{exactly, Call, Site};
use crate::diagnostic::{Diagnostic, Result};
use crate::emit::Emitter;
use crate::ir::{self, Binary, Compare, Value};
use crate::language::Number;
use crate::syntax::ExprKind;
use crate::types::{Kind, Ty, Types};

pub fn typing(types: &mut Types, call: &Call, number: Number) -> Result<Ty> {
    match number {
        Number::Bool => Ok(types.new_type(Kind::Bool)),
        Number::Int => {
            convertible(types, call)?;
            Ok(call.open_result(types))
        }
        Number::Int32 => conversion(types, call, Kind::Int32),
        Number::Int64 => conversion(types, call, Kind::Int64),
        Number::Float => {
            convertible(types, call)?;
            Ok(types.new_type(Kind::Float))
        }
        Number::Round => {
            types.require_kind(Kind::Float, call.types[0], call.args[0].span, "this")?;
            Ok(call.open_result(types))
        }
        Number::Abs => {
            types.require_numeric(call.types[0], call.args[0].span)?;
            Ok(call.types[0])
        }
        Number::Min | Number::Max => {
            types.require(call.types[0], call.types[1], call.args[1].span, "this")?;
            types.require_numeric(call.types[0], call.args[0].span)?;
            Ok(call.types[0])
        }
    }
}

/// Whether the argument, if there is one, converts to a number.
fn convertible(types: &Types, call: &Call) -> Result<()> {
    match (call.args.first(), call.types.first()) {
        (Some(arg), Some(&ty)) if !types.is_numeric(ty) && !types.is_var(ty) => {
            let (name, found) = (call.builtin.name(), types.name(ty));
            let text = format!("{name} cannot be invoked with the arguments ({found})");
            Err(Diagnostic::new(arg.span, text))
        }
        _ => Ok(()),
    }
}

/// To an integer of known width. `int64(round(x))` rounds in 64 bits: it decides the width of an inner conversion.
fn conversion(types: &mut Types, call: &Call, kind: Kind) -> Result<Ty> {
    convertible(types, call)?;
    let (arg, ty) = (&call.args[0], call.types[0]);
    if matches!(arg.kind, ExprKind::Call { .. }) && *types.kind(ty) == Kind::IntOpen {
        let wanted = types.new_type(kind.clone());
        types.unify(ty, wanted).expect("the width is open");
    }
    Ok(types.new_type(kind))
}

pub fn code(emitter: &mut Emitter, number: Number, site: Site, values: Vec<Value>) -> Value {
    let ty = emitter.ir_type_of(site.whole);
    match number {
        Number::Bool => match values.into_iter().next() {
            Some(value) => emitter.truth(value, emitter.type_of(&site.args[0])),
            None => Value::bool(false),
        },
        Number::Int | Number::Int32 | Number::Int64 | Number::Float => match values.into_iter().next() {
            Some(value) => emitter.build.convert(value, &ty),
            None if ty == ir::Ty::F64 => Value::float(0.0),
            None => Value::int(ty, 0),
        },
        Number::Round => {
            let [value] = exactly(values);
            let rounded = emitter.round(value);
            emitter.build.convert(rounded, &ty)
        }
        Number::Abs => {
            let [value] = exactly(values);
            let (below, minus, zero) = match ty {
                ir::Ty::F64 => (Compare::FOlt, Binary::FSub, Value::float(0.0)),
                ty => (Compare::Slt, Binary::Sub, Value::int(ty, 0)),
            };
            let negative = emitter.build.compare(below, value.clone(), zero.clone());
            let negated = emitter.build.binary(minus, zero, value.clone());
            emitter.build.select(negative, negated, value)
        }
        Number::Min => first_unless(emitter, Compare::Slt, Compare::FOlt, values),
        Number::Max => first_unless(emitter, Compare::Sgt, Compare::FOgt, values),
    }
}

/// The second value if it compares so with the first one: Python keeps the first of equals.
fn first_unless(emitter: &mut Emitter, integer: Compare, float: Compare, values: Vec<Value>) -> Value {
    let [a, b] = exactly(values);
    let order = if a.ty == ir::Ty::F64 { float } else { integer };
    let second = emitter.build.compare(order, b.clone(), a.clone());
    emitter.build.select(second, b, a)
}
