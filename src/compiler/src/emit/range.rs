//! Ranges, and indices of sequences.

use super::Emitter;
use crate::ir::*;
use crate::language::Exception;

impl Emitter<'_, '_> {
    /// A range; raises ValueError if its step is zero.
    pub(crate) fn range(&mut self, members: [Value; 3]) -> Value {
        let zero = Value::int(members[2].ty.clone(), 0);
        let moves = self.build.compare(Compare::Ne, members[2].clone(), zero);
        self.require(moves, Exception::ValueError, "range() arg 3 must not be zero", &[]);
        self.build.aggregate(members.into())
    }

    /// Distance from `from` to `to` in the direction of `step`. Unsigned, since it may be too large
    /// for a signed number.
    fn distance(&mut self, from: &Value, to: &Value, step: &Value) -> Value {
        let rising = self.rises(step);
        let up = self.build.binary(Binary::Sub, to.clone(), from.clone());
        let down = self.build.binary(Binary::Sub, from.clone(), to.clone());
        self.build.select(rising, up, down)
    }

    fn rises(&mut self, step: &Value) -> Value {
        let zero = Value::int(step.ty.clone(), 0);
        self.build.compare(Compare::Sgt, step.clone(), zero)
    }

    /// The absolute value of the step, unsigned.
    fn stride(&mut self, step: &Value) -> Value {
        let rising = self.rises(step);
        let negated = self.build.negated(step.clone());
        self.build.select(rising, step.clone(), negated)
    }

    /// Number of elements of a range with nonzero step, as in Python; unsigned.
    pub(crate) fn range_length(&mut self, start: &Value, stop: &Value, step: &Value) -> Value {
        let ty = start.ty.clone();
        let (zero, one) = (Value::int(ty.clone(), 0), Value::int(ty, 1));
        let any = self.in_range(start, stop, step);
        let distance = self.distance(start, stop, step);
        let count = match step.as_int() {
            Some(1 | -1) => distance,
            _ => {
                let stride = self.stride(step);
                let rounded = self.build.binary(Binary::Sub, distance, one.clone());
                let steps = self.build.binary(Binary::UDiv, rounded, stride);
                self.build.binary(Binary::Add, steps, one)
            }
        };
        self.build.select(any, count, zero)
    }

    /// As [`Self::range_length`], as a signed number; raises OverflowError if it is too large.
    pub(crate) fn signed_range_length(&mut self, start: &Value, stop: &Value, step: &Value) -> Value {
        let length = self.range_length(start, stop, step);
        let zero = Value::int(length.ty.clone(), 0);
        let fits = self.build.compare(Compare::Sge, length.clone(), zero);
        let text = "the range has more elements than its integers can count";
        self.require(fits, Exception::OverflowError, text, &[]);
        length
    }

    /// Whether another element follows `value`, which is an element. The step must not be added to
    /// find out, since the sum may overflow.
    pub(crate) fn goes_on(&mut self, value: &Value, stop: &Value, step: &Value) -> Value {
        let rest = self.distance(value, stop, step);
        let stride = self.stride(step);
        self.build.compare(Compare::Ult, stride, rest)
    }

    /// Whether it is known at compile time that the element after the last one cannot overflow; a
    /// loop may then compare it with the stop.
    pub(crate) fn steps_beyond(&self, stop: &Value, step: &Value) -> bool {
        let most = match stop.ty {
            Ty::I64 => i64::MAX,
            _ => i32::MAX.into(),
        };
        match (stop.as_int(), step.as_int()) {
            (_, Some(1 | -1)) => true,
            (Some(stop), Some(step)) => {
                let end = stop.checked_add(step);
                end.is_some_and(|end| (-most - 1..=most).contains(&end))
            }
            _ => false,
        }
    }

    /// Whether a range contains `value`.
    pub(crate) fn range_contains(&mut self, value: &Value, [start, stop, step]: &[Value; 3]) -> Value {
        let before_stop = self.in_range(value, stop, step);
        let behind_start = self.in_range(value, start, step);
        let from_start = self.build.not(behind_start);
        // `in_range(value, start)` means that `value` is before the start: less in a rising range,
        // greater in a falling one.
        let distance = self.distance(start, value, step);
        let stride = self.stride(step);
        let rest = self.build.binary(Binary::URem, distance, stride);
        let on_grid = self.build.compare(Compare::Eq, rest, Value::int(value.ty.clone(), 0));
        let inside = self.build.binary(Binary::And, before_stop, from_start);
        self.build.binary(Binary::And, inside, on_grid)
    }

    /// Converts a negative index to one from the start; raises IndexError if out of range. The
    /// length is unsigned.
    pub(crate) fn checked_index(&mut self, index: Value, length: Value) -> Value {
        let zero = Value::int(index.ty.clone(), 0);
        let negative = self.build.compare(Compare::Slt, index.clone(), zero);
        let from_end = self.build.binary(Binary::Add, index.clone(), length.clone());
        let position = self.build.select(negative, from_end, index.clone());
        let inside = self.build.compare(Compare::Ult, position.clone(), length.clone());
        self.require(
            inside,
            Exception::IndexError,
            "index {0} out of bounds 0:{1}",
            &[index, length],
        );
        position
    }

    /// Whether a loop over a range continues with `value`.
    pub(crate) fn in_range(&mut self, value: &Value, stop: &Value, stride: &Value) -> Value {
        let up = |this: &mut Self| this.build.compare(Compare::Slt, value.clone(), stop.clone());
        let down = |this: &mut Self| this.build.compare(Compare::Sgt, value.clone(), stop.clone());
        match stride.as_int() {
            Some(known) if known >= 0 => up(self),
            Some(_) => down(self),
            None => {
                let (up, down) = (up(self), down(self));
                let zero = Value::int(stride.ty.clone(), 0);
                let rising = self.build.compare(Compare::Sgt, stride.clone(), zero);
                self.build.select(rising, up, down)
            }
        }
    }
}
