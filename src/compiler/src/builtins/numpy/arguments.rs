//! Binding of arguments to NumPy's parameters, and interpretation of common arguments.

use crate::builtins::Site;
use crate::diagnostic::{Diagnostic, Result};
use crate::emit::Emitter;
use crate::ir::Value;
use crate::language::{Builtin, NumPy, Number};
use crate::syntax::{Expr, ExprKind, Keyword};
use crate::types::{Kind, Ty, Types};

/// An argument and its type.
pub(super) type Argument<'a> = (&'a Expr, Ty);

pub(super) struct Arguments<'a> {
    pub function: NumPy,
    pub whole: &'a Expr,
    /// All arguments: the array of a method, positional ones, keyword ones.
    pub given: Vec<Argument<'a>>,
    /// For each parameter, the index of its argument.
    places: Vec<(&'static str, Option<usize>)>,
    /// Number of arguments for the last parameter, if it takes several.
    many: usize,
    /// Values of the arguments, during code generation.
    pub values: Vec<Value>,
}

impl<'a> Arguments<'a> {
    pub fn new(
        function: NumPy,
        whole: &'a Expr,
        mut given: Vec<Argument<'a>>,
        keywords: &'a [Keyword],
        keyword_types: &[Ty],
    ) -> Result<Self> {
        let name = Builtin::NumPy(function).plain_name();
        let positional = given.len();
        let mut places: Vec<(&str, Option<usize>)> = vec![];
        let mut many = 0;
        let counts = Builtin::NumPy(function).arguments();
        if positional > *counts.end() {
            let text = format!(
                "'{name}' takes at most {} argument(s), {positional} are passed",
                counts.end()
            );
            return Err(Diagnostic::new(whole.span, text));
        }
        for (index, parameter) in function.parameters().enumerate() {
            if parameter.many {
                many = positional.saturating_sub(index);
            }
            places.push((parameter.name, (index < positional).then_some(index)));
        }
        for (keyword, &ty) in keywords.iter().zip(keyword_types) {
            let Some((_, place)) = places.iter_mut().find(|(known, _)| *known == &*keyword.name) else {
                let text = format!("'{name}' does not accept argument '{}' in a kernel", keyword.name);
                return Err(Diagnostic::new(keyword.span, text));
            };
            if place.is_some() {
                let text = format!("the argument '{}' has been passed earlier as positional", keyword.name);
                return Err(Diagnostic::new(keyword.span, text));
            }
            *place = Some(given.len());
            many = many.max(1);
            given.push((&keyword.value, ty));
        }
        let mut missing = function.parameters().zip(&places);
        if let Some((parameter, _)) = missing.find(|(parameter, (_, place))| !parameter.optional && place.is_none()) {
            let text = format!("mandatory argument '{}' of '{name}' is not passed", parameter.name);
            return Err(Diagnostic::new(whole.span, text));
        }
        Ok(Arguments {
            function,
            whole,
            given,
            places,
            many,
            values: vec![],
        })
    }

    /// The arguments of a call during code generation.
    pub fn of_site(emitter: &Emitter<'_, 'a>, function: NumPy, site: Site<'a>, values: Vec<Value>) -> Result<Self> {
        let ExprKind::Call { callee, keywords, .. } = &site.whole.kind else {
            unreachable!("a call")
        };
        let given = emitter.array_receiver(callee).into_iter().chain(site.args);
        let given = given.map(|arg| (arg, emitter.type_of(arg))).collect();
        let types: Vec<Ty> = keywords.iter().map(|keyword| emitter.type_of(&keyword.value)).collect();
        let args = Arguments::new(function, site.whole, given, keywords, &types)?;
        Ok(Arguments { values, ..args })
    }

