//! Raising, catching and cleaning up.
//!
//! Each `try` has a landing pad of its own, which lists its clauses and those of the `try` statements around it; what does not
//! match is handed to the dispatch code of the next one out. `finally` bodies are lowered once for each way out. A raise passes
//! a constant record of the place and the message to one shared cold function, so that it costs a call.

use std::rc::Rc;

use super::{FunctionLowering, ModuleBuilder};
use crate::ast::*;
use crate::diagnostic::Result;
use crate::host::HostValue;
use crate::ir::*;
use crate::program::Fact;
use crate::source::Span;
use crate::types::Kind;

pub const ASSERTION_ERROR: i32 = 8;
pub const INDEX_ERROR: i32 = 10;
pub const RUNTIME_ERROR: i32 = 15;
pub const VALUE_ERROR: i32 = 18;
pub const ZERO_DIVISION_ERROR: i32 = 19;

/// Place of the three parameters in an exception record, in bytes.
pub(super) const PARAMS: i64 = 40;

/// An exception class of the language itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltinException {
    Key(i32),
    /// `Exception`, which as a clause catches everything.
    All,
}

/// The exception class that a name of the language stands for.
pub fn builtin_key(name: &str) -> Option<BuiltinException> {
    Some(BuiltinException::Key(match name {
        "IndexError" => INDEX_ERROR,
        "ValueError" => VALUE_ERROR,
        "ZeroDivisionError" => ZERO_DIVISION_ERROR,
        "RuntimeError" => RUNTIME_ERROR,
        "Exception" => return Some(BuiltinException::All),
        _ => return None,
    }))
}

/// Something around the current statement that must be left in order.
#[derive(Clone)]
pub(super) enum Scope<'p> {
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
pub(super) struct Pad {
    pub block: BlockId,
    /// Where an exception that landed further in and did not match there goes on.
    dispatch: BlockId,
    /// Holds the exception record.
    slot: Value,
    clauses: Vec<Option<Rc<str>>>,
    cleanup: bool,
}

