//! Types of operations on NumPy arrays.

use super::Infer;
use crate::diagnostic::{Diagnostic, Result};
use crate::language::{Builtin, NumPy};
use crate::source::Span;
use crate::syntax::*;
use crate::types::{Kind, Ty};

impl Infer<'_, '_> {
    /// Element type of the array that is the result of expression `whole`.
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

    /// Types `left op right`, where at least one operand is an array.
    pub(super) fn array_binary(&mut self, op: BinOp, left: (Ty, Span), right: (Ty, Span), whole: &Expr) -> Result<()> {
        let (l, r) = self.array_operands(op, left, right)?;
        if op == BinOp::MatMul {
            return self.matrix_product((l, left.1), (r, right.1), whole);
        }
        let dims = l.1.max(r.1);
        let elt = self.result_elements(whole, dims)?;
        let result = match op {
            BinOp::Div => Some(self.kind(Kind::Float)),
            BinOp::And | BinOp::Or | BinOp::Xor => Some(self.kind(Kind::Bool)),
            _ => self.promote(l.0, r.0, elt, whole),
        };
        match result {
            Some(result) => self.unify(elt, result, whole.span, "the elements"),
            None => Ok(()),
        }
    }

    /// The type of an attribute of an array; a method is the NumPy function of that name.
    pub(super) fn array_attribute(&mut self, array: Ty, name: &str) -> Option<Ty> {
        let (elt, dims) = self.types().array_parts(array)?;
        Some(match name {
            "shape" => {
                let lengths = (0..dims).map(|_| self.kind(Kind::Int32)).collect();
                self.kind(Kind::Tuple(lengths))
            }
            "size" | "ndim" => self.kind(Kind::Int32),
            "T" if dims == 1 => array,
            "T" => self.kind(Kind::View(elt, dims)),
            _ => self.kind(Kind::Builtin(Builtin::NumPy(NumPy::method(name)?))),
        })
    }

    /// `value[i, start:stop, …]`
    pub(super) fn slices(&mut self, whole: &Expr, value: &Expr, choices: &[Dimension]) -> Result<Ty> {
        let object = self.expr(value)?;
        for choice in choices {
            match choice {
                Dimension::At(index) => {
                    let found = self.expr(index)?;
                    self.index(found, index.span)?;
                }
                Dimension::Slice(bounds) => self.bounds(bounds)?,
            }
        }
        if self.types().is_var(object) {
            return Ok(self.types().var());
        }
        let Some((elt, dims)) = self.types().array_parts(object) else {
            let text = format!(
                "a value of type {} cannot be sliced in several dimensions",
                self.type_name(object)
            );
            return Err(
                Diagnostic::new(whole.span, text).help("only arrays have them; slice one dimension after the other")
            );
        };
        if choices.len() > dims.into() {
            let text = format!("too many indices for array of dimension {dims}");
            return Err(Diagnostic::new(whole.span, text));
        }
        let indices = choices
            .iter()
            .filter(|choice| matches!(choice, Dimension::At(_)))
            .count();
        let strided = matches!(self.types().kind(object), Kind::View(..)) || !is_contiguous(choices);
        Ok(self.types().part_of_array(elt, dims - indices as u8, strided))
    }

    /// Checks a value copied into a part of an array of type `wanted`: an array of the same number
    /// of dimensions, or a number.
    pub(super) fn copied_into(&mut self, wanted: Ty, found: Ty, span: Span) -> Result<()> {
        let (elt, dims) = self.types().array_parts(wanted).expect("a part of an array");
        match self.types().array_parts(found) {
            Some((given, own)) if own == dims => self.unify(elt, given, span, "this value"),
            Some((_, own)) => {
                let error = Diagnostic::new(span, "dimensions of the arrays must match");
                Err(error.primary_note(format!("this has {own}, {dims} are needed")))
            }
            None => self.unify(elt, found, span, "this value"),
        }
    }

    /// The type of an elementwise comparison `left op right`; None if the values are compared as a
    /// whole.
    pub(super) fn compared_elements(&mut self, op: CmpOp, left: (Ty, Span), right: (Ty, Span)) -> Result<Option<Ty>> {
        if matches!(op, CmpOp::In | CmpOp::NotIn | CmpOp::Is | CmpOp::IsNot) {
            return Ok(None);
        }
        let parts = [left, right].map(|side| self.types().array_parts(side.0));
        if parts == [None, None] {
            // One of them may turn out to be an array.
            let unknown = [left, right].iter().any(|side| self.types().is_var(side.0));
            return Ok(unknown.then(|| self.types().var()));
        }
        let [l, r] = [left, right].map(|side| self.types().array_parts(side.0).unwrap_or((side.0, 0)));
        self.types().require_numeric(l.0, left.1)?;
        self.types().require_numeric(r.0, right.1)?;
        if l.1 != r.1 && l.1 * r.1 != 0 {
            let text = format!("dimensions of '{}' array operands must match", op.symbol());
            let error = Diagnostic::new(left.1.to(right.1), text);
            return Err(error.primary_note(format!("they are {} and {}", l.1, r.1)));
        }
        let elt = self.kind(Kind::Bool);
        Ok(Some(self.kind(Kind::Array(elt, l.1.max(r.1)))))
    }

    /// Checks the operands; returns element type and number of dimensions for each, 0 for a number.
    fn array_operands(&mut self, op: BinOp, left: (Ty, Span), right: (Ty, Span)) -> Result<((Ty, u8), (Ty, u8))> {
        let [l, r] = [left.0, right.0].map(|ty| self.types().array_parts(ty).unwrap_or((ty, 0)));
        let bools = [l.0, r.0].map(|ty| *self.types().kind(ty) == Kind::Bool);
        let bits = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor);
        if op.integer_only() && !(bits && bools == [true; 2]) {
            let text = format!("operator '{}' not valid for array types", op.symbol());
            return Err(Diagnostic::new(left.1.to(right.1), text));
        }
        if !bits && bools == [true; 2] {
            let text = format!("operator '{}' is not defined for truth values in arrays", op.symbol());
            let error = Diagnostic::new(left.1.to(right.1), text);
            return Err(error.help("use &, | and ^, or make them numbers with .astype(…)"));
        }
        self.types().require_numeric(l.0, left.1)?;
        self.types().require_numeric(r.0, right.1)?;
        if op != BinOp::MatMul && l.1 != r.1 && l.1 * r.1 != 0 {
            let text = format!("dimensions of '{}' array operands must match", op.symbol());
            let error = Diagnostic::new(left.1.to(right.1), text);
            return Err(error.primary_note(format!("they are {} and {}", l.1, r.1)));
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

    /// Types `whole op= operand`, where the target is an array, which keeps its type.
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
            BinOp::And | BinOp::Or | BinOp::Xor => Some(self.kind(Kind::Bool)),
            _ => self.promote(wanted.0, given.0, wanted.0, whole),
        };
        Ok(result.map(|result| (wanted.0, result)))
    }
}

/// Whether the selected part of an array is contiguous: indices first, then at most one slice
/// without a step, then full slices only.
fn is_contiguous(choices: &[Dimension]) -> bool {
    let mut rest = choices.iter().skip_while(|choice| matches!(choice, Dimension::At(_)));
    let first = rest.next().is_none_or(|choice| match choice {
        Dimension::Slice([_, _, step]) => step.is_none(),
        Dimension::At(_) => false,
    });
    first && rest.all(|choice| matches!(choice, Dimension::Slice([None, None, None])))
}
