//! Described values: lists and arrays of which the host has some. They are recognised by their addresses,
//! and their numbers are sent in place of their elements, so that the host's objects keep their identity.

use std::rc::Rc;

use kairos_contracts::rpc::tag as tags;

use super::array::layout;
use super::sequence_table::{entry, group, has_sequence, FIND, NOTHING};
use super::write_back::Writer;
use super::{data_symbol, int};
use crate::host::Handle;
use crate::ir::*;
use crate::program::{Content, Program};
use crate::types::{self, Kind, Types};

/// Number of a list that is not the host's, and of one whose memory is gone.
const NEW: i64 = 0;
const GONE: i64 = -1;

impl<'p> Writer<'_, '_, 'p> {
    /// The tag of described values of a type: a list is a tuple of its number and its elements, which
    /// are left out if it is the host's; a bytearray likewise; an array a tuple of number, index of its
    /// first element in the host's array, shape, the strides of a strided one, and elements.
    pub fn described_tag(&self, ty: types::Ty) -> Vec<u8> {
        let own = || self.types().rpc_tag(ty).expect("asked before");
        match self.types().kind(ty) {
            &Kind::List(elt) => [&[tags::TUPLE, 2, tags::INT32, tags::LIST][..], &self.described_tag(elt)].concat(),
            Kind::ByteArray => vec![tags::TUPLE, 2, tags::INT32, tags::BYTE_ARRAY],
            Kind::Array(_, dims) => {
                let shape = [&[tags::TUPLE, *dims][..], &vec![tags::INT32; (*dims).into()]].concat();
                [&[tags::TUPLE, 4, tags::INT32, tags::INT32][..], &shape, &own()].concat()
            }
            Kind::View(_, dims) => {
                let numbers = [&[tags::TUPLE, *dims][..], &vec![tags::INT32; (*dims).into()]].concat();
                [
                    &[tags::TUPLE, 5, tags::INT32, tags::INT32][..],
                    &numbers,
                    &numbers,
                    &own(),
                ]
                .concat()
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
            Kind::View(_, dims) => {
                let numbers = Ty::Struct(vec![Ty::I32; (*dims).into()].into());
                Ty::Struct([Ty::I32, Ty::I32, numbers.clone(), numbers, layout(*dims)].into())
            }
            Kind::Tuple(members) => Ty::Struct(members.iter().map(|&member| self.described_type(member)).collect()),
            _ => self.emitter.module.ir_type(ty),
        }
    }

    pub fn described(&mut self, value: Value, ty: types::Ty) -> Value {
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
                let (number, offset) = self.found_element(&array.data, ty, elt);
                let shape = self.emitter.build.aggregate(array.shape.clone());
                let lengths = array.shape.into_iter().map(|length| self.sent_length(&number, length));
                let lengths = lengths.collect();
                let lengths = self.emitter.build.aggregate(lengths);
                let content = self.emitter.build.aggregate(vec![array.data, lengths]);
                self.emitter.build.aggregate(vec![number, offset, shape, content])
            }
            Kind::View(..) => self.described_view(&value, ty),
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

    /// A strided array; the elements of a new one are sent contiguously.
    fn described_view(&mut self, value: &Value, ty: types::Ty) -> Value {
        let array = self.emitter.array_parts(value, ty).expect("it is one");
        let dims = array.shape.len();
        let (number, offset) = self.found_element(&array.data, ty, array.elt);
        let shape = self.emitter.build.aggregate(array.shape.clone());
        let strides = self
            .emitter
            .build
            .aggregate(array.strides.clone().expect("it has some"));
        let sent = layout(dims as u8);
        let content = self.emitter.build.slot(sent.clone());
        let nothing = self.emitter.build.aggregate(vec![int(0); dims]);
        let nothing = self.emitter.build.aggregate(vec![array.data.clone(), nothing]);
        self.emitter.build.store(nothing, &content);
        self.if_new(&number, |this| {
            let copy = this.emitter.together(array);
            let copy = this.emitter.array_value(copy);
            this.emitter.build.store(copy, &content);
        });
        let content = self.emitter.build.load(sent, &content);
        self.emitter
            .build
            .aggregate(vec![number, offset, shape, strides, content])
    }

    /// The number of the host array at an address, and the index of the element there.
    fn found_element(&mut self, address: &Value, ty: types::Ty, elt: types::Ty) -> (Value, Value) {
        let (number, bytes) = self.found(address, ty);
        let size = self.emitter.module.ir_type(elt).layout().0;
        (number, self.emitter.build.binary(Binary::UDiv, bytes, int(size.into())))
    }

    /// A list of described elements.
    pub fn described_elements(&mut self, list: Value, elt: types::Ty) -> Value {
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
