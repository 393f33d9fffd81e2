//! Sequences: construction and length.

use super::{exactly, Call, Site};
use crate::diagnostic::{Diagnostic, Result};
use crate::emit::Emitter;
use crate::ir::Value;
use crate::language::Sequence;
use crate::types::{Kind, Ty, Types};

pub fn typing(types: &mut Types, call: &Call, sequence: Sequence) -> Result<Ty> {
    match sequence {
        Sequence::List => {
            let elt = match call.types.first() {
                Some(&iterable) => types.iterated(iterable, call.args[0].span)?,
                None => types.var(),
            };
            Ok(types.new_type(Kind::List(elt)))
        }
        Sequence::Len => match *types.kind(call.types[0]) {
            Kind::Range(elt) => Ok(elt),
            Kind::List(_)
            | Kind::Str
            | Kind::Bytes
            | Kind::ByteArray
            | Kind::Array(..)
            | Kind::View(..)
            | Kind::Tuple(_) => Ok(types.new_type(Kind::Int32)),
            Kind::Var => Ok(types.var()),
            _ => {
                let text = format!("a value of type {} has no length", types.name(call.types[0]));
                Err(Diagnostic::new(call.args[0].span, text).help("lists, arrays, tuples, ranges and strings have one"))
            }
        },
        Sequence::Range => {
            let elt = match *types.kind(call.result) {
                Kind::Range(elt) => elt,
                _ => types.new_type(Kind::IntOpen),
            };
            for (arg, &ty) in call.args.iter().zip(call.types) {
                types.require(elt, ty, arg.span, "this argument of range()")?;
            }
            Ok(types.new_type(Kind::Range(elt)))
        }
    }
}

pub fn makes_values(sequence: Sequence) -> bool {
    match sequence {
        Sequence::List => true,
        Sequence::Len | Sequence::Range => false,
    }
}

pub fn code(emitter: &mut Emitter, sequence: Sequence, site: Site, values: Vec<Value>) -> Value {
    match sequence {
        Sequence::List => {
            let Kind::List(elt) = *emitter.kind_of(site.whole) else {
                unreachable!("list() makes a list")
            };
            match values.into_iter().next() {
                None => emitter.new_list(elt, vec![]),
                Some(value) => emitter.list_of(value, emitter.type_of(&site.args[0]), elt),
            }
        }
        Sequence::Len => {
            let [value] = exactly(values);
            match emitter.kind_of(&site.args[0]) {
                Kind::Range(_) => {
                    let [start, stop, step] = [0, 1, 2].map(|index| emitter.build.extract(&value, index));
                    emitter.signed_range_length(&start, &stop, &step)
                }
                Kind::Str => emitter.text_length(&value),
                Kind::Bytes | Kind::ByteArray => emitter.build.extract(&value, 1),
                Kind::Tuple(members) => Value::int(crate::ir::Ty::I32, members.len() as i64),
                Kind::Array(..) | Kind::View(..) => {
                    let array = emitter.array_parts(&value, emitter.type_of(&site.args[0]));
                    array.expect("it is one").shape[0].clone()
                }
                _ => emitter.list_parts(&value).1,
            }
        }
        Sequence::Range => {
            let constant = |value| Value::int(values[0].ty.clone(), value);
            emitter.range(match &values[..] {
                [stop] => [constant(0), stop.clone(), constant(1)],
                [start, stop] => [start.clone(), stop.clone(), constant(1)],
                [start, stop, step, ..] => [start.clone(), stop.clone(), step.clone()],
                [] => unreachable!("counted by inference"),
            })
        }
    }
}
