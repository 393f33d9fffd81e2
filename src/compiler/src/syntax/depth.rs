//! Nesting limit of source files. The passes recurse for each level of a tree, and so does Rust
//! when it drops one, so a file nested too deeply for the stack is rejected before any pass sees
//! it.

use ruff_python_ast::visitor::{walk_expr, walk_pattern, walk_stmt, Visitor};
use ruff_python_ast::{Expr, ModModule, Pattern, Stmt};
use ruff_text_size::{Ranged, TextRange};

/// Maximum nesting of statements and expressions. Python itself allows a few thousand.
pub(super) const DEEPEST: usize = 500;

/// The innermost allowed statement or expression, if it contains deeper nesting.
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
        // Each level takes at least one character, so short texts can be skipped.
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
        // A chain of `elif` becomes nested `if` statements in `else` blocks.
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
