//! Reductions of all elements of an array, or along one dimension.

use super::array::Array;
use super::{int, Builder, Emitter, ModuleBuilder};
use crate::diagnostic::Result;
use crate::ir::*;
use crate::language::{Exception, NumPy};
use crate::types;

/// `kairos.sum(data, count)`: the sum of doubles, in NumPy's order.
const SUM: &str = "kairos.sum";
/// Up to `BLOCK` elements are added in `LANES` parallel sums; longer arrays are split in halves.
const BLOCK: i64 = 128;
const LANES: i64 = 8;

/// The elements of one reduction: `count` elements at distance `stride`.
struct Row {
    data: Value,
    count: Value,
    stride: Value,
}

impl Emitter<'_, '_> {
    /// `numpy.sum` and similar reductions, over all elements or along one dimension. `result`: type
    /// of the number, or of the array of numbers.
    pub(crate) fn reduction(
        &mut self,
        function: NumPy,
        array: Array,
        axis: Option<usize>,
        result: types::Ty,
    ) -> Result<Value> {
        let array = self.together(array);
        let elt = self.result_elements(result);
        let Some(axis) = axis.filter(|_| array.shape.len() > 1) else {
            let count = self.product(&array.shape);
            self.require_some(function, &count, int(1));
            let (data, stride) = (array.data.clone(), int(1));
            return self.reduced(function, &Row { data, count, stride }, array.elt, elt);
        };
        let (count, inner) = (array.shape[axis].clone(), self.product(&array.shape[axis + 1..]));
        let mut shape = array.shape.clone();
        shape.remove(axis);
        let number = self.product(&shape);
        self.require_some(function, &count, number);
        let results = self.new_array(elt, shape);
        let outer = self.product(&array.shape[..axis]);
        let (from, to) = (self.module.ir_type(array.elt), self.module.ir_type(elt));
        self.counted(outer, |this, major| {
            this.counted(inner.clone(), |this, minor| {
                let block = this.build.binary(Binary::Mul, major.clone(), count.clone());
                let block = this.build.binary(Binary::Mul, block, inner.clone());
                let first = this.build.binary(Binary::Add, block, minor.clone());
                let row = Row {
                    data: this.build.element(&array.data, &from, first),
                    count: count.clone(),
                    stride: inner.clone(),
                };
                let value = this.reduced(function, &row, array.elt, elt)?;
                let place = this.build.binary(Binary::Mul, major, inner.clone());
                let place = this.build.binary(Binary::Add, place, minor);
                let place = this.build.element(&results.data, &to, place);
                this.build.store(value, &place);
                Ok(())
            })
        })?;
        Ok(self.array_value(results))
    }

    /// Raises ValueError if a reduction without an identity would have to reduce no elements.
    /// `number`: how many results there are.
    fn require_some(&mut self, function: NumPy, count: &Value, number: Value) {
        let text = match function {
            NumPy::Min => "zero-size array to reduction operation minimum which has no identity",
            NumPy::Max => "zero-size array to reduction operation maximum which has no identity",
            NumPy::ArgMin => "attempt to get argmin of an empty sequence",
            NumPy::ArgMax => "attempt to get argmax of an empty sequence",
            _ => return,
        };
        let mut some = self.build.compare(Compare::Ne, count.clone(), int(0));
        if matches!(function, NumPy::Min | NumPy::Max) {
            let none = self.build.compare(Compare::Eq, number, int(0));
            some = self.build.binary(Binary::Or, some, none);
        }
        self.require(some, Exception::ValueError, text, &[]);
    }

    fn reduced(&mut self, function: NumPy, row: &Row, from: types::Ty, elt: types::Ty) -> Result<Value> {
        let ty = self.module.ir_type(elt);
        match function {
            NumPy::Sum | NumPy::Mean if self.module.ir_type(from) == Ty::F64 => {
                let sum = match row.stride.as_int() {
                    Some(1) => {
                        self.module.sums = true;
                        let args = vec![row.data.clone(), row.count.clone()];
                        let sum = self.build.call(SUM, args, Ty::F64, None);
                        // As if the sum started at 0.0: the result is never a negative zero.
                        self.build.binary(Binary::FAdd, Value::float(0.0), sum)
                    }
                    _ => self.folded(row, from, Value::float(0.0), Binary::FAdd)?,
                };
                Ok(self.mean_if(function, sum, row))
            }
            NumPy::Sum => self.folded(row, from, Value::int(ty, 0), Binary::Add),
            NumPy::Mean => {
                let sum = self.folded(row, from, Value::float(0.0), Binary::FAdd)?;
                Ok(self.mean_if(function, sum, row))
            }
            NumPy::Prod if ty == Ty::F64 => self.folded(row, from, Value::float(1.0), Binary::FMul),
            NumPy::Prod => self.folded(row, from, Value::int(ty, 1), Binary::Mul),
            NumPy::Any => self.truths(row, from, false),
            NumPy::All => self.truths(row, from, true),
            _ => self.extreme(function, row, from, ty),
        }
    }

