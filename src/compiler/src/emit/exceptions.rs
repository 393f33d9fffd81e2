//! Raising, and what must be left in order when code is left.
//!
//! A raise passes a constant record of the place and the message to one shared cold function, so that it costs a call.

use std::rc::Rc;

use super::{int, Emitter, ModuleBuilder};
use crate::ir::*;
use crate::language::Exception;
use crate::source::Span;
use crate::syntax::Stmt;

/// Place of the three parameters in an exception record, in bytes.
pub(crate) const PARAMS: i64 = 40;

/// Something around the current statement that must be left in order.
#[derive(Clone)]
pub(crate) enum Scope<'p> {
    Loop {
        on_break: BlockId,
        on_continue: BlockId,
    },
    /// A `finally` body to run on the way out, with the landing pad outside of it.
    Finally {
        body: &'p [Stmt],
        pad: Option<usize>,
    },
    /// A caught exception to be ended.
    Handler {
        /// Exceptions in flight that remain: those from before the `try`.
        depth: Value,
        pad: Option<usize>,
    },
}

/// The landing pad of a `try`.
pub(crate) struct Pad {
    pub block: BlockId,
    /// Where an exception that landed further in and did not match there goes on.
    pub dispatch: BlockId,
    /// Holds the exception record.
    pub slot: Value,
    pub clauses: Vec<Option<Rc<str>>>,
    pub cleanup: bool,
}

impl ModuleBuilder<'_> {
    /// The cold function that fills in an exception record and raises it.
    pub(crate) fn raise_helper(&mut self) {
        let wide = vec![Ty::Ptr, Ty::I64, Ty::I64, Ty::I64];
        let mut function = crate::ir::Function::new("kairos.raise", wide, Ty::unit(), None);
        function.attributes = "cold noinline noreturn";
        let mut build = super::build::Builder::new(function);
        // The first nine words, up to the message, come from the place; see the exception record of the kernel ABI.
        let words = Ty::Struct(vec![Ty::I32; 10].into());
        let record = Ty::Struct([words.clone(), Ty::I64, Ty::I64, Ty::I64].into());
        let slot = build.slot(record.clone());
        let param = |number: u32, ty: Ty| Value {
            ty,
            kind: ValueKind::Temp(number),
        };
        for index in 0..9 {
            let from = build.field(&param(0, Ty::Ptr), &words, index);
            let to = build.field(&slot, &words, index);
            let word = build.load(Ty::I32, &from);
            build.store(word, &to);
        }
        for index in 1..=3 {
            let to = build.field(&slot, &record, index);
            build.store(param(index as u32, Ty::I64), &to);
        }
        self.external("__artiq_raise", &[Ty::Ptr], Ty::unit(), false);
        build.call("__artiq_raise", vec![slot], Ty::unit(), None);
        build.end(Terminator::Unreachable);
        self.module.functions.push(build.finish());
    }

    /// The constant part of an exception record: id, file, line, column, function, message.
    pub(crate) fn raise_site(&mut self, key: i32, message: &str, span: Span, function: &str) -> Value {
        let (line, column) = self.sources.position(span);
        let file = self.sources.file(span.file).name.clone();
        let word = |value: i64| Value::int(Ty::I32, value);
        let mut members = vec![word(key.into())];
        let text = |module: &mut Self, text: &str| match module.string(text.as_bytes()).kind {
            ValueKind::Struct(members) => members.to_vec(),
            _ => unreachable!("a string is a record"),
        };
        members.extend(text(self, &file));
        members.extend([word(line.into()), word(column.into())]);
        members.extend(text(self, function));
        members.extend(text(self, message));
        let name = format!("raise.{}", self.module.globals.len());
        self.global(name.clone(), true, Init::Value(Value::record(members)));
        Value::global(name)
    }

    /// The global with which landing pads refer to an exception id.
    pub(crate) fn clause(&mut self, key: i32) -> Rc<str> {
        if let Some(known) = self.exception_ids.get(&key) {
            return known.clone();
        }
        let name: Rc<str> = format!("exception.{key}").into();
        self.exception_ids.insert(key, name.clone());
        self.global(name.clone(), true, Init::Value(Value::int(Ty::I32, key.into())));
        name
    }
}

impl Emitter<'_, '_> {
    /// Raises an exception with up to three integers; the current block ends.
    pub(crate) fn raise(&mut self, key: i32, message: &str, params: &[Value]) {
        let span = self.build.span;
        let site = self
            .module
            .raise_site(key, message, span, &self.function.info.qualified_name);
        let mut args = vec![site];
        for index in 0..3 {
            let zero = Value::int(Ty::I64, 0);
            let param = params.get(index).cloned().unwrap_or(zero);
            args.push(self.build.convert(param, &Ty::I64));
        }
        let unwind = self.unwind();
        self.module.raises = true;
        self.build.call("kairos.raise", args, Ty::unit(), unwind);
        self.build.end(Terminator::Unreachable);
    }

    /// The record of an exception that nobody raises yet.
    pub(crate) fn exception_record(&mut self, key: i32, message: &str, params: &[Value]) -> Value {
        let span = self.build.span;
        let site = self
            .module
            .raise_site(key, message, span, &self.function.info.qualified_name);
        let words = Ty::Struct(vec![Ty::I32; 10].into());
        let layout = Ty::Struct([words.clone(), Ty::I64, Ty::I64, Ty::I64].into());
        let record = self.build.alloca(layout.clone(), int(1));
        for index in 0..9 {
            let from = self.build.field(&site, &words, index);
            let to = self.build.field(&record, &words, index);
            let word = self.build.load(Ty::I32, &from);
            self.build.store(word, &to);
        }
        for index in 0..3 {
            let param = params.get(index).cloned().unwrap_or(Value::int(Ty::I64, 0));
            let param = self.build.convert(param, &Ty::I64);
            let to = self.build.field(&record, &layout, index + 1);
            self.build.store(param, &to);
        }
        record
    }

    /// Raises unless `condition` holds.
    pub(crate) fn require(&mut self, condition: Value, class: Exception, message: &str, params: &[Value]) {
        if condition.as_int() == Some(1) {
            return;
        }
        let (bad, good) = (self.build.new_block("raise"), self.build.new_block("checked"));
        self.build.branch(condition, good, bad);
        self.build.block = bad;
        self.raise(class as i32, message, params);
        self.build.block = good;
    }
}
