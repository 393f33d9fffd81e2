//! Which lists and arrays a program stores to, by their types: what else the host has given need
//! not be sent back.

use std::collections::HashSet;

use super::{CallTarget, Fact, Program};
use crate::syntax::{walk_exprs, walk_stmts, Expr, ExprKind, Part};
use crate::types::{Kind, Ty};

/// Types of lists, and of the elements of arrays, of which the program stores to some element.
pub type Stored = HashSet<(bool, String)>;

impl Program {
    /// What the program stores to. A row or part of an array is the array's, so of arrays only the
    /// elements count.
    pub fn stored(&self) -> Stored {
        let mut stored = Stored::new();
        let mut note = |ty: Ty| {
            match *self.types.kind(ty) {
                Kind::List(_) | Kind::ByteArray => stored.insert((false, self.types.name(ty))),
                Kind::Array(elt, _) | Kind::View(elt, _) => stored.insert((true, self.types.name(elt))),
                _ => false,
            };
        };
        for function in &self.functions {
            let type_of = |expr: &Expr| function.types[expr.id as usize];
            walk_stmts(&function.ast.body, &mut |stmt| {
                stmt.kind.each_part(&mut |part| {
                    if let Part::Target(target, _) | Part::Update(target) = part {
                        each_stored(target, &mut |expr| note(type_of(expr)));
                    }
                    // An array changes in place.
                    if let Part::Update(target) = part {
                        note(type_of(target));
                    }
                });
            });
            // What a function of the firmware is given it may change.
            walk_exprs(&function.ast.body, &mut |expr| {
                let is_firmware = |target: &CallTarget| matches!(target, CallTarget::Syscall(_));
                let given = match function.facts.get(&expr.id) {
                    Some(Fact::Call(target, _)) => is_firmware(target),
                    Some(Fact::Choice(calls)) => calls.iter().any(|(_, target, _)| is_firmware(target)),
                    _ => false,
                };
                if let (true, ExprKind::Call { args, .. }) = (given, &expr.kind) {
                    args.iter().for_each(|arg| note(type_of(arg)));
                }
            });
        }
        stored
    }

    /// Whether a value of the type has elements that the program may have stored to.
    pub fn is_stored_to(&self, stored: &Stored, ty: Ty) -> bool {
        match self.types.kind(ty) {
            Kind::List(elt) => stored.contains(&(false, self.types.name(ty))) || self.is_stored_to(stored, *elt),
            Kind::ByteArray => stored.contains(&(false, self.types.name(ty))),
            Kind::Array(elt, _) => stored.contains(&(true, self.types.name(*elt))),
            Kind::Tuple(members) => members.iter().any(|&member| self.is_stored_to(stored, member)),
            _ => false,
        }
    }
}

/// The sequences to which an assignment to `target` stores.
fn each_stored(target: &Expr, visit: &mut dyn FnMut(&Expr)) {
    match &target.kind {
        ExprKind::Subscript { value, .. } | ExprKind::Slice { value, .. } | ExprKind::Slices { value, .. } => {
            visit(value)
        }
        ExprKind::Tuple(targets) | ExprKind::List(targets) => {
            targets.iter().for_each(|target| each_stored(target, visit));
        }
        _ => {}
    }
}
