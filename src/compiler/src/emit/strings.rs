//! Strings: characters, and strings created from others, which live on the stack of the function.

use super::{int, Builder, Emitter, ModuleBuilder};
use crate::diagnostic::Result;
use crate::ir::*;

/// `kairos.characters(data, length)`: number of characters in `length` bytes of UTF-8.
const CHARACTERS: &str = "kairos.characters";
/// `kairos.character(data, length, index)`: byte offset at which a character begins; `length` if
/// there are fewer characters.
const CHARACTER: &str = "kairos.character";
/// `kairos.within(data, length, part, length)`: whether a string is a part of another.
const WITHIN: &str = "kairos.within";

fn parameter(number: u32, ty: Ty) -> Value {
    let kind = ValueKind::Temp(number);
    Value { ty, kind }
}

/// A function that counts characters. With `to_index` it stops at the byte where the character of
/// that index begins.
fn counting(symbol: &str, to_index: bool) -> Function {
    let mut params = vec![Ty::Ptr, Ty::I32];
    params.extend(to_index.then_some(Ty::I32));
    let mut function = Function::new(symbol, params, Ty::I32, None);
    function.attributes = "nounwind noinline";
    let mut build = Builder::new(function);
    let (data, length) = (parameter(0, Ty::Ptr), parameter(1, Ty::I32));
    let (at, count) = (build.slot(Ty::I32), build.slot(Ty::I32));
    build.store(int(0), &at);
    build.store(int(0), &count);
    let [head, inside, next, done] = ["each byte", "byte", "next byte", "counted"].map(|label| build.new_block(label));
    build.jump(head);
    build.block = head;
    let index = build.load(Ty::I32, &at);
    let more = build.compare(Compare::Slt, index.clone(), length);
    build.branch(more, inside, done);
    build.block = inside;
    let from = build.element(&data, &Ty::I8, index.clone());
    let byte = build.load(Ty::I8, &from);
    // Bytes 10xxxxxx continue a character.
    let mark = build.binary(Binary::And, byte, Value::int(Ty::I8, 0xc0));
    let begins = build.compare(Compare::Ne, mark, Value::int(Ty::I8, 0x80));
    let seen = build.load(Ty::I32, &count);
    if to_index {
        let wanted = build.compare(Compare::Eq, seen.clone(), parameter(2, Ty::I32));
        let found = build.binary(Binary::And, wanted, begins.clone());
        build.branch(found, done, next);
        build.block = next;
    }
    let one = build.convert(begins, &Ty::I32);
    let seen = build.binary(Binary::Add, seen, one);
    build.store(seen, &count);
    let index = build.binary(Binary::Add, index, int(1));
    build.store(index, &at);
    build.jump(head);
    build.block = done;
    let result = build.load(Ty::I32, if to_index { &at } else { &count });
    build.end(Terminator::Return(result));
    build.finish()
}

/// The function that searches a string for another. A character begins with a byte that none of the others has in
/// its middle, so that bytes are compared.
fn within() -> Function {
    let params = vec![Ty::Ptr, Ty::I32, Ty::Ptr, Ty::I32];
    let mut function = Function::new(WITHIN, params, Ty::I1, None);
    function.attributes = "nounwind noinline";
    let mut build = Builder::new(function);
    let [data, part] = [0, 2].map(|number| parameter(number, Ty::Ptr));
    let [length, size] = [1, 3].map(|number| parameter(number, Ty::I32));
    let last = build.binary(Binary::Sub, length, size.clone());
    let at = build.slot(Ty::I32);
    build.store(int(0), &at);
    let names = ["each place", "place", "next place", "is within", "is not within"];
    let [head, inside, next, found, none] = names.map(|label| build.new_block(label));
    build.jump(head);
    build.block = head;
    let place = build.load(Ty::I32, &at);
    let more = build.compare(Compare::Sle, place.clone(), last);
    build.branch(more, inside, none);
    build.block = inside;
    let from = build.element(&data, &Ty::I8, place.clone());
    let order = build.call("memcmp", vec![from, part, size], Ty::I32, None);
    let same = build.compare(Compare::Eq, order, int(0));
    build.branch(same, found, next);
    build.block = next;
    let place = build.binary(Binary::Add, place, int(1));
    build.store(place, &at);
    build.jump(head);
    for (block, result) in [(found, true), (none, false)] {
        build.block = block;
        build.end(Terminator::Return(Value::bool(result)));
    }
    build.finish()
}

impl ModuleBuilder<'_> {
    pub(crate) fn search_function(&mut self) {
        self.external("memcmp", &[Ty::Ptr, Ty::Ptr, Ty::I32], Ty::I32, true);
        self.module.functions.push(within());
    }

    pub(crate) fn character_functions(&mut self) {
        let functions = [(CHARACTERS, false), (CHARACTER, true)];
        self.module
            .functions
            .extend(functions.map(|(symbol, to_index)| counting(symbol, to_index)));
    }

    /// The text of a string value if it is constant.
    fn known_text(&self, value: &Value) -> Option<&str> {
        let ValueKind::Struct(members) = &value.kind else {
            return None;
        };
        let ValueKind::Global(data) = &members[0].kind else {
            return None;
        };
        std::str::from_utf8(self.texts.get(data)?).ok()
    }
}

