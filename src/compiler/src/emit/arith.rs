//! Arithmetic and comparison.

use super::Emitter;
use crate::diagnostic::Result;
use crate::ir::*;
use crate::language::Exception;
use crate::syntax::*;
use crate::types::{self, Kind};

impl<'p> Emitter<'_, 'p> {
    /// `left op right` with a result of type `result`. Operands are converted to the type in which
    /// the operation is computed.
    pub(crate) fn arithmetic(
        &mut self,
        op: BinOp,
        (left, left_ty): (Value, types::Ty),
        (right, right_ty): (Value, types::Ty),
        result: types::Ty,
    ) -> Result<Value> {
        self.arithmetic_as(op, (left, left_ty), (right, right_ty), result, true)
    }

    /// As [`Self::arithmetic`]; division of floats by zero raises an exception only if `checked`.
    pub(crate) fn arithmetic_as(
        &mut self,
        op: BinOp,
        (left, left_ty): (Value, types::Ty),
        (right, right_ty): (Value, types::Ty),
        result: types::Ty,
        checked: bool,
    ) -> Result<Value> {
        let types = &self.module.program.types;
        let floats = [left_ty, right_ty].iter().any(|&ty| *types.kind(ty) == Kind::Float);
        let ty = self.module.ir_type(result);
        // A result narrower than the operands is truncated after the operation.
        let work = match [&left.ty, &right.ty, &ty].map(Ty::bits) {
            _ if op == BinOp::Div || floats => Ty::F64,
            bits if bits.contains(&64) => Ty::I64,
            _ => ty.clone(),
        };
        let (a, b) = (self.build.convert(left, &work), self.build.convert(right, &work));
        let value = if work == Ty::F64 {
            self.float_operation(op, a, b, checked)
        } else {
            self.int_operation(op, a, b)
        };
        Ok(self.build.convert(value, &ty))
    }

    fn float_operation(&mut self, op: BinOp, a: Value, b: Value, checked: bool) -> Value {
        if checked && matches!(op, BinOp::Div | BinOp::FloorDiv | BinOp::Mod) {
            let nonzero = self.build.compare(Compare::FUne, b.clone(), Value::float(0.0));
            self.require(nonzero, Exception::ZeroDivisionError, "cannot divide by zero", &[]);
        }
        match op {
            BinOp::Add => self.build.binary(Binary::FAdd, a, b),
            BinOp::Sub => self.build.binary(Binary::FSub, a, b),
            BinOp::Mul => self.build.binary(Binary::FMul, a, b),
            BinOp::Div => self.build.binary(Binary::FDiv, a, b),
            BinOp::FloorDiv => {
                let quotient = self.build.binary(Binary::FDiv, a, b);
                match quotient.as_float() {
                    Some(known) => Value::float(known.floor()),
                    None => self.call_external("floor", vec![quotient], Ty::F64, true),
                }
            }
            BinOp::Mod => {
                let rest = self.call_external("fmod", vec![a, b.clone()], Ty::F64, true);
                // The result has the sign of the divisor, even if it is zero.
                let zero = || Value::float(0.0);
                let negative = self.build.compare(Compare::FOlt, rest.clone(), zero());
                let below = self.build.compare(Compare::FOlt, b.clone(), zero());
                let differ = self.build.binary(Binary::Xor, negative, below);
                let none = self.build.compare(Compare::FOeq, rest.clone(), zero());
                let signed = self.call_external("llvm.copysign.f64", vec![zero(), b.clone()], Ty::F64, true);
                let fixed = self.build.binary(Binary::FAdd, rest.clone(), b);
                let fixed = self.build.select(differ, fixed, rest);
                self.build.select(none, signed, fixed)
            }
            BinOp::Pow => self.call_external("pow", vec![a, b], Ty::F64, true),
            BinOp::Shl | BinOp::Shr | BinOp::And | BinOp::Or | BinOp::Xor | BinOp::MatMul => {
                unreachable!("inference admits these for integers, and for arrays")
            }
        }
    }

    fn int_operation(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = a.ty.clone();
        let zero = || Value::int(ty.clone(), 0);
        match op {
            BinOp::Add => self.build.binary(Binary::Add, a, b),
            BinOp::Sub => self.build.binary(Binary::Sub, a, b),
            BinOp::Mul => self.build.binary(Binary::Mul, a, b),
            BinOp::And => self.build.binary(Binary::And, a, b),
            BinOp::Or => self.build.binary(Binary::Or, a, b),
            BinOp::Xor => self.build.binary(Binary::Xor, a, b),
            BinOp::FloorDiv | BinOp::Mod => self.int_division(op, a, b),
            BinOp::Shl | BinOp::Shr => {
                let valid = self.build.compare(Compare::Sge, b.clone(), zero());
                self.require(valid, Exception::ValueError, "shift amount must be nonnegative", &[]);
                let width = i64::from(ty.bits());
                let small = self
                    .build
                    .compare(Compare::Slt, b.clone(), Value::int(ty.clone(), width));
                let limit = Value::int(ty.clone(), width - 1);
                let count = self.build.select(small.clone(), b, limit);
                if op == BinOp::Shr {
                    return self.build.binary(Binary::AShr, a, count);
                }
                let shifted = self.build.binary(Binary::Shl, a, count);
                self.build.select(small, shifted, zero())
            }
            BinOp::Div | BinOp::MatMul => unreachable!("division works on floats, '@' on arrays"),
            BinOp::Pow => self.power(a, b),
        }
    }

    /// `//` rounds down and `%` has the sign of the divisor, as in Python.
    fn int_division(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = a.ty.clone();
        let constant = |value| Value::int(ty.clone(), value);
        let nonzero = self.build.compare(Compare::Ne, b.clone(), constant(0));
        self.require(nonzero, Exception::ZeroDivisionError, "cannot divide by zero", &[]);
        let divisor = b.as_int().filter(|&known| known > 0);
        if let (BinOp::FloorDiv, Some(known)) = (op, divisor.filter(|known| known & (known - 1) == 0)) {
            let bits = constant(known.trailing_zeros().into());
            return self.build.binary(Binary::AShr, a, bits);
        }
        // The most negative number divided by -1 wraps, but must not reach the division
        // instruction, so -1 is replaced by 1, which also leaves no remainder.
        let minus_one = self.build.compare(Compare::Eq, b.clone(), constant(-1));
        let safe = self.build.select(minus_one.clone(), constant(1), b.clone());
        let rest = self.build.binary(Binary::SRem, a.clone(), safe.clone());
        // The remainder has the sign of `a`, or is zero; the sign bit here says that it is wrong.
        let wrong = match divisor {
            Some(_) => rest.clone(),
            None => {
                let signs = self.build.binary(Binary::Xor, rest.clone(), b.clone());
                let some = self.build.compare(Compare::Ne, rest.clone(), constant(0));
                self.build.select(some, signs, constant(0))
            }
        };
        if op == BinOp::FloorDiv {
            let quotient = self.build.binary(Binary::SDiv, a.clone(), safe);
            // The sign as a number is -1 where the quotient was rounded up.
            let sign = self
                .build
                .binary(Binary::AShr, wrong, constant(i64::from(ty.bits()) - 1));
            let lower = self.build.binary(Binary::Add, quotient, sign);
            let negated = self.build.binary(Binary::Sub, constant(0), a);
            return self.build.select(minus_one, negated, lower);
        }
        let wrong = self.build.compare(Compare::Slt, wrong, constant(0));
        let fixed = self.build.binary(Binary::Add, rest.clone(), b);
        let result = self.build.select(wrong, fixed, rest.clone());
        self.remainder = Some((result.clone(), rest));
        result
    }

    /// An integer that is zero exactly if the integer `value` is.
    pub(crate) fn zero_alike(&self, value: Value) -> Value {
        match &self.remainder {
            Some((result, rest)) if *result == value => rest.clone(),
            _ => value,
        }
    }

    /// The absolute value of a number.
    pub(crate) fn absolute(&mut self, value: Value) -> Value {
        match (value.as_float(), value.ty.clone()) {
            (Some(known), _) => Value::float(known.abs()),
            // Compiles to an instruction, which clears the sign of zeros too.
            (None, Ty::F64) => self.call_external("llvm.fabs.f64", vec![value], Ty::F64, true),
            (None, Ty::I1) => value,
            (None, ty) => {
                let negative = self.build.compare(Compare::Slt, value.clone(), Value::int(ty, 0));
                let negated = self.build.negated(value.clone());
                self.build.select(negative, negated, value)
            }
        }
    }

    /// A float without its fraction, as an integer. Raises as Python does if it is no number; and if it is too
    /// large, which it never is in Python.
    pub(crate) fn integer_of(&mut self, value: Value, ty: &Ty) -> Value {
        let too_large = match ty {
            Ty::I32 => "the float is too large for an int32: use int64(round(x)), or smaller units",
            _ => "the float is too large for an int64",
        };
        let no_number = (Exception::ValueError, "cannot convert float NaN to integer");
        self.require_integer(&value, ty, [no_number, (Exception::OverflowError, too_large)]);
        self.build.convert(value, ty)
    }

    /// Raises the first exception if a float is no number, and the second if it does not fit into an integer type.
    /// This costs one comparison if the magnitude of the number fits.
    pub(crate) fn require_integer(&mut self, value: &Value, ty: &Ty, exceptions: [(Exception, &str); 2]) {
        let [(no_number, text), (too_large, text_too_large)] = exceptions;
        let limit = 2f64.powi(ty.bits() as i32 - 1);
        // The lowest float whose integer part fits.
        let lowest = if *ty == Ty::I32 {
            (-limit - 1.0).next_up()
        } else {
            -limit
        };
        if value.as_float().is_some_and(|known| (lowest..limit).contains(&known)) {
            return;
        }
        let magnitude = self.absolute(value.clone());
        let usual = self.build.compare(Compare::FOlt, magnitude, Value::float(limit));
        let (rare, fits) = (self.build.new_block("rare"), self.build.new_block("fits"));
        self.build.branch(usual, fits, rare);
        self.build.block = rare;
        if text != text_too_large {
            let number = self.build.compare(Compare::FOeq, value.clone(), value.clone());
            self.require(number, no_number, text, &[]);
        }
        let negative = self.build.compare(Compare::FOlt, value.clone(), Value::float(0.0));
        let above = self.build.compare(Compare::FOge, value.clone(), Value::float(lowest));
        let lowest_of_all = self.build.binary(Binary::And, negative, above);
        self.require(lowest_of_all, too_large, text_too_large, &[]);
        self.build.jump(fits);
        self.build.block = fits;
    }

    /// Rounds half away from zero.
    pub(crate) fn round(&mut self, value: Value) -> Value {
        match value.as_float() {
            Some(known) => Value::float(known.round()),
            None => self.call_external("round", vec![value], Ty::F64, true),
        }
    }
}
