//! Functions that create arrays.

use super::arguments::{rank, Argument, Arguments};
use crate::diagnostic::{Diagnostic, Result};
use crate::emit::Emitter;
use crate::ir::{self, Value};
use crate::language::NumPy;
use crate::syntax::ExprKind;
use crate::types::{Kind, Ty, Types};

pub(super) fn typing(types: &mut Types, args: &Arguments, result: Ty) -> Result<Ty> {
    let dtype = args.dtype(types)?;
    let own = |types: &mut Types, default: Kind| types.new_type(dtype.clone().unwrap_or(default));
    let (elt, dims) = match args.function {
        NumPy::Array => {
            let (elt, dims) = nested(types, args.first())?;
            (dtype.map_or(elt, |kind| types.new_type(kind)), dims)
        }
        NumPy::Zeros | NumPy::Ones | NumPy::Empty => (own(types, Kind::Float), rank(types, args.first())?),
        NumPy::Full => {
            let value = number(types, args, "fill_value")?;
            let elt = dtype.map_or(value, |kind| types.new_type(kind));
            (elt, rank(types, args.first())?)
        }
        NumPy::ZerosLike | NumPy::OnesLike | NumPy::EmptyLike | NumPy::FullLike => {
            let (elt, dims) = args.array(types)?;
            if args.function == NumPy::FullLike {
                number(types, args, "fill_value")?;
            }
            (dtype.map_or(elt, |kind| types.new_type(kind)), dims)
        }
        NumPy::Arange => (counted(types, args, dtype, result)?, 1),
        NumPy::Linspace => {
            for name in ["start", "stop"] {
                number(types, args, name)?;
            }
            if let Some((expr, ty)) = args.get("num") {
                types.require_kind(Kind::Int32, ty, expr.span, "the number of samples")?;
            }
            endpoint(args)?;
            (types.new_type(Kind::Float), 1)
        }
        NumPy::Eye | NumPy::Identity => {
            for name in ["N", "n", "M", "k"] {
                match args.get(name) {
                    Some((expr, _)) if name == "M" && matches!(expr.kind, ExprKind::None) => {}
                    Some((expr, ty)) => types.require_kind(Kind::Int32, ty, expr.span, "this argument")?,
                    None => {}
                }
            }
            (own(types, Kind::Float), 2)
        }
        _ => unreachable!("of other families"),
    };
    Ok(types.new_type(Kind::Array(elt, dims)))
}

/// The type of an argument that must be a number.
fn number(types: &Types, args: &Arguments, name: &str) -> Result<Ty> {
    let (expr, ty) = args.get(name).expect("a mandatory argument");
    types.require_numeric(ty, expr.span)?;
    Ok(ty)
}

/// `numpy.array(value)`: the nesting depth of lists is the number of dimensions.
fn nested(types: &Types, (expr, value): Argument) -> Result<(Ty, u8)> {
    let (mut elt, mut dims) = (value, 0);
    loop {
        match *types.kind(elt) {
            Kind::List(inner) => (elt, dims) = (inner, dims + 1),
            Kind::Range(inner) if dims == 0 => (elt, dims) = (inner, 1),
            _ => match types.array_parts(elt) {
                Some((inner, own)) => (elt, dims) = (inner, dims + own),
                None => break,
            },
        }
    }
    if dims == 0 {
        let error = Diagnostic::new(expr.span, "the argument of array() must be of an iterable type");
        return Err(error.primary_note(format!("this is of type {}", types.name(value))));
    }
    Ok((elt, dims))
}

