//! Names: which are variables of the function, which belong to the language, which are the host's.

use std::collections::HashMap;
use std::rc::Rc;

use crate::ast::*;
use crate::diagnostic::{Diagnostic, Result};
use crate::host::{Handle, Host, HostValue};
use crate::source::Span;

/// Index of a local variable; parameters come first.
pub type LocalId = u32;

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Name {
    Local(LocalId),
    /// Of the language itself.
    Builtin(&'static str),
    Host(HostValue),
}

/// The names that every kernel knows. They win over module globals.
pub const PRELUDE: &[&str] = &[
    "bool",
    "int",
    "float",
    "str",
    "bytes",
    "bytearray",
    "list",
    "range",
    "int32",
    "int64",
    "Exception",
    "IndexError",
    "ValueError",
    "ZeroDivisionError",
    "RuntimeError",
    "len",
    "round",
    "abs",
    "min",
    "max",
    "print",
    "kernel",
    "subkernel",
    "portable",
    "rpc",
    "parallel",
    "interleave",
    "sequential",
    "delay",
    "now_mu",
    "delay_mu",
    "at_mu",
    "rtio_log",
    "core_log",
    "subkernel_await",
    "subkernel_preload",
    "subkernel_send",
    "subkernel_recv",
];

/// Functions of NumPy and SciPy that kernels know: name, and the firmware's function if it is one of floats. Kernels reach them
/// through the host's names only.
pub const NUMPY: &[(&str, Option<(&str, usize)>)] = &[
    ("numpy.array", None),
    ("numpy.full", None),
    ("numpy.transpose", None),
    ("numpy.sin", Some(("sin", 1))),
    ("numpy.cos", Some(("cos", 1))),
    ("numpy.tan", Some(("tan", 1))),
    ("numpy.arcsin", Some(("asin", 1))),
    ("numpy.arccos", Some(("acos", 1))),
    ("numpy.arctan", Some(("atan", 1))),
    ("numpy.sinh", Some(("sinh", 1))),
    ("numpy.cosh", Some(("cosh", 1))),
    ("numpy.tanh", Some(("tanh", 1))),
    ("numpy.arcsinh", Some(("asinh", 1))),
    ("numpy.arccosh", Some(("acosh", 1))),
    ("numpy.arctanh", Some(("atanh", 1))),
    ("numpy.exp", Some(("exp", 1))),
    ("numpy.exp2", Some(("exp2", 1))),
    ("numpy.expm1", Some(("expm1", 1))),
    ("numpy.log", Some(("log", 1))),
    ("numpy.log10", Some(("log10", 1))),
    ("numpy.log2", Some(("log2", 1))),
    ("numpy.sqrt", Some(("sqrt", 1))),
    ("numpy.cbrt", Some(("cbrt", 1))),
    ("numpy.fabs", Some(("fabs", 1))),
    ("numpy.floor", Some(("floor", 1))),
    ("numpy.ceil", Some(("ceil", 1))),
    ("numpy.trunc", Some(("trunc", 1))),
    // Half away from zero, as the reference has it.
    ("numpy.rint", Some(("round", 1))),
    ("numpy.arctan2", Some(("atan2", 2))),
    ("numpy.copysign", Some(("copysign", 2))),
    ("numpy.fmax", Some(("fmax", 2))),
    ("numpy.fmin", Some(("fmin", 2))),
    ("numpy.hypot", Some(("hypot", 2))),
    ("numpy.nextafter", Some(("nextafter", 2))),
    ("scipy.special.erf", Some(("erf", 1))),
    ("scipy.special.erfc", Some(("erfc", 1))),
    ("scipy.special.gamma", Some(("tgamma", 1))),
    ("scipy.special.gammaln", Some(("lgamma", 1))),
    ("scipy.special.j0", Some(("j0", 1))),
    ("scipy.special.j1", Some(("j1", 1))),
    ("scipy.special.y0", Some(("y0", 1))),
    ("scipy.special.y1", Some(("y1", 1))),
];

/// The name of a function that host code can hand to a kernel: of the language, NumPy or SciPy.
pub fn builtin(name: &str) -> Option<&'static str> {
    prelude(name).or_else(|| NUMPY.iter().map(|(known, _)| *known).find(|&known| known == name))
}

