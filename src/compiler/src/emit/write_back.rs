//! Writing back what a kernel has changed: calls of service 0 after the entry, also if it ended in an
//! exception.
//!
//! The contents of host lists and arrays are sent once each, whoever holds them; an attribute that
//! holds one gets its number, so that the host's objects keep their identity. Described values
//! (`described`) carry these numbers.

use std::collections::BTreeMap;
use std::rc::Rc;

use kairos_contracts::rpc::{tag as tags, RETURNS};

use super::array::layout;
use super::{data_symbol, int, Emitter};
use crate::host::Handle;
use crate::ir::*;
use crate::program::{Content, Program};
use crate::types::{self, Kind, Types};

/// Service that writes back.
const SERVICE: i64 = 0;
/// Number of a list that is not the host's, and of one whose memory is gone.
const NEW: i64 = 0;
const GONE: i64 = -1;

const WRITE_BACK: &str = "kairos.write_back";
const FIND: &str = "kairos.find";
/// The list without elements.
const NOTHING: &str = "kairos.nothing";

/// Host sequences that a pointer of one type may refer to.
type Group = String;

/// The group of a type of sequence.
fn group(types: &Types, ty: types::Ty) -> Option<Group> {
    Some(match *types.kind(ty) {
        Kind::List(_) => types.name(ty),
        Kind::Array(elt, _) => format!("array {}", types.name(elt)),
        Kind::ByteArray => "bytearray".into(),
        _ => return None,
    })
}

/// Whether values of the type contain host sequences.
fn has_sequence(types: &Types, ty: types::Ty) -> bool {
    match types.kind(ty) {
        Kind::Tuple(members) => members.iter().any(|&member| has_sequence(types, member)),
        _ => group(types, ty).is_some(),
    }
}

/// What a program has to write back.
struct Changes {
    /// Sequences that may have been stored to, by type.
    sequences: BTreeMap<String, (types::Ty, Vec<Handle>)>,
    /// Assigned attributes: class, index.
    attributes: Vec<(Handle, usize)>,
}

impl Changes {
    fn of(program: &Program) -> Changes {
        let stored = program.stored();
        let mut handles: Vec<_> = program.lists.keys().copied().collect();
        handles.sort_unstable();
        let mut sequences = BTreeMap::<String, (types::Ty, Vec<Handle>)>::new();
        for handle in handles {
            let ty = program.lists[&handle].ty;
            if program.has_stores(&stored, ty) && program.types.rpc_tag(ty).is_some() {
                let known = sequences.entry(program.types.name(ty)).or_insert((ty, vec![]));
                known.1.push(handle);
            }
        }
        let mut attributes = vec![];
        for class in &program.class_order {
            let info = &program.classes[class];
            let assigned = info.attributes.iter().enumerate().filter(|(_, attribute)| {
                !program.never_changes(info, &attribute.name) && program.types.rpc_tag(attribute.ty).is_some()
            });
            attributes.extend(assigned.map(|(index, _)| (*class, index)));
        }
        Changes { sequences, attributes }
    }

    fn is_empty(&self) -> bool {
        self.sequences.is_empty() && self.attributes.is_empty()
    }
}

/// An entry of a table of sequences: number, address, bytes.
fn entry() -> Ty {
    Ty::Struct([Ty::I32, Ty::Ptr, Ty::I32].into())
}

/// Emits the function that writes back, unless there is nothing; `emitter` is that of the entry.
pub(crate) fn write_back_function(outer: &mut Emitter, writeback: bool) -> bool {
    let program = outer.module.program;
    let changes = Changes::of(program);
    if !writeback || changes.is_empty() {
        return false;
    }
    let function = Function::new(WRITE_BACK, vec![Ty::I1], Ty::unit(), None);
    let mut emitter = Emitter::new(&mut *outer.module, outer.function, function);
    emitter.build.function.attributes = "cold noinline nounwind";
    emitter.build.span = outer.build.span;
    let unwound = Value {
        ty: Ty::I1,
        kind: ValueKind::Temp(0),
    };
    let mut writer = Writer {
        emitter: &mut emitter,
        unwound,
        tables: BTreeMap::new(),
    };
    for (ty, handles) in changes.sequences.into_values() {
        writer.contents(ty, &handles);
    }
    for (class, index) in changes.attributes {
        writer.attribute(class, index);
    }
    let found = !writer.tables.is_empty();
    emitter.build.end(Terminator::Return(Value::unit()));
    let function = emitter.build.finish();
    outer.module.module.functions.push(function);
    if found {
        let find = find_function();
        outer.module.module.functions.push(find);
        outer.module.global(NOTHING, true, Init::Value(Value::zero(Ty::str())));
    }
    true
}

