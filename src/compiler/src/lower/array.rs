//! NumPy arrays: data in row-major order and a length for each dimension, by value. A row, or a slice, is a view of the same data;
//! the result of an operation is new, on the stack.

use super::exceptions::VALUE_ERROR;
use super::FunctionLowering;
use crate::ast::*;
use crate::diagnostic::Result;
use crate::ir::*;
use crate::types::{self, Kind};

fn int(value: i64) -> Value {
    Value::int(Ty::I32, value)
}

/// How an array of so many dimensions is represented.
pub(super) fn layout(dims: u8) -> Ty {
    Ty::Struct([Ty::Ptr, Ty::Struct(vec![Ty::I32; dims.into()].into())].into())
}

/// An array taken apart.
#[derive(Clone)]
pub(super) struct Array {
    pub data: Value,
    /// Lengths, i32.
    pub shape: Vec<Value>,
    pub elt: types::Ty,
}

/// An operand of an operation that works on each element.
pub(super) enum Operand {
    Array(Array),
    Number(Value, types::Ty),
}

impl<'p> FunctionLowering<'_, 'p> {
    pub(super) fn array_parts(&mut self, value: &Value, ty: types::Ty) -> Option<Array> {
        let Kind::Array(elt, dims) = *self.module.program().types.kind(ty) else {
            return None;
        };
        let (data, lengths) = (self.build.extract(value, 0), self.build.extract(value, 1));
        let shape = (0..dims.into())
            .map(|index| self.build.extract(&lengths, index))
            .collect();
        Some(Array { data, shape, elt })
    }

    pub(super) fn array_value(&mut self, array: Array) -> Value {
        let shape = self.build.aggregate(array.shape);
        self.build.aggregate(vec![array.data, shape])
    }

    pub(super) fn product(&mut self, lengths: &[Value]) -> Value {
        lengths.iter().fold(int(1), |product, length| {
            self.build.binary("mul", product, length.clone())
        })
    }

    /// Room for an array. The lengths are not negative.
    pub(super) fn new_array(&mut self, elt: types::Ty, shape: Vec<Value>) -> Array {
        let mut total = Value::int(Ty::I64, 1);
        for length in &shape {
            // Checked each time, so that the product cannot overflow.
            let length = self.build.convert(length.clone(), &Ty::I64);
            total = self.build.binary("mul", total, length);
            let checked = self.checked_length(total);
            total = self.build.convert(checked, &Ty::I64);
        }
        let total = self.build.convert(total, &Ty::I32);
        let ty = self.module.ir_type(elt);
        let data = self.build.alloca(ty, total);
        Array { data, shape, elt }
    }

    /// The part of an array at `position` of its first dimension: an element's address, or a row.
    pub(super) fn row(&mut self, array: &Array, position: Value) -> Array {
        let stride = self.product(&array.shape[1..]);
        let offset = self.build.binary("mul", position, stride);
        let ty = self.module.ir_type(array.elt);
        Array {
            data: self.build.element(&array.data, &ty, offset),
            shape: array.shape[1..].to_vec(),
            elt: array.elt,
        }
    }

    /// What a loop over an array gets at `position`.
    pub(super) fn array_element(&mut self, array: &Array, position: Value) -> Value {
        let row = self.row(array, position);
        if row.shape.is_empty() {
            let ty = self.module.ir_type(row.elt);
            return self.build.load(ty, &row.data);
        }
        self.array_value(row)
    }

    /// `array[i]` or `array[i, j]` after the check of the bounds: an element's address has no dimensions left.
    pub(super) fn indexed(&mut self, whole: &'p Expr, array: Array, index: &'p Expr) -> Result<Array> {
        let indices = match &index.kind {
            ExprKind::Tuple(indices) => indices.iter().collect(),
            _ => vec![index],
        };
        let mut positions = vec![];
        for index in indices {
            positions.push(self.expr(index)?);
        }
        self.build.span = whole.span;
        let mut part = array;
        for position in positions {
            let length = self.build.convert(part.shape[0].clone(), &position.ty);
            let position = self.checked_index(position, length);
            let position = self.build.convert(position, &Ty::I32);
            part = self.row(&part, position);
        }
        Ok(part)
    }

    /// Copies an array into another one; ValueError if the shapes differ.
    pub(super) fn copy_array(&mut self, from: &Array, to: &Array) {
        self.same_shape(from, to);
        let elt = self.module.ir_type(from.elt);
        let count = self.product(&to.shape);
        self.copy_elements(&elt, &from.data, count, &to.data, int(0));
    }

    fn same_shape(&mut self, a: &Array, b: &Array) {
        for (x, y) in a.shape.iter().zip(&b.shape) {
            let same = self.build.compare("icmp eq", x.clone(), y.clone());
            let text = "operands could not be broadcast together";
            self.require(same, VALUE_ERROR, text, &[]);
        }
    }

    pub(super) fn operand(&mut self, value: Value, ty: types::Ty) -> Operand {
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
    pub(super) fn fill_from(
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
    pub(super) fn map_operands(
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
    pub(super) fn array_operation(
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
        let Kind::Array(elt, _) = *self.module.program().types.kind(result) else {
            unreachable!("an operation on arrays gives one")
        };
        self.map_operands(elt, operands.into(), |this, values| {
            let [left, right] = <[_; 2]>::try_from(values).expect("two operands");
            this.arithmetic_as(op, left, right, elt, false)
        })
    }

    /// `target op= operand`, in place.
    pub(super) fn array_in_place(&mut self, op: BinOp, target: Array, operand: (Value, types::Ty)) -> Result<()> {
        let operand = self.operand(operand.0, operand.1);
        if let Operand::Array(other) = &operand {
            self.same_shape(&target, other);
        }
        let elt = target.elt;
        let operands = [Operand::Array(target.clone()), operand];
        self.fill_from(&target, &operands, |this, values| {
            let [left, right] = <[_; 2]>::try_from(values).expect("two operands");
            this.arithmetic_as(op, left, right, elt, false)
        })
    }

    /// Whether two arrays have the same shape and elements.
    pub(super) fn arrays_equal(&mut self, whole: &'p Expr, a: Array, b: Array) -> Result<Value> {
        let mut same = Value::bool(true);
        for (x, y) in a.shape.iter().zip(&b.shape) {
            let equal = self.build.compare("icmp eq", x.clone(), y.clone());
            same = self.build.binary("and", same, equal);
        }
        let count = self.product(&a.shape);
        let count = self.build.select(same.clone(), count, int(0));
        let difference = self.first_difference(whole, a.elt, (&a.data, &b.data), count.clone())?;
        let none = self.build.compare("icmp eq", difference, count);
        Ok(self.build.binary("and", same, none))
    }
}
