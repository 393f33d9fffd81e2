//! Constructing exceptions, of built-in and of host classes.

use crate::diagnostic::{Diagnostic, Result};
use crate::syntax::{Expr, Keyword};
use crate::types::{Kind, Ty, Types};

/// Types a call of any exception class.
pub fn construction(types: &mut Types, args: &[Expr], passed: &[Ty], keywords: &[Keyword]) -> Result<Ty> {
    if let Some(keyword) = keywords.first() {
        return Err(Diagnostic::new(
            keyword.span,
            "exceptions take no keyword arguments in kernels",
        ));
    }
    if let Some(message) = args.first() {
        if !matches!(types.kind(passed[0]), Kind::Str | Kind::Var) {
            let text = format!(
                "the message of an exception must be a text, not {}",
                types.words(passed[0])
            );
            return Err(Diagnostic::new(message.span, text).help("write it as an f-string: f\"… {x} …\""));
        }
    }
    if let Some(extra) = args.get(4) {
        return Err(Diagnostic::new(
            extra.span,
            "an exception takes a message and at most three integers",
        ));
    }
    for (arg, &ty) in args.iter().zip(passed).skip(1) {
        types.require_kind(Kind::Int64, ty, arg.span, "this parameter")?;
    }
    Ok(types.new_type(Kind::Exception))
}