/// Element type of `arange`: float if any argument is, otherwise integers of a common width.
fn counted(types: &mut Types, args: &Arguments, dtype: Option<Kind>, result: Ty) -> Result<Ty> {
    let given = ["start", "stop", "step"].into_iter().filter_map(|name| args.get(name));
    let given: Vec<Argument> = given.collect();
    for (expr, ty) in &given {
        types.require_numeric(*ty, expr.span)?;
    }
    let float = Kind::Float;
    if dtype == Some(float.clone()) || given.iter().any(|(_, ty)| *types.kind(*ty) == float) {
        return match dtype {
            Some(kind) if kind != float => {
                let error = Diagnostic::new(
                    args.whole.span,
                    "arange() with a float argument makes floats, whatever dtype says",
                );
                Err(error.help("use .astype(…) for another type"))
            }
            _ => Ok(types.new_type(float)),
        };
    }
    let elt = match (dtype, types.array_parts(result)) {
        (Some(kind @ (Kind::Int32 | Kind::Int64)), _) => types.new_type(kind),
        (Some(Kind::Bool), _) => {
            let error = Diagnostic::new(
                args.whole.span,
                "arange() counts, so its elements cannot be truth values",
            );
            return Err(error.help("use zeros(n, dtype=bool) or ones(n, dtype=bool)"));
        }
        (_, Some((elt, _))) => elt,
        _ => types.new_type(Kind::IntOpen),
    };
    for (expr, ty) in given {
        types.require(elt, ty, expr.span, "this argument of arange()")?;
    }
    Ok(elt)
}

/// Whether `linspace` includes its stop.
fn endpoint(args: &Arguments) -> Result<bool> {
    match args.get("endpoint").map(|(expr, _)| (&expr.kind, expr.span)) {
        None => Ok(true),
        Some((ExprKind::Bool(value), _)) => Ok(*value),
        Some((_, span)) => {
            let error = Diagnostic::new(span, "this argument must be written as True or False");
            Err(error.help("it decides what is compiled: write one call for each value in the branches of an 'if'"))
        }
    }
}

pub(super) fn code<'p>(emitter: &mut Emitter<'_, 'p>, args: &Arguments) -> Result<Value> {
    let result = emitter.type_of(args.whole);
    let elt = emitter.result_elements(result);
    let ty = emitter.module.ir_type(elt);
    let value = |name: &str| args.place(name).map(|place| args.values[place].clone());
    let constant = |number: i64| match ty {
        ir::Ty::F64 => Value::float(number as f64),
        ref ty => Value::int(ty.clone(), number),
    };
    let (first, first_ty) = (args.values[args.first_place()].clone(), args.first().1);
    let filling = |emitter: &mut Emitter<'_, 'p>| match args.function {
        NumPy::Ones | NumPy::OnesLike => constant(1),
        NumPy::Full | NumPy::FullLike => {
            let place = args.place("fill_value").expect("a mandatory argument");
            emitter.as_element(args.values[place].clone(), args.given[place].1, elt)
        }
        _ => constant(0),
    };
    let array = match args.function {
        NumPy::Array => return emitter.array_of(first, first_ty, result),
        NumPy::Empty => {
            let lengths = emitter.lengths(first);
            emitter.unfilled(elt, lengths)
        }
        NumPy::Zeros | NumPy::Ones | NumPy::Full => {
            let (value, lengths) = (filling(emitter), emitter.lengths(first));
            emitter.filled(elt, lengths, value)
        }
        NumPy::EmptyLike | NumPy::ZerosLike | NumPy::OnesLike | NumPy::FullLike => {
            let shape = emitter
                .array_parts(&first, first_ty)
                .expect("checked by inference")
                .shape;
            match args.function {
                NumPy::EmptyLike => emitter.unfilled(elt, shape),
                _ => {
                    let value = filling(emitter);
                    emitter.filled(elt, shape, value)
                }
            }
        }
        NumPy::Arange => {
            // A single argument is the stop.
            let (start, stop) = match value("stop") {
                Some(stop) => (first, stop),
                None => (constant(0), first),
            };
            let step = value("step").unwrap_or_else(|| constant(1));
            let members = [start, stop, step].map(|member| emitter.build.convert(member, &ty));
            emitter.arange(elt, members)
        }
        NumPy::Linspace => {
            let ends = [Some(first), value("stop")];
            let ends = ends.map(|end| emitter.build.convert(end.expect("mandatory"), &ty));
            let number = value("num").unwrap_or_else(|| Value::int(ir::Ty::I32, 50));
            emitter.linspace(elt, ends, number, endpoint(args)?)
        }
        NumPy::Eye | NumPy::Identity => {
            let columns = value("M").filter(|columns| !columns.ty.is_unit());
            let columns = columns.unwrap_or_else(|| first.clone());
            let k = value("k").unwrap_or_else(|| Value::int(ir::Ty::I32, 0));
            emitter.diagonal(elt, first, columns, k)
        }
        _ => unreachable!("of other families"),
    };
    Ok(emitter.array_value(array))
}
