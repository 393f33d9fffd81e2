//! `bytes` and `bytearray`: `{data, length}` by value, like strings. Elements are integers from 0
//! to 255; those of a `bytearray` can be assigned, but its length is fixed.

use super::{int, Emitter};
use crate::diagnostic::Result;
use crate::ir::*;
use crate::language::Exception;
use crate::types;

impl Emitter<'_, '_> {
    /// Loads the byte at an index as a number.
    pub(crate) fn byte(&mut self, data: &Value, index: Value) -> Value {
        let from = self.build.element(data, &Ty::I8, index);
        self.load_byte(&from)
    }

    pub(crate) fn load_byte(&mut self, from: &Value) -> Value {
        let byte = self.build.load(Ty::I8, from);
        let number = self.build.convert(byte, &Ty::I32);
        self.build.binary(Binary::And, number, int(0xff))
    }

    /// Stores a number as a byte; raises ValueError if it is out of range.
    pub(crate) fn store_byte(&mut self, number: Value, to: &Value) {
        let byte = self.checked_byte(number);
        self.build.store(byte, to);
    }

    /// Converts a number to a byte; raises ValueError if it is out of range.
    pub(crate) fn checked_byte(&mut self, number: Value) -> Value {
        let above = Value::int(number.ty.clone(), !0xff);
        let rest = self.build.binary(Binary::And, number.clone(), above);
        let zero = Value::int(number.ty.clone(), 0);
        let fits = self.build.compare(Compare::Eq, rest, zero);
        self.require(fits, Exception::ValueError, "byte must be in range(0, 256)", &[]);
        self.build.convert(number, &Ty::I8)
    }

    /// Address of a byte; checks the bounds.
    pub(crate) fn byte_address(&mut self, bytes: &Value, position: Value) -> Value {
        let [data, length] = [0, 1].map(|index| self.build.extract(bytes, index));
        let length = self.build.convert(length, &position.ty.clone());
        let position = self.checked_index(position, length);
        let position = self.build.convert(position, &Ty::I32);
        self.build.element(&data, &Ty::I8, position)
    }

    /// `bytes(value)` and `bytearray(value)`: the given number of zeros, or a copy of a sequence.
    pub(crate) fn bytes_of(&mut self, value: Value, ty: types::Ty) -> Value {
        if value.ty.is_int() {
            let count = self.build.convert(value, &Ty::I64);
            let zero = Value::int(Ty::I64, 0);
            let counts = self.build.compare(Compare::Sge, count.clone(), zero);
            self.require(counts, Exception::ValueError, "negative count", &[]);
            let count = self.checked_length(count);
            let data = self.build.alloca(Ty::I8, count.clone());
            let cleared = self.counted(count.clone(), |this, index| {
                let to = this.build.element(&data, &Ty::I8, index);
                this.build.store(Value::int(Ty::I8, 0), &to);
                Ok(())
            });
            cleared.expect("clearing is never refused");
            return self.build.aggregate(vec![data, count]);
        }
        let elements = self.elements(&value, ty);
        let length = self.kept_length(&elements);
        let data = self.build.alloca(Ty::I8, length.clone());
        let copied = self.each_numbered(&elements, |this, index, number| {
            let index = this.build.convert(index, &Ty::I32);
            let to = this.build.element(&data, &Ty::I8, index);
            this.store_byte(number, &to);
            Ok(())
        });
        copied.expect("copying is never refused");
        self.build.aggregate(vec![data, length])
    }

    /// `bytes[start:stop:step]`. A slice of a `bytearray` is a copy; a slice of `bytes` without a
    /// step shares the memory.
    pub(crate) fn byte_slice(&mut self, bytes: &Value, bounds: [Option<Value>; 3], copy: bool) -> Result<Value> {
        let [from, own] = [0, 1].map(|index| self.build.extract(bytes, index));
        let stepped = bounds[2].is_some();
        let bounds = self.bounds(own, bounds);
        let length = bounds.length.clone();
        if !copy && !stepped {
            let start = self.build.convert(bounds.start, &Ty::I32);
            let data = self.build.element(&from, &Ty::I8, start);
            return Ok(self.build.aggregate(vec![data, length]));
        }
        let data = self.build.alloca(Ty::I8, length.clone());
        self.each_sliced(bounds, |this, index, place| {
            let source = this.build.element(&from, &Ty::I8, place);
            let byte = this.build.load(Ty::I8, &source);
            let to = this.build.element(&data, &Ty::I8, index);
            this.build.store(byte, &to);
            Ok(())
        })?;
        Ok(self.build.aggregate(vec![data, length]))
    }

    /// Whether two values share the same memory.
    pub(crate) fn same_bytes(&mut self, a: &Value, b: &Value, negated: bool) -> Value {
        let [a, b] = [a, b].map(|bytes| self.build.extract(bytes, 0));
        self.build
            .compare(if negated { Compare::Ne } else { Compare::Eq }, a, b)
    }
}
