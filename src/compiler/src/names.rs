//! Resolved names of a function.

use std::collections::HashMap;
use std::rc::Rc;

use crate::diagnostic::Diagnostic;
use crate::host::HostValue;
use crate::language::Builtin;
use crate::source::Span;
use crate::syntax::{Expr, ExprId};

/// Index of a local variable; parameters come first.
pub type LocalId = u32;

/// The meaning of a name.
#[derive(Clone, Debug)]
pub enum Name {
    Local(LocalId),
    /// A name of the language itself.
    Builtin(Builtin),
    Host(HostValue),
}

/// A variable of a function.
#[derive(Clone, Debug)]
pub struct Local {
    pub name: Rc<str>,
    /// The first assignment.
    pub span: Span,
}

/// A variable of the enclosing function that a nested function also uses.
#[derive(Clone, Copy, Debug)]
pub struct Capture {
    pub own: LocalId,
    pub outer: LocalId,
}

/// All names of one function.
#[derive(Debug, Default)]
pub struct Names {
    pub locals: Vec<Local>,
    pub captures: Vec<Capture>,
    /// The first name without a meaning. As in Python, it is an error only if the function is called.
    pub error: Option<Box<Diagnostic>>,
    index: HashMap<Rc<str>, LocalId>,
    /// Meanings of name expressions, by expression id.
    by_expr: HashMap<ExprId, Name>,
}

impl Names {
    pub fn of(&self, expr: &Expr) -> &Name {
        &self.by_expr[&expr.id]
    }

    /// The meaning of a name in code that may never be reached; None if it has none.
    pub fn known(&self, expr: &Expr) -> Option<&Name> {
        self.by_expr.get(&expr.id)
    }

    pub fn local(&self, name: &str) -> Option<LocalId> {
        self.index.get(name).copied()
    }

    /// Declares a variable unless one of that name exists.
    pub fn declare(&mut self, name: &Rc<str>, span: Span) {
        if !self.index.contains_key(name) {
            self.index.insert(name.clone(), self.locals.len() as LocalId);
            self.locals.push(Local {
                name: name.clone(),
                span,
            });
        }
    }

    /// Declares a captured variable; `outer` is its number in the enclosing function.
    pub fn capture(&mut self, name: &Rc<str>, span: Span, outer: LocalId) -> LocalId {
        self.declare(name, span);
        let own = self.index[name];
        self.captures.push(Capture { own, outer });
        own
    }

    /// Whether a variable is captured from the enclosing function.
    pub fn is_captured(&self, local: LocalId) -> bool {
        self.captures.iter().any(|capture| capture.own == local)
    }

    /// Records the meaning of a name expression.
    pub fn insert(&mut self, expr: ExprId, name: Name) {
        self.by_expr.insert(expr, name);
    }
}
