//! NumPy arrays: a pointer to data in row-major order and the length of each dimension, passed by
//! value. A row or a slice is a view of the same data; the result of an operation is a new array on
//! the stack.

use super::list::Bounds;
use super::{int, Emitter};
use crate::diagnostic::Result;
use crate::ir::*;
use crate::language::Exception;
use crate::source::Span;
use crate::syntax::{BinOp, CmpOp};
use crate::types::{self, Kind};

/// The representation of a contiguous array with the given number of dimensions.
pub(crate) fn layout(dims: u8) -> Ty {
    Ty::Struct([Ty::Ptr, Ty::Struct(vec![Ty::I32; dims.into()].into())].into())
}

/// The representation of a strided array.
pub(crate) fn strided_layout(dims: u8) -> Ty {
    let lengths = Ty::Struct(vec![Ty::I32; dims.into()].into());
    Ty::Struct([Ty::Ptr, lengths.clone(), lengths].into())
}

/// The components of an array value.
#[derive(Clone)]
pub(crate) struct Array {
    pub data: Value,
    /// Lengths, i32.
    pub shape: Vec<Value>,
    /// Distance between neighbours in each dimension, in elements, i32. None if the array is
    /// contiguous in row-major order.
    pub strides: Option<Vec<Value>>,
    pub elt: types::Ty,
}

/// The selection that a subscript makes in one dimension.
pub(crate) enum Choice {
    Whole,
    /// The index, i32, already checked.
    At(Value),
    Slice(Bounds),
}

/// An operand of an elementwise operation.
pub(crate) enum Operand {
    Array(Array),
    Number(Value, types::Ty),
}

impl Operand {
    fn array(&self) -> Option<&Array> {
        match self {
            Operand::Array(array) => Some(array),
            Operand::Number(..) => None,
        }
    }
}

