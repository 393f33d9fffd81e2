//! Types of operations on NumPy arrays.

use super::Infer;
use crate::diagnostic::{Diagnostic, Result};
use crate::source::Span;
use crate::syntax::*;
use crate::types::{Kind, Ty};

impl Infer<'_, '_> {
    /// Type of the elements of an array that the expression `whole` makes.
    fn result_elements(&mut self, whole: &Expr, dims: u8) -> Result<Ty> {
        let result = self.function().types[whole.id as usize];
        if let Some((elt, _)) = self.types().array_parts(result) {
            return Ok(elt);
        }
        let elt = self.types().var();
        let array = self.kind(Kind::Array(elt, dims));
        self.unify(result, array, whole.span, "this array")?;
        Ok(elt)
    }

    /// `left op right`, one of which is an array.
    pub(super) fn array_binary(&mut self, op: BinOp, left: (Ty, Span), right: (Ty, Span), whole: &Expr) -> Result<()> {
        let (l, r) = self.array_operands(op, left, right)?;
        if op == BinOp::MatMul {
            return self.matrix_product((l, left.1), (r, right.1), whole);
        }
        let dims = l.1.max(r.1);
        let elt = self.result_elements(whole, dims)?;
        let result = match op {
            BinOp::Div => Some(self.kind(Kind::Float)),
            _ => self.promote(l.0, r.0, elt, whole),
        };
        match result {
            Some(result) => self.unify(elt, result, whole.span, "the elements"),
            None => Ok(()),
        }
    }

    /// Checks the operands; gives for each the type of its elements and its dimensions, 0 for a number.
    fn array_operands(&mut self, op: BinOp, left: (Ty, Span), right: (Ty, Span)) -> Result<((Ty, u8), (Ty, u8))> {
        if op.integer_only() {
            let text = format!("operator '{}' not valid for array types", op.symbol());
            return Err(Diagnostic::new(left.1.to(right.1), text));
        }
        let [l, r] = [left.0, right.0].map(|ty| self.types().array_parts(ty).unwrap_or((ty, 0)));
        self.types().require_numeric(l.0, left.1)?;
        self.types().require_numeric(r.0, right.1)?;
        if op != BinOp::MatMul && l.1 != r.1 && l.1 * r.1 != 0 {
            let text = format!("dimensions of '{}' array operands must match", op.symbol());
            let error = Diagnostic::new(left.1.to(right.1), text);
            return Err(error.here(format!("they are {} and {}", l.1, r.1)));
        }
        Ok((l, r))
    }

    fn matrix_product(&mut self, left: ((Ty, u8), Span), right: ((Ty, u8), Span), whole: &Expr) -> Result<()> {
        for ((_, dims), span) in [left, right] {
            if !(1..=2).contains(&dims) {
                return Err(Diagnostic::new(span, "'@' works on arrays of one or two dimensions"));
            }
        }
        let (((l, m), _), ((r, n), _)) = (left, right);
        let elt = match m + n - 2 {
            0 => self.function().types[whole.id as usize],
            dims => self.result_elements(whole, dims)?,
        };
        match self.promote(l, r, elt, whole) {
            Some(result) => self.unify(elt, result, whole.span, "the product"),
            None => Ok(()),
        }
    }

    /// `whole op= operand` for an array as target, which keeps its type.
    pub(super) fn array_aug_assign(
        &mut self,
        op: BinOp,
        target: (Ty, Span),
        operand: (Ty, Span),
        whole: &Expr,
    ) -> Result<Option<(Ty, Ty)>> {
        let (wanted, given) = self.array_operands(op, target, operand)?;
        if given.1 > wanted.1 || op == BinOp::MatMul {
            return Err(Diagnostic::unsupported(
                operand.1,
                &format!("'{}=' with this array", op.symbol()),
            ));
        }
        let result = match op {
            BinOp::Div => Some(self.kind(Kind::Float)),
            _ => self.promote(wanted.0, given.0, wanted.0, whole),
        };
        Ok(result.map(|result| (wanted.0, result)))
    }
}
