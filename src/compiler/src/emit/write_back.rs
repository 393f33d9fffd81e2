//! Writing back what a kernel has changed: calls of service 0 after the entry, also if it ended in an
//! exception.
//!
//! The contents of host lists and arrays are sent once each, whoever holds them; an attribute that
//! holds one gets its number, so that the host's objects keep their identity (`described.rs`).

use std::collections::BTreeMap;
use std::rc::Rc;

use kairos_contracts::rpc::{tag as tags, RETURNS};

use super::sequence_table::{find_function, has_sequence, Group, NOTHING};
use super::{int, Emitter};
use crate::host::Handle;
use crate::ir::*;
use crate::program::Program;
use crate::types::{self, Kind, Types};

/// Service that writes back.
const SERVICE: i64 = 0;
const WRITE_BACK: &str = "kairos.write_back";

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

pub(super) struct Writer<'e, 'm, 'p> {
    pub emitter: &'e mut Emitter<'m, 'p>,
    /// Whether an exception has ended the kernel, so that memory of its functions is gone.
    pub unwound: Value,
    /// Tables of host sequences by group: symbol, handles.
    pub tables: BTreeMap<Group, (Rc<str>, Vec<Handle>)>,
}

impl<'p> Writer<'_, '_, 'p> {
    pub fn types(&self) -> &'p Types {
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

    pub fn each(&mut self, count: Value, body: impl FnOnce(&mut Self, Value)) {
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
}

impl Emitter<'_, '_> {
    /// Writes back, if there is anything; `unwound`: after an exception.
    pub(crate) fn write_back(&mut self, unwound: bool) {
        self.build
            .call(WRITE_BACK, vec![Value::bool(unwound)], Ty::unit(), None);
    }
}
