//! Remote calls to the host.
//!
//! Arguments are stored in stack slots and described by a tag string; the firmware serialises them
//! before it returns. The result is received in pieces: the firmware requests a number of bytes,
//! which the kernel allocates on its stack.

use std::rc::Rc;

use kairos_contracts::rpc::{tag as tags, RETURNS};

use super::array::layout;
use super::Emitter;
use crate::diagnostic::{Diagnostic, Result};
use crate::host::{FunctionKind, Handle};
use crate::ir::*;
use crate::program::FunctionInstance;
use crate::source::Span;
use crate::types::{self, Kind};

impl<'p> Emitter<'_, 'p> {
    pub(crate) fn rpc(
        &mut self,
        span: Span,
        service: Handle,
        values: Vec<Value>,
        types: Vec<(types::Ty, Option<Rc<str>>)>,
        returns: types::Ty,
    ) -> Result<Value> {
        let info = &self.module.program.function_infos[&service];
        let is_async = matches!(info.kind, FunctionKind::Rpc { is_async: true });
        let name = info.name.clone();
        self.module.module.remote_call.get_or_insert((span, name));
        let mut tag = vec![];
        let mut slots = vec![];
        for (value, (ty, keyword)) in values.into_iter().zip(types) {
            let own = self.argument_tag(ty, span)?;
            let value = self.sent(value, ty);
            let slot = match keyword {
                None => {
                    tag.extend(own);
                    let slot = self.build.slot(value.ty.clone());
                    self.build.store(value, &slot);
                    slot
                }
                Some(name) => {
                    tag.push(tags::KEYWORD);
                    tag.extend(own);
                    let text = self.module.string(name.as_bytes());
                    let parts = [0, 1].map(|index| self.build.extract(&text, index));
                    let members = [&parts[..], &[value]].concat();
                    let layout = Ty::Struct(members.iter().map(|member| member.ty.clone()).collect());
                    let slot = self.build.slot(layout.clone());
                    for (index, member) in members.into_iter().enumerate() {
                        let to = self.build.field(&slot, &layout, index);
                        self.build.store(member, &to);
                    }
                    slot
                }
            };
            slots.push(slot);
        }
        tag.push(RETURNS);
        let types = &self.module.program.types;
        let unsupported = || {
            let text = format!(
                "type {} is not supported in remote procedure calls",
                types.name(returns)
            );
            Diagnostic::new(span, text)
        };
        tag.extend(
            types
                .rpc_tag(returns)
                .filter(|tag| !tag.contains(&tags::OBJECT))
                .ok_or_else(unsupported)?,
        );
        self.send(
            if is_async { "rpc_send_async" } else { "rpc_send" },
            service,
            &tag,
            slots,
        );
        if is_async {
            return Ok(Value::unit());
        }
        self.receive(returns)
    }

    pub(super) fn argument_tag(&self, ty: types::Ty, span: Span) -> Result<Vec<u8>> {
        let types = &self.module.program.types;
        // A method called on the host takes its receiver as the first argument.
        if let Kind::Method { .. } = types.kind(ty) {
            return Ok(vec![tags::OBJECT]);
        }
        types.rpc_tag(ty).ok_or_else(|| {
            let text = format!("type {} is not supported in remote procedure calls", types.name(ty));
            let error = Diagnostic::new(span, text);
            match types.kind(ty) {
                Kind::Exception => error.help("say in a text what was caught; 'raise' without a value raises it again"),
                _ => error,
            }
        })
    }

    /// Prepares a value for sending: the host supports contiguous arrays only, so those in the value
    /// that are not are replaced by copies.
    pub(super) fn sent(&mut self, value: Value, ty: types::Ty) -> Value {
        if !self.has_view(ty) {
            return value;
        }
        match self.module.program.types.kind(ty) {
            Kind::Tuple(elements) => {
                let members = elements.iter().enumerate().map(|(index, &element)| {
                    let member = self.build.extract(&value, index);
                    self.sent(member, element)
                });
                let members = members.collect();
                self.build.aggregate(members)
            }
            &Kind::List(elt) => {
                let (from, length) = self.list_parts(&value);
                let (given, wanted) = (self.module.ir_type(elt), self.sent_type(elt));
                let (list, data) = self.reserve_list(&wanted, length.clone());
                let copied = self.counted(length, |this, index| {
                    let place = this.build.element(&from, &given, index.clone());
                    let element = this.build.load(given.clone(), &place);
                    let element = this.sent(element, elt);
                    let place = this.build.element(&data, &wanted, index);
                    this.build.store(element, &place);
                    Ok(())
                });
                copied.expect("copying is never refused");
                list
            }
            _ => {
                let array = self.array_parts(&value, ty).expect("only arrays are strided");
                let copy = self.together(array);
                self.array_value(copy)
            }
        }
    }

    /// Whether values of the type contain arrays that may not be contiguous.
    fn has_view(&self, ty: types::Ty) -> bool {
        match self.module.program.types.kind(ty) {
            Kind::View(..) => true,
            Kind::List(elt) => self.has_view(*elt),
            Kind::Tuple(elements) => elements.iter().any(|&element| self.has_view(element)),
            _ => false,
        }
    }

    /// The representation of a value as it is sent.
    fn sent_type(&self, ty: types::Ty) -> Ty {
        match self.module.program.types.kind(ty) {
            Kind::View(_, dims) => layout(*dims),
            Kind::Tuple(elements) => Ty::Struct(elements.iter().map(|&element| self.sent_type(element)).collect()),
            _ => self.module.ir_type(ty),
        }
    }

    /// A table of the addresses of the values to send.
    pub(super) fn pointers(&mut self, slots: Vec<Value>) -> Value {
        let table = Ty::Struct(vec![Ty::Ptr; slots.len().max(1)].into());
        let pointers = self.build.slot(table.clone());
        for (index, slot) in slots.into_iter().enumerate() {
            let to = self.build.field(&pointers, &table, index);
            self.build.store(slot, &to);
        }
        pointers
    }

    fn send(&mut self, symbol: &str, service: Handle, tag: &[u8], slots: Vec<Value>) {
        let pointers = self.pointers(slots);
        let tag = self.module.string_record(tag);
        let args = vec![Value::int(Ty::I32, service.into()), tag, pointers];
        self.call_external(symbol, args, Ty::unit(), true);
    }

    pub(super) fn receive(&mut self, returns: types::Ty) -> Result<Value> {
        let ty = self.module.ir_type(returns);
        let slot = self.build.slot(ty.clone());
        if !self.needs_memory(returns) {
            self.call_external("rpc_recv", vec![slot.clone()], Ty::I32, false);
            return Ok(self.build.load(ty, &slot));
        }
        let (head, more) = (self.build.new_block("receive"), self.build.new_block("give memory"));
        let done = self.build.new_block("received");
        let buffer = self.build.slot(Ty::Ptr);
        self.build.store(slot.clone(), &buffer);
        self.build.jump(head);
        self.build.block = head;
        let memory = self.build.load(Ty::Ptr, &buffer);
        let wanted = self.call_external("rpc_recv", vec![memory], Ty::I32, false);
        let complete = self.build.compare(Compare::Eq, wanted.clone(), Value::int(Ty::I32, 0));
        self.build.branch(complete, done, more);
        self.build.block = more;
        let memory = self.build.alloca(Ty::I8, wanted);
        self.build.store(memory, &buffer);
        self.build.jump(head);
        self.build.block = done;
        Ok(self.build.load(ty, &slot))
    }

    /// Whether a value of the type has parts outside its own slot.
    fn needs_memory(&self, ty: types::Ty) -> bool {
        match self.module.program.types.kind(ty) {
            Kind::Str | Kind::Bytes | Kind::ByteArray | Kind::List(_) | Kind::Array(..) => true,
            Kind::Tuple(elements) => elements.iter().any(|&element| self.needs_memory(element)),
            _ => false,
        }
    }

    /// Sends the result of the entry to the host without waiting.
    pub(crate) fn send_result(&mut self, service: Handle, result: Value, entry: &FunctionInstance) -> Result<()> {
        let mut tag = self.argument_tag(entry.returns, entry.ast.name_span)?;
        tag.extend([RETURNS, tags::NONE]);
        let result = self.sent(result, entry.returns);
        let slot = self.build.slot(result.ty.clone());
        self.build.store(result, &slot);
        self.send("rpc_send_async", service, &tag, vec![slot]);
        Ok(())
    }
}
