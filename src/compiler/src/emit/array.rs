//! NumPy arrays: data in row-major order and a length for each dimension, by value. A row, or a slice, is a view of the same data;
//! the result of an operation is new, on the stack.

use super::list::Bounds;
use super::{int, Emitter};
use crate::diagnostic::Result;
use crate::ir::*;
use crate::language::Exception;
use crate::source::Span;
use crate::syntax::BinOp;
use crate::types::{self, Kind};

/// How an array of so many dimensions is represented.
pub(crate) fn layout(dims: u8) -> Ty {
    Ty::Struct([Ty::Ptr, Ty::Struct(vec![Ty::I32; dims.into()].into())].into())
}

/// An array taken apart.
#[derive(Clone)]
pub(crate) struct Array {
    pub data: Value,
    /// Lengths, i32.
    pub shape: Vec<Value>,
    pub elt: types::Ty,
}

/// An operand of an operation that works on each element.
pub(crate) enum Operand {
    Array(Array),
    Number(Value, types::Ty),
}

impl<'p> Emitter<'_, 'p> {
    pub(crate) fn array_parts(&mut self, value: &Value, ty: types::Ty) -> Option<Array> {
        let Kind::Array(elt, dims) = *self.module.program.types.kind(ty) else {
            return None;
        };
        let (data, lengths) = (self.build.extract(value, 0), self.build.extract(value, 1));
        let shape = (0..dims.into())
            .map(|index| self.build.extract(&lengths, index))
            .collect();
        Some(Array { data, shape, elt })
    }

    pub(crate) fn array_value(&mut self, array: Array) -> Value {
        let shape = self.build.aggregate(array.shape);
        self.build.aggregate(vec![array.data, shape])
    }

    pub(crate) fn product(&mut self, lengths: &[Value]) -> Value {
        lengths.iter().fold(int(1), |product, length| {
            self.build.binary(Binary::Mul, product, length.clone())
        })
    }

    /// Room for an array. The lengths are not negative.
    pub(crate) fn new_array(&mut self, elt: types::Ty, shape: Vec<Value>) -> Array {
        let mut total = Value::int(Ty::I64, 1);
        for length in &shape {
            // Checked each time, so that the product cannot overflow.
            let length = self.build.convert(length.clone(), &Ty::I64);
            total = self.build.binary(Binary::Mul, total, length);
            let checked = self.checked_length(total);
            total = self.build.convert(checked, &Ty::I64);
        }
        let total = self.build.convert(total, &Ty::I32);
        let ty = self.module.ir_type(elt);
        let data = self.build.alloca(ty, total);
        Array { data, shape, elt }
    }

    /// The part of an array at `position` of its first dimension: an element's address, or a row.
    pub(crate) fn row(&mut self, array: &Array, position: Value) -> Array {
        let stride = self.product(&array.shape[1..]);
        let offset = self.build.binary(Binary::Mul, position, stride);
        let ty = self.module.ir_type(array.elt);
        Array {
            data: self.build.element(&array.data, &ty, offset),
            shape: array.shape[1..].to_vec(),
            elt: array.elt,
        }
    }

    /// What a loop over an array gets at `position`.
    pub(crate) fn array_element(&mut self, array: &Array, position: Value) -> Value {
        let row = self.row(array, position);
        if row.shape.is_empty() {
            let ty = self.module.ir_type(row.elt);
            return self.build.load(ty, &row.data);
        }
        self.array_value(row)
    }

    /// Copies an array into another one; ValueError if the shapes differ.
    pub(crate) fn copy_array(&mut self, from: &Array, to: &Array) {
        self.same_shape(from, to);
        let elt = self.module.ir_type(from.elt);
        let count = self.product(&to.shape);
        self.move_elements(&elt, &from.data, count, &to.data);
    }

    /// Makes `from` a copy if `to`, which is filled from its beginning, lies over what would be read later.
    fn keep_apart(&mut self, from: &mut Array, to: &Array) {
        let elt = self.module.ir_type(from.elt);
        let data = self.build.slot(Ty::Ptr);
        self.build.store(from.data.clone(), &data);
        let count = self.product(&from.shape);
        let end = self.build.element(&from.data, &elt, count.clone());
        let behind = self.build.compare(Compare::Ult, from.data.clone(), to.data.clone());
        let before_end = self.build.compare(Compare::Ult, to.data.clone(), end);
        let over = self.build.binary(Binary::And, behind, before_end);
        let (copies, after) = (self.build.new_block("overlap"), self.build.new_block("apart"));
        self.build.branch(over, copies, after);
        self.build.block = copies;
        let copy = self.build.alloca(elt.clone(), count.clone());
        self.move_elements(&elt, &from.data, count, &copy);
        self.build.store(copy, &data);
        self.build.jump(after);
        self.build.block = after;
        from.data = self.build.load(Ty::Ptr, &data);
    }

    /// `-array`
    pub(crate) fn negated_array(&mut self, value: Value, ty: types::Ty) -> Result<Value> {
        let array = self.array_parts(&value, ty).expect("it is one");
        self.map_operands(array.elt, vec![Operand::Array(array.clone())], |this, mut values| {
            Ok(this.build.negated(values.remove(0).0))
        })
    }

    fn same_shape(&mut self, a: &Array, b: &Array) {
        for (x, y) in a.shape.iter().zip(&b.shape) {
            let same = self.build.compare(Compare::Eq, x.clone(), y.clone());
            let text = "operands could not be broadcast together";
            self.require(same, Exception::ValueError, text, &[]);
        }
    }

    pub(crate) fn operand(&mut self, value: Value, ty: types::Ty) -> Operand {
        match self.array_parts(&value, ty) {
            Some(array) => Operand::Array(array),
            None => Operand::Number(value, ty),
        }
    }

    fn operand_at(&mut self, operand: &Operand, index: &Value) -> (Value, types::Ty) {
        match operand {
            Operand::Number(value, ty) => (value.clone(), *ty),
            Operand::Array(array) => {
                let ty = self.module.ir_type(array.elt);
                let from = self.build.element(&array.data, &ty, index.clone());
                (self.build.load(ty, &from), array.elt)
            }
        }
    }

    /// Fills an array, element by element, from operands of its shape, or numbers.
    pub(crate) fn fill_from(
        &mut self,
        to: &Array,
        operands: &[Operand],
        mut operation: impl FnMut(&mut Self, Vec<(Value, types::Ty)>) -> Result<Value>,
    ) -> Result<()> {
        let count = self.product(&to.shape);
        let elt = self.module.ir_type(to.elt);
        self.counted(count, |this, index| {
            let values = operands
                .iter()
                .map(|operand| this.operand_at(operand, &index))
                .collect();
            let value = operation(this, values)?;
            let target = this.build.element(&to.data, &elt, index);
            this.build.store(value, &target);
            Ok(())
        })
    }

    /// A new array of elements of type `elt`, each from those of the operands at its place. One of them is an array.
    pub(crate) fn map_operands(
        &mut self,
        elt: types::Ty,
        operands: Vec<Operand>,
        operation: impl FnMut(&mut Self, Vec<(Value, types::Ty)>) -> Result<Value>,
    ) -> Result<Value> {
        let arrays: Vec<&Array> = operands
            .iter()
            .filter_map(|operand| match operand {
                Operand::Array(array) => Some(array),
                Operand::Number(..) => None,
            })
            .collect();
        for other in &arrays[1..] {
            self.same_shape(arrays[0], other);
        }
        let result = self.new_array(elt, arrays[0].shape.clone());
        self.fill_from(&result, &operands, operation)?;
        Ok(self.array_value(result))
    }

    /// `left op right`, one of which is an array; division by zero is as the processor has it.
    pub(crate) fn array_operation(
        &mut self,
        op: BinOp,
        left: (Value, types::Ty),
        right: (Value, types::Ty),
        result: types::Ty,
    ) -> Result<Value> {
        let operands = [left, right].map(|(value, ty)| self.operand(value, ty));
        if op == BinOp::MatMul {
            let [Operand::Array(left), Operand::Array(right)] = operands else {
                unreachable!("checked by inference")
            };
            return self.matrix_product(left, right, result);
        }
        let Kind::Array(elt, _) = *self.module.program.types.kind(result) else {
            unreachable!("an operation on arrays gives one")
        };
        if let Some(routine) = self.routine(op, elt, &operands) {
            let [shape, other] = [&operands[0], &operands[1]].map(|operand| match operand {
                Operand::Array(array) => Some(array),
                Operand::Number(..) => None,
            });
            if let (Some(a), Some(b)) = (shape, other) {
                self.same_shape(a, b);
            }
            let shape = shape.or(other).expect("one of them is an array").shape.clone();
            let to = self.new_array(elt, shape);
            self.run_routine(routine, &to, &operands);
            return Ok(self.array_value(to));
        }
        self.map_operands(elt, operands.into(), |this, values| {
            let [left, right] = <[_; 2]>::try_from(values).expect("two operands");
            this.arithmetic_as(op, left, right, elt, false)
        })
    }

    /// The loop that does `op` on these operands, if there is one: with elements of the result's type throughout.
    fn routine(&self, op: BinOp, result: types::Ty, operands: &[Operand; 2]) -> Option<Routine> {
        let element = Element::of(&self.module.ir_type(result))?;
        let float = element == Element::F64;
        let op = match op {
            BinOp::Add if float => Binary::FAdd,
            BinOp::Sub if float => Binary::FSub,
            BinOp::Mul if float => Binary::FMul,
            BinOp::Div if float => Binary::FDiv,
            BinOp::Add => Binary::Add,
            BinOp::Sub => Binary::Sub,
            BinOp::Mul => Binary::Mul,
            _ => return None,
        };
        let fits = |operand: &Operand| match operand {
            Operand::Array(array) => Element::of(&self.module.ir_type(array.elt)) == Some(element),
            // A number is converted first, but never made narrower before the operation.
            Operand::Number(value, _) => float || value.ty.bits() <= self.module.ir_type(result).bits(),
        };
        let numbers = [0, 1].map(|side| matches!(operands[side], Operand::Number(..)));
        let known = operands.iter().all(fits) && !self.build.function.fast_math;
        known.then(|| Routine::each(op, element, numbers)).flatten()
    }

    fn run_routine(&mut self, routine: Routine, to: &Array, operands: &[Operand; 2]) {
        let elt = self.module.ir_type(to.elt);
        let [a, b] = [&operands[0], &operands[1]].map(|operand| match operand {
            Operand::Array(array) => array.data.clone(),
            Operand::Number(value, _) => self.build.convert(value.clone(), &elt),
        });
        let count = self.product(&to.shape);
        self.call_routine(routine, vec![to.data.clone(), a, b, count], Ty::unit());
    }

    /// `target op= operand`, in place.
    pub(crate) fn array_in_place(&mut self, op: BinOp, target: Array, operand: (Value, types::Ty)) -> Result<()> {
        let mut operand = self.operand(operand.0, operand.1);
        if let Operand::Array(other) = &mut operand {
            self.same_shape(&target, other);
            self.keep_apart(other, &target);
        }
        let elt = target.elt;
        let operands = [Operand::Array(target.clone()), operand];
        if let Some(routine) = self.routine(op, elt, &operands) {
            self.run_routine(routine, &target, &operands);
            return Ok(());
        }
        self.fill_from(&target, &operands, |this, values| {
            let [left, right] = <[_; 2]>::try_from(values).expect("two operands");
            this.arithmetic_as(op, left, right, elt, false)
        })
    }

    /// Whether two arrays have the same shape and elements.
    pub(crate) fn arrays_equal(&mut self, span: Span, a: Array, b: Array) -> Result<Value> {
        let mut same = Value::bool(true);
        for (x, y) in a.shape.iter().zip(&b.shape) {
            let equal = self.build.compare(Compare::Eq, x.clone(), y.clone());
            same = self.build.binary(Binary::And, same, equal);
        }
        let count = self.product(&a.shape);
        let count = self.build.select(same.clone(), count, int(0));
        let difference = self.first_difference(span, a.elt, (&a.data, &b.data), count.clone())?;
        let none = self.build.compare(Compare::Eq, difference, count);
        Ok(self.build.binary(Binary::And, same, none))
    }

    /// `array[start:stop]`: a view.
    pub(crate) fn array_slice(&mut self, array: Array, bounds: [Option<Value>; 3]) -> Value {
        let view = self.array_view(array, bounds);
        self.array_value(view)
    }

    pub(crate) fn array_view(&mut self, array: Array, bounds: [Option<Value>; 3]) -> Array {
        let Bounds { start, length, .. } = self.bounds(array.shape[0].clone(), bounds);
        let start = self.build.convert(start, &Ty::I32);
        let mut offset = start;
        for length in &array.shape[1..] {
            offset = self.build.binary(Binary::Mul, offset, length.clone());
        }
        let elt = self.module.ir_type(array.elt);
        let mut shape = array.shape;
        shape[0] = length;
        Array {
            data: self.build.element(&array.data, &elt, offset),
            shape,
            elt: array.elt,
        }
    }
}
