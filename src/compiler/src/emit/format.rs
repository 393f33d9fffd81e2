//! Formatted strings. Integers, bools and strings, whose text form is simple, are formatted by the
//! kernel; everything else is formatted by the host, with Python semantics.

use super::{int, Builder, Emitter, ModuleBuilder};
use crate::ir::*;
use crate::types::{self, Kind};

/// `kairos.decimal(buffer, number)`: writes the digits of a number at the end of a buffer; returns
/// the offset of the first one.
const DECIMAL: &str = "kairos.decimal";
/// `kairos.texts.length(table, count)`: bytes of all strings of a table.
const LENGTH: &str = "kairos.texts.length";
/// `kairos.texts.join(to, table, count)`: writes the strings of a table one after the other.
const JOIN: &str = "kairos.texts.join";
/// Size of the buffer in bytes: -9223372036854775808.
const DIGITS: usize = 20;

fn parameter(number: u32, ty: Ty) -> Value {
    let kind = ValueKind::Temp(number);
    Value { ty, kind }
}

/// A function whose first parameters are followed by a table of strings and their number: `each` is emitted
/// for each string, with its data, its length, and a slot for a result of type `of`.
fn over_texts(
    symbol: &str,
    first: &[Ty],
    (of, start): (Ty, Value),
    each: impl FnOnce(&mut Builder, [Value; 2], &Value),
    returns: bool,
) -> Function {
    let params = [first, &[Ty::Ptr, Ty::I32]].concat();
    let table = parameter(first.len() as u32, Ty::Ptr);
    let count = parameter(first.len() as u32 + 1, Ty::I32);
    let result = if returns { of.clone() } else { Ty::unit() };
    let mut function = Function::new(symbol, params, result, None);
    function.attributes = "nounwind noinline";
    let mut build = Builder::new(function);
    let (number, slot) = (build.slot(Ty::I32), build.slot(of.clone()));
    build.store(int(0), &number);
    build.store(start, &slot);
    let [head, inside, done] = ["each text", "text", "all texts"].map(|label| build.new_block(label));
    build.jump(head);
    build.block = head;
    let index = build.load(Ty::I32, &number);
    let more = build.compare(Compare::Slt, index.clone(), count);
    build.branch(more, inside, done);
    build.block = inside;
    let text = build.element(&table, &Ty::str(), index.clone());
    let data = build.load(Ty::Ptr, &text);
    let length = build.field(&text, &Ty::str(), 1);
    let length = build.load(Ty::I32, &length);
    each(&mut build, [data, length], &slot);
    let next = build.binary(Binary::Add, index, int(1));
    build.store(next, &number);
    build.jump(head);
    build.block = done;
    let end = match returns {
        true => build.load(of, &slot),
        false => Value::unit(),
    };
    build.end(Terminator::Return(end));
    build.finish()
}

impl ModuleBuilder<'_> {
    /// Emits the functions that concatenate strings.
    pub(crate) fn join_functions(&mut self) {
        self.external("memmove", &[Ty::Ptr, Ty::Ptr, Ty::I32], Ty::Ptr, true);
        let none = (Ty::I64, Value::int(Ty::I64, 0));
        let add = |build: &mut Builder, [_, length]: [Value; 2], total: &Value| {
            let before = build.load(Ty::I64, total);
            let length = build.convert(length, &Ty::I64);
            let after = build.binary(Binary::Add, before, length);
            build.store(after, total);
        };
        let copy = |build: &mut Builder, [data, length]: [Value; 2], to: &Value| {
            let place = build.load(Ty::Ptr, to);
            build.call("memmove", vec![place.clone(), data, length.clone()], Ty::Ptr, None);
            let next = build.element(&place, &Ty::I8, length);
            build.store(next, to);
        };
        let target = (Ty::Ptr, parameter(0, Ty::Ptr));
        let functions = [
            over_texts(LENGTH, &[], none, add, true),
            over_texts(JOIN, &[Ty::Ptr], target, copy, false),
        ];
        self.module.functions.extend(functions);
    }

    pub(crate) fn decimal_function(&mut self) {
        let mut function = Function::new(DECIMAL, vec![Ty::Ptr, Ty::I64], Ty::I32, None);
        function.attributes = "nounwind noinline";
        let mut build = Builder::new(function);
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

    /// Concatenates strings into a new one on the stack. The code for each of them is short: a kernel may
    /// have many.
    pub(crate) fn text_joined(&mut self, texts: &[Value]) -> Value {
        self.module.joins = true;
        let count = int(texts.len() as i64);
        let table = self.build.slot(Ty::Struct(vec![Ty::str(); texts.len()].into()));
        for (index, text) in texts.iter().enumerate() {
            let place = self.build.element(&table, &Ty::str(), int(index as i64));
            for part in 0..2 {
                let to = self.build.field(&place, &Ty::str(), part);
                let value = self.build.extract(text, part);
                self.build.store(value, &to);
            }
        }
        let total = self
            .build
            .call(LENGTH, vec![table.clone(), count.clone()], Ty::I64, None);
        let total = self.checked_length(total);
        let data = self.build.alloca(Ty::I8, total.clone());
        self.build
            .call(JOIN, vec![data.clone(), table, count], Ty::unit(), None);
        self.build.aggregate(vec![data, total])
    }
}
