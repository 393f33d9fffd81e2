//! How deep a source file may be nested. The passes call themselves for each level of a tree, and
//! so does Rust when it gives a tree back, so a file that is too deep for the stack is refused
//! before any of them sees it.

use ruff_python_ast::visitor::{walk_expr, walk_pattern, walk_stmt, Visitor};
use ruff_python_ast::{Expr, ModModule, Pattern, Stmt};
use ruff_text_size::{Ranged, TextRange};

/// Levels of statements and expressions inside each other. Python itself takes a few thousand.
pub(super) const DEEPEST: usize = 500;

/// The innermost statement or expression that the passes may still go into, if there is more inside it.
pub(super) fn too_deep(module: &ModModule) -> Option<TextRange> {
    let mut depth = Depth {
        left: DEEPEST,
        found: None,
    };
    depth.visit_body(&module.body);
    depth.found
}

struct Depth {
    left: usize,
    found: Option<TextRange>,
}

impl Depth {
    fn enter(&mut self, range: TextRange, levels: usize, walk: impl FnOnce(&mut Self)) {
        // Each level takes a character at least, so short texts need not be looked at.
        if self.found.is_some() || range.len().to_usize() + levels <= self.left {
            return;
        }
        if self.left < levels {
            self.found = Some(range);
            return;
        }
        self.left -= levels;
        walk(self);
        self.left += levels;
    }
}

impl<'a> Visitor<'a> for Depth {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        // A chain of `elif` becomes one `if` in the `else` of the other.
        let clauses = stmt.as_if_stmt().map_or(0, |choice| choice.elif_else_clauses.len());
        self.enter(stmt.range(), 1 + clauses, |this| walk_stmt(this, stmt));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.enter(expr.range(), 1, |this| walk_expr(this, expr));
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        self.enter(pattern.range(), 1, |this| walk_pattern(this, pattern));
    }
}
