//! Iteration over iterables: `enumerate`, `zip` and `reversed`, which are lazy, and functions that
//! fold all elements.

use super::{exactly, Call, Site};
use crate::diagnostic::{Diagnostic, Result};
use crate::emit::Emitter;
use crate::ir::{BlockId, Value};
use crate::language::{Iteration, KEYED};
use crate::syntax::{BinOp, Expr, ExprKind, Keyword};
use crate::types::{self, Kind, Lazy, Ty, Types};

pub fn typing(types: &mut Types, call: &Call, iteration: Iteration) -> Result<Ty> {
    let (first, span) = (call.types[0], call.args[0].span);
    match iteration {
        Iteration::Zip => {
            for (arg, &ty) in call.args.iter().zip(call.types) {
                types.iterated(ty, arg.span)?;
            }
            let lazy = match flag(call)? {
                true => Lazy::StrictZip,
                false => Lazy::Zip,
            };
            Ok(types.new_type(Kind::Lazy(lazy, call.types.into())))
        }
        Iteration::Enumerate => {
            types.iterated(first, span)?;
            let number = match types.kind(call.result) {
                Kind::Lazy(Lazy::Enumerate, parts) => parts[1],
                _ => types.new_type(Kind::IntOpen),
            };
            if let Some((start, ty)) = start(call) {
                types.require(number, ty, start.span, "the number of the first element")?;
            }
            Ok(types.new_type(Kind::Lazy(Lazy::Enumerate, [first, number].into())))
        }
        Iteration::Reversed => match types.kind(first) {
            Kind::Lazy(lazy, _) => {
                let text = format!("{} can only be iterated forwards, not with reversed()", lazy.name());
                Err(Diagnostic::new(span, text)
                    .help("reverse what it iterates over, or make a list of it with list(…)"))
            }
            _ => {
                types.iterated(first, span)?;
                Ok(types.new_type(Kind::Lazy(Lazy::Reversed, [first].into())))
            }
        },
        Iteration::Any | Iteration::All => {
            types.gone_over(first, span)?;
            Ok(types.new_type(Kind::Bool))
        }
        Iteration::Sum => sum(types, call),
        Iteration::Sorted => sorted(types, call),
    }
}

fn sorted(types: &mut Types, call: &Call) -> Result<Ty> {
    if let Some(second) = call.args.get(1) {
        return Err(Diagnostic::new(
            second.span,
            "'sorted' takes 1 argument(s), 2 are passed",
        ));
    }
    flag(call)?;
    let plain = call.keywords.iter().find(|keyword| &*keyword.name == "key");
    if let Some(key) = plain.filter(|key| !matches!(key.value.kind, ExprKind::None)) {
        let error = Diagnostic::new(
            key.value.span,
            "'key' of sorted() must be the name of a function, or a lambda",
        );
        return Err(error.help("name the function first, and use that name here; a lambda cannot have defaults here"));
    }
    let span = call.args[0].span;
    let elt = types.iterated(call.types[0], span)?;
    let (order, elt) = match (is_keyed(call.keywords), types.kind(elt)) {
        (true, Kind::Tuple(pair)) => (pair[0], pair[1]),
        _ => (elt, elt),
    };
    if !has_order(types, order) {
        let what = if order == elt { "elements" } else { "keys" };
        let text = format!("sorted() cannot order {what} of type {}", types.name(order));
        return Err(Diagnostic::new(span, text).help("numbers, strings and tuples of them can be sorted"));
    }
    Ok(types.new_type(Kind::List(elt)))
}

/// Whether `sorted` receives pairs of keys and elements.
fn is_keyed(keywords: &[Keyword]) -> bool {
    keywords.iter().any(|keyword| &*keyword.name == KEYED)
}

const FLAGS: [&str; 2] = ["reverse", "strict"];

/// The value of the flag argument, which must be a literal.
fn flag(call: &Call) -> Result<bool> {
    let given = call.keywords.iter().find(|keyword| FLAGS.contains(&&*keyword.name));
    match given.map(|keyword| (keyword, &keyword.value.kind)) {
        None => Ok(false),
        Some((_, ExprKind::Bool(value))) => Ok(*value),
        Some((keyword, _)) => {
            let error = Diagnostic::new(
                keyword.value.span,
                format!("'{}' must be written as True or False", keyword.name),
            );
            Err(error.help("it decides what is compiled: write one call for each value in the branches of an 'if'"))
        }
    }
}

fn has_order(types: &Types, ty: Ty) -> bool {
    match types.kind(ty) {
        Kind::Var | Kind::Str => true,
        Kind::Tuple(members) => members.iter().all(|&member| has_order(types, member)),
        _ => types.is_numeric(ty),
    }
}

/// The argument `start` and its type.
fn start<'a>(call: &Call<'a>) -> Option<(&'a Expr, Ty)> {
    let named = call.keywords.first().map(|keyword| &keyword.value);
    let named = named.zip(call.keyword_types.first().copied());
    call.args.get(1).zip(call.types.get(1).copied()).or(named)
}

/// The sum is a float if elements or start are; otherwise an integer of the elements' width, or of
/// the start's if that is wider.
fn sum(types: &mut Types, call: &Call) -> Result<Ty> {
    let span = call.args[0].span;
    let elt = types.gone_over(call.types[0], span)?;
    types.require_numeric(elt, span)?;
    let Some((start, first)) = start(call) else {
        return Ok(match types.kind(elt) {
            Kind::Bool => call.open_result(types),
            _ => elt,
        });
    };
    types.require_numeric(first, start.span)?;
    if types.is_var(elt) || types.is_var(first) {
        return Ok(types.var());
    }
    let any = |types: &Types, kind: Kind| [elt, first].iter().any(|&ty| *types.kind(ty) == kind);
    if any(types, Kind::Float) {
        return Ok(types.new_type(Kind::Float));
    }
    match (types.kind(elt), types.kind(first)) {
        (Kind::Bool, Kind::Bool) => return Ok(call.open_result(types)),
        (Kind::Bool, _) => return Ok(first),
        (_, Kind::Bool) => return Ok(elt),
        _ => {}
    }
    // A type of undetermined width adapts to the other.
    if types.unify(elt, first).is_ok() {
        return Ok(elt);
    }
    Ok(types.new_type(Kind::Int64))
}