    fn mean_if(&mut self, function: NumPy, sum: Value, row: &Row) -> Value {
        if function != NumPy::Mean {
            return sum;
        }
        let count = self.build.convert(row.count.clone(), &Ty::F64);
        self.build.binary(Binary::FDiv, sum, count)
    }

    fn in_row(&mut self, row: &Row, ty: &Ty, index: Value) -> Value {
        let offset = self.build.binary(Binary::Mul, index, row.stride.clone());
        let from = self.build.element(&row.data, ty, offset);
        self.build.load(ty.clone(), &from)
    }

    /// Folds elements in order, in the type of `start`.
    fn folded(&mut self, row: &Row, from: types::Ty, start: Value, op: Binary) -> Result<Value> {
        let (from, ty) = (self.module.ir_type(from), start.ty.clone());
        let so_far = self.build.slot(ty.clone());
        self.build.store(start, &so_far);
        self.counted(row.count.clone(), |this, index| {
            let value = this.in_row(row, &from, index);
            let value = this.build.convert(value, &ty);
            let before = this.build.load(ty.clone(), &so_far);
            let after = this.build.binary(op, before, value);
            this.build.store(after, &so_far);
            Ok(())
        })?;
        Ok(self.build.load(ty, &so_far))
    }

    /// Whether all elements are true, or any is.
    fn truths(&mut self, row: &Row, from: types::Ty, all: bool) -> Result<Value> {
        let ty = self.module.ir_type(from);
        let so_far = self.build.slot(Ty::I1);
        self.build.store(Value::bool(all), &so_far);
        let op = if all { Binary::And } else { Binary::Or };
        self.counted(row.count.clone(), |this, index| {
            let value = this.in_row(row, &ty, index);
            let truth = this.truth(value, from);
            let before = this.build.load(Ty::I1, &so_far);
            let after = this.build.binary(op, before, truth);
            this.build.store(after, &so_far);
            Ok(())
        })?;
        Ok(self.build.load(Ty::I1, &so_far))
    }

    /// The smallest or largest element, or its index; the first one among equals. NaN takes
    /// precedence.
    fn extreme(&mut self, function: NumPy, row: &Row, from: types::Ty, result: Ty) -> Result<Value> {
        let ty = self.module.ir_type(from);
        let smallest = matches!(function, NumPy::Min | NumPy::ArgMin);
        let (best, place) = (self.build.slot(ty.clone()), self.build.slot(Ty::I32));
        let (begin, known) = (self.build.new_block("first"), self.build.new_block("extreme"));
        self.build.store(Value::zero(ty.clone()), &best);
        self.build.store(int(0), &place);
        // When reducing along a dimension, there may be no elements if there are no results either.
        let some = self.build.compare(Compare::Ne, row.count.clone(), int(0));
        self.build.branch(some, begin, known);
        self.build.block = begin;
        let first = self.in_row(row, &ty, int(0));
        self.build.store(first, &best);
        self.build.jump(known);
        self.build.block = known;
        self.counted(row.count.clone(), |this, index| {
            let value = this.in_row(row, &ty, index.clone());
            let so_far = this.build.load(ty.clone(), &best);
            let better = this.wins(smallest, value.clone(), so_far.clone());
            let at = this.build.load(Ty::I32, &place);
            let chosen = this.build.select(better.clone(), value, so_far);
            let at = this.build.select(better, index, at);
            this.build.store(chosen, &best);
            this.build.store(at, &place);
            Ok(())
        })?;
        Ok(match function {
            NumPy::ArgMin | NumPy::ArgMax => {
                let at = self.build.load(Ty::I32, &place);
                self.build.convert(at, &result)
            }
            _ => self.build.load(ty, &best),
        })
    }

    /// Whether `value` replaces `other` as the smallest or largest; NaN takes precedence.
    pub(crate) fn wins(&mut self, smallest: bool, value: Value, other: Value) -> Value {
        let (integer, float) = match smallest {
            true => (Compare::Slt, Compare::FOlt),
            false => (Compare::Sgt, Compare::FOgt),
        };
        if value.ty != Ty::F64 {
            let wide = if value.ty == Ty::I1 { Ty::I32 } else { value.ty.clone() };
            let [value, other] = [value, other].map(|number| self.build.convert(number, &wide));
            return self.build.compare(integer, value, other);
        }
        let further = self.build.compare(float, value.clone(), other.clone());
        let unknown = self.build.compare(Compare::FUne, value.clone(), value);
        let number = self.build.compare(Compare::FOeq, other.clone(), other);
        let first_unknown = self.build.binary(Binary::And, unknown, number);
        self.build.binary(Binary::Or, further, first_unknown)
    }
}

