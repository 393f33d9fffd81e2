//! Widths of integers that the program leaves open: the requirements of operations, the final
//! choice, and truncation.
//!
//! A literal, a default, a global and an argument from the host have no width of their own, nor has
//! the result of an operation on them. Such a type collects requirements: an `int64` operand makes
//! the result wide, a declared width decides it. A width left undecided becomes 64 bits if the type
//! was found to be wide, otherwise 32. An operation whose result was declared narrower than its
//! operands is computed in their width and truncated.

use std::collections::HashSet;

use super::Infer;
use crate::diagnostic::{Diagnostic, Result};
use crate::host::{FunctionKind, HostValue};
use crate::language::{Builtin, Number};
use crate::names::Name;
use crate::program::{ArgSource, CallTarget, Fact, FunctionInstance};
use crate::syntax::*;
use crate::types::{Kind, Ty, Types, WORD};

impl Infer<'_, '_> {
    /// The common type of two operands of the operation that the expression `key` identifies; None
    /// if `result` decides it.
    pub(super) fn promote(&mut self, left: Ty, right: Ty, result: Ty, key: &Expr) -> Option<Ty> {
        let (mut l, mut r) = (self.types().kind(left).clone(), self.types().kind(right).clone());
        match (l == Kind::Bool, r == Kind::Bool) {
            // A bool beside a number is converted to its type.
            (true, true) => (l, r) = (Kind::IntOpen, Kind::IntOpen),
            (true, false) => l = r.clone(),
            (false, true) => r = l.clone(),
            (false, false) => {}
        }
        let any = |kind: Kind| l == kind || r == kind;
        if any(Kind::Var) {
            return None;
        }
        if any(Kind::Float) {
            return Some(self.kind(Kind::Float));
        }
        let (expr, key) = (key, (self.current, key.id));
        if any(Kind::IntOpen) || any(Kind::IntWide) {
            self.was_open.insert(key);
        }
        let wide = any(Kind::Int64) || any(Kind::IntWide);
        if !self.was_open.contains(&key) {
            return Some(self.kind(if wide { Kind::Int64 } else { Kind::Int32 }));
        }
        // Some operand adapts: the result takes the width that its use needs, and this one if the
        // use leaves it open.
        if matches!(self.types().kind(result), Kind::Int32 | Kind::Int64) {
            return None;
        }
        // Host constants, computed exactly as literals are.
        let function = &self.context.program.functions[self.current];
        let large = function
            .constant_integer(expr)
            .is_some_and(|value| i32::try_from(value).is_err());
        Some(self.kind(if wide || large { Kind::IntWide } else { Kind::IntOpen }))
    }

    /// Makes the integer of a constant float wide if it does not fit into 32 bits, unless its use says 32.
    pub(super) fn keep_large(&mut self, given: &Expr, integer: Ty) {
        if self.types().is_open(integer) && !self.function().fits_rounded(given) {
            let wide = self.kind(Kind::IntWide);
            self.types().unify(integer, wide).expect("the width is open");
        }
    }

    /// Decides all undetermined widths.
    pub(super) fn default_widths(&mut self) {
        let program = &mut self.context.program;
        for function in program.functions.iter().filter(|function| !function.is_dead()) {
            walk_operations(&function.ast.body, &mut |operation| {
                narrow_operands(&mut program.types, function, &operation);
            });
        }
        let functions = program.functions.iter();
        let types = functions.flat_map(|f| f.types.iter().chain(&f.locals).chain([&f.returns]));
        let types = types.chain(program.lists.values().map(|list| &list.ty));
        for &ty in types {
            program.types.default_width(ty);
        }
    }