    /// Index of the argument for a parameter.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places
            .iter()
            .find(|(known, _)| *known == name)
            .and_then(|(_, place)| *place)
    }

    pub fn get(&self, name: &str) -> Option<Argument<'a>> {
        self.place(name).map(|place| self.given[place])
    }

    /// The first argument; every function has one.
    pub fn first(&self) -> Argument<'a> {
        self.given[self.first_place()]
    }

    pub fn first_place(&self) -> usize {
        self.places[0].1.expect("it is mandatory")
    }

    /// Indices of the arguments for a parameter that takes several.
    pub fn many(&self, name: &str) -> std::ops::Range<usize> {
        let first = self.place(name).expect("it is mandatory");
        first..first + self.many
    }

    /// Element type and dimensions of the first argument, which must be an array.
    pub fn array(&self, types: &Types) -> Result<(Ty, u8)> {
        let (expr, ty) = self.first();
        types.array_parts(ty).ok_or_else(|| {
            let name = Builtin::NumPy(self.function).plain_name();
            let text = format!(
                "{name}() takes arrays in kernels, not a value of type {}",
                types.name(ty)
            );
            Diagnostic::new(expr.span, text).help("make an array of it, with array(…)")
        })
    }

    /// The element type given by `dtype`.
    pub fn dtype(&self, types: &Types) -> Result<Option<Kind>> {
        let Some((expr, ty)) = self.get("dtype") else {
            return Ok(None);
        };
        let kind = match *types.kind(ty) {
            Kind::None => return Ok(None),
            Kind::Builtin(Builtin::Number(number)) => element_type(number),
            _ => None,
        };
        kind.map(Some).ok_or_else(|| {
            let error = Diagnostic::new(expr.span, "this type cannot be the element type of an array");
            error.help("use float, bool, np.int32 or np.int64")
        })
    }

    /// The dimension that `axis` selects out of `dims`; it must be a literal.
    pub fn axis(&self, dims: u8) -> Result<Option<usize>> {
        let Some((expr, _)) = self.get("axis") else {
            return Ok(None);
        };
        let axis = match expr.kind {
            ExprKind::None => return Ok(None),
            ExprKind::Int(axis) => axis,
            _ => {
                let error = Diagnostic::new(expr.span, "the axis must be a literal number or None");
                return Err(error.help("the rank of the result must be known when the kernel is compiled"));
            }
        };
        let dims = i64::from(dims);
        let from_end = if axis < 0 { dims } else { 0 };
        match axis + from_end {
            place if (0..dims).contains(&place) => Ok(Some(place as usize)),
            _ => {
                let text = format!("axis {axis} is out of bounds for array of dimension {dims}");
                Err(Diagnostic::new(expr.span, text))
            }
        }
    }
}

/// The element type for a `dtype`.
fn element_type(number: Number) -> Option<Kind> {
    match number {
        Number::Float => Some(Kind::Float),
        Number::Int32 => Some(Kind::Int32),
        Number::Int64 => Some(Kind::Int64),
        Number::Int => Some(Kind::IntOpen),
        Number::Bool => Some(Kind::Bool),
        Number::Round | Number::Abs | Number::Min | Number::Max => None,
    }
}

/// Number of dimensions of an array with lengths given by a number or a tuple of numbers.
pub(super) fn rank(types: &mut Types, (expr, ty): Argument) -> Result<u8> {
    let lengths = match types.kind(ty).clone() {
        Kind::Tuple(lengths) if !lengths.is_empty() => lengths,
        _ => [ty].into(),
    };
    for &length in lengths.iter() {
        types.require_kind(Kind::Int32, length, expr.span, "a length")?;
    }
    Ok(lengths.len() as u8)
}

/// An array type with `dims` dimensions; for 0, the element type.
pub(super) fn of_rank(types: &mut Types, elt: Ty, dims: u8) -> Ty {
    match dims {
        0 => elt,
        _ => types.new_type(Kind::Array(elt, dims)),
    }
}

/// The common type of two numbers; one of undetermined width adapts to the other.
pub(super) fn common(types: &mut Types, a: Ty, b: Ty) -> Ty {
    let kinds = [a, b].map(|ty| types.kind(ty).clone());
    let any = |kind: Kind| kinds.contains(&kind);
    match () {
        () if any(Kind::Float) => types.new_type(Kind::Float),
        () if kinds[0] == Kind::Bool => b,
        () if kinds[1] == Kind::Bool => a,
        () if kinds == [Kind::Int32, Kind::Int64] => b,
        () if kinds == [Kind::Int64, Kind::Int32] => a,
        () => {
            types.unify(a, b).expect("one has an open width, or both are the same");
            a
        }
    }
}
