//! Numbers: conversions, rounding, absolute value, minimum and maximum.

use super::{exactly, Call, Site};
use crate::diagnostic::{Diagnostic, Result};
use crate::emit::array::Operand;
use crate::emit::Emitter;
use crate::ir::{self, Compare, Value};
use crate::language::{Builtin, Exception, Number};
use crate::syntax::{Expr, ExprKind};
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
            if let Some((elt, dims)) = types.array_parts(call.types[0]) {
                types.require_numeric(elt, call.args[0].span)?;
                return Ok(types.new_type(Kind::Array(elt, dims)));
            }
            types.require_numeric(call.types[0], call.args[0].span)?;
            match types.kind(call.types[0]) {
                Kind::Bool => Ok(call.open_result(types)),
                _ => Ok(call.types[0]),
            }
        }
        Number::Min | Number::Max => {
            let [first, rest @ ..] = call.types else {
                unreachable!("counted")
            };
            let default = call.keywords.first().zip(call.keyword_types.first());
            if rest.is_empty() {
                let elt = types.gone_over(*first, call.args[0].span)?;
                types.require_numeric(elt, call.args[0].span)?;
                if let Some((keyword, &ty)) = default {
                    types.require(elt, ty, keyword.value.span, "the value for no elements")?;
                }
                return Ok(elt);
            }
            if let Some((keyword, _)) = default {
                let text = "'default' is for the elements of one iterable, not for several values";
                return Err(Diagnostic::new(keyword.span, text).help("leave it out, or pass the values as a list"));
            }
            for (arg, &ty) in call.args[1..].iter().zip(rest) {
                types.require(*first, ty, arg.span, "this")?;
            }
            types.require_numeric(*first, call.args[0].span)?;
            Ok(*first)
        }
    }
}

/// Checks that the argument, if there is one, converts to a number.
fn convertible(types: &Types, call: &Call) -> Result<()> {
    match (call.args.first(), call.types.first()) {
        (Some(arg), Some(&ty)) if !types.is_numeric(ty) && !matches!(types.kind(ty), Kind::Var | Kind::Bool) => {
            let (name, found) = (call.builtin.name(), types.name(ty));
            let text = format!("{name} cannot be invoked with the arguments ({found})");
            let error = Diagnostic::new(arg.span, text);
            Err(match types.kind(ty) {
                Kind::Str => error.help("kernels cannot parse numbers from strings: let the host do it, in an RPC"),
                _ => error.help("only a number or a truth value can be converted to a number"),
            })
        }
        _ => Ok(()),
    }
}

/// Types a conversion to an integer of known width. `int64(round(x))` rounds in 64 bits: the outer
/// conversion decides the width of an inner one.
fn conversion(types: &mut Types, call: &Call, kind: Kind) -> Result<Ty> {
    convertible(types, call)?;
    let (arg, ty) = (&call.args[0], call.types[0]);
    if matches!(arg.kind, ExprKind::Call { .. }) && types.is_open(ty) {
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
            // The others are NumPy's, which do not raise either.
            Some(value) if number == Number::Int && value.ty == ir::Ty::F64 => emitter.integer_of(value, &ty),
            Some(value) => emitter.build.convert(value, &ty),
            None if ty == ir::Ty::F64 => Value::float(0.0),
            None => Value::int(ty, 0),
        },
        Number::Round => {
            let [value] = exactly(values);
            let rounded = emitter.round(value);
            emitter.integer_of(rounded, &ty)
        }
        Number::Abs => {
            let [value] = exactly(values);
            let operand = emitter.operand(value.clone(), emitter.type_of(&site.args[0]));
            if let Operand::Array(array) = operand {
                let values = emitter.map_operands(array.elt, vec![Operand::Array(array)], |this, mut values| {
                    Ok(this.absolute(values.remove(0).0))
                });
                return values.expect("nothing is refused");
            }
            let value = emitter.build.convert(value, &ty);
            emitter.absolute(value)
        }
        Number::Min | Number::Max => chosen(emitter, number, site, values),
    }
}

/// The smallest or largest of the values, or of the elements of a single iterable.
fn chosen(emitter: &mut Emitter, number: Number, site: Site, mut values: Vec<Value>) -> Value {
    let first = values.remove(0);
    let order = order(number);
    if site.args.len() > 1 {
        return values
            .into_iter()
            .fold(first, |best, value| better(emitter, order, best, value));
    }
    let elements = emitter.elements(&first, emitter.type_of(&site.args[0]));
    let best = Best::begin(emitter, number, site.whole);
    let found = emitter.each(&elements, |this, value| {
        best.take(this, value);
        Ok(())
    });
    found.expect("comparing numbers is never refused");
    best.end(emitter, values.pop())
}

/// The integer and float comparison by which a value is better than the best so far.
fn order(number: Number) -> (Compare, Compare) {
    match number {
        Number::Min => (Compare::Slt, Compare::FOlt),
        _ => (Compare::Sgt, Compare::FOgt),
    }
}

/// Accumulates the elements passed to `min` or `max`.
pub(crate) struct Best {
    number: Number,
    ty: ir::Ty,
    so_far: Value,
    /// Slot: whether there has been an element.
    some: Value,
}

impl Best {
    pub fn begin(emitter: &mut Emitter, number: Number, whole: &Expr) -> Best {
        let ty = emitter.ir_type_of(whole);
        let (so_far, some) = (emitter.build.slot(ty.clone()), emitter.build.slot(ir::Ty::I1));
        emitter.build.store(Value::zero(ty.clone()), &so_far);
        emitter.build.store(Value::bool(false), &some);
        Best {
            number,
            ty,
            so_far,
            some,
        }
    }

    pub fn take(&self, emitter: &mut Emitter, value: Value) {
        let some = emitter.build.load(ir::Ty::I1, &self.some);
        let so_far = emitter.build.load(self.ty.clone(), &self.so_far);
        let chosen = better(emitter, order(self.number), so_far, value.clone());
        let chosen = emitter.build.select(some, chosen, value);
        emitter.build.store(chosen, &self.so_far);
        emitter.build.store(Value::bool(true), &self.some);
    }

    /// The best of the elements. `default`: what it is without elements, instead of an exception.
    pub fn end(self, emitter: &mut Emitter, default: Option<Value>) -> Value {
        let some = emitter.build.load(ir::Ty::I1, &self.some);
        if let Some(default) = default {
            let best = emitter.build.load(self.ty, &self.so_far);
            return emitter.build.select(some, best, default);
        }
        let name = Builtin::Number(self.number).name();
        let text = format!("{name}() iterable argument is empty");
        emitter.require(some, Exception::ValueError, &text, &[]);
        emitter.build.load(self.ty, &self.so_far)
    }
}

/// The second value if it is better than the first; like Python, keeps the first of equal values.
fn better(emitter: &mut Emitter, (integer, float): (Compare, Compare), a: Value, b: Value) -> Value {
    let order = if a.ty == ir::Ty::F64 { float } else { integer };
    let number = |emitter: &mut Emitter, value: &Value| match value.ty {
        ir::Ty::I1 => emitter.build.convert(value.clone(), &ir::Ty::I32),
        _ => value.clone(),
    };
    let (x, y) = (number(emitter, &a), number(emitter, &b));
    let second = emitter.build.compare(order, y, x);
    emitter.build.select(second, b, a)
}
