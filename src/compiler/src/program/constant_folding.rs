//! Compile-time evaluation of integer expressions that contain host constants. They are computed
//! exactly, as the parser does for literals.

use super::{Fact, FunctionInstance};
use crate::host::HostValue;
use crate::syntax::{constant_operation, overflows, CmpOp, Expr, ExprKind, UnaryOp};
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
            (ExprKind::Binary { op, left, right }, _) => {
                constant_operation(*op, self.constant_integer(left)?, self.constant_integer(right)?)
            }
            _ => None,
        }
    }

    /// Whether an operation on known integers has a result beyond 128 bits.
    pub fn is_beyond(&self, expr: &Expr) -> bool {
        let ExprKind::Binary { op, left, right } = &expr.kind else {
            return false;
        };
        match (self.constant_integer(left), self.constant_integer(right)) {
            (Some(left), Some(right)) => constant_operation(*op, left, right).is_none() && overflows(*op, right),
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
