//! Typing rules shared by expressions, statements and built-in functions. Violations are reported
//! to the user.

use std::rc::Rc;

use super::{Kind, Lazy, Ty, Types, INT32, STR};
use crate::diagnostic::{Diagnostic, Result};
use crate::source::Span;

/// Maximum number of values in one tuple, nested ones included: code and types are emitted for each
/// value, and nesting multiplies their number.
const TUPLE_VALUES: usize = 1024;

/// The position of the tuple element that a constant index selects.
pub fn tuple_index(index: i64, length: usize) -> Option<usize> {
    let from_end = if index < 0 { length as i64 } else { 0 };
    usize::try_from(index + from_end).ok().filter(|&index| index < length)
}

impl Types {
    /// Unifies `found` with `wanted`; reports an error at `span` otherwise.
    pub fn require(&mut self, wanted: Ty, found: Ty, span: Span, what: &str) -> Result<()> {
        if self.unify(wanted, found).is_ok() {
            return Ok(());
        }
        let (wanted, found) = (self.name(wanted), self.name(found));
        let error = Diagnostic::new(span, format!("cannot unify {wanted} with {found}"));
        let error = error.primary_note(format!("{what} has type {found}, but {wanted} is needed"));
        Err(match (&*wanted, &*found) {
            ("float", "numpy.int32" | "numpy.int64" | "numpy.int?") => {
                error.help("integers are not converted to float implicitly: write 1.0 instead of 1, or use float(…)")
            }
            _ if wanted.contains("strided") != found.contains("strided") => {
                error.help("a part of an array that is not contiguous has a type of its own: use .copy() on it")
            }
            _ if wanted == found => error.help("they are objects of one class whose attributes have different types"),
            ("numpy.int64", "numpy.int32") => error.help("use int64(…) to widen it"),
            ("numpy.int32", "numpy.int64") => error.help("use int32(…) to narrow it, or int64(0) as initial value"),
            _ => error,
        })
    }

    /// As [`Self::require`], for a type without parameters.
    pub fn require_kind(&mut self, kind: Kind, found: Ty, span: Span, what: &str) -> Result<()> {
        let wanted = self.new_type(kind);
        self.require(wanted, found, span, what)
    }

    pub fn require_numeric(&self, ty: Ty, span: Span) -> Result<()> {
        if self.is_numeric(ty) || self.is_var(ty) {
            return Ok(());
        }
        let text = format!("cannot coerce {} to a numeric type", self.name(ty));
        Err(Diagnostic::new(span, text))
    }

    /// A tuple of these elements, which must not exceed `TUPLE_VALUES` values, nested tuples
    /// included.
    pub fn tuple(&mut self, elements: Rc<[Ty]>, span: Span) -> Result<Ty> {
        let values = elements.iter().map(|&ty| self.values_in(ty)).sum::<usize>();
        if values > TUPLE_VALUES {
            let text = format!(
                "a tuple of {values} values, including those of nested tuples; at most {TUPLE_VALUES} are possible"
            );
            return Err(Diagnostic::new(span, text).help("use a list or an array"));
        }
        Ok(self.new_type(Kind::Tuple(elements)))
    }

    fn values_in(&self, ty: Ty) -> usize {
        match self.kind(ty) {
            Kind::Tuple(elements) => elements.iter().map(|&ty| self.values_in(ty)).sum(),
            _ => 1,
        }
    }

