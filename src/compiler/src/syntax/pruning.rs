//! Removes unreachable code: branches that conditions known at compile time exclude, and loops over
//! lists that never have elements.

use super::{walk_expr, Expr, ExprKind, Flow, Function, Stmt, StmtKind};

/// What is known of expressions.
pub trait Known {
    /// The truth of a condition, if it is known.
    fn truth(&self, condition: &Expr) -> Option<bool>;
    /// Whether an iterable never has elements.
    fn is_empty(&self, iterable: &Expr) -> bool;
}

type Truth<'a> = &'a dyn Known;

impl Function {
    /// The function without unreachable code. Expressions keep their ids.
    pub fn pruned(&self, known: &dyn Known) -> Function {
        Function {
            name: self.name.clone(),
            name_span: self.name_span,
            params: self.params.clone(),
            body: body(&self.body, known),
            nonlocals: self.nonlocals.clone(),
            expr_count: self.expr_count,
        }
    }
}

fn body(stmts: &[Stmt], truth: Truth) -> Vec<Stmt> {
    let mut kept: Vec<Stmt> = vec![];
    for stmt in stmts {
        let known = match &stmt.kind {
            StmtKind::If {
                test,
                body: then,
                orelse,
            } => truth.truth(test).map(|known| (test, if known { then } else { orelse })),
            StmtKind::While { test, orelse, .. } if truth.truth(test) == Some(false) => Some((test, orelse)),
            _ => None,
        };
        if let StmtKind::For(stmt) = &stmt.kind {
            if truth.is_empty(&stmt.iter) {
                kept.push(Stmt {
                    span: stmt.iter.span,
                    kind: StmtKind::Expr(pruned(&stmt.iter, truth)),
                });
                kept.extend(body(&stmt.orelse, truth));
                continue;
            }
        }
        let Some((test, branch)) = known else {
            kept.push(statement(stmt, truth));
            continue;
        };
        kept.push(Stmt {
            span: test.span,
            kind: StmtKind::Expr(pruned(test, truth)),
        });
        kept.extend(body(branch, truth));
        let leaves = |stmt: &Stmt| {
            matches!(
                stmt.kind.flow(),
                Flow::Return(_) | Flow::Raise | Flow::Break | Flow::Continue
            )
        };
        if kept.last().is_some_and(leaves) {
            break;
        }
    }
    kept
}

fn statement(stmt: &Stmt, truth: Truth) -> Stmt {
    let mut stmt = stmt.clone();
    let mut block = |stmts: &mut Vec<Stmt>| *stmts = body(stmts, truth);
    stmt.kind.each_part_mut(&mut |expr| expression(expr, truth), &mut block);
    stmt
}

fn pruned(expr: &Expr, truth: Truth) -> Expr {
    let mut expr = expr.clone();
    expression(&mut expr, truth);
    expr
}

/// Whether evaluating an expression has no effects.
pub fn only_reads(expr: &Expr) -> bool {
    let mut found = true;
    walk_expr(expr, &mut |part| {
        found &= !matches!(part.kind, ExprKind::Call { .. } | ExprKind::Named { .. });
    });
    found
}

fn expression(expr: &mut Expr, truth: Truth) {
    match &mut expr.kind {
        ExprKind::BoolOp { and, values } => {
            let ends = values.iter().position(|value| truth.truth(value) == Some(!*and));
            values.truncate(ends.map_or(values.len(), |last| last + 1));
        }
        ExprKind::ListComp { clauses, .. } | ExprKind::Generator { clauses, .. }
            if clauses.iter().any(|clause| truth.is_empty(&clause.iter))
                && clauses.iter().all(|clause| only_reads(&clause.iter)) =>
        {
            expr.kind = ExprKind::List(vec![]);
        }
        ExprKind::IfExp { test, body, orelse } => match truth.truth(test) {
            // The branch not taken may lack types, so the other one replaces it.
            Some(true) => *orelse = body.clone(),
            Some(false) => *body = orelse.clone(),
            None => {}
        },
        _ => {}
    }
    expr.kind.each_part_mut(&mut |expr| expression(expr, truth));
}