/// The firmware's function for a mathematical one, and its number of arguments.
pub fn mathematics(name: &str) -> Option<(&'static str, usize)> {
    NUMPY
        .iter()
        .find(|(known, _)| *known == name)
        .and_then(|(_, function)| *function)
}

/// Whether a function of the firmware only computes.
pub fn is_mathematics(symbol: &str) -> bool {
    let numpy = NUMPY.iter().filter_map(|(_, function)| *function);
    ["floor", "fmod", "pow", "round", "__powidf2"].contains(&symbol)
        || numpy.map(|(known, _)| known).any(|known| known == symbol)
}

/// The name of the language spelt `name`, if there is one.
pub fn prelude(name: &str) -> Option<&'static str> {
    PRELUDE.iter().find(|&&known| known == name).copied()
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

    fn declare(&mut self, name: &Rc<str>, span: Span) {
        if !self.index.contains_key(name) {
            self.index.insert(name.clone(), self.locals.len() as LocalId);
            self.locals.push(Local {
                name: name.clone(),
                span,
            });
        }
    }
}

/// Finds out what every name of `function` stands for.
pub fn resolve(function: &Function, handle: Handle, host: &mut dyn Host) -> Result<Names> {
    let mut names = Names::default();
    for param in &function.params {
        names.declare(&param.name, param.span);
    }
    walk_stmts(&function.body, &mut |stmt| match &stmt.kind {
        StmtKind::Assign { targets, .. } => targets.iter().for_each(|target| declare_target(target, &mut names)),
        StmtKind::AugAssign { target, .. } | StmtKind::For { target, .. } => declare_target(target, &mut names),
        StmtKind::Try { handlers, .. } => handlers.iter().for_each(|handler| {
            if let Some(name) = &handler.name {
                names.declare(name, handler.span);
            }
        }),
        _ => {}
    });
    walk_exprs(&function.body, &mut |expr| {
        if let ExprKind::ListComp { target, .. } = &expr.kind {
            declare_target(target, &mut names);
        }
    });
    let mut error = None;
    walk_exprs(&function.body, &mut |expr| {
        if let (ExprKind::Name(name), None) = (&expr.kind, &error) {
            match lookup(name, expr.span, handle, &names, host) {
                Ok(found) => _ = names.by_expr.insert(expr.id, found),
                Err(wrong) => error = Some(wrong),
            }
        }
    });
    error.map_or(Ok(names), Err)
}

fn lookup(name: &Rc<str>, span: Span, function: Handle, names: &Names, host: &mut dyn Host) -> Result<Name> {
    if let Some(local) = names.local(name) {
        return Ok(Name::Local(local));
    }
    if let Some(builtin) = prelude(name) {
        return Ok(Name::Builtin(builtin));
    }
    if let Some(value) = host
        .global(function, name)
        .map_err(|text| Diagnostic::new(span, text))?
    {
        return Ok(match value {
            HostValue::Builtin(builtin) => Name::Builtin(builtin),
            value => Name::Host(value),
        });
    }
    let mut candidates = host.global_names(function);
    candidates.extend(PRELUDE.iter().map(|name| name.to_string()));
    candidates.extend(names.locals.iter().map(|local| local.name.to_string()));
    let error = Diagnostic::new(span, format!("name '{name}' is not bound to anything")).here("not known here");
    Err(match closest(name, candidates) {
        Some(near) => error.help(format!("did you mean '{near}'?")),
        None => error,
    })
}

/// The candidate most like `name`, if one is close enough to be a misspelling.
pub fn closest(name: &str, candidates: Vec<String>) -> Option<String> {
    let limit = (name.chars().count() / 3).max(1);
    let near = candidates
        .into_iter()
        .map(|candidate| (distance(name, &candidate), candidate));
    near.filter(|(d, _)| *d <= limit).min().map(|(_, candidate)| candidate)
}

/// Edits between two words: letters inserted, removed, replaced, or neighbours swapped.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            if i == 0 || j == 0 {
                table[i][j] = i + j;
                continue;
            }
            let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(table[i - 2][j - 2] + 1);
            }
            table[i][j] = least;
        }
    }
    table[a.len()][b.len()]
}

