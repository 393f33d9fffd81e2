//! Comparison of lists, tuples and strings, as Python has it; strings made from others; assignment to slices and patterns.

use super::array::Array;
use super::exceptions::VALUE_ERROR;
use super::list::Bounds;
use super::FunctionLowering;
use crate::ast::*;
use crate::diagnostic::Result;
use crate::ir::*;
use crate::types::{self, Kind};

fn int(value: i64) -> Value {
    Value::int(Ty::I32, value)
}

impl<'p> FunctionLowering<'_, 'p> {
    /// `a op b` for tuples: the first members that differ decide.
    pub(super) fn compare_tuples(
        &mut self,
        whole: &'p Expr,
        op: CmpOp,
        (a, b): (Value, Value),
        elements: &[types::Ty],
    ) -> Result<Value> {
        let mut result = Value::bool(matches!(op, CmpOp::Eq | CmpOp::LtE | CmpOp::GtE));
        for (index, &ty) in elements.iter().enumerate().rev() {
            let [x, y] = [&a, &b].map(|tuple| self.build.extract(tuple, index));
            let equal = self.comparison(whole, CmpOp::Eq, (x.clone(), ty), (y.clone(), ty))?;
            let decided = match op {
                CmpOp::Eq | CmpOp::NotEq => Value::bool(op == CmpOp::NotEq),
                _ => self.comparison(whole, op, (x, ty), (y, ty))?,
            };
            result = self.build.select(equal, result, decided);
        }
        Ok(result)
    }

    /// `a op b` for lists of elements of type `elt`.
    pub(super) fn compare_lists(
        &mut self,
        whole: &'p Expr,
        op: CmpOp,
        (a, b): (Value, Value),
        elt: types::Ty,
    ) -> Result<Value> {
        let [(data_a, length_a), (data_b, length_b)] = [a, b].map(|list| self.list_parts(&list));
        let result = self.build.slot(Ty::I1);
        let (same, differ) = (self.build.new_block("same elements"), self.build.new_block("differ"));
        let after = self.build.new_block("compared");
        let shorter = self.build.compare("icmp slt", length_a.clone(), length_b.clone());
        let common = self.build.select(shorter, length_a.clone(), length_b.clone());
        let first = self.first_difference(whole, elt, (&data_a, &data_b), common.clone())?;
        let all = self.build.compare("icmp eq", first.clone(), common);
        self.build.branch(all, same, differ);
        self.build.block = same;
        let by_length = self.build.compare(integer_order(op), length_a, length_b);
        self.build.store(by_length, &result);
        self.build.jump(after);
        self.build.block = differ;
        let decided = match op {
            CmpOp::Eq | CmpOp::NotEq => Value::bool(op == CmpOp::NotEq),
            _ => {
                let ty = self.module.ir_type(elt);
                let [x, y] = [&data_a, &data_b].map(|data| {
                    let from = self.build.element(data, &ty, first.clone());
                    self.build.load(ty.clone(), &from)
                });
                self.comparison(whole, op, (x, elt), (y, elt))?
            }
        };
        self.build.store(decided, &result);
        self.build.jump(after);
        self.build.block = after;
        Ok(self.build.load(Ty::I1, &result))
    }

    /// Index of the first of `count` elements that are not equal; `count` if all are.
    pub(super) fn first_difference(
        &mut self,
        whole: &'p Expr,
        elt: types::Ty,
        (a, b): (&Value, &Value),
        count: Value,
    ) -> Result<Value> {
        let ty = self.module.ir_type(elt);
        let counter = self.build.slot(Ty::I32);
        self.build.store(int(0), &counter);
        let (head, inside) = (self.build.new_block("each pair"), self.build.new_block("pair"));
        let (next, after) = (self.build.new_block("equal pair"), self.build.new_block("pairs"));
        self.build.jump(head);
        self.build.block = head;
        let index = self.build.load(Ty::I32, &counter);
        let more = self.build.compare("icmp slt", index.clone(), count);
        self.build.branch(more, inside, after);
        self.build.block = inside;
        let [x, y] = [a, b].map(|data| {
            let from = self.build.element(data, &ty, index.clone());
            self.build.load(ty.clone(), &from)
        });
        let equal = self.comparison(whole, CmpOp::Eq, (x, elt), (y, elt))?;
        self.build.branch(equal, next, after);
        self.build.block = next;
        let stepped = self.build.binary("add", index, int(1));
        self.build.store(stepped, &counter);
        self.build.jump(head);
        self.build.block = after;
        Ok(self.build.load(Ty::I32, &counter))
    }

    /// Order of two strings by their bytes, which for UTF-8 is that of their characters.
    pub(super) fn compare_strings(&mut self, op: CmpOp, a: &Value, b: &Value) -> Value {
        let [(data_a, length_a), (data_b, length_b)] =
            [a, b].map(|text| (self.build.extract(text, 0), self.build.extract(text, 1)));
        let shorter = self.build.compare("icmp slt", length_a.clone(), length_b.clone());
        let common = self.build.select(shorter, length_a.clone(), length_b.clone());
        let bytes = self.call_external("memcmp", vec![data_a, data_b, common], Ty::I32, true);
        let same = self.build.compare("icmp eq", bytes.clone(), int(0));
        let by_length = self.build.compare(integer_order(op), length_a, length_b);
        let by_bytes = self.build.compare(integer_order(op), bytes, int(0));
        self.build.select(same, by_length, by_bytes)
    }

    /// `a + b` for strings.
    pub(super) fn joined(&mut self, a: Value, b: Value) -> Value {
        let [(data_a, length_a), (data_b, length_b)] =
            [a, b].map(|text| (self.build.extract(&text, 0), self.build.extract(&text, 1)));
        let [wide_a, wide_b] = [&length_a, &length_b].map(|length| self.build.convert(length.clone(), &Ty::I64));
        let length = self.build.binary("add", wide_a, wide_b);
        let length = self.checked_length(length);
        let data = self.build.alloca(Ty::I8, length.clone());
        self.copy_elements(&Ty::I8, &data_a, length_a.clone(), &data, int(0));
        self.copy_elements(&Ty::I8, &data_b, length_b, &data, length_a);
        self.build.aggregate(vec![data, length])
    }

    /// `text[start:stop:step]`, in bytes. Without a step it is a part of the same text.
    pub(super) fn string_slice(&mut self, text: Value, bounds: [Option<Value>; 3]) -> Result<Value> {
        let (from, own) = (self.build.extract(&text, 0), self.build.extract(&text, 1));
        let stepped = bounds[2].is_some();
        let bounds = self.bounds(own, bounds);
        if !stepped {
            let start = self.build.convert(bounds.start, &Ty::I32);
            let data = self.build.element(&from, &Ty::I8, start);
            return Ok(self.build.aggregate(vec![data, bounds.length]));
        }
        let data = self.build.alloca(Ty::I8, bounds.length.clone());
        let length = bounds.length.clone();
        self.each_sliced(bounds, |this, index, place| {
            let source = this.build.element(&from, &Ty::I8, place);
            let byte = this.build.load(Ty::I8, &source);
            let to = this.build.element(&data, &Ty::I8, index);
            this.build.store(byte, &to);
            Ok(())
        })?;
        Ok(self.build.aggregate(vec![data, length]))
    }

    /// `array[start:stop]`: a view.
    pub(super) fn array_slice(&mut self, array: Array, bounds: [Option<Value>; 3]) -> Value {
        let view = self.array_view(array, bounds);
        self.array_value(view)
    }

    fn array_view(&mut self, array: Array, bounds: [Option<Value>; 3]) -> Array {
        let Bounds { start, length, .. } = self.bounds(array.shape[0].clone(), bounds);
        let start = self.build.convert(start, &Ty::I32);
        let mut offset = start;
        for length in &array.shape[1..] {
            offset = self.build.binary("mul", offset, length.clone());
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

    /// `value[start:stop:step] = found`. The lengths must be the same: neither lists nor arrays change theirs.
    pub(super) fn assign_slice(
        &mut self,
        target: &'p Expr,
        value: &'p Expr,
        bounds: &'p [Option<Box<Expr>>; 3],
        found: Value,
    ) -> Result<()> {
        let object = self.expr(value)?;
        let bounds = self.slice_bounds(bounds)?;
        self.build.span = target.span;
        let ty = self.type_of(value);
        if let Some(array) = self.array_parts(&object, ty) {
            let view = self.array_view(array, bounds);
            let from = self.array_parts(&found, ty).expect("unified by inference");
            self.copy_array(&from, &view);
            return Ok(());
        }
        let Kind::List(elt) = *self.kind_of(value) else {
            unreachable!("inference admits lists and arrays")
        };
        let elt = self.module.ir_type(elt);
        let (data, own) = self.list_parts(&object);
        let (from, count) = self.list_parts(&found);
        let bounds = self.bounds(own, bounds);
        let same = self.build.compare("icmp eq", bounds.length.clone(), count.clone());
        let text = "attempt to assign sequence of size {0} to slice of size {1}";
        self.require(same, VALUE_ERROR, text, &[count.clone(), bounds.length.clone()]);
        // By way of a copy, since the value may be the same list.
        let copy = self.build.alloca(elt.clone(), count.clone());
        self.copy_elements(&elt, &from, count, &copy, int(0));
        self.each_sliced(bounds, |this, index, place| {
            let source = this.build.element(&copy, &elt, index);
            let value = this.build.load(elt.clone(), &source);
            let to = this.build.element(&data, &elt, place);
            this.build.store(value, &to);
            Ok(())
        })
    }

    /// `[a, b] = value`
    pub(super) fn assign_list(&mut self, targets: &'p [Expr], value: Value, elt: types::Ty) -> Result<()> {
        let (data, length) = self.list_parts(&value);
        let wanted = int(targets.len() as i64);
        let same = self.build.compare("icmp eq", length, wanted.clone());
        let text = "list must be {0} elements long to decompose";
        self.require(same, VALUE_ERROR, text, &[wanted]);
        let ty = self.module.ir_type(elt);
        let members: Vec<Value> = (0..targets.len())
            .map(|index| {
                let from = self.build.element(&data, &ty, int(index as i64));
                self.build.load(ty.clone(), &from)
            })
            .collect();
        let mut pairs = targets.iter().zip(members);
        pairs.try_for_each(|(target, member)| self.assign(target, member, elt))
    }
}

/// The predicate of a comparison of signed integers.
pub(super) fn integer_order(op: CmpOp) -> &'static str {
    match op {
        CmpOp::Eq | CmpOp::Is => "icmp eq",
        CmpOp::NotEq | CmpOp::IsNot => "icmp ne",
        CmpOp::Lt => "icmp slt",
        CmpOp::LtE => "icmp sle",
        CmpOp::Gt => "icmp sgt",
        _ => "icmp sge",
    }
}