/// Generates the code of a call, except on generator expressions, which lowering handles.
pub fn code(emitter: &mut Emitter, iteration: Iteration, site: Site, values: Vec<Value>) -> Result<Value> {
    match iteration {
        Iteration::Zip => {
            // Excludes the value of 'strict', which is part of the type.
            let iterables = values.into_iter().take(site.args.len());
            Ok(emitter.build.aggregate(iterables.collect()))
        }
        Iteration::Reversed => {
            let [value] = exactly(values);
            Ok(emitter.build.aggregate(vec![value]))
        }
        Iteration::Enumerate => {
            let mut values = values.into_iter();
            let iterable = values.next().expect("counted by inference");
            let number = match emitter.ir_type_of(site.whole) {
                crate::ir::Ty::Struct(members) => members[1].clone(),
                _ => unreachable!("two parts"),
            };
            let start = values.next().unwrap_or_else(|| Value::int(number, 0));
            Ok(emitter.build.aggregate(vec![iterable, start]))
        }
        Iteration::Sorted => {
            let Kind::List(elt) = *emitter.kind_of(site.whole) else {
                unreachable!("it makes a list")
            };
            let (iterable, ty) = (
                values.into_iter().next().expect("counted by inference"),
                emitter.type_of(&site.args[0]),
            );
            let reverse = site.keywords.iter().find(|keyword| &*keyword.name == "reverse");
            let reverse = reverse.map(|keyword| &keyword.value.kind);
            let descending = matches!(reverse, Some(ExprKind::Bool(true)));
            if is_keyed(site.keywords) {
                return emitter.sorted_by_key(site.whole.span, (iterable, ty), elt, descending);
            }
            let list = emitter.list_of(iterable, ty, elt);
            emitter.sort(site.whole.span, &list, elt, descending)?;
            Ok(list)
        }
        Iteration::Sum | Iteration::Any | Iteration::All => {
            let mut values = values.into_iter();
            let iterable = values.next().expect("counted by inference");
            let start = values.next().map(|value| (value, start_type(emitter, site)));
            let fold = Fold::begin(emitter, iteration, start, emitter.type_of(site.whole));
            let elements = emitter.elements(&iterable, emitter.type_of(&site.args[0]));
            emitter.each(&elements, |emitter, value| fold.take(emitter, value, elements.elt))?;
            Ok(fold.end(emitter))
        }
    }
}

/// Type of the argument `start`, which must be passed.
pub fn start_type(emitter: &Emitter, site: Site) -> Ty {
    let named = site.keywords.first().map(|keyword| &keyword.value);
    let start = site.args.get(1).or(named).expect("it is passed");
    emitter.type_of(start)
}

/// A fold over elements.
pub(crate) struct Fold {
    iteration: Iteration,
    ty: types::Ty,
    /// Slot of the accumulated result.
    so_far: Value,
    /// The block where execution continues when no more elements are needed.
    done: BlockId,
}

impl Fold {
    pub fn begin(emitter: &mut Emitter, iteration: Iteration, start: Option<(Value, Ty)>, ty: Ty) -> Fold {
        let kind = emitter.module.ir_type(ty);
        let so_far = emitter.build.slot(kind.clone());
        let first = match (iteration, start) {
            (_, Some((value, _))) => emitter.build.convert(value, &kind),
            (Iteration::All, None) => Value::bool(true),
            (_, None) => Value::zero(kind),
        };
        emitter.build.store(first, &so_far);
        let done = emitter.build.new_block("taken all");
        Fold {
            iteration,
            ty,
            so_far,
            done,
        }
    }

    /// `ty`: type of the value; None for composed tuples, which are always true.
    pub fn take(&self, emitter: &mut Emitter, value: Value, ty: Option<Ty>) -> Result<()> {
        match self.iteration {
            Iteration::Any | Iteration::All => {
                let truth = ty.map_or(Value::bool(true), |ty| emitter.truth(value, ty));
                let (decided, next) = (
                    emitter.build.new_block("decided"),
                    emitter.build.new_block("not decided"),
                );
                let any = self.iteration == Iteration::Any;
                let (yes, no) = if any { (decided, next) } else { (next, decided) };
                emitter.build.branch(truth, yes, no);
                emitter.build.block = decided;
                emitter.build.store(Value::bool(any), &self.so_far);
                emitter.build.jump(self.done);
                emitter.build.block = next;
                Ok(())
            }
            _ => {
                let kind = emitter.module.ir_type(self.ty);
                let so_far = emitter.build.load(kind, &self.so_far);
                let operand = (value, ty.expect("numbers have a type"));
                let sum = emitter.arithmetic(BinOp::Add, (so_far, self.ty), operand, self.ty)?;
                emitter.build.store(sum, &self.so_far);
                Ok(())
            }
        }
    }

    pub fn end(self, emitter: &mut Emitter) -> Value {
        emitter.build.jump(self.done);
        emitter.build.block = self.done;
        let kind = emitter.module.ir_type(self.ty);
        emitter.build.load(kind, &self.so_far)
    }
}
