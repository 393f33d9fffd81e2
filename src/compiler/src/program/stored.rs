//! The lists and arrays that a program stores to, by type. Other host data need not be written
//! back.

use std::collections::HashSet;

use super::{CallTarget, Fact, Program};
use crate::syntax::{walk_exprs, walk_stmts, Expr, ExprKind, Part};
use crate::types::{Kind, Ty};

/// Types of lists (false), and of the elements of arrays (true), whose elements the program stores
/// to.
pub type Stored = HashSet<(bool, String)>;

impl Program {
    /// The types that the program stores to. Rows and slices share an array's memory, so arrays are
    /// identified by element type only.
    pub fn stored(&self) -> Stored {
        let mut stored = Stored::new();
        let mut note = |ty: Ty| {
            match *self.types.kind(ty) {
                Kind::List(_) | Kind::ByteArray => stored.insert((false, self.types.name(ty))),
                Kind::Array(elt, _) | Kind::View(elt, _) => stored.insert((true, self.types.name(elt))),
                _ => false,
            };
        };
        for function in self.live() {
            let type_of = |expr: &Expr| function.types[expr.id as usize];
            walk_stmts(&function.ast.body, &mut |stmt| {
                stmt.kind.each_part(&mut |part| {
                    if let Part::Target(target, _) | Part::Update(target) = part {
                        each_stored(target, &mut |expr| note(type_of(expr)));
                    }
                    // Augmented assignment changes an array in place.
                    if let Part::Update(target) = part {
                        note(type_of(target));
                    }
                });
            });
            // A syscall may change its arguments.
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

    /// Whether the program may have stored to elements of sequences of the type.
    pub fn has_stores(&self, stored: &Stored, ty: Ty) -> bool {
        match self.types.kind(ty) {
            Kind::List(_) | Kind::ByteArray => stored.contains(&(false, self.types.name(ty))),
            Kind::Array(elt, _) => stored.contains(&(true, self.types.name(*elt))),
            _ => false,
        }
    }
}

/// Calls `visit` with the sequences that an assignment to `target` stores to.
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