/// `find(table, count, address)`: the index of the entry that contains an address, or -1.
fn find_function() -> Function {
    let mut function = Function::new(FIND, vec![Ty::Ptr, Ty::I32, Ty::Ptr], Ty::I32, None);
    function.attributes = "cold noinline nounwind";
    let mut build = super::Builder::new(function);
    let param = |number, ty| Value {
        ty,
        kind: ValueKind::Temp(number),
    };
    let (table, count, address) = (param(0, Ty::Ptr), param(1, Ty::I32), param(2, Ty::Ptr));
    let (head, inside) = (build.new_block("each entry"), build.new_block("entry"));
    let (next, same, none) = (
        build.new_block("next"),
        build.new_block("same"),
        build.new_block("none"),
    );
    let behind = build.new_block("behind");
    let counter = build.slot(Ty::I32);
    build.store(int(0), &counter);
    build.jump(head);
    build.block = head;
    let index = build.load(Ty::I32, &counter);
    let more = build.compare(Compare::Slt, index.clone(), count);
    build.branch(more, inside, none);
    build.block = inside;
    let one = build.element(&table, &entry(), index.clone());
    let start = build.field(&one, &entry(), 1);
    let start = build.load(Ty::Ptr, &start);
    let bytes = build.field(&one, &entry(), 2);
    let bytes = build.load(Ty::I32, &bytes);
    let equal = build.compare(Compare::Eq, address.clone(), start.clone());
    build.branch(equal, same, behind);
    build.block = behind;
    let before = build.compare(Compare::Ult, address.clone(), start.clone());
    let end = build.element(&start, &Ty::I8, bytes);
    let inner = build.compare(Compare::Ult, address, end);
    let disjoint = build.not(inner);
    let disjoint = build.binary(Binary::Or, before, disjoint);
    build.branch(disjoint, next, same);
    build.block = next;
    let following = build.binary(Binary::Add, index.clone(), int(1));
    build.store(following, &counter);
    build.jump(head);
    build.block = same;
    build.end(Terminator::Return(index));
    build.block = none;
    build.end(Terminator::Return(int(-1)));
    build.finish()
}

struct Writer<'e, 'm, 'p> {
    emitter: &'e mut Emitter<'m, 'p>,
    /// Whether an exception has ended the kernel, so that memory of its functions is gone.
    unwound: Value,
    /// Tables of host sequences by group: symbol, handles.
    tables: BTreeMap<Group, (Rc<str>, Vec<Handle>)>,
}

