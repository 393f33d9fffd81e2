//! Subkernels from the kernels' point of view: starting one on its board, and messages between
//! boards. Values are encoded as in remote calls and received like their results (`rpc.rs`).

use kairos_contracts::rpc::{tag as tags, RETURNS};

use super::{int, Emitter};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::*;
use crate::program::FunctionId;
use crate::source::Span;
use crate::types;

/// Message number by which a subkernel receives its arguments.
pub(crate) const ARGUMENTS: i64 = -1;
/// Timeout value for waiting without limit.
pub(crate) const FOREVER: i64 = -1;
/// Timeout in milliseconds for receiving without waiting.
pub(crate) const AT_ONCE: i64 = 0;

/// A message: its number, whether it is the result of the sending subkernel, and its destination.
#[derive(Clone)]
pub(crate) struct Message {
    pub number: Value,
    pub is_result: bool,
    pub destination: Value,
}

impl Emitter<'_, '_> {
    /// The satellite on which a call of a function starts it; None if the function runs on this
    /// board.
    pub(crate) fn started_on(&self, function: FunctionId) -> Option<u8> {
        let own = self.function.info.kind.destination();
        let other = self.module.program.functions[function].info.kind.destination();
        other.filter(|_| other != own)
    }

    /// The number of a subkernel; `receiver`: the object if it is a method.
    pub(crate) fn subkernel_number(&mut self, function: FunctionId, receiver: &Value) -> Value {
        let mut known = self.module.program.subkernels();
        known.retain(|subkernel| subkernel.function == function);
        let mut known = known.into_iter();
        let first = known.next().expect("it is one");
        let mut number = int(first.number.into());
        if known.len() == 0 {
            return number;
        }
        let object = self.build.load(Ty::I32, receiver);
        for other in known {
            let handle = int(other.receiver.expect("of several objects").into());
            let is_this = self.build.compare(Compare::Eq, object.clone(), handle);
            number = self.build.select(is_this, int(other.number.into()), number);
        }
        number
    }

    /// Makes a satellite load a subkernel, and start it if `run` is set.
    pub(crate) fn load_subkernel(&mut self, number: Value, destination: u8, run: bool) {
        let args = vec![number, int(destination.into()), int(run.into())];
        self.call_external("subkernel_load_run", args, Ty::unit(), false);
    }

    /// Waits for the end of a subkernel.
    pub(crate) fn await_subkernel(&mut self, number: Value, timeout: Value) {
        self.call_external("subkernel_await_finish", vec![number, timeout], Ty::unit(), false);
    }

    fn message_tag(&self, ty: types::Ty, span: Span) -> Result<Vec<u8>> {
        let tag = self.argument_tag(ty, span).ok();
        tag.filter(|tag| !tag.contains(&tags::OBJECT)).ok_or_else(|| {
            let text = format!(
                "a value of type {} cannot be sent to another board",
                self.module.program.types.name(ty)
            );
            Diagnostic::new(span, text).help("send numbers, strings, lists or arrays")
        })
    }

    /// Sends values to another board.
    pub(crate) fn send_message(&mut self, message: Message, values: Vec<(Value, types::Ty)>, span: Span) -> Result<()> {
        let (mut tag, mut slots) = (vec![], vec![]);
        for (value, ty) in values {
            tag.extend(self.message_tag(ty, span)?);
            let value = self.sent(value, ty);
            let slot = self.build.slot(value.ty.clone());
            self.build.store(value, &slot);
            slots.push(slot);
        }
        let count = int(slots.len() as i64);
        tag.push(RETURNS);
        let pointers = self.pointers(slots);
        let tag = self.module.string_record(&tag);
        let Message {
            number,
            is_result,
            destination,
        } = message;
        let args = vec![number, int(is_result.into()), destination, count, tag, pointers];
        self.call_external("subkernel_send_message", args, Ty::unit(), false);
        Ok(())
    }

    /// Receives the values of a message.
    pub(crate) fn receive_message(
        &mut self,
        number: Value,
        timeout: Value,
        types: &[types::Ty],
        span: Span,
    ) -> Result<Vec<Value>> {
        let parts = types.iter().map(|&ty| self.message_tag(ty, span));
        let tag = parts.collect::<Result<Vec<_>>>()?.concat();
        let tag = self.module.string_record(&tag);
        let count = int(types.len() as i64);
        let args = vec![number, timeout, tag, count.clone(), count];
        self.call_external("subkernel_await_message", args, Ty::I32, false);
        types.iter().map(|&ty| self.receive(ty)).collect()
    }
}
