//! Lists that are made from others: repetition, concatenation, slices, copies, comprehensions. All are new, on the stack.

use super::exceptions::{RUNTIME_ERROR, VALUE_ERROR};
use super::FunctionLowering;
use crate::ast::*;
use crate::diagnostic::Result;
use crate::ir::*;
use crate::types::{self, Kind};

/// Most elements of a list made at run time. The kernel's stack has 32 MiB; an element is rarely larger than 8 bytes.
const MOST_ELEMENTS: i64 = 1 << 20;

fn int(value: i64) -> Value {
    Value::int(Ty::I32, value)
}

/// A slice: index of its first element (i64), number of elements (i32), step (i64).
pub(super) struct Bounds {
    pub start: Value,
    pub length: Value,
    pub step: Value,
}

impl<'p> FunctionLowering<'_, 'p> {
    /// Room for a list of `length` (i32, not negative) elements of type `elt`: the list and its elements.
    pub(super) fn reserve_list(&mut self, elt: &Ty, length: Value) -> (Value, Value) {
        let data = self.build.alloca(elt.clone(), length.clone());
        let header = self.build.alloca(Ty::str(), int(1));
        self.build.store(data.clone(), &header);
        let to = self.build.field(&header, &Ty::str(), 1);
        self.build.store(length, &to);
        (header, data)
    }

    /// Checks a length (i64) before room for it is made, and cuts it to 32 bits.
    pub(super) fn checked_length(&mut self, length: Value) -> Value {
        let fits = self
            .build
            .compare("icmp sle", length.clone(), Value::int(Ty::I64, MOST_ELEMENTS));
        let message = "a list of {0} elements is too long for the stack of a kernel";
        self.require(fits, RUNTIME_ERROR, message, std::slice::from_ref(&length));
        self.build.convert(length, &Ty::I32)
    }

    /// Runs `body` with 0, 1, … `count` - 1 (i32).
    pub(super) fn counted(&mut self, count: Value, body: impl FnOnce(&mut Self, Value) -> Result<()>) -> Result<()> {
        let (head, inside) = (self.build.new_block("each element"), self.build.new_block("element"));
        let after = self.build.new_block("all elements");
        let counter = self.build.slot(Ty::I32);
        self.build.store(int(0), &counter);
        self.build.jump(head);
        self.build.block = head;
        let index = self.build.load(Ty::I32, &counter);
        let more = self.build.compare("icmp slt", index.clone(), count);
        self.build.branch(more, inside, after);
        self.build.block = inside;
        body(self, index.clone())?;
        let next = self.build.binary("add", index, int(1));
        self.build.store(next, &counter);
        self.build.jump(head);
        self.build.block = after;
        Ok(())
    }

    pub(super) fn copy_elements(&mut self, elt: &Ty, from: &Value, count: Value, to: &Value, offset: Value) {
        let copied = self.counted(count, |this, index| {
            let source = this.build.element(from, elt, index.clone());
            let value = this.build.load(elt.clone(), &source);
            let index = this.build.binary("add", index, offset);
            let target = this.build.element(to, elt, index);
            this.build.store(value, &target);
            Ok(())
        });
        copied.expect("copying is never refused");
    }

    /// `a + b`
    pub(super) fn concatenated(&mut self, elt: types::Ty, a: Value, b: Value) -> Value {
        let elt = self.module.ir_type(elt);
        let [(data_a, length_a), (data_b, length_b)] = [a, b].map(|list| self.list_parts(&list));
        let wide = [&length_a, &length_b].map(|length| self.build.convert(length.clone(), &Ty::I64));
        let [wide_a, wide_b] = wide;
        let length = self.build.binary("add", wide_a, wide_b);
        let length = self.checked_length(length);
        let (list, data) = self.reserve_list(&elt, length);
        self.copy_elements(&elt, &data_a, length_a.clone(), &data, int(0));
        self.copy_elements(&elt, &data_b, length_b, &data, length_a);
        list
    }

    /// `list * times`
    pub(super) fn repeated(&mut self, elt: types::Ty, list: Value, times: Value) -> Value {
        let elt = self.module.ir_type(elt);
        let (from, own) = self.list_parts(&list);
        let times = self.build.convert(times, &Ty::I64);
        let zero = Value::int(Ty::I64, 0);
        let negative = self.build.compare("icmp slt", times.clone(), zero.clone());
        let times = self.build.select(negative, zero, times);
        // Checked first, so that the product of two numbers of 32 bits cannot overflow.
        let times = self.checked_length(times);
        let [wide, times] = [own.clone(), times].map(|number| self.build.convert(number, &Ty::I64));
        let length = self.build.binary("mul", wide, times);
        let length = self.checked_length(length);
        let (result, data) = self.reserve_list(&elt, length.clone());
        let source = self.build.slot(Ty::I32);
        self.build.store(int(0), &source);
        let copied = self.counted(length, |this, index| {
            let at = this.build.load(Ty::I32, &source);
            let place = this.build.element(&from, &elt, at.clone());
            let value = this.build.load(elt.clone(), &place);
            let target = this.build.element(&data, &elt, index);
            this.build.store(value, &target);
            let next = this.build.binary("add", at, int(1));
            let end = this.build.compare("icmp eq", next.clone(), own);
            let next = this.build.select(end, int(0), next);
            this.build.store(next, &source);
            Ok(())
        });
        copied.expect("copying is never refused");
        result
    }

    /// Type of the elements of an iterable (of an array: of its numbers), and its length (i32).
    pub(super) fn iterable(&mut self, value: &Value, ty: types::Ty) -> (types::Ty, Value) {
        if let Some(array) = self.array_parts(value, ty) {
            return (array.elt, array.shape[0].clone());
        }
        match *self.module.program().types.kind(ty) {
            Kind::Range(elt) => {
                let [start, stop, step] = [0, 1, 2].map(|index| self.build.extract(value, index));
                let length = self.range_length(&start, &stop, &step);
                let length = self.build.convert(length, &Ty::I64);
                (elt, self.checked_length(length))
            }
            Kind::List(elt) => (elt, self.list_parts(value).1),
            _ => unreachable!("inference admits ranges and lists"),
        }
    }

    pub(super) fn iterable_element(&mut self, value: &Value, ty: types::Ty, index: Value) -> Value {
        if let Some(array) = self.array_parts(value, ty) {
            return self.array_element(&array, index);
        }
        match *self.module.program().types.kind(ty) {
            Kind::Range(_) => {
                let [start, step] = [0, 2].map(|index| self.build.extract(value, index));
                let index = self.build.convert(index, &start.ty);
                let offset = self.build.binary("mul", index, step);
                self.build.binary("add", start, offset)
            }
            Kind::List(elt) => {
                let elt = self.module.ir_type(elt);
                let (data, _) = self.list_parts(value);
                let from = self.build.element(&data, &elt, index);
                self.build.load(elt, &from)
            }
            _ => unreachable!("inference admits ranges and lists"),
        }
    }

    /// `list(value)`
    pub(super) fn list_of(&mut self, value: Value, ty: types::Ty) -> Value {
        let (elt, length) = self.iterable(&value, ty);
        let elt = self.module.ir_type(elt);
        let (list, data) = self.reserve_list(&elt, length.clone());
        let copied = self.counted(length, |this, index| {
            let element = this.iterable_element(&value, ty, index.clone());
            let to = this.build.element(&data, &elt, index);
            this.build.store(element, &to);
            Ok(())
        });
        copied.expect("copying is never refused");
        list
    }

    /// `[element for target in iter]`. The length is taken at the start.
    pub(super) fn comprehension(
        &mut self,
        whole: &'p Expr,
        element: &'p Expr,
        target: &'p Expr,
        iter: &'p Expr,
    ) -> Result<Value> {
        let iterable = self.expr(iter)?;
        self.build.span = whole.span;
        let ty = self.type_of(iter);
        let (passed, length) = self.iterable(&iterable, ty);
        let elt = self.ir_type_of(element);
        let (list, data) = self.reserve_list(&elt, length.clone());
        self.counted(length, |this, index| {
            let value = this.iterable_element(&iterable, ty, index.clone());
            this.assign(target, value, passed)?;
            let value = this.expr(element)?;
            let to = this.build.element(&data, &elt, index);
            this.build.store(value, &to);
            Ok(())
        })?;
        Ok(list)
    }

    /// `value[start:stop:step]`
    pub(super) fn slice(
        &mut self,
        whole: &'p Expr,
        value: &'p Expr,
        bounds: &'p [Option<Box<Expr>>; 3],
    ) -> Result<Value> {
        let object = self.expr(value)?;
        let bounds = self.slice_bounds(bounds)?;
        self.build.span = whole.span;
        let elt = match *self.kind_of(value) {
            Kind::List(elt) => self.module.ir_type(elt),
            Kind::Str => return self.string_slice(object, bounds),
            _ => {
                let array = self.array_parts(&object, self.type_of(value));
                return Ok(self.array_slice(array.expect("inference admits lists, strings, arrays"), bounds));
            }
        };
        let (from, own) = self.list_parts(&object);
        let bounds = self.bounds(own, bounds);
        let (result, data) = self.reserve_list(&elt, bounds.length.clone());
        self.each_sliced(bounds, |this, index, place| {
            let source = this.build.element(&from, &elt, place);
            let value = this.build.load(elt.clone(), &source);
            let to = this.build.element(&data, &elt, index);
            this.build.store(value, &to);
            Ok(())
        })?;
        Ok(result)
    }

    /// The values (i64) of the bounds of a slice.
    pub(super) fn slice_bounds(&mut self, bounds: &'p [Option<Box<Expr>>; 3]) -> Result<[Option<Value>; 3]> {
        let mut values = [None, None, None];
        for (value, bound) in values.iter_mut().zip(bounds) {
            if let Some(bound) = bound {
                let given = self.expr(bound)?;
                *value = Some(self.build.convert(given, &Ty::I64));
            }
        }
        Ok(values)
    }

    /// Where a slice of something of length `own` (i32) begins, with bounds as Python takes them: beyond the ends means up to the
    /// ends.
    pub(super) fn bounds(&mut self, own: Value, [start, stop, step]: [Option<Value>; 3]) -> Bounds {
        let wide = |number| Value::int(Ty::I64, number);
        let own = self.build.convert(own, &Ty::I64);
        let step = step.unwrap_or(wide(1));
        let moves = self.build.compare("icmp ne", step.clone(), wide(0));
        self.require(moves, VALUE_ERROR, "step cannot be zero", &[]);
        let rising = self.build.compare("icmp sgt", step.clone(), wide(0));
        let last = self.build.binary("sub", own.clone(), wide(1));
        let lowest = self.build.select(rising.clone(), wide(0), wide(-1));
        let highest = self.build.select(rising.clone(), own.clone(), last);
        let start = match start {
            Some(bound) => self.clamped(bound, &own, &lowest, &highest),
            None => self.build.select(rising.clone(), lowest.clone(), highest.clone()),
        };
        let stop = match stop {
            Some(bound) => self.clamped(bound, &own, &lowest, &highest),
            None => self.build.select(rising, highest, lowest),
        };
        let length = self.range_length(&start, &stop, &step);
        let length = self.build.convert(length, &Ty::I32);
        Bounds { start, length, step }
    }

    /// Runs `body` for each element of a slice, with its index in the slice and its place (i32).
    pub(super) fn each_sliced(
        &mut self,
        bounds: Bounds,
        mut body: impl FnMut(&mut Self, Value, Value) -> Result<()>,
    ) -> Result<()> {
        let place = self.build.slot(Ty::I64);
        self.build.store(bounds.start, &place);
        self.counted(bounds.length, |this, index| {
            let at = this.build.load(Ty::I64, &place);
            let narrow = this.build.convert(at.clone(), &Ty::I32);
            body(this, index, narrow)?;
            let next = this.build.binary("add", at, bounds.step);
            this.build.store(next, &place);
            Ok(())
        })
    }

    /// A bound of a slice: counted from the end if negative, and within the ends.
    fn clamped(&mut self, bound: Value, length: &Value, lowest: &Value, highest: &Value) -> Value {
        let negative = self.build.compare("icmp slt", bound.clone(), Value::int(Ty::I64, 0));
        let from_end = self.build.binary("add", bound.clone(), length.clone());
        let place = self.build.select(negative, from_end, bound);
        let below = self.build.compare("icmp slt", place.clone(), lowest.clone());
        let place = self.build.select(below, lowest.clone(), place);
        let above = self.build.compare("icmp sgt", place.clone(), highest.clone());
        self.build.select(above, highest.clone(), place)
    }
}