impl Emitter<'_, '_> {
    /// `len(text)`, in characters.
    pub(crate) fn text_length(&mut self, text: &Value) -> Value {
        if let Some(known) = self.module.known_text(text) {
            return int(known.chars().count() as i64);
        }
        self.module.characters = true;
        let parts = [0, 1].map(|index| self.build.extract(text, index));
        self.build.call(CHARACTERS, parts.into(), Ty::I32, None)
    }

    /// Byte offset at which a character of a string begins.
    fn character(&mut self, data: &Value, length: &Value, index: Value) -> Value {
        self.module.characters = true;
        self.build
            .call(CHARACTER, vec![data.clone(), length.clone(), index], Ty::I32, None)
    }

    /// The character of a string at an index (i32), which is below its length. The result shares the memory.
    pub(crate) fn character_at(&mut self, text: &Value, index: Value) -> Value {
        let [data, size] = [0, 1].map(|part| self.build.extract(text, part));
        let next = self.build.binary(Binary::Add, index.clone(), int(1));
        let [start, stop] = [index, next].map(|index| self.character(&data, &size, index));
        let from = self.build.element(&data, &Ty::I8, start.clone());
        let length = self.build.binary(Binary::Sub, stop, start);
        self.build.aggregate(vec![from, length])
    }

    /// `text[index]`; checks the bounds.
    pub(crate) fn indexed_text(&mut self, text: &Value, index: Value) -> Value {
        let length = self.text_length(text);
        let length = self.build.convert(length, &index.ty.clone());
        let place = self.checked_index(index, length);
        let place = self.build.convert(place, &Ty::I32);
        self.character_at(text, place)
    }

    /// `part in text`
    pub(crate) fn text_contains(&mut self, text: &Value, part: &Value) -> Value {
        self.module.searches = true;
        let args = [text, part]
            .into_iter()
            .flat_map(|text| [0, 1].map(|part| (text, part)));
        let args = args.map(|(text, part)| self.build.extract(text, part)).collect();
        self.build.call(WITHIN, args, Ty::I1, None)
    }

    /// `a + b` for strings.
    pub(crate) fn joined(&mut self, a: Value, b: Value) -> Value {
        let [(data_a, length_a), (data_b, length_b)] =
            [a, b].map(|text| (self.build.extract(&text, 0), self.build.extract(&text, 1)));
        let [wide_a, wide_b] = [&length_a, &length_b].map(|length| self.build.convert(length.clone(), &Ty::I64));
        let length = self.build.binary(Binary::Add, wide_a, wide_b);
        let length = self.checked_length(length);
        let data = self.build.alloca(Ty::I8, length.clone());
        self.move_elements(&Ty::I8, &data_a, length_a.clone(), &data);
        let rest = self.build.element(&data, &Ty::I8, length_a);
        self.move_elements(&Ty::I8, &data_b, length_b, &rest);
        self.build.aggregate(vec![data, length])
    }

    /// `text[start:stop:step]`, in characters. Without a step, the result shares the memory.
    pub(crate) fn string_slice(&mut self, text: Value, bounds: [Option<Value>; 3]) -> Result<Value> {
        let (from, size) = (self.build.extract(&text, 0), self.build.extract(&text, 1));
        let own = self.text_length(&text);
        let stepped = bounds[2].is_some();
        let bounds = self.bounds(own, bounds);
        if !stepped {
            let start = self.build.convert(bounds.start, &Ty::I32);
            let stop = self.build.binary(Binary::Add, start.clone(), bounds.length);
            let [start, stop] = [start, stop].map(|index| self.character(&from, &size, index));
            let data = self.build.element(&from, &Ty::I8, start.clone());
            let length = self.build.binary(Binary::Sub, stop, start);
            return Ok(self.build.aggregate(vec![data, length]));
        }
        // Each character is copied at most once, so `size` bytes suffice.
        let data = self.build.alloca(Ty::I8, size.clone());
        let end = self.build.slot(Ty::I32);
        self.build.store(int(0), &end);
        self.each_sliced(bounds, |this, _, place| {
            let next = this.build.binary(Binary::Add, place.clone(), int(1));
            let [start, stop] = [place, next].map(|index| this.character(&from, &size, index));
            let bytes = this.build.binary(Binary::Sub, stop, start.clone());
            let source = this.build.element(&from, &Ty::I8, start);
            let at = this.build.load(Ty::I32, &end);
            this.copy_elements(&Ty::I8, &source, bytes.clone(), &data, at.clone());
            let at = this.build.binary(Binary::Add, at, bytes);
            this.build.store(at, &end);
            Ok(())
        })?;
        let length = self.build.load(Ty::I32, &end);
        Ok(self.build.aggregate(vec![data, length]))
    }
}