impl ModuleBuilder<'_> {
    /// `kairos.sum`: pairwise summation in NumPy's order, which keeps rounding errors small; any
    /// other order changes the last digits.
    pub(crate) fn sum_function(&mut self) {
        if !self.sums {
            return;
        }
        let mut function = Function::new(SUM, vec![Ty::Ptr, Ty::I32], Ty::F64, None);
        function.attributes = "nounwind noinline";
        let mut build = Builder::new(function);
        let [data, count] = [(0, Ty::Ptr), (1, Ty::I32)].map(|(number, ty)| Value {
            ty,
            kind: ValueKind::Temp(number),
        });
        let sum = build.slot(Ty::F64);
        let index = build.slot(Ty::I32);
        let lanes: Vec<Value> = (0..LANES).map(|_| build.slot(Ty::F64)).collect();
        let labels = [
            "few",
            "many",
            "side by side",
            "round",
            "lanes",
            "together",
            "halves",
            "rest",
            "one",
            "sum",
        ];
        let [few, many, wide, round, lane, joined, halves, rest, one, done] =
            labels.map(|label| build.new_block(label));
        build.store(Value::float(-0.0), &sum);
        build.store(int(0), &index);
        let small = build.compare(Compare::Slt, count.clone(), int(LANES));
        build.branch(small, few, many);
        build.block = few;
        build.jump(rest);
        build.block = many;
        let block = build.compare(Compare::Sle, count.clone(), int(BLOCK));
        build.branch(block, wide, halves);

        build.block = wide;
        for (number, slot) in lanes.iter().enumerate() {
            let value = element(&mut build, &data, int(number as i64));
            build.store(value, slot);
        }
        build.store(int(LANES), &index);
        build.jump(round);
        build.block = round;
        let at = build.load(Ty::I32, &index);
        let next = build.binary(Binary::Add, at.clone(), int(LANES));
        let whole = build.compare(Compare::Sle, next.clone(), count.clone());
        build.branch(whole, lane, joined);
        build.block = lane;
        for (number, slot) in lanes.iter().enumerate() {
            let place = build.binary(Binary::Add, at.clone(), int(number as i64));
            let value = element(&mut build, &data, place);
            let before = build.load(Ty::F64, slot);
            let after = build.binary(Binary::FAdd, before, value);
            build.store(after, slot);
        }
        build.store(next, &index);
        build.jump(round);
        build.block = joined;
        let mut parts: Vec<Value> = lanes.iter().map(|slot| build.load(Ty::F64, slot)).collect();
        while parts.len() > 1 {
            let pairs = parts.chunks(2);
            parts = pairs
                .map(|pair| build.binary(Binary::FAdd, pair[0].clone(), pair[1].clone()))
                .collect();
        }
        build.store(parts.remove(0), &sum);
        build.jump(rest);

        build.block = halves;
        let half = build.binary(Binary::SDiv, count.clone(), int(2));
        let beyond = build.binary(Binary::SRem, half.clone(), int(LANES));
        let half = build.binary(Binary::Sub, half, beyond);
        let behind = build.element(&data, &Ty::F64, half.clone());
        let left = build.binary(Binary::Sub, count.clone(), half.clone());
        let first = build.call(SUM, vec![data.clone(), half], Ty::F64, None);
        let second = build.call(SUM, vec![behind, left], Ty::F64, None);
        let both = build.binary(Binary::FAdd, first, second);
        build.store(both, &sum);
        build.jump(done);

        build.block = rest;
        let at = build.load(Ty::I32, &index);
        let more = build.compare(Compare::Slt, at.clone(), count);
        build.branch(more, one, done);
        build.block = one;
        let value = element(&mut build, &data, at.clone());
        let before = build.load(Ty::F64, &sum);
        let after = build.binary(Binary::FAdd, before, value);
        build.store(after, &sum);
        let next = build.binary(Binary::Add, at, int(1));
        build.store(next, &index);
        build.jump(rest);
        build.block = done;
        let result = build.load(Ty::F64, &sum);
        build.end(Terminator::Return(result));
        self.module.functions.push(build.finish());
    }
}

fn element(build: &mut Builder, data: &Value, index: Value) -> Value {
    let from = build.element(data, &Ty::F64, index);
    build.load(Ty::F64, &from)
}
