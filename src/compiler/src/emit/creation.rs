//! Creates arrays from lengths: filled, counting, with ones on a diagonal; converts, transposes and
//! reshapes arrays.

use super::array::{Array, Operand};
use super::{int, Emitter};
use crate::diagnostic::Result;
use crate::ir::*;
use crate::language::Exception;
use crate::types;

impl Emitter<'_, '_> {
    /// Converts a number or bool to an element of type `elt`.
    pub(crate) fn as_element(&mut self, value: Value, ty: types::Ty, elt: types::Ty) -> Value {
        match self.module.ir_type(elt) {
            Ty::I1 => self.truth(value, ty),
            elt => self.build.convert(value, &elt),
        }
    }

    /// The lengths given by an argument: a number or a tuple of numbers.
    pub(crate) fn lengths(&mut self, value: Value) -> Vec<Value> {
        match &value.ty {
            Ty::Struct(members) => (0..members.len())
                .map(|index| self.build.extract(&value, index))
                .collect(),
            _ => vec![value],
        }
    }

    /// An uninitialised array with these lengths; raises ValueError if one is negative.
    pub(crate) fn unfilled(&mut self, elt: types::Ty, shape: Vec<Value>) -> Array {
        for length in &shape {
            let valid = self.build.compare(Compare::Sge, length.clone(), int(0));
            self.require(valid, Exception::ValueError, "negative dimensions are not allowed", &[]);
        }
        self.new_array(elt, shape)
    }

    pub(crate) fn filled(&mut self, elt: types::Ty, shape: Vec<Value>, value: Value) -> Array {
        let array = self.unfilled(elt, shape);
        let filled = self.fill_from(&array, &[], |_, _| Ok(value.clone()));
        filled.expect("nothing is computed");
        array
    }

    /// `numpy.eye(rows, columns, k)`: ones on the diagonal shifted `k` columns to the right.
    pub(crate) fn diagonal(&mut self, elt: types::Ty, rows: Value, columns: Value, k: Value) -> Array {
        let ty = self.module.ir_type(elt);
        let array = self.filled(elt, vec![rows.clone(), columns.clone()], Value::zero(ty.clone()));
        let one = match ty {
            Ty::F64 => Value::float(1.0),
            ref ty => Value::int(ty.clone(), 1),
        };
        let set = self.counted(rows, |this, row| {
            let column = this.build.binary(Binary::Add, row.clone(), k);
            let inside = this.build.compare(Compare::Ult, column.clone(), columns.clone());
            let (store, after) = (this.build.new_block("on diagonal"), this.build.new_block("next row"));
            this.build.branch(inside, store, after);
            this.build.block = store;
            let start = this.build.binary(Binary::Mul, row, columns);
            let index = this.build.binary(Binary::Add, start, column);
            let to = this.build.element(&array.data, &ty, index);
            this.build.store(one, &to);
            this.build.jump(after);
            this.build.block = after;
            Ok(())
        });
        set.expect("nothing is computed");
        array
    }

    /// `numpy.arange` for numbers of one type.
    pub(crate) fn arange(&mut self, elt: types::Ty, [start, stop, step]: [Value; 3]) -> Array {
        if start.ty == Ty::F64 {
            return self.float_arange(elt, [start, stop, step]);
        }
        let ty = start.ty.clone();
        let moves = self.build.compare(Compare::Ne, step.clone(), Value::int(ty.clone(), 0));
        self.require(moves, Exception::ZeroDivisionError, "division by zero", &[]);
        let length = self.signed_range_length(&start, &stop, &step);
        let length = self.build.convert(length, &Ty::I64);
        let length = self.checked_length(length);
        let array = self.new_array(elt, vec![length]);
        self.fill_counting(&array, |this, index| {
            let index = this.build.convert(index, &ty);
            let offset = this.build.binary(Binary::Mul, index, step.clone());
            this.build.binary(Binary::Add, start.clone(), offset)
        });
        array
    }