fn declare_target(target: &Expr, names: &mut Names) {
    match &target.kind {
        ExprKind::Name(name) => names.declare(name, target.span),
        ExprKind::Tuple(elts) | ExprKind::List(elts) => elts.iter().for_each(|elt| declare_target(elt, names)),
        _ => {}
    }
}

/// Visits every statement, outer before inner.
pub fn walk_stmts<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a Stmt)) {
    for stmt in body {
        visit(stmt);
        match &stmt.kind {
            StmtKind::If { body, orelse, .. }
            | StmtKind::While { body, orelse, .. }
            | StmtKind::For { body, orelse, .. } => {
                walk_stmts(body, visit);
                walk_stmts(orelse, visit);
            }
            StmtKind::With { body, .. } => walk_stmts(body, visit),
            StmtKind::Try {
                body,
                handlers,
                orelse,
                finally,
            } => {
                walk_stmts(body, visit);
                handlers.iter().for_each(|handler| walk_stmts(&handler.body, visit));
                walk_stmts(orelse, visit);
                walk_stmts(finally, visit);
            }
            _ => {}
        }
    }
}

/// Visits every expression, outer before inner.
pub fn walk_exprs<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a Expr)) {
    walk_stmts(body, &mut |stmt| match &stmt.kind {
        StmtKind::Expr(expr) => walk_expr(expr, visit),
        StmtKind::Assign { targets, value } => {
            walk_expr(value, visit);
            targets.iter().for_each(|target| walk_expr(target, visit));
        }
        StmtKind::AugAssign { target, value, .. } => {
            walk_expr(target, visit);
            walk_expr(value, visit);
        }
        StmtKind::If { test, .. } | StmtKind::While { test, .. } => walk_expr(test, visit),
        StmtKind::For { target, iter, .. } => {
            walk_expr(iter, visit);
            walk_expr(target, visit);
        }
        StmtKind::With { context, .. } => walk_expr(context, visit),
        StmtKind::Try { handlers, .. } => {
            handlers
                .iter()
                .filter_map(|handler| handler.class.as_ref())
                .for_each(|class| walk_expr(class, visit));
        }
        StmtKind::Raise(value) | StmtKind::Return(value) => value.iter().for_each(|value| walk_expr(value, visit)),
        StmtKind::Assert { test, message } => {
            walk_expr(test, visit);
            message.iter().for_each(|message| walk_expr(message, visit));
        }
        StmtKind::Break | StmtKind::Continue | StmtKind::Pass => {}
    });
}

/// Visits an expression and everything in it.
pub fn walk_expr<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    visit(expr);
    let mut each = |expr: &'a Expr| walk_expr(expr, visit);
    match &expr.kind {
        ExprKind::Attribute { value, .. } => each(value),
        ExprKind::Unary { operand, .. } => each(operand),
        ExprKind::Subscript { value, index } => [value, index].into_iter().for_each(|e| each(e)),
        ExprKind::Binary { left, right, .. } => [left, right].into_iter().for_each(|e| each(e)),
        ExprKind::Call { callee, args, keywords } => {
            each(callee);
            args.iter().for_each(&mut each);
            keywords.iter().for_each(|keyword| each(&keyword.value));
        }
        ExprKind::Compare { first, rest } => {
            each(first);
            rest.iter().for_each(|(_, value)| each(value));
        }
        ExprKind::IfExp { test, body, orelse } => [test, body, orelse].into_iter().for_each(|e| each(e)),
        ExprKind::BoolOp { values, .. } | ExprKind::List(values) | ExprKind::Tuple(values) => {
            values.iter().for_each(each)
        }
        ExprKind::ListComp { element, target, iter } => [iter, target, element].into_iter().for_each(|e| each(e)),
        ExprKind::Slice { value, bounds } => {
            each(value);
            bounds.iter().flatten().for_each(|bound| each(bound));
        }
        ExprKind::None
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Str(_)
        | ExprKind::Name(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspellings_find_their_neighbour() {
        let known = || vec!["delay".to_string(), "parallel".to_string(), "x".to_string()];
        assert_eq!(closest("delya", known()).as_deref(), Some("delay"));
        assert_eq!(closest("dely", known()).as_deref(), Some("delay"));
        assert_eq!(closest("paralel", known()).as_deref(), Some("parallel"));
        assert_eq!(closest("nothing", known()), None);
    }
}
