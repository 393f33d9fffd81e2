//! Strings made from others. They live on the stack of their function.

use super::{int, Emitter};
use crate::diagnostic::Result;
use crate::ir::*;

impl Emitter<'_, '_> {
    /// `a + b` for strings.
    pub(crate) fn joined(&mut self, a: Value, b: Value) -> Value {
        let [(data_a, length_a), (data_b, length_b)] =
            [a, b].map(|text| (self.build.extract(&text, 0), self.build.extract(&text, 1)));
        let [wide_a, wide_b] = [&length_a, &length_b].map(|length| self.build.convert(length.clone(), &Ty::I64));
        let length = self.build.binary(Binary::Add, wide_a, wide_b);
        let length = self.checked_length(length);
        let data = self.build.alloca(Ty::I8, length.clone());
        self.copy_elements(&Ty::I8, &data_a, length_a.clone(), &data, int(0));
        self.copy_elements(&Ty::I8, &data_b, length_b, &data, length_a);
        self.build.aggregate(vec![data, length])
    }

    /// `text[start:stop:step]`, in bytes. Without a step it is a part of the same text.
    pub(crate) fn string_slice(&mut self, text: Value, bounds: [Option<Value>; 3]) -> Result<Value> {
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
}
