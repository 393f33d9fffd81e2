//! Lists that never have elements, such as `[]` that is never replaced: nothing gives their elements
//! a type, and loops over them do not run.

use super::Infer;
use crate::program::Iterable;
use crate::syntax::*;
use crate::types::{Kind, Lazy, Ty};

impl Infer<'_, '_> {
    fn iterable(&self, expr: &Expr) -> Iterable {
        let function = self.function();
        (function.handle, function.class, expr.span.start)
    }

    /// Whether an earlier inference found that this iterable never has elements.
    pub(super) fn is_empty(&self, iterable: &Expr) -> bool {
        self.context.shapes.is_empty(&self.iterable(iterable))
    }

    /// Finds loops over lists without elements. If there are new ones, inference is repeated, because
    /// functions that are called only there are not part of the program.
    pub(super) fn find_empty_loops(&mut self) -> bool {
        let mut found = false;
        for id in 0..self.context.program.functions.len() {
            self.current = id;
            if self.function().is_dead() {
                continue;
            }
            let ast = self.function().ast.clone();
            let mut iterables = vec![];
            walk_stmts(&ast.body, &mut |stmt| {
                if let StmtKind::For(stmt) = &stmt.kind {
                    iterables.push(&stmt.iter);
                }
            });
            walk_exprs(&ast.body, &mut |expr| match &expr.kind {
                ExprKind::ListComp { clauses, .. } | ExprKind::Generator { clauses, .. }
                    if clauses.iter().all(|clause| only_reads(&clause.iter)) =>
                {
                    iterables.extend(clauses.iter().map(|clause| &clause.iter));
                }
                _ => {}
            });
            for iterable in iterables {
                let ty = self.function().types[iterable.id as usize];
                let place = self.iterable(iterable);
                found |= self.has_no_elements(ty) && self.context.shapes.note_empty(place);
            }
        }
        found
    }

    fn has_no_elements(&self, ty: Ty) -> bool {
        let types = &self.context.program.types;
        match types.kind(ty) {
            Kind::List(elt) | Kind::Array(elt, _) | Kind::View(elt, _) => types.is_var(*elt),
            Kind::Lazy(Lazy::Enumerate | Lazy::Reversed, parts) => self.has_no_elements(parts[0]),
            Kind::Lazy(Lazy::Zip | Lazy::StrictZip, parts) => parts.iter().any(|&part| self.has_no_elements(part)),
            _ => false,
        }
    }

    /// Gives lists without elements a type for them, which does not matter. Returns whether there were
    /// any.
    pub(super) fn default_elements(&mut self) -> bool {
        let program = &mut self.context.program;
        let functions = program.functions.iter().filter(|function| !function.is_dead());
        let types = functions.flat_map(|f| f.types.iter().chain(&f.locals).chain([&f.returns]));
        let types: Vec<Ty> = types
            .chain(program.lists.values().map(|list| &list.ty))
            .copied()
            .collect();
        let mut found = false;
        for ty in types {
            let elt = match program.types.kind(ty) {
                Kind::List(elt) | Kind::Array(elt, _) | Kind::View(elt, _) => *elt,
                Kind::Lazy(Lazy::Generator, parts) => parts[0],
                _ => continue,
            };
            found |= program.types.default_elements(elt);
        }
        found
    }
}
