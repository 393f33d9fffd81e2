//! Formatted strings. Integers, bools and strings, whose text form is simple, are formatted by the
//! kernel; everything else is formatted by the host, with Python semantics.

use super::{int, Builder, Emitter, ModuleBuilder};
use crate::ir::*;
use crate::types::{self, Kind};

/// `kairos.decimal(buffer, number)`: writes the digits of a number at the end of a buffer; returns
/// the offset of the first one.
const DECIMAL: &str = "kairos.decimal";
/// Size of the buffer in bytes: -9223372036854775808.
const DIGITS: usize = 20;

impl ModuleBuilder<'_> {
    pub(crate) fn decimal_function(&mut self) {
        let mut function = Function::new(DECIMAL, vec![Ty::Ptr, Ty::I64], Ty::I32, None);
        function.attributes = "nounwind noinline";
        let mut build = Builder::new(function);
        let parameter = |number: u32, ty: Ty| Value {
            ty,
            kind: ValueKind::Temp(number),
        };
        let (buffer, number) = (parameter(0, Ty::Ptr), parameter(1, Ty::I64));
        let wide = |value| Value::int(Ty::I64, value);
        let negative = build.compare(Compare::Slt, number.clone(), wide(0));
        // Unsigned from here on: the most negative number cannot be negated.
        let opposite = build.negated(number.clone());
        let magnitude = build.select(negative.clone(), opposite, number);
        let (rest, at) = (build.slot(Ty::I64), build.slot(Ty::I32));
        build.store(magnitude, &rest);
        build.store(int(DIGITS as i64), &at);
        let put = |build: &mut Builder, byte: Value| {
            let place = build.load(Ty::I32, &at);
            let place = build.binary(Binary::Sub, place, int(1));
            build.store(place.clone(), &at);
            let to = build.element(&buffer, &Ty::I8, place);
            build.store(byte, &to);
        };
        let [each, sign, minus, done] = ["each digit", "sign", "minus", "written"].map(|label| build.new_block(label));
        build.jump(each);
        build.block = each;
        let value = build.load(Ty::I64, &rest);
        let digit = build.binary(Binary::URem, value.clone(), wide(10));
        let digit = build.convert(digit, &Ty::I8);
        let digit = build.binary(Binary::Add, digit, Value::int(Ty::I8, b'0'.into()));
        put(&mut build, digit);
        let value = build.binary(Binary::UDiv, value, wide(10));
        build.store(value.clone(), &rest);
        let more = build.compare(Compare::Ne, value, wide(0));
        build.branch(more, each, sign);
        build.block = sign;
        build.branch(negative, minus, done);
        build.block = minus;
        put(&mut build, Value::int(Ty::I8, b'-'.into()));
        build.jump(done);
        build.block = done;
        let begin = build.load(Ty::I32, &at);
        build.end(Terminator::Return(begin));
        self.module.functions.push(build.finish());
    }
}

impl Emitter<'_, '_> {
    /// The text of a value that the kernel [formats itself](types::Types::writes_itself).
    pub(crate) fn text_of(&mut self, value: Value, ty: types::Ty) -> Value {
        match self.module.program.types.kind(ty) {
            Kind::Str => value,
            Kind::None => self.module.string(b"None"),
            Kind::Bool => {
                let [yes, no] = ["True", "False"].map(|text| self.module.string(text.as_bytes()));
                let parts = [0, 1].map(|index| {
                    let [yes, no] = [&yes, &no].map(|text| self.build.extract(text, index));
                    self.build.select(value.clone(), yes, no)
                });
                self.build.aggregate(parts.into())
            }
            _ => {
                self.module.decimals = true;
                let buffer = self.build.slot(Ty::Struct(vec![Ty::I8; DIGITS].into()));
                let number = self.build.convert(value, &Ty::I64);
                let begin = self.build.call(DECIMAL, vec![buffer.clone(), number], Ty::I32, None);
                let data = self.build.element(&buffer, &Ty::I8, begin.clone());
                let length = self.build.binary(Binary::Sub, int(DIGITS as i64), begin);
                self.build.aggregate(vec![data, length])
            }
        }
    }

    /// Concatenates strings into a new one on the stack.
    pub(crate) fn text_joined(&mut self, texts: &[Value]) -> Value {
        let parts: Vec<[Value; 2]> = texts
            .iter()
            .map(|text| [0, 1].map(|index| self.build.extract(text, index)))
            .collect();
        let mut total = Value::int(Ty::I64, 0);
        for [_, length] in &parts {
            let length = self.build.convert(length.clone(), &Ty::I64);
            total = self.build.binary(Binary::Add, total, length);
        }
        let total = self.checked_length(total);
        let data = self.build.alloca(Ty::I8, total.clone());
        let mut at = int(0);
        for [from, length] in parts {
            self.copy_elements(&Ty::I8, &from, length.clone(), &data, at.clone());
            at = self.build.binary(Binary::Add, at, length);
        }
        self.build.aggregate(vec![data, total])
    }
}
