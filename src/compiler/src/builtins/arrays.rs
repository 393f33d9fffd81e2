//! Functions of NumPy that make arrays.

use super::{exactly, Call, Site};
use crate::diagnostic::{Diagnostic, Result};
use crate::emit::Emitter;
use crate::ir::Value;
use crate::language::{Array, Builtin, Number};
use crate::source::Span;
use crate::syntax::Expr;
use crate::types::{Kind, Ty, Types};

pub fn typing(types: &mut Types, call: &Call, array: Array) -> Result<Ty> {
    let (given, span) = (call.types[0], call.args[0].span);
    if types.is_var(given) {
        return Ok(types.var());
    }
    match array {
        Array::Array => {
            let positional = call.args.get(1).zip(call.types.get(1));
            let named = call.keywords.first().map(|keyword| &keyword.value);
            let dtype = positional.or(named.zip(call.keyword_types.first()));
            array_of(types, given, span, dtype)
        }
        Array::Full => {
            let lengths = match types.kind(given).clone() {
                Kind::Tuple(lengths) if !lengths.is_empty() => lengths,
                _ => [given].into(),
            };
            for &length in lengths.iter() {
                types.require_kind(Kind::Int32, length, span, "a length")?;
            }
            Ok(types.new_type(Kind::Array(call.types[1], lengths.len() as u8)))
        }
        Array::Transpose => match types.array_parts(given) {
            Some((_, 1..=2)) => Ok(given),
            _ => {
                let text = format!("transpose() of a value of type {}", types.name(given));
                Err(Diagnostic::unsupported(span, &text))
            }
        },
    }
}

/// `numpy.array(value)`: as many dimensions as lists are nested.
fn array_of(types: &mut Types, value: Ty, span: Span, dtype: Option<(&Expr, &Ty)>) -> Result<Ty> {
    let (mut elt, mut dims) = (value, 0);
    loop {
        match *types.kind(elt) {
            Kind::List(inner) => (elt, dims) = (inner, dims + 1),
            Kind::Range(inner) if dims == 0 => (elt, dims) = (inner, 1),
            Kind::Array(inner, own) => (elt, dims) = (inner, dims + own),
            _ => break,
        }
    }
    if dims == 0 {
        let error = Diagnostic::new(span, "the argument of array() must be of an iterable type");
        return Err(error.here(format!("this is of type {}", types.name(value))));
    }
    if let Some((dtype, &ty)) = dtype {
        let kind = match *types.kind(ty) {
            Kind::Builtin(Builtin::Number(number)) => element_type(number),
            _ => None,
        };
        let kind = kind.ok_or_else(|| {
            let error = Diagnostic::new(dtype.span, "this is not a type of array elements");
            error.help("use float, bool, np.int32 or np.int64")
        })?;
        elt = types.new_type(kind);
    }
    Ok(types.new_type(Kind::Array(elt, dims)))
}

/// What `dtype` can be.
fn element_type(number: Number) -> Option<Kind> {
    match number {
        Number::Float => Some(Kind::Float),
        Number::Int32 => Some(Kind::Int32),
        Number::Int64 => Some(Kind::Int64),
        Number::Bool => Some(Kind::Bool),
        Number::Int | Number::Round | Number::Abs | Number::Min | Number::Max => None,
    }
}

pub fn code<'p>(emitter: &mut Emitter<'_, 'p>, array: Array, site: Site<'p>, values: Vec<Value>) -> Result<Value> {
    let result = emitter.type_of(site.whole);
    match array {
        Array::Array => emitter.array_of(values[0].clone(), emitter.type_of(&site.args[0]), result),
        Array::Full => {
            let [lengths, value] = exactly(values);
            emitter.full(lengths, value, result)
        }
        Array::Transpose => {
            let [value] = exactly(values);
            let array = emitter.array_parts(&value, result).expect("checked by inference");
            Ok(match array.shape.len() {
                1 => value,
                _ => emitter.transposed(array),
            })
        }
    }
}
