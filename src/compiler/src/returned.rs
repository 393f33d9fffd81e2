//! Which functions leave memory behind on their stack: returned values, and values stored in
//! attributes or lists. Their callers keep all the stack that such a function used, as if it were
//! their own.

use std::collections::HashSet;

use crate::escape::has_memory;
use crate::program::{CallTarget, Fact, FunctionInstance, Program};
use crate::syntax::*;
use crate::types::Kind;

/// Symbols of functions. The sets are conservative: they may contain a function needlessly.
type Symbols<'p> = HashSet<&'p str>;

/// Functions whose callers keep their stack.
pub struct Returning<'p> {
    /// Functions that may return memory on their stack: allocated by themselves, received from the
    /// host, or kept from their callees. Includes `keeping`.
    all: Symbols<'p>,
    /// Functions that may store memory received from a call in an attribute or a list, or call
    /// others that do.
    keeping: Symbols<'p>,
}

impl<'p> Returning<'p> {
    pub fn of(program: &'p Program) -> Returning<'p> {
        let has_result = |function: &FunctionInstance| has_memory(&program.types, function.returns);
        let mut all = fixed_point(program, |function, found| {
            has_result(function) && makes_memory(program, function, found)
        });
        let keeping = fixed_point(program, |function, found| {
            keeps(program, function, &all) || calls(program, function, found)
        });
        all.extend(&keeping);
        Returning { all, keeping }
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn contains(&self, symbol: &str) -> bool {
        self.all.contains(symbol)
    }

    /// Whether an expression is a call that stores memory in an attribute or a list.
    pub fn is_kept(&self, program: &Program, function: &FunctionInstance, expr: &Expr) -> bool {
        called(program, function, expr, &mut |symbol| self.keeping.contains(symbol))
    }
}

/// Fixed point of `is_one`, which depends on the functions found so far.
fn fixed_point<'p>(
    program: &'p Program,
    mut is_one: impl FnMut(&'p FunctionInstance, &Symbols<'p>) -> bool,
) -> Symbols<'p> {
    let mut others: Vec<&FunctionInstance> = program.live().collect();
    let mut found = Symbols::new();
    loop {
        let known = found.len();
        others.retain(|function| {
            let one = is_one(function, &found);
            if one {
                found.insert(&function.symbol);
            }
            !one
        });
        if found.len() == known {
            return found;
        }
    }
}

/// Whether an expression calls, or may call, a function of the program for which `is_one` holds.
fn called(program: &Program, function: &FunctionInstance, expr: &Expr, is_one: &mut dyn FnMut(&str) -> bool) -> bool {
    let mut test = |target: &CallTarget| match target {
        CallTarget::Compiled(id) => is_one(&program.functions[*id].symbol),
        CallTarget::Rpc(_) | CallTarget::Syscall(_) => false,
    };
    match function.facts.get(&expr.id) {
        Some(Fact::Call(target, _)) => test(target),
        Some(Fact::Choice(calls)) => calls.iter().any(|(_, target, _)| test(target)),
        _ => false,
    }
}

fn calls(program: &Program, function: &FunctionInstance, found: &Symbols) -> bool {
    if found.is_empty() {
        return false;
    }
    let mut any = false;
    walk_exprs(&function.ast.body, &mut |expr| {
        any |= called(program, function, expr, &mut |symbol| found.contains(symbol));
    });
    any
}

/// Whether a function may store a value obtained from a call in an attribute or a list. `lifetime`
/// rejects storing values that the function allocated itself.
fn keeps(program: &Program, function: &FunctionInstance, returning: &Symbols) -> bool {
    let has_memory = |expr: &Expr| has_memory(&program.types, function.types[expr.id as usize]);
    let mut stores = false;
    walk_stmts(&function.ast.body, &mut |stmt| {
        stmt.kind.each_part(&mut |part| {
            if let Part::Target(target, _) | Part::Update(target) = part {
                walk_expr(target, &mut |part| {
                    let is_place = !matches!(part.kind, ExprKind::Name(_) | ExprKind::Tuple(_) | ExprKind::List(_));
                    stores |= is_place && has_memory(part);
                });
            }
        });
    });
    if !stores {
        return false;
    }
    let mut given = false;
    walk_exprs(&function.ast.body, &mut |expr| {
        let from_host = matches!(function.facts.get(&expr.id), Some(Fact::Call(CallTarget::Rpc(_), _)));
        given |= has_memory(expr)
            && (from_host || called(program, function, expr, &mut |symbol| returning.contains(symbol)));
    });
    given
}

/// Whether a function creates a value with memory.
fn makes_memory(program: &Program, function: &FunctionInstance, returning: &Symbols) -> bool {
    let is_returned = |target: &CallTarget| match target {
        CallTarget::Compiled(id) => returning.contains(&*program.functions[*id].symbol),
        CallTarget::Rpc(_) | CallTarget::Syscall(_) => true,
    };
    let mut makes = false;
    walk_exprs(&function.ast.body, &mut |expr| {
        if makes || !has_memory(&program.types, function.types[expr.id as usize]) {
            return;
        }
        makes = match &expr.kind {
            ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Subscript { .. } => false,
            ExprKind::Str(_) | ExprKind::Bytes(_) => false,
            // Their parts are visited separately.
            ExprKind::Tuple(_) | ExprKind::IfExp { .. } | ExprKind::BoolOp { .. } | ExprKind::Named { .. } => false,
            ExprKind::Call { callee, .. } => match function.facts.get(&expr.id) {
                _ if matches!(
                    program.types.kind(function.types[callee.id as usize]),
                    Kind::Namespace(..)
                ) =>
                {
                    true
                }
                Some(Fact::Call(target, _)) => is_returned(target),
                Some(Fact::Choice(calls)) => calls.iter().any(|(_, target, _)| is_returned(target)),
                _ => true,
            },
            _ => true,
        };
    });
    makes
}
