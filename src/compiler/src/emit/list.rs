//! Lists created from others: repetition, concatenation, slices, copies, comprehensions. All are
//! new lists on the stack.

use super::{int, Emitter};
use crate::diagnostic::Result;
use crate::ir::*;
use crate::language::Exception;
use crate::types;

/// Maximum number of elements of a list created at run time. The kernel's stack has 32 MiB; an
/// element is rarely larger than 8 bytes.
const MOST_ELEMENTS: i64 = 1 << 20;

/// Number of constants from which a list display copies them from the library.
const COPIED: usize = 16;

/// A slice: index of its first element (i64), number of elements (i32), step (i64).
pub(crate) struct Bounds {
    pub start: Value,
    pub length: Value,
    pub step: Value,
}

impl<'p> Emitter<'_, 'p> {
    /// A new list on the stack. As in Python, each loop iteration creates its own.
    pub(crate) fn new_list(&mut self, elt: types::Ty, values: Vec<Value>) -> Value {
        let elt = self.module.ir_type(elt);
        let length = Value::int(Ty::I32, values.len() as i64);
        let (header, data) = self.reserve_list(&elt, length.clone());
        let known = values.iter().filter(|value| value.is_constant()).count();
        let copied = known >= COPIED;
        if copied {
            // Thousands of stores would take LLVM longer than everything else.
            let from = self.module.literal(&elt, &values);
            self.move_elements(&elt, &from, length, &data);
        }
        for (index, value) in values.into_iter().enumerate() {
            if copied && value.is_constant() {
                continue;
            }
            let to = self.build.element(&data, &elt, Value::int(Ty::I32, index as i64));
            self.build.store(value, &to);
        }
        header
    }

    /// Data pointer and length of a list.
    pub(crate) fn list_parts(&mut self, list: &Value) -> (Value, Value) {
        let data = self.build.load(Ty::Ptr, list);
        let length = self.build.field(list, &Ty::str(), 1);
        (data, self.build.load(Ty::I32, &length))
    }

    /// Allocates a list of `length` (i32, not negative) elements of type `elt`; returns the list
    /// and its data pointer.
    pub(crate) fn reserve_list(&mut self, elt: &Ty, length: Value) -> (Value, Value) {
        let data = self.build.alloca(elt.clone(), length.clone());
        (self.list_of_data(data.clone(), length), data)
    }

    /// A new list of `length` elements (i32) at `data`.
    pub(crate) fn list_of_data(&mut self, data: Value, length: Value) -> Value {
        let header = self.build.alloca(Ty::str(), int(1));
        self.build.store(data, &header);
        let to = self.build.field(&header, &Ty::str(), 1);
        self.build.store(length, &to);
        header
    }

    /// Checks a length (i64, unsigned) before allocation and truncates it to 32 bits.
    pub(crate) fn checked_length(&mut self, length: Value) -> Value {
        let fits = self
            .build
            .compare(Compare::Ult, length.clone(), Value::int(Ty::I64, MOST_ELEMENTS + 1));
        let message = "a list of {0} elements is too long for the stack of a kernel";
        self.require(fits, Exception::RuntimeError, message, std::slice::from_ref(&length));
        self.build.convert(length, &Ty::I32)
    }

    /// Runs `body` for 0, 1, … `count` - 1 (i32).
    pub(crate) fn counted(&mut self, count: Value, body: impl FnOnce(&mut Self, Value) -> Result<()>) -> Result<()> {
        let (head, inside) = (self.build.new_block("each element"), self.build.new_block("element"));
        let after = self.build.new_block("all elements");
        let counter = self.build.slot(Ty::I32);
        self.build.store(int(0), &counter);
        let index = self.loop_head(&counter, count, [head, inside, after]);
        body(self, index.clone())?;
        self.loop_end(&counter, index, [head, after]);
        Ok(())
    }

    /// Emits the head of a loop that counts up to `count`; continues inside with the current value
    /// of the counter.
    pub(crate) fn loop_head(&mut self, counter: &Value, count: Value, [head, inside, after]: [BlockId; 3]) -> Value {
        self.build.jump(head);
        self.build.block = head;
        let index = self.build.load(Ty::I32, counter);
        let more = self.build.compare(Compare::Slt, index.clone(), count);
        self.build.branch(more, inside, after);
        self.build.block = inside;
        index
    }

    /// Emits the end of such a loop: increments the counter; continues after the loop.
    pub(crate) fn loop_end(&mut self, counter: &Value, index: Value, [head, after]: [BlockId; 2]) {
        let next = self.build.binary(Binary::Add, index, int(1));
        self.build.store(next, counter);
        self.build.jump(head);
        self.build.block = after;
    }

    pub(crate) fn copy_elements(&mut self, elt: &Ty, from: &Value, count: Value, to: &Value, offset: Value) {
        let copied = self.counted(count, |this, index| {
            let source = this.build.element(from, elt, index.clone());
            let value = this.build.load(elt.clone(), &source);
            let index = this.build.binary(Binary::Add, index, offset);
            let target = this.build.element(to, elt, index);
            this.build.store(value, &target);
            Ok(())
        });
        copied.expect("copying is never refused");
    }

    /// Copies elements between memory areas that may overlap.
    pub(crate) fn move_elements(&mut self, elt: &Ty, from: &Value, count: Value, to: &Value) {
        let size = self.build.binary(Binary::Mul, count, int(elt.layout().0.into()));
        self.call_external("memmove", vec![to.clone(), from.clone(), size], Ty::Ptr, true);
    }

    /// `a + b`
    pub(crate) fn concatenated(&mut self, elt: types::Ty, a: Value, b: Value) -> Value {
        let elt = self.module.ir_type(elt);
        let [(data_a, length_a), (data_b, length_b)] = [a, b].map(|list| self.list_parts(&list));
        let wide = [&length_a, &length_b].map(|length| self.build.convert(length.clone(), &Ty::I64));
        let [wide_a, wide_b] = wide;
        let length = self.build.binary(Binary::Add, wide_a, wide_b);
        let length = self.checked_length(length);
        let (list, data) = self.reserve_list(&elt, length);
        self.copy_elements(&elt, &data_a, length_a.clone(), &data, int(0));
        self.copy_elements(&elt, &data_b, length_b, &data, length_a);
        list
    }

    /// `list * times`
    pub(crate) fn repeated(&mut self, elt: types::Ty, list: Value, times: Value) -> Value {
        let elt = self.module.ir_type(elt);
        let (from, own) = self.list_parts(&list);
        let times = self.build.convert(times, &Ty::I64);
        let zero = Value::int(Ty::I64, 0);
        let negative = self.build.compare(Compare::Slt, times.clone(), zero.clone());
        let times = self.build.select(negative, zero, times);
        // Checked first, so that the product of two 32-bit numbers cannot overflow.
        let times = self.checked_length(times);
        let [wide, times] = [own.clone(), times].map(|number| self.build.convert(number, &Ty::I64));
        let length = self.build.binary(Binary::Mul, wide, times);
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
            let next = this.build.binary(Binary::Add, at, int(1));
            let end = this.build.compare(Compare::Eq, next.clone(), own);
            let next = this.build.select(end, int(0), next);
            this.build.store(next, &source);
            Ok(())
        });
        copied.expect("copying is never refused");
        result
    }

    /// `list(value)` with elements of type `elt`.
    pub(crate) fn list_of(&mut self, value: Value, ty: types::Ty, elt: types::Ty) -> Value {
        let elements = self.elements(&value, ty);
        let length = self.kept_length(&elements);
        let elt = self.module.ir_type(elt);
        let (list, data) = self.reserve_list(&elt, length);
        let copied = self.each_numbered(&elements, |this, index, element| {
            let index = this.build.convert(index, &Ty::I32);
            let to = this.build.element(&data, &elt, index);
            this.build.store(element, &to);
            Ok(())
        });
        copied.expect("copying is never refused");
        list
    }

    /// Computes a slice of a sequence of length `own` (i32) from bounds with Python semantics,
    /// which are clamped to the ends.
    pub(crate) fn bounds(&mut self, own: Value, [start, stop, step]: [Option<Value>; 3]) -> Bounds {
        let wide = |number| Value::int(Ty::I64, number);
        let own = self.build.convert(own, &Ty::I64);
        let step = step.unwrap_or(wide(1));
        let moves = self.build.compare(Compare::Ne, step.clone(), wide(0));
        self.require(moves, Exception::ValueError, "step cannot be zero", &[]);
        let rising = self.build.compare(Compare::Sgt, step.clone(), wide(0));
        let last = self.build.binary(Binary::Sub, own.clone(), wide(1));
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

    /// Runs `body` for each element of a slice, with its index in the slice and in the sequence
    /// (i32).
    pub(crate) fn each_sliced(
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
            let next = this.build.binary(Binary::Add, at, bounds.step);
            this.build.store(next, &place);
            Ok(())
        })
    }

    /// Clamps a bound of a slice; negative bounds count from the end.
    fn clamped(&mut self, bound: Value, length: &Value, lowest: &Value, highest: &Value) -> Value {
        let negative = self.build.compare(Compare::Slt, bound.clone(), Value::int(Ty::I64, 0));
        let from_end = self.build.binary(Binary::Add, bound.clone(), length.clone());
        let place = self.build.select(negative, from_end, bound);
        let below = self.build.compare(Compare::Slt, place.clone(), lowest.clone());
        let place = self.build.select(below, lowest.clone(), place);
        let above = self.build.compare(Compare::Sgt, place.clone(), highest.clone());
        self.build.select(above, highest.clone(), place)
    }
}
