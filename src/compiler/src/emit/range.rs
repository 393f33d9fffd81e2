//! Ranges, and positions in sequences.

use super::Emitter;
use crate::ir::*;
use crate::language::Exception;

impl Emitter<'_, '_> {
    /// Number of elements of a range, as Python counts them.
    pub(crate) fn range_length(&mut self, start: &Value, stop: &Value, step: &Value) -> Value {
        let ty = start.ty.clone();
        let (zero, one) = (Value::int(ty.clone(), 0), Value::int(ty.clone(), 1));
        let rising = self.build.compare(Compare::Sgt, step.clone(), zero.clone());
        let (up, down) = (
            self.build.binary(Binary::Sub, stop.clone(), start.clone()),
            self.build.binary(Binary::Sub, start.clone(), stop.clone()),
        );
        let distance = self.build.select(rising.clone(), up, down);
        let negated = self.build.binary(Binary::Sub, zero.clone(), step.clone());
        let stride = self.build.select(rising, step.clone(), negated);
        let rounded = self.build.binary(Binary::Sub, distance.clone(), one.clone());
        let is_zero = self.build.compare(Compare::Eq, stride.clone(), zero.clone());
        let stride = self.build.select(is_zero, one.clone(), stride);
        let steps = self.build.binary(Binary::SDiv, rounded, stride);
        let count = self.build.binary(Binary::Add, steps, one);
        let any = self.build.compare(Compare::Sgt, distance, zero.clone());
        self.build.select(any, count, zero)
    }

    /// Counts a negative index from the end, and raises IndexError if it is out of range.
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

    /// Whether a loop over a range goes on with `value`.
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