    /// Like NumPy, computes the second element, and the others from its distance to the first.
    fn float_arange(&mut self, elt: types::Ty, [start, stop, step]: [Value; 3]) -> Array {
        let moves = self.build.compare(Compare::FUne, step.clone(), Value::float(0.0));
        self.require(moves, Exception::ZeroDivisionError, "float division by zero", &[]);
        let distance = self.build.binary(Binary::FSub, stop, start.clone());
        let steps = self.build.binary(Binary::FDiv, distance, step.clone());
        let steps = self.call_external("ceil", vec![steps], Ty::F64, true);
        let known = self.build.compare(Compare::FOeq, steps.clone(), steps.clone());
        self.require(known, Exception::ValueError, "arange: cannot compute length", &[]);
        let some = self.build.compare(Compare::FOgt, steps.clone(), Value::float(0.0));
        let steps = self.build.select(some, steps, Value::float(0.0));
        // Above the limit in any case, but small enough to be converted.
        let most = Value::float((1u64 << 40) as f64);
        let few = self.build.compare(Compare::FOlt, steps.clone(), most.clone());
        let steps = self.build.select(few, steps, most);
        let length = self.build.convert(steps, &Ty::I64);
        let length = self.checked_length(length);
        let array = self.new_array(elt, vec![length]);
        let second = self.build.binary(Binary::FAdd, start.clone(), step);
        let delta = self.build.binary(Binary::FSub, second.clone(), start.clone());
        self.fill_counting(&array, |this, index| {
            let is_second = this.build.compare(Compare::Eq, index.clone(), int(1));
            let index = this.build.convert(index, &Ty::F64);
            let offset = this.build.binary(Binary::FMul, index, delta.clone());
            let value = this.build.binary(Binary::FAdd, start.clone(), offset);
            this.build.select(is_second, second.clone(), value)
        });
        array
    }

    /// `numpy.linspace`.
    pub(crate) fn linspace(
        &mut self,
        elt: types::Ty,
        [start, stop]: [Value; 2],
        number: Value,
        endpoint: bool,
    ) -> Array {
        let valid = self.build.compare(Compare::Sge, number.clone(), int(0));
        let text = "Number of samples, {0}, must be non-negative.";
        self.require(valid, Exception::ValueError, text, std::slice::from_ref(&number));
        let array = self.new_array(elt, vec![number.clone()]);
        let steps = match endpoint {
            true => self.build.binary(Binary::Sub, number.clone(), int(1)),
            false => number,
        };
        let several = self.build.compare(Compare::Sgt, steps.clone(), int(0));
        let count = self.build.convert(steps.clone(), &Ty::F64);
        let distance = self.build.binary(Binary::FSub, stop.clone(), start.clone());
        let step = self.build.binary(Binary::FDiv, distance.clone(), count.clone());
        // If the step underflows to zero, NumPy divides first and then multiplies.
        let vanishes = self.build.compare(Compare::FOeq, step.clone(), Value::float(0.0));
        self.fill_counting(&array, |this, index| {
            let last = this.build.compare(Compare::Eq, index.clone(), steps.clone());
            let at = this.build.convert(index, &Ty::F64);
            let stepped = this.build.binary(Binary::FMul, at.clone(), step.clone());
            let part = this.build.binary(Binary::FDiv, at.clone(), count.clone());
            let parts = this.build.binary(Binary::FMul, part, distance.clone());
            let whole = this.build.binary(Binary::FMul, at, distance.clone());
            let offset = this.build.select(vanishes.clone(), parts, stepped);
            let offset = this.build.select(several.clone(), offset, whole);
            let value = this.build.binary(Binary::FAdd, offset, start.clone());
            if !endpoint {
                return value;
            }
            let last = this.build.binary(Binary::And, last, several.clone());
            this.build.select(last, stop.clone(), value)
        });
        array
    }

