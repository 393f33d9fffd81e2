//! Folding of integer literals: `60 * 1000000000`, `1 << 40`, `-1`. They are computed exactly
//! during parsing and become one literal, whose width depends on its value and its use.

use super::{BinOp, Converter, Expr, ExprKind, UnaryOp};
use crate::diagnostic::{Diagnostic, Result};
use crate::source::Span;

/// The result of `left op right`; None if it is not an integer, if the operation raises, or if it
/// exceeds 128 bits.
pub fn constant_operation(op: BinOp, left: i128, right: i128) -> Option<i128> {
    match op {
        BinOp::Add => left.checked_add(right),
        BinOp::Sub => left.checked_sub(right),
        BinOp::Mul => left.checked_mul(right),
        BinOp::FloorDiv => {
            let quotient = left.checked_div(right)?;
            Some(quotient - i128::from(!rounds_alike(left, right)))
        }
        BinOp::Mod => {
            let rest = left.checked_rem(right)?;
            Some(if rest != 0 && (rest < 0) != (right < 0) {
                rest + right
            } else {
                rest
            })
        }
        BinOp::Pow => left.checked_pow(u32::try_from(right).ok()?),
        BinOp::Shl if left == 0 => (right >= 0).then_some(0),
        BinOp::Shl => 1_i128
            .checked_shl(u32::try_from(right).ok()?)
            .filter(|&factor| factor > 0)
            .and_then(|factor| left.checked_mul(factor)),
        BinOp::Shr => (right >= 0).then(|| left >> right.min(127)),
        BinOp::And => Some(left & right),
        BinOp::Or => Some(left | right),
        BinOp::Xor => Some(left ^ right),
        BinOp::Div | BinOp::MatMul => None,
    }
}

/// Whether a quotient is the same rounded down and toward zero; the divisor is not zero.
pub fn rounds_alike(left: i128, right: i128) -> bool {
    (left < 0) == (right < 0) || left.checked_rem(right).is_none_or(|rest| rest == 0)
}

/// Whether an operation without result failed because it exceeds 128 bits.
pub fn overflows(op: BinOp, right: i128) -> bool {
    match op {
        BinOp::Add | BinOp::Sub | BinOp::Mul => true,
        BinOp::Pow | BinOp::Shl => right >= 0,
        _ => false,
    }
}

impl Converter<'_> {
    fn constant_integer(&self, expr: &Expr) -> Option<i128> {
        match expr.kind {
            ExprKind::Int(value) => Some(self.wide.get(&expr.id).copied().unwrap_or(value.into())),
            _ => None,
        }
    }

    /// A literal with this value; values that do not fit are recorded in `wide`.
    fn known(&mut self, span: Span, value: i128) -> Expr {
        let narrow = i64::try_from(value);
        let expr = self.make(span, ExprKind::Int(narrow.unwrap_or_default()));
        if narrow.is_err() {
            self.wide.insert(expr.id, value);
            self.wide_at.get_or_insert(span);
        }
        expr
    }

    /// Converts an integer literal of the source; None if it is out of range.
    pub(super) fn integer_literal(&mut self, span: Span, value: Option<i128>) -> Result<Expr> {
        match value {
            Some(value) => Ok(self.known(span, value)),
            None => Err(out_of_range(span)),
        }
    }

    pub(super) fn unary(&mut self, span: Span, op: UnaryOp, operand: Expr) -> Expr {
        let known = self.constant_integer(&operand).and_then(|value| match op {
            UnaryOp::Neg => value.checked_neg(),
            UnaryOp::Pos => Some(value),
            UnaryOp::Invert => Some(!value),
            UnaryOp::Not => None,
        });
        match known {
            Some(value) => {
                self.remove_wide(&operand);
                self.known(span, value)
            }
            None => {
                let operand = Box::new(operand);
                self.make(span, ExprKind::Unary { op, operand })
            }
        }
    }

    pub(super) fn binary(&mut self, span: Span, op: BinOp, left: Expr, right: Expr) -> Result<Expr> {
        if let (Some(l), Some(r)) = (self.constant_integer(&left), self.constant_integer(&right)) {
            // A quotient that differs in the reference is left to a later pass, which warns of it.
            let warned = op == BinOp::FloorDiv && r != 0 && !rounds_alike(l, r) && self.wide.is_empty();
            match constant_operation(op, l, r) {
                Some(_) if warned => {}
                Some(value) => {
                    self.remove_wide(&left);
                    self.remove_wide(&right);
                    return Ok(self.known(span, value));
                }
                None if overflows(op, r) => return Err(out_of_range(span)),
                None => {}
            }
        }
        let (left, right) = (Box::new(left), Box::new(right));
        Ok(self.make(span, ExprKind::Binary { op, left, right }))
    }

    fn remove_wide(&mut self, expr: &Expr) {
        self.wide.remove(&expr.id);
        if self.wide.is_empty() {
            self.wide_at = None;
        }
    }

    /// Rejects a function in which an integer beyond 64 bits remains.
    pub(super) fn require_narrow(&self) -> Result<()> {
        match self.wide_at {
            Some(span) => Err(out_of_range(span)),
            None => Ok(()),
        }
    }
}

fn out_of_range(span: Span) -> Box<Diagnostic> {
    Diagnostic::new(span, "integer literal out of range for a signed 64-bit value")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_operators_are_exact_or_undefined() {
        assert_eq!(constant_operation(BinOp::Mul, 60, 1_000_000_000), Some(60_000_000_000));
        assert_eq!(constant_operation(BinOp::Pow, 3, 34), Some(16_677_181_699_666_569));
        assert_eq!(constant_operation(BinOp::Shl, -1, 63), Some(i64::MIN.into()));
        assert_eq!(constant_operation(BinOp::Shl, 1, 127), None);
        assert_eq!(constant_operation(BinOp::Shr, -8, 200), Some(-1));
        assert_eq!(constant_operation(BinOp::Shl, 1, -1), None);
        assert_eq!(constant_operation(BinOp::Pow, 2, -1), None);
        assert_eq!(
            (
                constant_operation(BinOp::FloorDiv, -7, 2),
                constant_operation(BinOp::Mod, -7, 2)
            ),
            (Some(-4), Some(1))
        );
        assert_eq!(
            (
                constant_operation(BinOp::FloorDiv, 1, 0),
                constant_operation(BinOp::Mod, 1, 0)
            ),
            (None, None)
        );
    }
}
