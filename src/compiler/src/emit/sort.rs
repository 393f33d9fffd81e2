//! Merge sort, bottom-up: sorted runs are merged into longer ones, from single elements up to the
//! whole list. It is stable, as in Python.

use super::{int, Emitter};
use crate::diagnostic::Result;
use crate::ir::*;
use crate::source::Span;
use crate::syntax::CmpOp;
use crate::types::{self, Kind};

/// The order of elements.
#[derive(Clone, Copy)]
struct Order {
    elt: types::Ty,
    /// Type of the key, if elements are pairs of a key, which decides, and a value, which is
    /// ignored.
    key: Option<types::Ty>,
    descending: bool,
}

impl Emitter<'_, '_> {
    /// Sorts a list of elements of type `elt` in place.
    pub(crate) fn sort(&mut self, span: Span, list: &Value, elt: types::Ty, descending: bool) -> Result<()> {
        let order = Order {
            elt,
            key: None,
            descending,
        };
        self.sort_by(span, list, order)
    }

    /// Sorts a list of pairs of a key and an element in place; returns a new list of the elements,
    /// of type `elt`.
    pub(crate) fn sorted_by_key(
        &mut self,
        span: Span,
        (pairs, ty): (Value, types::Ty),
        elt: types::Ty,
        descending: bool,
    ) -> Result<Value> {
        let Kind::List(pair) = *self.module.program.types.kind(ty) else {
            unreachable!("the reader of the call makes a list")
        };
        let Kind::Tuple(members) = self.module.program.types.kind(pair).clone() else {
            unreachable!("of pairs")
        };
        let order = Order {
            elt: pair,
            key: Some(members[0]),
            descending,
        };
        self.sort_by(span, &pairs, order)?;
        let (data, length) = self.list_parts(&pairs);
        let [pair, elt] = [pair, elt].map(|ty| self.module.ir_type(ty));
        let (list, to) = self.reserve_list(&elt, length.clone());
        self.counted(length, |this, index| {
            let from = this.build.element(&data, &pair, index.clone());
            let value = this.build.load(pair.clone(), &from);
            let value = this.build.extract(&value, 1);
            let to = this.build.element(&to, &elt, index);
            this.build.store(value, &to);
            Ok(())
        })?;
        Ok(list)
    }

    fn sort_by(&mut self, span: Span, list: &Value, order: Order) -> Result<()> {
        let (data, length) = self.list_parts(list);
        let ty = self.module.ir_type(order.elt);
        let merged = self.build.alloca(ty.clone(), length.clone());
        let [width, start] = [(); 2].map(|()| self.build.slot(Ty::I32));
        self.build.store(int(1), &width);
        self.while_below(&width, length.clone(), |this, run| {
            this.build.store(int(0), &start);
            this.while_below(&start, length.clone(), |this, first| {
                let middle = this.at_most(first.clone(), &run, &length);
                let end = this.at_most(middle.clone(), &run, &length);
                this.merge(span, (&data, &merged), order, [first, middle, end.clone()])?;
                this.build.store(end, &start);
                Ok(())
            })?;
            this.copy_elements(&ty, &merged, length.clone(), &data, int(0));
            let double = this.build.binary(Binary::Add, run.clone(), run);
            this.build.store(double, &width);
            Ok(())
        })
    }

    /// Merges the run from `first` to `middle` with the run from `middle` to `end`.
    fn merge(
        &mut self,
        span: Span,
        (data, merged): (&Value, &Value),
        order: Order,
        [first, middle, end]: [Value; 3],
    ) -> Result<()> {
        let ty = self.module.ir_type(order.elt);
        let [left, right, place] = [(); 3].map(|()| self.build.slot(Ty::I32));
        let from_right = self.build.slot(Ty::I1);
        self.build.store(first.clone(), &left);
        self.build.store(middle.clone(), &right);
        self.build.store(first, &place);
        self.while_below(&place, end.clone(), |this, at| {
            let [a, b] = [&left, &right].map(|slot| this.build.load(Ty::I32, slot));
            let some_left = this.build.compare(Compare::Slt, a.clone(), middle);
            let some_right = this.build.compare(Compare::Slt, b.clone(), end);
            let none_left = this.build.not(some_left.clone());
            this.build.store(none_left, &from_right);
            let both = this.build.binary(Binary::And, some_left, some_right);
            let (compare, chosen) = (this.build.new_block("compare"), this.build.new_block("chosen"));
            this.build.branch(both, compare, chosen);
            this.build.block = compare;
            let [x, y] = [&a, &b].map(|index| {
                let from = this.build.element(data, &ty, index.clone());
                let value = this.build.load(ty.clone(), &from);
                match order.key {
                    Some(key) => (this.build.extract(&value, 0), key),
                    None => (value, order.elt),
                }
            });
            let (less, more) = if order.descending { (x, y) } else { (y, x) };
            let sooner = this.comparison(span, CmpOp::Lt, less, more)?;
            this.build.store(sooner, &from_right);
            this.build.jump(chosen);
            this.build.block = chosen;
            let take_right = this.build.load(Ty::I1, &from_right);
            let index = this.build.select(take_right.clone(), b.clone(), a.clone());
            let from = this.build.element(data, &ty, index);
            let value = this.build.load(ty.clone(), &from);
            let to = this.build.element(merged, &ty, at.clone());
            this.build.store(value, &to);
            let step = this.build.convert(take_right, &Ty::I32);
            let b = this.build.binary(Binary::Add, b, step.clone());
            let other = this.build.binary(Binary::Sub, int(1), step);
            let a = this.build.binary(Binary::Add, a, other);
            let at = this.build.binary(Binary::Add, at, int(1));
            for (value, slot) in [(a, &left), (b, &right), (at, &place)] {
                this.build.store(value, slot);
            }
            Ok(())
        })
    }

    /// `from + count`, but at most `most`.
    fn at_most(&mut self, from: Value, count: &Value, most: &Value) -> Value {
        let sum = self.build.binary(Binary::Add, from, count.clone());
        let less = self.build.compare(Compare::Slt, sum.clone(), most.clone());
        self.build.select(less, sum, most.clone())
    }

    /// Runs `body` while the number in a slot is below `end`. The body receives the number and must
    /// update the slot.
    fn while_below(
        &mut self,
        slot: &Value,
        end: Value,
        body: impl FnOnce(&mut Self, Value) -> Result<()>,
    ) -> Result<()> {
        let [head, inside, after] = ["while below", "below", "not below"].map(|label| self.build.new_block(label));
        let value = self.loop_head(slot, end, [head, inside, after]);
        body(self, value)?;
        self.build.jump(head);
        self.build.block = after;
        Ok(())
    }
}
