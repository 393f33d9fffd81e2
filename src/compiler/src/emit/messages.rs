//! Messages of exceptions that the program makes: kept in the library, where they outlive the function that raises.

use super::exceptions::{MESSAGE, MESSAGE_LENGTH};
use super::{int, Builder, Emitter, ModuleBuilder};
use crate::ir::*;

/// `kairos.message(data, length)`: a copy of a text as a message, in which braces are doubled.
const KEEP: &str = "kairos.message";
/// The copies, and the number of the next one. Each may belong to an exception in flight.
const COPIES: &str = "kairos.messages";
const NEXT: &str = "kairos.messages.next";
/// Number of copies, a power of two, and the bytes of each; what is longer is cut.
const COUNT: i64 = 4;
const SIZE: i64 = 512;
/// No character begins in so many bytes at the end of a copy: it has up to four bytes.
const MARGIN: i64 = 8;

fn parameter(number: u32, ty: Ty) -> Value {
    let kind = ValueKind::Temp(number);
    Value { ty, kind }
}

impl ModuleBuilder<'_> {
    pub(crate) fn message_function(&mut self) {
        let memory = vec![0; (COUNT * SIZE) as usize];
        self.global(COPIES, false, Init::Memory(memory.into()));
        self.global(NEXT, false, Init::Value(int(0)));
        let mut function = Function::new(KEEP, vec![Ty::Ptr, Ty::I32], Ty::str(), None);
        function.attributes = "cold nounwind noinline";
        let mut build = Builder::new(function);
        let (data, length) = (parameter(0, Ty::Ptr), parameter(1, Ty::I32));
        let number = build.load(Ty::I32, &Value::global(NEXT));
        let next = build.binary(Binary::Add, number.clone(), int(1));
        let next = build.binary(Binary::And, next, int(COUNT - 1));
        build.store(next, &Value::global(NEXT));
        let offset = build.binary(Binary::Mul, number, int(SIZE));
        let copy = build.element(&Value::global(COPIES), &Ty::I8, offset);
        let (from, to) = (build.slot(Ty::I32), build.slot(Ty::I32));
        build.store(int(0), &from);
        build.store(int(0), &to);
        let names = ["each byte", "byte", "put", "copied"];
        let [head, inside, put, done] = names.map(|label| build.new_block(label));
        build.jump(head);
        build.block = head;
        let (index, place) = (build.load(Ty::I32, &from), build.load(Ty::I32, &to));
        let more = build.compare(Compare::Slt, index.clone(), length);
        build.branch(more, inside, done);
        build.block = inside;
        let byte = build.element(&data, &Ty::I8, index.clone());
        let byte = build.load(Ty::I8, &byte);
        let is = |build: &mut Builder, byte: &Value, mask: i64, wanted: i64| {
            let bits = build.binary(Binary::And, byte.clone(), Value::int(Ty::I8, mask));
            build.compare(Compare::Eq, bits, Value::int(Ty::I8, wanted))
        };
        let continues = is(&mut build, &byte, 0xc0, 0x80);
        let has_room = build.compare(Compare::Slt, place.clone(), int(SIZE - MARGIN));
        let fits = build.binary(Binary::Or, continues, has_room);
        build.branch(fits, put, done);
        build.block = put;
        // Written twice: the second one counts for a brace only.
        let second = build.binary(Binary::Add, place.clone(), int(1));
        for place in [place, second.clone()] {
            let place = build.element(&copy, &Ty::I8, place);
            build.store(byte.clone(), &place);
        }
        let [opens, closes] = [b'{', b'}'].map(|brace| is(&mut build, &byte, 0xff, brace.into()));
        let brace = build.binary(Binary::Or, opens, closes);
        let brace = build.convert(brace, &Ty::I32);
        let place = build.binary(Binary::Add, second, brace);
        build.store(place, &to);
        let index = build.binary(Binary::Add, index, int(1));
        build.store(index, &from);
        build.jump(head);
        build.block = done;
        let length = build.load(Ty::I32, &to);
        let text = build.aggregate(vec![copy, length]);
        build.end(Terminator::Return(text));
        self.module.functions.push(build.finish());
    }
}

impl Emitter<'_, '_> {
    /// Gives an exception's record a text of the program as its message.
    pub(crate) fn set_message(&mut self, record: &Value, text: &Value) {
        self.module.keeps_messages = true;
        let parts = [0, 1].map(|part| self.build.extract(text, part));
        let message = self.build.call(KEEP, parts.into(), Ty::str(), None);
        for (part, offset) in [MESSAGE, MESSAGE_LENGTH].into_iter().enumerate() {
            let to = self.build.element(record, &Ty::I8, int(offset));
            let value = self.build.extract(&message, part);
            self.build.store(value, &to);
        }
    }
}
