//! Of which values a kernel may ask whether they are true: those of which it can tell as Python does.

use super::Infer;
use crate::diagnostic::{Diagnostic, Result};
use crate::language::{Builtin, Iteration, Number};
use crate::source::Span;
use crate::syntax::Expr;
use crate::types::{Kind, Ty};

/// What an object of Python's is asked for its truth, in this order.
const ASKED: [&str; 2] = ["__bool__", "__len__"];

impl Infer<'_, '_> {
    /// Refuses what has no truth, as arrays in NumPy, and objects that would have to be asked.
    pub(super) fn one_truth(&mut self, ty: Ty, span: Span) -> Result<()> {
        if self.types().is_array(ty) {
            let error = Diagnostic::new(span, "the truth value of an array is ambiguous");
            return Err(error.help("use np.all(…) or np.any(…), or len(…) > 0 if its length is meant"));
        }
        let Kind::Instance(class) = *self.types().kind(ty) else {
            return Ok(());
        };
        let class = &self.context.program.classes[&class];
        let (handle, name) = (class.host_class, class.name.clone());
        for method in ASKED {
            // One that cannot be read is there as well.
            if self.context.host.class_attribute(handle, method) == Ok(None) {
                continue;
            }
            let text = format!("{name} has a {method} of its own, which a kernel does not ask by itself");
            let error = Diagnostic::new(span, text).here("whether this is true is not known");
            return Err(error.help(format!(
                "call it, as .{method}(), or keep its answer in an attribute of the host's"
            )));
        }
        Ok(())
    }

    /// The truth that a function of the language asks of its arguments.
    pub(super) fn asked_truth(&mut self, builtin: Builtin, args: &[Expr], types: &[Ty]) -> Result<()> {
        let ([arg, ..], &[ty, ..]) = (args, types) else {
            return Ok(());
        };
        match builtin {
            Builtin::Number(Number::Bool) => self.one_truth(ty, arg.span),
            Builtin::Iteration(Iteration::Any | Iteration::All) => {
                let elt = self.types().gone_over(ty, arg.span)?;
                self.one_truth(elt, arg.span)
            }
            _ => Ok(()),
        }
    }
}
