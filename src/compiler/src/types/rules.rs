//! Rules of typing that expressions, statements and the language's own functions share; what breaks one is told to the user.

use super::{Kind, Ty, Types};
use crate::diagnostic::{Diagnostic, Result};
use crate::source::Span;

impl Types {
    /// `found` must be `wanted`; otherwise an error at `span`.
    pub fn require(&mut self, wanted: Ty, found: Ty, span: Span, what: &str) -> Result<()> {
        if self.unify(wanted, found).is_ok() {
            return Ok(());
        }
        let (wanted, found) = (self.name(wanted), self.name(found));
        let error = Diagnostic::new(span, format!("cannot unify {wanted} with {found}"));
        let error = error.here(format!("{what} has type {found}, but {wanted} is needed"));
        Err(match (&*wanted, &*found) {
            ("float", "numpy.int32" | "numpy.int64" | "numpy.int?") => {
                error.help("integers are not converted to float by themselves: write 1.0 instead of 1, or use float(…)")
            }
            ("numpy.int64", "numpy.int32") => error.help("use int64(…) to widen it"),
            ("numpy.int32", "numpy.int64") => error.help("use int32(…) to narrow it, or int64(0) as initial value"),
            _ => error,
        })
    }

    /// As [`Self::require`], for a type without parts.
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

    /// Type of what a loop over a value of type `iterable` gets.
    pub fn iterated(&mut self, iterable: Ty, span: Span) -> Result<Ty> {
        match *self.kind(iterable) {
            Kind::List(elt) | Kind::Range(elt) => Ok(elt),
            Kind::Array(elt, dims) => self.indexed_array(elt, dims, 1, span),
            Kind::Var => Ok(self.var()),
            _ => {
                let text = format!("type {} is not iterable", self.name(iterable));
                Err(Diagnostic::new(span, text))
            }
        }
    }

    /// Type of the elements and number of dimensions; None for what is not an array.
    pub fn array_parts(&self, ty: Ty) -> Option<(Ty, u8)> {
        match *self.kind(ty) {
            Kind::Array(elt, dims) => Some((elt, dims)),
            _ => None,
        }
    }

    /// What is left of an array when `count` of its dimensions are indexed.
    pub fn indexed_array(&mut self, elt: Ty, dims: u8, count: usize, span: Span) -> Result<Ty> {
        match usize::from(dims).checked_sub(count) {
            Some(0) => Ok(elt),
            Some(left) => Ok(self.new_type(Kind::Array(elt, left as u8))),
            None => Err(Diagnostic::new(
                span,
                format!("too many indices for array of dimension {dims}"),
            )),
        }
    }
}
