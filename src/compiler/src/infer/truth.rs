//! Truth of values as conditions: as in Python where a kernel can evaluate it, otherwise as in the
//! reference, with a warning.

use std::rc::Rc;

use super::Infer;
use crate::diagnostic::{Diagnostic, Result};
use crate::language::{Builtin, Iteration, Number};
use crate::source::Span;
use crate::syntax::Expr;
use crate::types::{Kind, Ty};

/// The methods that Python calls for the truth of an object, in this order.
const ASKED: [&str; 2] = ["__bool__", "__len__"];

impl Infer<'_, '_> {
    /// The type of a condition of type `ty`. An equality comparison of two arrays is a single bool,
    /// as in the reference. Rejects arrays of bools, which are the result of NumPy comparisons.
    /// Warns of objects with a truth method, which are always true, as in the reference. Other
    /// arrays are tested by length; `check` warns of that.
    pub(super) fn condition(&mut self, test: &Expr, ty: Ty) -> Result<Ty> {
        if self.function().is_equality_of_arrays(test, &self.context.program.types) {
            return Ok(self.kind(Kind::Bool));
        }
        if let Some((elt, _)) = self.types().array_parts(ty) {
            if *self.types().kind(elt) == Kind::Bool {
                return Err(ambiguous(test.span));
            }
        }
        self.decides |= *self.types().kind(ty) == Kind::None;
        if let Some((name, method)) = self.says_itself(ty) {
            let text = format!("this is always true: {name} has a {method}, which a kernel does not call implicitly");
            self.context
                .warnings
                .add(*Diagnostic::new(test.span, text).help(ask(method)));
        }
        Ok(ty)
    }

    /// For an object whose class defines its truth: name of the class, and of the method.
    fn says_itself(&mut self, ty: Ty) -> Option<(Rc<str>, &'static str)> {
        let Kind::Instance(class) = *self.types().kind(ty) else {
            return None;
        };
        let class = &self.context.program.classes[&class];
        let (handle, name) = (class.host_class, class.name.clone());
        // An attribute that cannot be read exists as well.
        let is_there = |method: &&str| self.context.host.class_attribute(handle, method) != Ok(None);
        let method = ASKED.into_iter().find(is_there)?;
        Some((name, method))
    }

    /// Whether the class of objects defines when they are equal; otherwise each is equal to itself only.
    pub(super) fn has_own_equality(&mut self, class: u32) -> bool {
        let handle = self.context.program.classes[&class].host_class;
        self.context.host.class_attribute(handle, "__eq__") != Ok(None)
    }

    /// Checks the arguments of built-in functions that test them for truth.
    pub(super) fn truth_of_arguments(&mut self, builtin: Builtin, args: &[Expr], types: &[Ty]) -> Result<()> {
        let ([arg, ..], &[ty, ..]) = (args, types) else {
            return Ok(());
        };
        match builtin {
            Builtin::Number(Number::Bool) => self.condition(arg, ty).map(drop),
            Builtin::Iteration(Iteration::Any | Iteration::All) => {
                let elt = self.types().gone_over(ty, arg.span)?;
                // The reference does not have these functions; the behaviour is Python's.
                if self.types().is_array(elt) {
                    return Err(ambiguous(arg.span));
                }
                let Some((name, method)) = self.says_itself(elt) else {
                    return Ok(());
                };
                let text = format!("{name} has its own {method}, which a kernel does not call implicitly");
                let error = Diagnostic::new(arg.span, text).primary_note("whether this is true is not known");
                Err(error.help(ask(method)))
            }
            _ => Ok(()),
        }
    }
}

fn ask(method: &str) -> String {
    format!("call it, as .{method}(), or store its result in an attribute on the host")
}

fn ambiguous(span: Span) -> Box<Diagnostic> {
    let error = Diagnostic::new(span, "the truth value of an array is ambiguous");
    error.help("use np.all(…) or np.any(…), or len(…) > 0 if its length is meant")
}
