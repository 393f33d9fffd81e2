//! Checks that need no types: variables are set before they are read, every path returns, loops are where they must be.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::diagnostic::{Diagnostic, Result};
use crate::names::{LocalId, Name, Names};
use crate::program::FunctionInstance;
use crate::syntax::*;
use crate::types::{Kind, Types};

/// Checks one function, whose types are known.
pub fn check(function: &FunctionInstance, types: &Types) -> Result<()> {
    let mut flow = Flow {
        names: function.names.clone(),
        loops: vec![],
        in_loop: false,
    };
    let params: Set = (0..function.ast.params.len() as LocalId).collect();
    let end = flow.body(&function.ast.body, Some(params))?;
    if end.is_some() && *types.kind(function.returns) != Kind::None {
        let name = types.name(function.returns);
        let text = format!("this function must return a value of type {name} explicitly");
        return Err(Diagnostic::new(function.ast.name_span, text).here("a path through it ends without 'return'"));
    }
    Ok(())
}

/// The variables that are surely set.
type Set = BTreeSet<LocalId>;

/// The state at a point of the program; None if the point is never reached.
type State = Option<Set>;

struct Flow {
    names: Rc<Names>,
    /// For each loop around: what is set at its `break`s.
    loops: Vec<State>,
    in_loop: bool,
}

fn join(a: State, b: State) -> State {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.intersection(&b).copied().collect()),
        (a, b) => a.or(b),
    }
}

impl Flow {
    fn body(&mut self, body: &[Stmt], mut state: State) -> Result<State> {
        for stmt in body {
            // What follows a return is not compiled.
            let Some(set) = state else { return Ok(None) };
            state = self.stmt(stmt, set)?;
        }
        Ok(state)
    }

    fn stmt(&mut self, stmt: &Stmt, mut set: Set) -> Result<State> {
        match &stmt.kind {
            StmtKind::Expr(expr) => self.uses(expr, &set)?,
            StmtKind::Assign { targets, value } => {
                self.uses(value, &set)?;
                for target in targets {
                    self.assign(target, &mut set)?;
                }
            }
            StmtKind::AugAssign { target, value, .. } => {
                self.uses(target, &set)?;
                self.uses(value, &set)?;
            }
            StmtKind::If { test, body, orelse } => {
                self.uses(test, &set)?;
                let taken = self.body(body, Some(set.clone()))?;
                let other = self.body(orelse, Some(set))?;
                return Ok(join(taken, other));
            }
            StmtKind::While { test, body, orelse } => {
                self.uses(test, &set)?;
                let endless = matches!(test.kind, ExprKind::Bool(true));
                return self.looped(body, orelse, set.clone(), (!endless).then_some(set));
            }
            StmtKind::For(stmt) => {
                self.uses(&stmt.iter, &set)?;
                let mut inside = set.clone();
                self.assign(&stmt.target, &mut inside)?;
                return self.looped(&stmt.body, &stmt.orelse, inside, Some(set));
            }
            StmtKind::With { body, .. } => return self.body(body, Some(set)),
            StmtKind::Try(stmt) => {
                let before = set.clone();
                let end = self.body(&stmt.body, Some(set))?;
                let mut end = self.body(&stmt.orelse, end)?;
                for handler in &stmt.handlers {
                    let mut inside = before.clone();
                    if let Some(local) = handler.name.as_ref().and_then(|name| self.names.local(name)) {
                        inside.insert(local);
                    }
                    let handled = self.body(&handler.body, Some(inside))?;
                    end = join(end, handled);
                }
                let finally = self.body(&stmt.finally, Some(before))?;
                let Some(finally) = finally else { return Ok(None) };
                return Ok(end.map(|end| end.union(&finally).copied().collect()));
            }
            StmtKind::Raise(value) => {
                value.iter().try_for_each(|value| self.uses(value, &set))?;
                return Ok(None);
            }
            StmtKind::Assert { test, .. } => self.uses(test, &set)?,
            StmtKind::Return(value) => {
                value.iter().try_for_each(|value| self.uses(value, &set))?;
                return Ok(None);
            }
            StmtKind::Break | StmtKind::Continue if !self.in_loop => {
                let word = if matches!(stmt.kind, StmtKind::Break) {
                    "break"
                } else {
                    "continue"
                };
                return Err(Diagnostic::new(
                    stmt.span,
                    format!("{word} statement outside of a loop"),
                ));
            }
            StmtKind::Break => {
                let at_break = self.loops.last_mut().expect("inside a loop");
                *at_break = join(at_break.take(), Some(set));
                return Ok(None);
            }
            StmtKind::Continue => return Ok(None),
            StmtKind::Pass => {}
        }
        Ok(Some(set))
    }

    /// A loop whose body starts with `inside` set. `before` is what is set if it does not run, or None if only `break` ends it.
    fn looped(&mut self, body: &[Stmt], orelse: &[Stmt], inside: Set, before: State) -> Result<State> {
        self.loops.push(None);
        let outer = std::mem::replace(&mut self.in_loop, true);
        self.body(body, Some(inside))?;
        self.in_loop = outer;
        let at_break = self.loops.pop().expect("pushed above");
        let end = self.body(orelse, before)?;
        Ok(join(end, at_break))
    }

    fn assign(&mut self, target: &Expr, set: &mut Set) -> Result<()> {
        match &target.kind {
            ExprKind::Name(name) => {
                set.extend(self.names.local(name));
                Ok(())
            }
            ExprKind::Tuple(elements) | ExprKind::List(elements) => {
                elements.iter().try_for_each(|element| self.assign(element, set))
            }
            _ => self.uses(target, set),
        }
    }

    fn uses(&self, expr: &Expr, set: &Set) -> Result<()> {
        let mut unset = None;
        walk_expr(expr, &mut |expr| {
            if let (ExprKind::Name(name), None) = (&expr.kind, unset) {
                // A comprehension sets its own.
                if !name.contains(COMPREHENSION)
                    && matches!(self.names.of(expr), Name::Local(local) if !set.contains(local))
                {
                    unset = Some(expr);
                }
            }
        });
        let Some(Expr {
            span,
            kind: ExprKind::Name(name),
            ..
        }) = unset
        else {
            return Ok(());
        };
        let error = Diagnostic::new(*span, format!("variable '{name}' is not always initialized here"));
        let local = self.names.local(name).expect("found above");
        let error = error.label(
            self.names.locals[local as usize].span,
            "assigned here, but not on every path",
        );
        Err(error.help("give it a value before the loop or branch"))
    }
}
