//! What the names in a function stand for.

use std::collections::HashMap;
use std::rc::Rc;

use crate::host::HostValue;
use crate::language::Builtin;
use crate::source::Span;
use crate::syntax::{Expr, ExprId};

/// Index of a local variable; parameters come first.
pub type LocalId = u32;

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Name {
    Local(LocalId),
    /// Of the language itself.
    Builtin(Builtin),
    Host(HostValue),
}

/// A variable of a function.
#[derive(Clone, Debug)]
pub struct Local {
    pub name: Rc<str>,
    /// Where it is first assigned.
    pub span: Span,
}

/// All names of one function.
#[derive(Debug, Default)]
pub struct Names {
    pub locals: Vec<Local>,
    index: HashMap<Rc<str>, LocalId>,
    /// By expression id, for name expressions.
    by_expr: HashMap<ExprId, Name>,
}

impl Names {
    pub fn of(&self, expr: &Expr) -> &Name {
        &self.by_expr[&expr.id]
    }

    pub fn local(&self, name: &str) -> Option<LocalId> {
        self.index.get(name).copied()
    }

    /// Makes a variable, if there is none of that name yet.
    pub fn declare(&mut self, name: &Rc<str>, span: Span) {
        if !self.index.contains_key(name) {
            self.index.insert(name.clone(), self.locals.len() as LocalId);
            self.locals.push(Local {
                name: name.clone(),
                span,
            });
        }
    }

    /// Says what a name expression stands for.
    pub fn insert(&mut self, expr: ExprId, name: Name) {
        self.by_expr.insert(expr, name);
    }
}
