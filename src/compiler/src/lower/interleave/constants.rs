//! Constant numbers at compile time, for delays and loop unrolling.

use super::{Interleave, MOST_STEPS};
use crate::builtins::{self, Site};
use crate::diagnostic::Result;
use crate::ir::*;
use crate::language::{Builtin, Sequence};
use crate::names::Name;
use crate::program::Fact;
use crate::syntax::*;
use crate::types::Kind;

/// Whether any statement assigns to a variable.
pub(super) fn assigns(body: &[Stmt], variable: &str) -> bool {
    fn is_target(target: &Expr, variable: &str) -> bool {
        match &target.kind {
            ExprKind::Name(name) => &**name == variable,
            ExprKind::Tuple(parts) | ExprKind::List(parts) => parts.iter().any(|part| is_target(part, variable)),
            _ => false,
        }
    }
    let mut found = false;
    walk_stmts(body, &mut |stmt| {
        stmt.kind.each_part(&mut |part| match part {
            Part::Target(target, _) | Part::Update(target) => found |= is_target(target, variable),
            Part::Variable(name, _) => found |= &**name == variable,
            Part::Expr(_) | Part::Block(_) => {}
        });
    });
    walk_exprs(body, &mut |expr| {
        expr.kind.each_variable(&mut |name, _| found |= &**name == variable);
    });
    found
}

/// The value if it is a constant number.
pub(super) fn number(value: Value) -> Option<Value> {
    (value.as_int().is_some() || value.as_float().is_some()).then_some(value)
}

impl<'p> Interleave<'_, '_, 'p> {
    /// The values of a `range()` with constant arguments.
    pub(super) fn range(&mut self, frame: usize, iter: &'p Expr) -> Result<Option<Vec<Value>>> {
        let function = self.frames[frame].function;
        let kind = |expr: &Expr| self.emitter.module.program.types.kind(function.types[expr.id as usize]);
        let (ExprKind::Call { callee, args, .. }, Kind::Range(elt)) = (&iter.kind, kind(iter)) else {
            return Ok(None);
        };
        if *kind(callee) != Kind::Builtin(Builtin::Sequence(Sequence::Range)) {
            return Ok(None);
        }
        let ty = self.emitter.module.ir_type(*elt);
        let mut bounds = vec![];
        for arg in args {
            match self.constant(frame, arg)?.and_then(|value| value.as_int()) {
                Some(value) => bounds.push(value),
                None => return Ok(None),
            }
        }
        let (mut at, stop, step) = match bounds[..] {
            [stop] => (0, stop, 1),
            [start, stop] => (start, stop, 1),
            [start, stop, step] if step != 0 => (start, stop, step),
            _ => return Ok(None),
        };
        let mut values = vec![];
        while (if step > 0 { at < stop } else { at > stop }) && values.len() <= MOST_STEPS {
            values.push(Value::int(ty.clone(), at));
            let Some(next) = at.checked_add(step) else { break };
            at = next;
        }
        Ok(Some(values))
    }

    /// The value of a numeric expression if it is constant.
    pub(super) fn constant(&mut self, frame: usize, expr: &'p Expr) -> Result<Option<Value>> {
        let function = self.frames[frame].function;
        let ir_type = |this: &Self, expr: &Expr| this.emitter.module.ir_type(function.types[expr.id as usize]);
        let value = match &expr.kind {
            ExprKind::Int(value) => Value::int(ir_type(self, expr), *value),
            ExprKind::Float(value) => Value::float(*value),
            ExprKind::Name(_) => match function.names.of(expr) {
                Name::Local(local) => return Ok(self.frames[frame].known.get(local).cloned()),
                Name::Host(value) => self.emitter.module.constant(value, &ir_type(self, expr)),
                Name::Builtin(_) => return Ok(None),
            },
            ExprKind::Attribute { value, name, .. } => {
                if let Some(Fact::Constant(value)) = function.facts.get(&expr.id) {
                    return Ok(number(self.emitter.module.constant(value, &ir_type(self, expr))));
                }
                let Kind::Instance(class) = self
                    .emitter
                    .module
                    .program
                    .types
                    .kind(function.types[value.id as usize])
                else {
                    return Ok(None);
                };
                return Ok(self.emitter.module.needed_constant(*class, name).and_then(number));
            }
            ExprKind::Unary {
                op: UnaryOp::Neg,
                operand,
            } => match self.constant(frame, operand)? {
                Some(value) => self.emitter.build.negated(value),
                None => return Ok(None),
            },
            ExprKind::Binary { op, left, right } => {
                let (left, right) = (
                    (self.constant(frame, left)?, left),
                    (self.constant(frame, right)?, right),
                );
                let (Some(a), Some(b)) = (left.0, right.0) else {
                    return Ok(None);
                };
                let [a_ty, b_ty, ty] = [left.1.id, right.1.id, expr.id].map(|id| function.types[id as usize]);
                self.emitter.arithmetic(*op, (a, a_ty), (b, b_ty), ty)?
            }
            ExprKind::Call { callee, args, keywords } => {
                let kind = self
                    .emitter
                    .module
                    .program
                    .types
                    .kind(function.types[callee.id as usize]);
                let Kind::Builtin(builtin @ Builtin::Number(_)) = kind else {
                    return Ok(None);
                };
                let mut values = vec![];
                for arg in args {
                    match self.constant(frame, arg)? {
                        Some(value) => values.push(value),
                        None => return Ok(None),
                    }
                }
                let site = Site {
                    whole: expr,
                    args,
                    keywords,
                };
                self.within(frame, |emitter| builtins::code(emitter, *builtin, site, values))?
            }
            _ => return Ok(None),
        };
        Ok(number(value))
    }
}