impl<'p> Emitter<'_, 'p> {
    pub(crate) fn array_parts(&mut self, value: &Value, ty: types::Ty) -> Option<Array> {
        let (elt, dims) = self.module.program.types.array_parts(ty)?;
        let strided = matches!(self.module.program.types.kind(ty), Kind::View(..));
        let mut members = |index: usize| -> Vec<Value> {
            let member = self.build.extract(value, index);
            (0..dims.into())
                .map(|index| self.build.extract(&member, index))
                .collect()
        };
        let (shape, strides) = (members(1), strided.then(|| members(2)));
        Some(Array {
            data: self.build.extract(value, 0),
            shape,
            strides,
            elt,
        })
    }

    pub(crate) fn array_value(&mut self, array: Array) -> Value {
        let mut members = vec![array.data, self.build.aggregate(array.shape)];
        members.extend(array.strides.map(|strides| self.build.aggregate(strides)));
        self.build.aggregate(members)
    }

    pub(crate) fn product(&mut self, lengths: &[Value]) -> Value {
        lengths.iter().fold(int(1), |product, length| {
            self.build.binary(Binary::Mul, product, length.clone())
        })
    }

    /// Allocates an array. The lengths must not be negative.
    pub(crate) fn new_array(&mut self, elt: types::Ty, shape: Vec<Value>) -> Array {
        let mut total = Value::int(Ty::I64, 1);
        for length in &shape {
            // Checked after each step, so that the product cannot overflow.
            let length = self.build.convert(length.clone(), &Ty::I64);
            total = self.build.binary(Binary::Mul, total, length);
            let checked = self.checked_length(total);
            total = self.build.convert(checked, &Ty::I64);
        }
        let total = self.build.convert(total, &Ty::I32);
        let ty = self.module.ir_type(elt);
        let data = self.build.alloca(ty, total);
        let strides = None;
        Array {
            data,
            shape,
            strides,
            elt,
        }
    }

    /// The part of an array at index `position` of its first dimension: the address of an element,
    /// or a row.
    pub(crate) fn row(&mut self, array: &Array, position: Value) -> Array {
        let stride = match &array.strides {
            Some(strides) => strides[0].clone(),
            None => self.product(&array.shape[1..]),
        };
        let offset = self.build.binary(Binary::Mul, position, stride);
        let ty = self.module.ir_type(array.elt);
        Array {
            data: self.build.element(&array.data, &ty, offset),
            shape: array.shape[1..].to_vec(),
            strides: array.strides.as_ref().map(|strides| strides[1..].to_vec()),
            elt: array.elt,
        }
    }

    /// The element that a loop over an array yields at `position`.
    pub(crate) fn array_element(&mut self, array: &Array, position: Value) -> Value {
        let row = self.row(array, position);
        if row.shape.is_empty() {
            let ty = self.module.ir_type(row.elt);
            return self.build.load(ty, &row.data);
        }
        self.array_value(row)
    }

    /// Copies an array into another one; raises ValueError if the shapes differ.
    pub(crate) fn copy_array(&mut self, from: &Array, to: &Array) {
        self.same_shape(from, to);
        let elt = self.module.ir_type(from.elt);
        if from.strides.is_some() || to.strides.is_some() {
            // Copied first, since they may be parts of one array.
            let copy = self.copied(from);
            return self.fill_with(copy, to);
        }
        let count = self.product(&to.shape);
        self.move_elements(&elt, &from.data, count, &to.data);
    }

    /// Replaces `from` by a copy if filling `to` from its beginning would overwrite elements before
    /// they are read.
    fn keep_apart(&mut self, from: &mut Array, to: &Array) {
        if from.strides.is_some() || to.strides.is_some() {
            *from = self.copied(from);
            return;
        }
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

    /// Compares `left op right` elementwise.
    pub(crate) fn compared_elements(
        &mut self,
        span: Span,
        op: CmpOp,
        left: (Value, types::Ty),
        right: (Value, types::Ty),
        elt: types::Ty,
    ) -> Result<Value> {
        let operands = [left, right].map(|(value, ty)| self.operand(value, ty));
        self.map_operands(elt, operands.into(), |this, values| {
            let [left, right] = <[_; 2]>::try_from(values).expect("two operands");
            this.comparison(span, op, left, right)
        })
    }

    pub(crate) fn same_shape(&mut self, a: &Array, b: &Array) {
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

    /// The value of an operand at the current position; for an array, at the next of the offsets.
    fn operand_at<'o>(
        &mut self,
        operand: &Operand,
        offsets: &mut impl Iterator<Item = &'o Value>,
    ) -> (Value, types::Ty) {
        match operand {
            Operand::Number(value, ty) => (value.clone(), *ty),
            Operand::Array(array) => {
                let ty = self.module.ir_type(array.elt);
                let offset = offsets.next().expect("one for each array").clone();
                let from = self.build.element(&array.data, &ty, offset);
                (self.build.load(ty, &from), array.elt)
            }
        }
    }

    /// Distance between neighbours in each dimension, in elements.
    pub(crate) fn strides(&mut self, array: &Array) -> Vec<Value> {
        match &array.strides {
            Some(strides) => strides.clone(),
            None => (1..=array.shape.len())
                .map(|next| self.product(&array.shape[next..]))
                .collect(),
        }
    }

    /// Runs `body` for each position in arrays of one shape, in row-major order, with the element
    /// offset into each array.
    pub(crate) fn each_place(
        &mut self,
        shape: &[Value],
        arrays: &[&Array],
        body: &mut dyn FnMut(&mut Self, &[Value]) -> Result<()>,
    ) -> Result<()> {
        if arrays.iter().all(|array| array.strides.is_none()) {
            let count = self.product(shape);
            return self.counted(count, |this, index| body(this, &vec![index; arrays.len()]));
        }
        let strides: Vec<_> = arrays.iter().map(|array| self.strides(array)).collect();
        self.each_inner_place(shape, &strides, &vec![int(0); arrays.len()], body)
    }

    /// As [`Self::each_place`], for the remaining inner dimensions.
    fn each_inner_place(
        &mut self,
        shape: &[Value],
        strides: &[Vec<Value>],
        offsets: &[Value],
        body: &mut dyn FnMut(&mut Self, &[Value]) -> Result<()>,
    ) -> Result<()> {
        let Some((length, inner)) = shape.split_first() else {
            return body(self, offsets);
        };
        let own = strides.first().map_or(0, Vec::len) - shape.len();
        self.counted(length.clone(), |this, index| {
            let mut inside = vec![];
            for (offset, strides) in offsets.iter().zip(strides) {
                let step = this.build.binary(Binary::Mul, index.clone(), strides[own].clone());
                inside.push(this.build.binary(Binary::Add, offset.clone(), step));
            }
            this.each_inner_place(inner, strides, &inside, body)
        })
    }

    /// The array itself if it is contiguous, otherwise a contiguous copy.
    pub(crate) fn together(&mut self, array: Array) -> Array {
        match array.strides {
            Some(_) => self.copied(&array),
            None => array,
        }
    }

    pub(crate) fn copied(&mut self, array: &Array) -> Array {
        let copy = self.new_array(array.elt, array.shape.clone());
        self.fill_with(array.clone(), &copy);
        copy
    }

    /// Copies elements one by one between arrays of the same shape.
    fn fill_with(&mut self, from: Array, to: &Array) {
        let copied = self.fill_from(to, &[Operand::Array(from)], |_, mut values| Ok(values.remove(0).0));
        copied.expect("copying is never refused");
    }

    /// Fills an array elementwise from operands that are numbers or arrays of the same shape.
    pub(crate) fn fill_from(
        &mut self,
        to: &Array,
        operands: &[Operand],
        mut operation: impl FnMut(&mut Self, Vec<(Value, types::Ty)>) -> Result<Value>,
    ) -> Result<()> {
        let elt = self.module.ir_type(to.elt);
        let sources = operands.iter().filter_map(Operand::array);
        let arrays: Vec<&Array> = std::iter::once(to).chain(sources).collect();
        self.each_place(&to.shape, &arrays, &mut |this, offsets| {
            let (own, mut rest) = (offsets[0].clone(), offsets[1..].iter());
            let values = operands.iter().map(|operand| this.operand_at(operand, &mut rest));
            let value = values.collect();
            let value = operation(this, value)?;
            let target = this.build.element(&to.data, &elt, own);
            this.build.store(value, &target);
            Ok(())
        })
    }

    /// A new array of element type `elt`, computed elementwise from the operands, of which at least
    /// one is an array.
    pub(crate) fn map_operands(
        &mut self,
        elt: types::Ty,
        operands: Vec<Operand>,
        operation: impl FnMut(&mut Self, Vec<(Value, types::Ty)>) -> Result<Value>,
    ) -> Result<Value> {
        let arrays: Vec<&Array> = operands.iter().filter_map(Operand::array).collect();
        for other in &arrays[1..] {
            self.same_shape(arrays[0], other);
        }
        let result = self.new_array(elt, arrays[0].shape.clone());
        self.fill_from(&result, &operands, operation)?;
        Ok(self.array_value(result))
    }

    /// `left op right`, where at least one operand is an array; division of floats by zero does not
    /// raise an exception.
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

    /// The routine that computes `op` on these operands, if there is one: all elements must have
    /// the type of the result.
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
            Operand::Array(array) => {
                array.strides.is_none() && Element::of(&self.module.ir_type(array.elt)) == Some(element)
            }
            // Numbers are converted first, but must not be narrowed before the operation.
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
        let [a, b] = [a, b].map(|array| self.together(array));
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

    /// `array[start:stop:step]` as a view.
    pub(crate) fn array_slice(&mut self, array: Array, bounds: [Option<Value>; 3]) -> Value {
        let view = self.array_view(array, bounds);
        self.array_value(view)
    }

    pub(crate) fn array_view(&mut self, array: Array, bounds: [Option<Value>; 3]) -> Array {
        let together = array.strides.is_none() && bounds[2].is_none();
        let bounds = self.bounds(array.shape[0].clone(), bounds);
        self.array_part(&array, vec![Choice::Slice(bounds)], together)
    }

    /// The view of an array selected in its first dimensions. `together`: the view is contiguous in
    /// row-major order.
    pub(crate) fn array_part(&mut self, array: &Array, choices: Vec<Choice>, together: bool) -> Array {
        let own = self.strides(array);
        let (mut shape, mut strides, mut offset) = (vec![], vec![], int(0));
        let rest = choices.len();
        for (choice, (length, stride)) in choices.into_iter().zip(array.shape.iter().zip(&own)) {
            let start = match choice {
                Choice::Whole => {
                    shape.push(length.clone());
                    strides.push(stride.clone());
                    continue;
                }
                Choice::At(position) => position,
                Choice::Slice(bounds) => {
                    let step = self.build.convert(bounds.step, &Ty::I32);
                    shape.push(bounds.length);
                    strides.push(self.build.binary(Binary::Mul, stride.clone(), step));
                    self.build.convert(bounds.start, &Ty::I32)
                }
            };
            let moved = self.build.binary(Binary::Mul, start, stride.clone());
            offset = self.build.binary(Binary::Add, offset, moved);
        }
        shape.extend_from_slice(&array.shape[rest..]);
        strides.extend_from_slice(&own[rest..]);
        let elt = self.module.ir_type(array.elt);
        Array {
            data: self.build.element(&array.data, &elt, offset),
            shape,
            strides: (!together).then_some(strides),
            elt: array.elt,
        }
    }
}