impl<'p> Writer<'_, '_, 'p> {
    fn types(&self) -> &'p Types {
        &self.emitter.module.program.types
    }

    /// Sends the contents of sequences of one type: number, an empty name, contents, tag.
    fn contents(&mut self, ty: types::Ty, handles: &[Handle]) {
        let value_ty = self.emitter.module.ir_type(ty);
        let row = Ty::Struct([Ty::I32, value_ty.clone()].into());
        let rows = handles.iter().map(|&handle| {
            let value = self.emitter.module.sequence(handle);
            Value::record(vec![Value::int(Ty::I32, handle.into()), value])
        });
        let rows: Vec<_> = rows.collect();
        let (symbol, count) = (format!("contents.{}", handles[0]), int(rows.len() as i64));
        self.emitter
            .module
            .global(symbol.clone(), true, Init::Array(row.clone(), rows));
        self.each(count, |this, index| {
            let one = this.emitter.build.element(&Value::global(symbol), &row, index);
            let value = this.emitter.build.field(&one, &row, 1);
            let value = this.emitter.build.load(value_ty, &value);
            let (tag, value) = match *this.types().kind(ty) {
                Kind::List(elt) if has_sequence(this.types(), elt) => {
                    let tag = [&[tags::LIST][..], &this.described_tag(elt)].concat();
                    (tag, this.described_elements(value, elt))
                }
                _ => (this.types().rpc_tag(ty).expect("asked before"), value),
            };
            let own = this.types().rpc_tag(ty);
            this.send((one, ""), (value, tag), own);
        });
    }

    /// Sends an attribute of all objects of a class: object, name, value, and for a described value
    /// its tag.
    fn attribute(&mut self, class: Handle, index: usize) {
        let info = &self.emitter.module.program.classes[&class];
        let attribute = &info.attributes[index];
        let objects: Vec<_> = info
            .instances
            .iter()
            .map(|&o| Value::global(format!("object.{o}")))
            .collect();
        let count = int(objects.len() as i64);
        let symbol: Rc<str> = format!("objects.{class}").into();
        if !self
            .emitter
            .module
            .module
            .globals
            .iter()
            .any(|global| global.name == symbol)
        {
            self.emitter
                .module
                .global(symbol.clone(), true, Init::Array(Ty::Ptr, objects));
        }
        let own = self.types().rpc_tag(attribute.ty).expect("asked before");
        self.each(count, |this, place| {
            let object = this.emitter.build.element(&Value::global(symbol), &Ty::Ptr, place);
            let object = this.emitter.build.load(Ty::Ptr, &object);
            let layout = this.emitter.module.class_type(class);
            let from = this.emitter.build.field(&object, &layout, index + 1);
            let ty = this.emitter.module.ir_type(attribute.ty);
            let value = this.emitter.build.load(ty, &from);
            if has_sequence(this.types(), attribute.ty) {
                let described = this.described(value, attribute.ty);
                let tag = this.described_tag(attribute.ty);
                this.send((object, &attribute.name), (described, tag), Some(own));
            } else {
                this.send((object, &attribute.name), (value, own), None);
            }
        });
    }

    fn each(&mut self, count: Value, body: impl FnOnce(&mut Self, Value)) {
        let (head, inside) = (
            self.emitter.build.new_block("each"),
            self.emitter.build.new_block("one"),
        );
        let after = self.emitter.build.new_block("all");
        let counter = self.emitter.build.slot(Ty::I32);
        self.emitter.build.store(int(0), &counter);
        let index = self.emitter.loop_head(&counter, count, [head, inside, after]);
        body(self, index.clone());
        self.emitter.loop_end(&counter, index, [head, after]);
    }

    /// Sends a value; `own`: the tag of its type, if it is described.
    fn send(&mut self, (target, name): (Value, &str), (value, tag): (Value, Vec<u8>), own: Option<Vec<u8>>) {
        let emitter = &mut *self.emitter;
        let mut whole = [&[tags::OBJECT, tags::STR][..], &tag].concat();
        let name = emitter.module.string(name.as_bytes());
        let mut values = vec![target, name, value];
        if let Some(own) = own {
            whole.push(tags::BYTES);
            values.push(emitter.module.string(&own));
        }
        whole.extend([RETURNS, tags::NONE]);
        let slots = values.into_iter().map(|value| {
            let slot = emitter.build.slot(value.ty.clone());
            emitter.build.store(value, &slot);
            slot
        });
        let slots = slots.collect();
        let pointers = emitter.pointers(slots);
        let tag = emitter.module.string_record(&whole);
        let args = vec![int(SERVICE), tag, pointers];
        emitter.call_external("rpc_send_async", args, Ty::unit(), true);
    }

    /// The tag of described values of a type: a list is a tuple of its number and its elements, which
    /// are left out if it is the host's; a bytearray likewise; an array a tuple of number, index of its
    /// first element in the host's array, shape, and elements.
    fn described_tag(&self, ty: types::Ty) -> Vec<u8> {
        let own = || self.types().rpc_tag(ty).expect("asked before");
        match self.types().kind(ty) {
            &Kind::List(elt) => [&[tags::TUPLE, 2, tags::INT32, tags::LIST][..], &self.described_tag(elt)].concat(),
            Kind::ByteArray => vec![tags::TUPLE, 2, tags::INT32, tags::BYTE_ARRAY],
            Kind::Array(_, dims) => {
                let shape = [&[tags::TUPLE, *dims][..], &vec![tags::INT32; (*dims).into()]].concat();
                [&[tags::TUPLE, 4, tags::INT32, tags::INT32][..], &shape, &own()].concat()
            }
            Kind::Tuple(members) => {
                let parts = members.iter().flat_map(|&member| self.described_tag(member));
                [tags::TUPLE, members.len() as u8].into_iter().chain(parts).collect()
            }
            _ => own(),
        }
    }

    fn described_type(&self, ty: types::Ty) -> Ty {
        match self.types().kind(ty) {
            Kind::List(_) => Ty::Struct([Ty::I32, Ty::Ptr].into()),
            Kind::ByteArray => Ty::Struct([Ty::I32, Ty::str()].into()),
            Kind::Array(_, dims) => {
                let shape = Ty::Struct(vec![Ty::I32; (*dims).into()].into());
                Ty::Struct([Ty::I32, Ty::I32, shape, layout(*dims)].into())
            }
            Kind::Tuple(members) => Ty::Struct(members.iter().map(|&member| self.described_type(member)).collect()),
            _ => self.emitter.module.ir_type(ty),
        }
    }

    fn described(&mut self, value: Value, ty: types::Ty) -> Value {
        match self.types().kind(ty).clone() {
            Kind::List(elt) => {
                let (number, _) = self.found(&value, ty);
                let list = self.emitter.build.slot(Ty::Ptr);
                self.emitter.build.store(Value::global(NOTHING), &list);
                self.if_new(&number, |this| {
                    let content = match has_sequence(this.types(), elt) {
                        true => this.described_elements(value, elt),
                        false => value,
                    };
                    this.emitter.build.store(content, &list);
                });
                let list = self.emitter.build.load(Ty::Ptr, &list);
                self.emitter.build.aggregate(vec![number, list])
            }
            Kind::ByteArray => {
                let data = self.emitter.build.extract(&value, 0);
                let length = self.emitter.build.extract(&value, 1);
                let (number, _) = self.found(&data, ty);
                let length = self.sent_length(&number, length);
                let content = self.emitter.build.aggregate(vec![data, length]);
                self.emitter.build.aggregate(vec![number, content])
            }
            Kind::Array(elt, _) => {
                let array = self.emitter.array_parts(&value, ty).expect("it is one");
                let (number, bytes) = self.found(&array.data, ty);
                let size = self.emitter.module.ir_type(elt).layout().0;
                let offset = self.emitter.build.binary(Binary::UDiv, bytes, int(size.into()));
                let shape = self.emitter.build.aggregate(array.shape.clone());
                let lengths = array.shape.into_iter().map(|length| self.sent_length(&number, length));
                let lengths = lengths.collect();
                let lengths = self.emitter.build.aggregate(lengths);
                let content = self.emitter.build.aggregate(vec![array.data, lengths]);
                self.emitter.build.aggregate(vec![number, offset, shape, content])
            }
            Kind::Tuple(members) => {
                let members = members.iter().enumerate().map(|(index, &member)| {
                    let part = self.emitter.build.extract(&value, index);
                    self.described(part, member)
                });
                let members = members.collect();
                self.emitter.build.aggregate(members)
            }
            _ => value,
        }
    }

    /// A list of described elements.
    fn described_elements(&mut self, list: Value, elt: types::Ty) -> Value {
        let (from, length) = self.emitter.list_parts(&list);
        let (given, wanted) = (self.emitter.module.ir_type(elt), self.described_type(elt));
        let (made, data) = self.emitter.reserve_list(&wanted, length.clone());
        self.each(length, |this, index| {
            let place = this.emitter.build.element(&from, &given, index.clone());
            let element = this.emitter.build.load(given, &place);
            let element = this.described(element, elt);
            let place = this.emitter.build.element(&data, &wanted, index);
            this.emitter.build.store(element, &place);
        });
        made
    }

    /// The length with which the elements of a sequence are sent: 0 unless it is new.
    fn sent_length(&mut self, number: &Value, length: Value) -> Value {
        let new = self.emitter.build.compare(Compare::Eq, number.clone(), int(NEW));
        self.emitter.build.select(new, length, int(0))
    }

    fn if_new(&mut self, number: &Value, body: impl FnOnce(&mut Self)) {
        let (yes, after) = (
            self.emitter.build.new_block("new list"),
            self.emitter.build.new_block("known list"),
        );
        let new = self.emitter.build.compare(Compare::Eq, number.clone(), int(NEW));
        self.emitter.build.branch(new, yes, after);
        self.emitter.build.block = yes;
        body(self);
        self.emitter.build.jump(after);
        self.emitter.build.block = after;
    }

    /// The number of the host sequence at an address, and the offset in bytes of the address in it.
    fn found(&mut self, address: &Value, ty: types::Ty) -> (Value, Value) {
        let (table, count) = self.table(ty);
        let args = vec![Value::global(table.clone()), count, address.clone()];
        let index = self.emitter.build.call(FIND, args, Ty::I32, None);
        let known = self.emitter.build.compare(Compare::Sge, index.clone(), int(0));
        let [number, offset] = [0, 1].map(|_| self.emitter.build.slot(Ty::I32));
        let unknown = self.emitter.build.select(self.unwound.clone(), int(GONE), int(NEW));
        self.emitter.build.store(unknown, &number);
        self.emitter.build.store(int(0), &offset);
        let (yes, after) = (
            self.emitter.build.new_block("host's"),
            self.emitter.build.new_block("identified"),
        );
        self.emitter.build.branch(known, yes, after);
        self.emitter.build.block = yes;
        let one = self.emitter.build.element(&Value::global(table), &entry(), index);
        let handle = self.emitter.build.load(Ty::I32, &one);
        self.emitter.build.store(handle, &number);
        let start = self.emitter.build.field(&one, &entry(), 1);
        let start = self.emitter.build.load(Ty::Ptr, &start);
        let bytes = self.distance(start, address.clone());
        self.emitter.build.store(bytes, &offset);
        self.emitter.build.jump(after);
        self.emitter.build.block = after;
        (
            self.emitter.build.load(Ty::I32, &number),
            self.emitter.build.load(Ty::I32, &offset),
        )
    }

    /// Bytes between two addresses.
    fn distance(&mut self, from: Value, to: Value) -> Value {
        let [from, to] = [from, to].map(|address| {
            // As 64-bit numbers; addresses may be shorter.
            let place = self.emitter.build.slot(Ty::I64);
            self.emitter.build.store(Value::int(Ty::I64, 0), &place);
            self.emitter.build.store(address, &place);
            self.emitter.build.load(Ty::I64, &place)
        });
        let distance = self.emitter.build.binary(Binary::Sub, to, from);
        self.emitter.build.convert(distance, &Ty::I32)
    }

    /// The table of all host sequences that a value of the type may be, and its length.
    fn table(&mut self, ty: types::Ty) -> (Rc<str>, Value) {
        let program = self.emitter.module.program;
        let own = group(&program.types, ty).expect("a sequence");
        if !self.tables.contains_key(&own) {
            let alike = |handle: &&Handle| group(&program.types, program.lists[handle].ty).as_ref() == Some(&own);
            let mut handles: Vec<Handle> = program.lists.keys().filter(alike).copied().collect();
            handles.sort_unstable();
            let rows = handles.iter().map(|&handle| {
                let (symbol, bytes) = place(program, handle);
                Value::record(vec![int(handle.into()), Value::global(symbol), int(bytes)])
            });
            let rows: Vec<_> = rows.collect();
            let symbol: Rc<str> = format!("sequences.{}", self.tables.len()).into();
            self.emitter
                .module
                .global(symbol.clone(), true, Init::Array(entry(), rows));
            self.tables.insert(own.clone(), (symbol, handles));
        }
        let (symbol, handles) = &self.tables[&own];
        (symbol.clone(), int(handles.len() as i64))
    }
}

/// Symbol and bytes of the memory that identifies a host sequence: a list's header, others' elements.
fn place(program: &Program, handle: Handle) -> (String, i64) {
    let list = &program.lists[&handle];
    match (program.types.kind(list.ty), &list.content) {
        (Kind::List(_), _) => (format!("list.{handle}"), 8),
        (_, Content::Memory(memory)) => (data_symbol(handle), memory.len() as i64),
        (_, Content::Elements(elements)) => (data_symbol(handle), 8 * elements.len() as i64),
    }
}

impl Emitter<'_, '_> {
    /// Writes back, if there is anything; `unwound`: after an exception.
    pub(crate) fn write_back(&mut self, unwound: bool) {
        self.build
            .call(WRITE_BACK, vec![Value::bool(unwound)], Ty::unit(), None);
    }
}
