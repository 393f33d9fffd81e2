//! Compile-time evaluation of integer expressions that contain host constants. They are computed
//! exactly, as the parser does for literals.

use super::{Fact, FunctionInstance};
use crate::host::HostValue;
use crate::language::{Arithmetic, Builtin};
use crate::names::Name;
use crate::syntax::{constant_operation, overflows, BinOp, CmpOp, Expr, ExprKind, UnaryOp};
use crate::types::Types;

impl FunctionInstance {
    /// The value of an integer expression, if known. It is exact, whatever the widths of its
    /// operands.
    pub fn constant_integer(&self, expr: &Expr) -> Option<i128> {
        match (&expr.kind, self.facts.get(&expr.id)) {
            (ExprKind::Int(value), _) | (_, Some(Fact::Constant(HostValue::Int(value)))) => Some((*value).into()),
            (
                ExprKind::Unary {
                    op: UnaryOp::Neg,
                    operand,
                },
                _,
            ) => self.constant_integer(operand)?.checked_neg(),
            _ => {
                let (op, [left, right]) = self.operation(expr)?;
                constant_operation(op, self.constant_integer(left)?, self.constant_integer(right)?)
            }
        }
    }

    /// An operation on two values, and its operands; also one by name, `pow(a, b)`.
    pub fn operation<'a>(&self, expr: &'a Expr) -> Option<(BinOp, [&'a Expr; 2])> {
        match &expr.kind {
            ExprKind::Binary { op, left, right } => Some((*op, [left, right])),
            ExprKind::Call { callee, args, .. } => match (self.names.known(callee), &args[..]) {
                (Some(Name::Builtin(Builtin::Arithmetic(Arithmetic::Pow))), [base, exponent]) => {
                    Some((BinOp::Pow, [base, exponent]))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The value of an expression of numbers, if known, as a float.
    pub fn constant_float(&self, expr: &Expr) -> Option<f64> {
        match (&expr.kind, self.facts.get(&expr.id)) {
            (ExprKind::Float(value), _) | (_, Some(Fact::Constant(HostValue::Float(value)))) => Some(*value),
            (
                ExprKind::Unary {
                    op: UnaryOp::Neg,
                    operand,
                },
                _,
            ) => Some(-self.constant_float(operand)?),
            (ExprKind::Binary { op, left, right }, _) if !op.integer_only() => {
                let (left, right) = (self.constant_float(left)?, self.constant_float(right)?);
                match op {
                    BinOp::Add => Some(left + right),
                    BinOp::Sub => Some(left - right),
                    BinOp::Mul => Some(left * right),
                    BinOp::Div => Some(left / right),
                    _ => None,
                }
            }
            _ => self.constant_integer(expr).map(|value| value as f64),
        }
    }

    /// Whether an expression is a number that, rounded, fits into 32 bits, or is not known.
    pub fn fits_rounded(&self, expr: &Expr) -> bool {
        let value = self.constant_float(expr);
        value.is_none_or(|value| (f64::from(i32::MIN) - 0.5..f64::from(i32::MAX) + 0.5).contains(&value))
    }

    /// Whether an operation on known integers has a result beyond 128 bits.
    pub fn is_beyond(&self, expr: &Expr) -> bool {
        let Some((op, [left, right])) = self.operation(expr) else {
            return false;
        };
        match (self.constant_integer(left), self.constant_integer(right)) {
            (Some(left), Some(right)) => constant_operation(op, left, right).is_none() && overflows(op, right),
            _ => false,
        }
    }

    /// Whether an expression compares two arrays for equality: as a condition this yields a single
    /// bool, otherwise one for each element.
    pub fn is_equality_of_arrays(&self, expr: &Expr, types: &Types) -> bool {
        let ExprKind::Compare { first, rest } = &expr.kind else {
            return false;
        };
        let is_array = |side: &Expr| types.is_array(self.types[side.id as usize]);
        matches!(&rest[..], [(CmpOp::Eq | CmpOp::NotEq, second)] if is_array(first) && is_array(second))
    }
}