    /// The type of the elements that a loop over `iterable` yields.
    pub fn iterated(&mut self, iterable: Ty, span: Span) -> Result<Ty> {
        match self.kind(iterable).clone() {
            Kind::List(elt) | Kind::Range(elt) => Ok(elt),
            Kind::Bytes | Kind::ByteArray => Ok(INT32),
            Kind::Str => Ok(STR),
            Kind::Array(..) | Kind::View(..) => self.indexed_array(iterable, 1, span),
            Kind::Var => Ok(self.var()),
            Kind::Tuple(members) if !members.is_empty() => self.common_member(&members, span),
            Kind::Lazy(lazy, parts) => {
                let first = parts[0];
                match lazy {
                    Lazy::Generator => Err(Diagnostic::new(span, "a generator expression cannot be stored")
                        .help("write [ … ] for a list of its elements, or give it to sum, any, all, min or max")),
                    Lazy::Reversed => self.iterated(first, span),
                    Lazy::Enumerate => {
                        let pair = [parts[1], self.iterated(first, span)?];
                        self.tuple(pair.into(), span)
                    }
                    Lazy::Zip | Lazy::StrictZip => {
                        let members = parts.iter().map(|&part| self.iterated(part, span));
                        let members = members.collect::<Result<Rc<[Ty]>>>()?;
                        self.tuple(members, span)
                    }
                }
            }
            _ => {
                let text = format!("type {} is not iterable", self.name(iterable));
                let error = Diagnostic::new(span, text);
                Err(match self.kind(iterable) {
                    Kind::Instance(_) => {
                        error.help("make a list of it on the host, as self.points = list(self.scan) in prepare()")
                    }
                    _ => error,
                })
            }
        }
    }

    /// The common type of all members of a tuple.
    fn common_member(&mut self, members: &[Ty], span: Span) -> Result<Ty> {
        if members.iter().any(|&member| self.is_var(member)) {
            return Ok(self.var());
        }
        let first = members[0];
        if members[1..].iter().any(|&other| self.unify(first, other).is_err()) {
            let error = Diagnostic::new(
                span,
                "only a tuple whose elements have one type is iterable in a kernel",
            );
            return Err(error.help("take its elements by constant indices, t[0], or by a, b = t"));
        }
        Ok(first)
    }

    /// As [`Self::iterated`], where generator expressions are allowed too.
    pub fn gone_over(&mut self, iterable: Ty, span: Span) -> Result<Ty> {
        match self.kind(iterable) {
            Kind::Lazy(Lazy::Generator, parts) => Ok(parts[0]),
            _ => self.iterated(iterable, span),
        }
    }

    /// Whether the kernel formats a value of the type itself, because its text form is simple.
    pub fn writes_itself(&self, ty: Ty) -> bool {
        self.is_int(ty) || matches!(self.kind(ty), Kind::Bool | Kind::Str | Kind::None)
    }

    /// A lazy iterable within a type whose values are stored, which is not allowed.
    pub fn lazy_part(&self, ty: Ty) -> Option<Lazy> {
        match self.kind(ty) {
            Kind::Lazy(lazy, _) => Some(*lazy),
            Kind::List(elt) => self.lazy_part(*elt),
            Kind::Tuple(members) => members.iter().find_map(|&member| self.lazy_part(member)),
            _ => None,
        }
    }

    /// Element type and number of dimensions; None if the type is not an array.
    pub fn array_parts(&self, ty: Ty) -> Option<(Ty, u8)> {
        match *self.kind(ty) {
            Kind::Array(elt, dims) | Kind::View(elt, dims) => Some((elt, dims)),
            _ => None,
        }
    }

    pub fn is_array(&self, ty: Ty) -> bool {
        self.array_parts(ty).is_some()
    }

    /// The type that remains when `count` dimensions of an array are indexed.
    pub fn indexed_array(&mut self, array: Ty, count: usize, span: Span) -> Result<Ty> {
        let (elt, dims) = self.array_parts(array).expect("an array");
        let strided = matches!(self.kind(array), Kind::View(..));
        match usize::from(dims).checked_sub(count) {
            Some(0) => Ok(elt),
            Some(left) => Ok(self.part_of_array(elt, left as u8, strided)),
            None => Err(Diagnostic::new(
                span,
                format!("too many indices for array of dimension {dims}"),
            )),
        }
    }

    /// An array type, contiguous or strided.
    pub fn part_of_array(&mut self, elt: Ty, dims: u8, strided: bool) -> Ty {
        self.new_type(match strided {
            true => Kind::View(elt, dims),
            false => Kind::Array(elt, dims),
        })
    }
}