impl ModuleBuilder<'_> {
    /// The cold function that fills in an exception record and raises it.
    pub(super) fn raise_helper(&mut self) {
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
    fn raise_site(&mut self, key: i32, message: &str, span: Span, function: &str) -> Value {
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
    fn clause(&mut self, key: i32) -> Rc<str> {
        if let Some(known) = self.exception_ids.get(&key) {
            return known.clone();
        }
        let name: Rc<str> = format!("exception.{key}").into();
        self.exception_ids.insert(key, name.clone());
        self.global(name.clone(), true, Init::Value(Value::int(Ty::I32, key.into())));
        name
    }
}

impl<'p> FunctionLowering<'_, 'p> {
    /// Raises an exception with up to three integers; the current block ends.
    pub(super) fn raise(&mut self, key: i32, message: &str, params: &[Value]) {
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

    /// Raises unless `condition` holds.
    pub(super) fn require(&mut self, condition: Value, key: i32, message: &str, params: &[Value]) {
        if condition.as_int() == Some(1) {
            return;
        }
        let (bad, good) = (self.build.new_block("raise"), self.build.new_block("checked"));
        self.build.branch(condition, good, bad);
        self.build.block = bad;
        self.raise(key, message, params);
        self.build.block = good;
    }

    /// Key and name of the exception class that an expression names.
    fn class_of(&mut self, expr: &Expr) -> (BuiltinException, Rc<str>) {
        match self.kind_of(expr) {
            Kind::ExceptionClass(class) => (BuiltinException::Key(class.key), class.name.clone()),
            Kind::Builtin(name) => (builtin_key(name).expect("checked by inference"), (*name).into()),
            _ => unreachable!("inference admits only exception classes"),
        }
    }

    pub(super) fn raise_statement(&mut self, value: Option<&'p Expr>) -> Result<()> {
        let Some(value) = value else {
            self.resume();
            return Ok(());
        };
        let (class, args) = match &value.kind {
            ExprKind::Call { callee, args, .. } if *self.kind_of(value) == Kind::Exception => (&**callee, &args[..]),
            _ if *self.kind_of(value) == Kind::Exception => return self.reraise(value),
            _ => (value, &[][..]),
        };
        let (key, name) = self.class_of(class);
        let key = match key {
            BuiltinException::Key(key) => key,
            BuiltinException::All => self.module.host.store_str("0:Exception"),
        };
        let message = match args.first().map(|message| &message.kind) {
            Some(ExprKind::Str(text)) => text.clone(),
            _ => name,
        };
        let params = args
            .iter()
            .skip(1)
            .map(|arg| self.expr(arg))
            .collect::<Result<Vec<_>>>()?;
        self.raise(key, &message, &params);
        Ok(())
    }

    /// `raise e`: the caught record goes on its way again, with this place in it.
    fn reraise(&mut self, value: &'p Expr) -> Result<()> {
        let record = self.expr(value)?;
        let site = self
            .module
            .raise_site(0, "", self.build.span, &self.function.info.qualified_name);
        let words = Ty::Struct(vec![Ty::I32; 7].into());
        for index in 1..7 {
            let from = self.build.field(&site, &words, index);
            let to = self.build.field(&record, &words, index);
            let word = self.build.load(Ty::I32, &from);
            self.build.store(word, &to);
        }
        self.call_external("__artiq_raise", vec![record], Ty::unit(), false);
        self.build.end(Terminator::Unreachable);
        Ok(())
    }

    /// The exception in flight goes on unwinding from here.
    fn resume(&mut self) {
        self.call_external("__artiq_resume", vec![], Ty::unit(), false);
        self.build.end(Terminator::Unreachable);
    }

    /// How many exceptions are in flight before a `try`: so many remain when it has been left.
    ///
    /// The kernel ABI's `__artiq_end_catch` ends the newest one, and cannot know of others that were abandoned with it
    /// (raised in a handler that another one of this function then left), or that it is still being handled further out.
    fn exceptions_in_flight(&mut self) -> Value {
        self.call_external("__kairos_in_flight", vec![], Ty::I32, true)
    }

    /// A handler has ended: `depth` exceptions remain in flight.
    fn end_catch(&mut self, depth: Value) {
        self.call_external("__kairos_end_catch", vec![depth], Ty::unit(), true);
    }

    /// Opens a landing pad; calls land there until `self.pad` is set back.
    fn open_pad(&mut self, own: Vec<Option<Rc<str>>>, cleanup: bool) -> usize {
        let outer = self.pad.map(|pad| &self.pads[pad]);
        let mut clauses = own;
        clauses.extend(outer.iter().flat_map(|pad| pad.clauses.clone()));
        let cleanup = cleanup || outer.is_some_and(|pad| pad.cleanup);
        let slot = self.build.slot(Ty::Ptr);
        let (block, dispatch) = (self.build.new_block("landing pad"), self.build.new_block("dispatch"));
        let here = std::mem::replace(&mut self.build.block, block);
        let landed = Ty::Struct([Ty::Ptr, Ty::I32].into());
        let op = Op::LandingPad {
            clauses: clauses.clone(),
            cleanup,
        };
        let landed = self.build.push(Some(landed), op);
        let record = self.build.extract(&landed, 1);
        let record = self.build.push(Some(Ty::Ptr), Op::Convert("inttoptr", record, Ty::Ptr));
        self.build.store(record, &slot);
        self.build.jump(dispatch);
        self.build.block = here;
        self.pads.push(Pad {
            block,
            dispatch,
            slot,
            clauses,
            cleanup,
        });
        self.pad = Some(self.pads.len() - 1);
        self.pads.len() - 1
    }

    /// An exception that the pad `from` does not catch goes on outwards.
    /// A traceback then shows the `try` statement, which stands at `span`.
    fn propagate(&mut self, from: usize, span: Span) {
        self.build.span = span;
        match self.pad {
            Some(outer) => {
                let record = self.build.load(Ty::Ptr, &self.pads[from].slot.clone());
                self.build.store(record, &self.pads[outer].slot.clone());
                let dispatch = self.pads[outer].dispatch;
                self.build.jump(dispatch);
            }
            None => self.resume(),
        }
    }

    pub(super) fn try_statement(
        &mut self,
        body: &'p [Stmt],
        handlers: &'p [Handler],
        orelse: &'p [Stmt],
        finally: &'p [Stmt],
    ) -> Result<()> {
        let depth = self.exceptions_in_flight();
        if finally.is_empty() {
            return self.try_except(body, handlers, orelse, &depth);
        }
        let (outside, span) = (self.pad, self.build.span);
        let pad = self.open_pad(vec![], true);
        self.scopes.push(Scope::Finally {
            body: finally,
            pad: outside,
        });
        self.try_except(body, handlers, orelse, &depth)?;
        self.scopes.pop();
        self.pad = outside;
        if !self.build.is_closed() {
            self.body(finally)?;
        }
        let after = self.build.new_block("after finally");
        self.build.jump(after);
        self.build.block = self.pads[pad].dispatch;
        // Leaving this copy by return, break or continue drops the exception.
        self.scopes.push(Scope::Handler { depth, pad: outside });
        self.body(finally)?;
        self.scopes.pop();
        if !self.build.is_closed() {
            self.propagate(pad, span);
        }
        self.build.block = after;
        Ok(())
    }

    /// `depth`: exceptions in flight before the statement.
    fn try_except(
        &mut self,
        body: &'p [Stmt],
        handlers: &'p [Handler],
        orelse: &'p [Stmt],
        depth: &Value,
    ) -> Result<()> {
        if handlers.is_empty() {
            self.body(body)?;
            return if self.build.is_closed() {
                Ok(())
            } else {
                self.body(orelse)
            };
        }
        let mut keys = vec![];
        for handler in handlers {
            keys.push(match &handler.class {
                None => None,
                Some(class) => match self.class_of(class).0 {
                    BuiltinException::Key(key) => Some(key),
                    BuiltinException::All => None,
                },
            });
        }
        let clauses = keys.iter().map(|key| key.map(|key| self.module.clause(key))).collect();
        let (outside, span) = (self.pad, self.build.span);
        let pad = self.open_pad(clauses, false);
        self.body(body)?;
        self.pad = outside;
        if !self.build.is_closed() {
            self.body(orelse)?;
        }
        let after = self.build.new_block("after try");
        self.build.jump(after);

        self.build.block = self.pads[pad].dispatch;
        let record = self.build.load(Ty::Ptr, &self.pads[pad].slot.clone());
        let id = self.build.load(Ty::I32, &record);
        let mut caught_all = false;
        for (handler, key) in handlers.iter().zip(keys) {
            let (entry, next) = (self.build.new_block("handler"), self.build.new_block("next clause"));
            match key {
                Some(key) => {
                    let matches = self
                        .build
                        .compare("icmp eq", id.clone(), Value::int(Ty::I32, key.into()));
                    self.build.branch(matches, entry, next);
                }
                None => {
                    self.build.jump(entry);
                    caught_all = true;
                }
            }
            self.build.block = entry;
            self.build.span = handler.span;
            if let Some(local) = handler.name.as_ref().and_then(|name| self.function.names.local(name)) {
                let slot = self.locals[local as usize].clone();
                self.build.store(record.clone(), &slot);
            }
            self.scopes.push(Scope::Handler {
                depth: depth.clone(),
                pad: outside,
            });
            self.body(&handler.body)?;
            self.scopes.pop();
            if !self.build.is_closed() {
                self.end_catch(depth.clone());
                self.build.jump(after);
            }
            self.build.block = next;
            if caught_all {
                break;
            }
        }
        if caught_all {
            self.build.end(Terminator::Unreachable);
        } else {
            self.propagate(pad, span);
        }
        self.build.block = after;
        Ok(())
    }

    /// Leaves scopes from the innermost to number `down_to`: runs `finally` bodies, ends handlers.
    pub(super) fn leave(&mut self, down_to: usize) -> Result<()> {
        let (scopes, pad) = (self.scopes.clone(), self.pad);
        while self.scopes.len() > down_to && !self.build.is_closed() {
            match self.scopes.pop().expect("longer than the limit") {
                Scope::Loop { .. } => {}
                Scope::Finally { body, pad } => {
                    self.pad = pad;
                    self.body(body)?;
                }
                Scope::Handler { depth, pad } => {
                    self.pad = pad;
                    self.end_catch(depth);
                }
            }
        }
        (self.scopes, self.pad) = (scopes, pad);
        Ok(())
    }

    /// The innermost loop: number of its scope, and its two exits.
    pub(super) fn innermost_loop(&self) -> Option<(usize, BlockId, BlockId)> {
        self.scopes
            .iter()
            .enumerate()
            .rev()
            .find_map(|(index, scope)| match scope {
                Scope::Loop { on_break, on_continue } => Some((index + 1, *on_break, *on_continue)),
                _ => None,
            })
    }

    /// The host constant that an expression was found to be.
    pub(super) fn host_constant(&self, expr: &Expr) -> Option<&'p HostValue> {
        match self.function.facts.get(&expr.id) {
            Some(Fact::Constant(value)) => Some(value),
            _ => None,
        }
    }
}