    /// Rejects constants that do not fit where they are used, and warns of operations that truncate
    /// their operands.
    pub(super) fn check_widths(&mut self) -> Result<()> {
        let mut warnings = vec![];
        let program = &self.context.program;
        for function in program.live() {
            let mut result = Ok(());
            walk_operations(&function.ast.body, &mut |operation| {
                if cuts(&program.types, function, &operation) {
                    let text = "the result of this operation on numpy.int64 is truncated to numpy.int32";
                    warnings.push(Diagnostic::new(operation.span, text).help("write int32(…) if that is meant"));
                }
                if rounds_otherwise(&program.types, function, &operation) {
                    let text = "the quotient is rounded down, as in Python; ARTIQ rounds it toward zero";
                    let warning = Diagnostic::new(operation.span, text);
                    let help = "give '//' positive numbers, as in -(7 // 2), for the same result in both";
                    warnings.push(warning.help(help));
                }
            });
            walk_exprs(&function.ast.body, &mut |expr| {
                warnings.extend(overflows(&program.types, function, expr));
            });
            let mut inner = HashSet::new();
            walk_exprs(&function.ast.body, &mut |expr| {
                let ty = function.types[expr.id as usize];
                if let Some((_, [left, right])) = function.operation(expr) {
                    let known = function.constant_integer(expr);
                    // A subexpression of a larger constant may overflow: only the whole must fit.
                    if known.is_some() || inner.contains(&expr.id) {
                        inner.extend([left.id, right.id]);
                    }
                    let unfit = match (known, program.types.kind(ty)) {
                        (Some(value), Kind::Int32) if !fits_word(value) => Some(format!(
                            "the integer {value} does not fit into numpy.int32, which is needed here"
                        )),
                        (Some(value), Kind::Int64) if i64::try_from(value).is_err() => {
                            Some(format!("the integer {value} does not fit into 64 bits"))
                        }
                        (None, Kind::Int32 | Kind::Int64) if function.is_beyond(expr) => {
                            Some("the resulting integer does not fit into 64 bits".into())
                        }
                        _ => None,
                    };
                    if let (Some(text), false, true) = (unfit, inner.contains(&expr.id), result.is_ok()) {
                        result = Err(Diagnostic::new(expr.span, text));
                    }
                }
                let constant = match (&expr.kind, function.facts.get(&expr.id)) {
                    (ExprKind::Int(value), _) => program.types.fits(ty, &HostValue::Int(*value)),
                    (_, Some(Fact::Constant(value))) => program.types.fits(ty, value),
                    (_, Some(Fact::Call(CallTarget::Compiled(id), sources))) => {
                        let passed = program.functions[*id].locals.iter().zip(sources);
                        passed
                            .filter_map(|(&ty, source)| match source {
                                ArgSource::Default(value) => Some((ty, value)),
                                _ => None,
                            })
                            .try_for_each(|(ty, value)| program.types.fits(ty, value))
                    }
                    _ => Ok(()),
                };
                if let (Err(text), true) = (constant, result.is_ok()) {
                    result = Err(Diagnostic::new(expr.span, text));
                }
            });
            result?;
        }
        let entry = program.entry.as_ref().expect("set before inference");
        let instance = &program.functions[entry.function];
        for (index, value) in entry.args.iter().enumerate() {
            let fits = program.types.fits(instance.locals[index], value);
            fits.map_err(|text| Diagnostic::new(instance.ast.params[index].span, text))?;
        }
        for list in program.lists.values() {
            if let Kind::List(elt) = *program.types.kind(list.ty) {
                let mut elements = list.elements().iter();
                let fit = elements.try_for_each(|element| program.types.fits(elt, element));
                fit.map_err(|text| Diagnostic::new(instance.ast.name_span, format!("in a host list: {text}")))?;
            }
        }
        for warning in warnings {
            self.context.warnings.add(*warning);
        }
        Ok(())
    }
}

/// Narrows the operands of an operation with a 32-bit result, if it is one whose low 32 bits depend
/// only on those of the operands.
fn narrow_operands(types: &mut Types, function: &FunctionInstance, operation: &Operation) {
    let operands = match operation.op {
        _ if *types.kind(function.types[operation.result.id as usize]) != Kind::Int32 => &[],
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor => &operation.operands[..],
        BinOp::Shl => &operation.operands[..1],
        _ => &[],
    };
    for operand in operands {
        let ty = function.types[operand.id as usize];
        if types.is_open(ty) && is_calculated(operand) {
            let narrow = types.new_type(Kind::Int32);
            types.unify(ty, narrow).expect("the width is open");
        }
    }
}

/// Whether an expression is computed, so that its type is not that of a variable.
fn is_calculated(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(value) => WORD.contains(value),
        ExprKind::Binary { .. } => true,
        ExprKind::Unary { operand, .. } => is_calculated(operand),
        _ => false,
    }
}

/// The warning for a constant float that is rounded to an integer that is too small for it.
fn overflows(types: &Types, function: &FunctionInstance, expr: &Expr) -> Option<Box<Diagnostic>> {
    let ExprKind::Call { callee, args, .. } = &expr.kind else {
        return None;
    };
    let (Some(Name::Builtin(Builtin::Number(Number::Round | Number::Int))), [given]) =
        (function.names.known(callee), &args[..])
    else {
        return None;
    };
    let value = function.constant_float(given)?;
    let (kind, fits) = match types.kind(function.types[expr.id as usize]) {
        Kind::Int32 => ("int32", function.fits_rounded(given)),
        _ => ("int64", value.abs() < 9.3e18),
    };
    if fits {
        return None;
    }
    let text = format!("{value} does not fit into an {kind}, which is needed here: an OverflowError at run time");
    Some(Diagnostic::new(given.span, text).help("round in 64 bits, as in int64(round(x)), or in smaller units"))
}

/// Whether an operation truncates operands that are not known to fit.
fn cuts(types: &Types, function: &FunctionInstance, operation: &Operation) -> bool {
    let width = |expr: &Expr| {
        let ty = function.types[expr.id as usize];
        types.kind(types.array_parts(ty).map_or(ty, |(elt, _)| elt))
    };
    if *width(operation.result) != Kind::Int32 || operation.op == BinOp::Div {
        return false;
    }
    let constants = operation.operands.map(|operand| function.constant_integer(operand));
    let wide = |index: usize| {
        *width(operation.operands[index]) == Kind::Int64 && constants[index].is_none_or(|value| !fits_word(value))
    };
    constants.contains(&None) && (wide(0) || wide(1))
}

/// Whether a constant shows that an integer quotient may differ from the reference's. Libraries are
/// written for both.
fn rounds_otherwise(types: &Types, function: &FunctionInstance, operation: &Operation) -> bool {
    let ty = function.types[operation.result.id as usize];
    let is_integer = types.is_int(types.array_parts(ty).map_or(ty, |(elt, _)| elt));
    if operation.op != BinOp::FloorDiv
        || !is_integer
        || matches!(function.info.kind, FunctionKind::Compiled { library: true, .. })
    {
        return false;
    }
    match operation.operands.map(|operand| function.constant_integer(operand)) {
        [Some(_), Some(0)] | [None, None] => false,
        [Some(left), Some(right)] => !rounds_alike(left, right),
        [Some(known), None] | [None, Some(known)] => known < 0,
    }
}

fn fits_word(value: i128) -> bool {
    i64::try_from(value).is_ok_and(|value| WORD.contains(&value))
}