    /// Fills a contiguous array with the values of `element` for 0, 1, … (i32).
    fn fill_counting(&mut self, array: &Array, element: impl FnOnce(&mut Self, Value) -> Value) {
        let elt = self.module.ir_type(array.elt);
        let count = self.product(&array.shape);
        let filled = self.counted(count, |this, index| {
            let value = element(this, index.clone());
            let value = this.build.convert(value, &elt);
            let to = this.build.element(&array.data, &elt, index);
            this.build.store(value, &to);
            Ok(())
        });
        filled.expect("nothing is refused");
    }

    /// A new array with the elements converted to type `elt`.
    pub(crate) fn converted(&mut self, elt: types::Ty, array: Array) -> Result<Array> {
        let result = self.new_array(elt, array.shape.clone());
        self.fill_from(&result, &[Operand::Array(array)], |this, mut values| {
            let (value, ty) = values.remove(0);
            Ok(this.as_element(value, ty, elt))
        })?;
        Ok(result)
    }

    /// A view with the dimensions in reverse order.
    pub(crate) fn transposed(&mut self, array: Array) -> Array {
        let mut strides = self.strides(&array);
        strides.reverse();
        let mut shape = array.shape;
        shape.reverse();
        Array {
            shape,
            strides: Some(strides),
            ..array
        }
    }

    /// `array.reshape(lengths)`; one of the lengths may be -1. Raises ValueError if the number of
    /// elements differs.
    pub(crate) fn reshaped(&mut self, array: Array, lengths: Vec<Value>) -> Array {
        let total = self.product(&array.shape);
        let total = self.build.convert(total, &Ty::I64);
        let wide: Vec<Value> = lengths
            .iter()
            .map(|length| self.build.convert(length.clone(), &Ty::I64))
            .collect();
        let (zero, one) = (Value::int(Ty::I64, 0), Value::int(Ty::I64, 1));
        let (mut open, mut known) = (zero.clone(), one.clone());
        for length in &wide {
            let free = self.build.compare(Compare::Slt, length.clone(), zero.clone());
            let free_count = self.build.convert(free.clone(), &Ty::I64);
            open = self.build.binary(Binary::Add, open, free_count);
            let factor = self.build.select(free, one.clone(), length.clone());
            known = self.build.binary(Binary::Mul, known, factor);
            // Saturates, so that the next product cannot overflow.
            let large = self.build.compare(Compare::Sgt, known.clone(), total.clone());
            let beyond = self.build.binary(Binary::Add, total.clone(), one.clone());
            known = self.build.select(large, beyond, known);
        }
        let single = self.build.compare(Compare::Sle, open.clone(), one.clone());
        let text = "can only specify one unknown dimension";
        self.require(single, Exception::ValueError, text, &[]);
        let exact = self.build.compare(Compare::Eq, known.clone(), total.clone());
        let none = self.build.compare(Compare::Eq, known.clone(), zero.clone());
        let divisor = self.build.select(none.clone(), one, known);
        let missing = self.build.binary(Binary::UDiv, total.clone(), divisor.clone());
        let rest = self.build.binary(Binary::URem, total.clone(), divisor);
        let divides = self.build.compare(Compare::Eq, rest, zero.clone());
        let some = self.build.not(none);
        let divides = self.build.binary(Binary::And, divides, some);
        let whole = self.build.compare(Compare::Eq, open, zero.clone());
        let fits = self.build.select(whole, exact, divides);
        let text = "cannot reshape array of size {0} into this shape";
        self.require(fits, Exception::ValueError, text, &[total]);
        let missing = self.build.convert(missing, &Ty::I32);
        let shape = (lengths.into_iter().zip(wide))
            .map(|(length, wide)| {
                let free = self.build.compare(Compare::Slt, wide, zero.clone());
                self.build.select(free, missing.clone(), length)
            })
            .collect();
        let array = self.together(array);
        Array { shape, ..array }
    }
}
