//! The statements `raise` and `try`.
//!
//! Each `try` has its own landing pad, which lists its clauses and those of the enclosing `try`
//! statements; an exception that does not match is passed to the dispatch code of the next outer
//! one. A clause catches the class's subclasses too: those that the program names have known keys, and
//! an exception of the host says which of the caught classes are its bases. `finally` bodies are lowered once for each exit.

use std::collections::BTreeSet;
use std::rc::Rc;

use kairos_contracts::exceptions::HOST_BUILTIN_PREFIX;

use crate::diagnostic::Result;
use crate::emit::exceptions::{Pad, Scope, MARKS};
use crate::emit::Emitter;
use crate::host::Caught;
use crate::ir::*;
use crate::language::Builtin;
use crate::source::Span;
use crate::syntax::*;
use crate::types::Kind;

/// A message that stands for itself: messages are templates for the parameters, in which braces are doubled.
pub(super) fn literal(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// The message among the arguments of an exception, if it is not a literal.
fn own_message(args: &[Expr]) -> Option<&Expr> {
    args.first().filter(|message| !matches!(message.kind, ExprKind::Str(_)))
}

/// The exceptions that a handler catches: the keys of known classes, and the numbers of the clauses'
/// classes, by which exceptions of the host are recognised.
#[derive(Default)]
struct Clauses {
    keys: BTreeSet<i32>,
    numbers: Vec<u32>,
    /// With `Exception` among the clauses: what is not caught by it. All other exceptions are.
    not: Option<Caught>,
}

impl<'p> Emitter<'_, 'p> {
    /// Id and name of the exception class that an expression names. The id is None for the class of
    /// all exceptions.
    fn class_of(&mut self, expr: &Expr) -> (Option<i32>, Rc<str>) {
        match self.kind_of(expr) {
            Kind::ExceptionClass(class) => (Some(class.key), class.name.clone()),
            Kind::Builtin(Builtin::Exception(class)) => (Some(*class as i32), class.name().into()),
            Kind::Builtin(builtin @ Builtin::AnyException) => (None, builtin.name().into()),
            _ => unreachable!("inference admits only exception classes"),
        }
    }

    /// What a handler catches; None if it catches every exception.
    fn caught_by(&mut self, handler: &Handler) -> Result<Option<Clauses>> {
        let mut clauses = Clauses::default();
        let Some(classes) = &handler.classes else {
            return Ok(None);
        };
        for class in classes {
            let key = self.class_of(class).0;
            let Some(caught) = self.module.caught(key) else {
                return Ok(None);
            };
            if caught.number >= MARKS && self.module.host_raises {
                return self.unsupported(class.span, &format!("catching more than {MARKS} classes of exceptions"));
            }
            if caught.others {
                clauses.not = Some(caught);
            } else {
                clauses.keys.extend(caught.keys.iter());
                clauses.numbers.push(caught.number);
            }
        }
        let catches_all = |not: &Caught| not.keys.is_empty() && !self.module.host_raises;
        Ok((!clauses.not.as_ref().is_some_and(catches_all)).then_some(clauses))
    }

    /// Whether a handler's clauses match the exception in `record`.
    fn matches(&mut self, clauses: &Clauses, record: &Value, id: &Value) -> Value {
        let matches = self.is_one_of(clauses.keys.iter(), &clauses.numbers, record, id);
        let Some(not) = &clauses.not else { return matches };
        let other = self.is_one_of(not.keys.iter(), &[not.number], record, id);
        let other = self.build.not(other);
        self.either(matches, other)
    }

    /// Whether the exception in `record` has one of these keys, or came from the host with one of these numbers.
    fn is_one_of<'k>(
        &mut self,
        keys: impl Iterator<Item = &'k i32>,
        numbers: &[u32],
        record: &Value,
        id: &Value,
    ) -> Value {
        let mut matches = Value::bool(false);
        for &key in keys {
            let this = self
                .build
                .compare(Compare::Eq, id.clone(), Value::int(Ty::I32, key.into()));
            matches = self.either(matches, this);
        }
        if self.module.host_raises {
            let marked = self.is_marked(record, numbers);
            matches = self.either(matches, marked);
        }
        matches
    }

    pub(super) fn raise_statement(&mut self, value: Option<&'p Expr>) -> Result<()> {
        let Some(value) = value else {
            self.resume();
            return Ok(());
        };
        let (class, args) = match &value.kind {
            ExprKind::Call { callee, args, .. } if self.is_exception_class(callee) => (&**callee, &args[..]),
            _ if *self.kind_of(value) == Kind::Exception => return self.reraise(value),
            _ => (value, &[][..]),
        };
        if let Some(message) = own_message(args) {
            let key = self.identity(class, args).0;
            return self.raise_with(key, message, &args[1..]);
        }
        let (key, message) = self.identity(class, args);
        let params = args
            .iter()
            .skip(1)
            .map(|arg| self.expr(arg))
            .collect::<Result<Vec<_>>>()?;
        self.raise(key, &message, &params);
        Ok(())
    }

    /// Raises an exception whose message is a text of the program.
    pub(super) fn raise_with(&mut self, key: i32, message: &'p Expr, params: &'p [Expr]) -> Result<()> {
        let span = self.build.span;
        let record = self.record_with(key, message, params)?;
        self.build.span = span;
        self.call_external("__artiq_raise", vec![record], Ty::unit(), false);
        self.build.end(Terminator::Unreachable);
        Ok(())
    }

    /// The record of an exception whose message is a text of the program.
    fn record_with(&mut self, key: i32, message: &'p Expr, params: &'p [Expr]) -> Result<Value> {
        let span = self.build.span;
        let text = self.expr(message)?;
        let params = params
            .iter()
            .map(|param| self.expr(param))
            .collect::<Result<Vec<_>>>()?;
        self.build.span = span;
        let record = self.exception_record(key, "", &params);
        self.set_message(&record, &text);
        Ok(record)
    }

    pub(super) fn is_exception_class(&self, callee: &Expr) -> bool {
        matches!(
            self.kind_of(callee),
            Kind::ExceptionClass(_) | Kind::Builtin(Builtin::AnyException | Builtin::Exception(_))
        )
    }

    /// Id and message of an exception created with these arguments.
    fn identity(&mut self, class: &Expr, args: &[Expr]) -> (i32, Rc<str>) {
        let (key, name) = self.class_of(class);
        let key = key.unwrap_or_else(|| self.module.host.store_str(&format!("{HOST_BUILTIN_PREFIX}{name}")));
        match args.first().map(|message| &message.kind) {
            Some(ExprKind::Str(text)) if args.len() > 1 => (key, text.clone()),
            Some(ExprKind::Str(text)) => (key, literal(text).into()),
            _ => (key, name),
        }
    }

    /// Creates an exception that is not raised immediately: its record, on the stack.
    pub(super) fn exception_value(&mut self, class: &'p Expr, args: &'p [Expr]) -> Result<Value> {
        let (key, message) = self.identity(class, args);
        if let Some(own) = own_message(args) {
            return self.record_with(key, own, &args[1..]);
        }
        let params = args.iter().skip(1).map(|arg| self.expr(arg));
        let params = params.collect::<Result<Vec<_>>>()?;
        Ok(self.exception_record(key, &message, &params))
    }

    /// `raise e`: raises the caught record again, with this position as its source.
    fn reraise(&mut self, value: &'p Expr) -> Result<()> {
        let record = self.expr(value)?;
        let site = self.raise_site(0, "");
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

    /// Resumes unwinding of the exception in flight.
    fn resume(&mut self) {
        self.call_external("__artiq_resume", vec![], Ty::unit(), false);
        self.build.end(Terminator::Unreachable);
    }

    /// Number of exceptions in flight before a `try`, which must remain when it is left.
    ///
    /// The kernel ABI's `__artiq_end_catch` ends the newest exception. It cannot know of others
    /// that were abandoned with it (raised in a handler, which an outer handler of this function
    /// then left), or that the exception is still being handled further out.
    fn exceptions_in_flight(&mut self) -> Value {
        self.call_external("__kairos_in_flight", vec![], Ty::I32, true)
    }

    /// Ends a handler; `depth` exceptions remain in flight.
    fn end_catch(&mut self, depth: Value) {
        self.call_external("__kairos_end_catch", vec![depth], Ty::unit(), true);
    }

    /// Opens a landing pad for calls until `self.pad` is restored.
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
        let record = self
            .build
            .push(Some(Ty::Ptr), Op::Convert(Convert::IntToPtr, record, Ty::Ptr));
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

    /// Propagates an exception that the pad `from` does not catch outwards. Tracebacks then show
    /// the `try` statement, located at `span`.
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

    /// Calls the program's entry. If it ends in an exception, the cursor is left as the program's
    /// `parallel` blocks say, for the next kernel, and with `writes` the host gets what was changed.
    pub(super) fn call_entry(&mut self, symbol: &str, args: Vec<Value>, returns: Ty, writes: bool) -> Value {
        let blocks = self.open_blocks();
        if blocks.is_none() && !writes {
            return self.build.call(symbol, args, returns, None);
        }
        let pad = self.open_pad(vec![], true);
        let unwind = self.unwind();
        let result = self.build.call(symbol, args, returns, unwind);
        self.pad = None;
        let after = self.build.new_block("after the entry");
        self.build.jump(after);
        self.build.block = self.pads[pad].dispatch;
        self.end_blocks_left(&blocks);
        if writes {
            self.write_back(true);
        }
        self.resume();
        self.build.block = after;
        result
    }

    pub(super) fn try_statement(&mut self, stmt: &'p Try) -> Result<()> {
        let depth = self.exceptions_in_flight();
        let blocks = self.open_blocks();
        if stmt.finally.is_empty() {
            return self.try_except(stmt, &depth, &blocks);
        }
        let (outer, span) = (self.pad, self.build.span);
        let pad = self.open_pad(vec![], true);
        self.scopes.push(Scope::Finally {
            body: &stmt.finally,
            pad: outer,
        });
        self.try_except(stmt, &depth, &blocks)?;
        self.scopes.pop();
        self.pad = outer;
        if !self.build.is_closed() {
            self.body(&stmt.finally)?;
        }
        let after = self.build.new_block("after finally");
        self.build.jump(after);
        self.build.block = self.pads[pad].dispatch;
        self.end_blocks_left(&blocks);
        // Leaving this copy by return, break or continue discards the exception.
        self.scopes.push(Scope::Handler { depth, pad: outer });
        self.body(&stmt.finally)?;
        self.scopes.pop();
        if !self.build.is_closed() {
            self.propagate(pad, span);
        }
        self.build.block = after;
        Ok(())
    }

    /// `depth`, `blocks`: number of exceptions in flight and open `parallel` blocks before the
    /// statement.
    fn try_except(&mut self, stmt: &'p Try, depth: &Value, blocks: &Option<Value>) -> Result<()> {
        if stmt.handlers.is_empty() {
            self.body(&stmt.body)?;
            return if self.build.is_closed() {
                Ok(())
            } else {
                self.body(&stmt.orelse)
            };
        }
        let caught: Result<Vec<_>> = stmt.handlers.iter().map(|handler| self.caught_by(handler)).collect();
        let caught = caught?;
        let all = |clauses: &Option<Clauses>| match clauses {
            Some(clauses) => clauses.keys.iter().copied().map(Some).collect(),
            None => vec![None],
        };
        // The firmware compares keys, but those of the host's other classes are not known yet, and those of
        // `Exception` not at all.
        let lands_always = self.module.host_raises || caught.iter().flatten().any(|clauses| clauses.not.is_some());
        let clauses = caught.iter().flat_map(all);
        let clauses = clauses.map(|key| key.map(|key| self.module.clause(key))).collect();
        let (outer, span) = (self.pad, self.build.span);
        let pad = self.open_pad(clauses, lands_always);
        self.body(&stmt.body)?;
        self.pad = outer;
        if !self.build.is_closed() {
            self.body(&stmt.orelse)?;
        }
        let after = self.build.new_block("after try");
        self.build.jump(after);

        self.build.block = self.pads[pad].dispatch;
        self.end_blocks_left(blocks);
        let record = self.build.load(Ty::Ptr, &self.pads[pad].slot.clone());
        let id = self.build.load(Ty::I32, &record);
        let mut caught_all = false;
        for (handler, clauses) in stmt.handlers.iter().zip(caught) {
            let (entry, next) = (self.build.new_block("handler"), self.build.new_block("next clause"));
            match clauses {
                Some(clauses) => {
                    let matches = self.matches(&clauses, &record, &id);
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
                pad: outer,
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

    /// Leaves scopes from the innermost down to index `down_to`: runs `finally` bodies, ends
    /// handlers.
    pub(super) fn leave(&mut self, down_to: usize) -> Result<()> {
        let (scopes, pad) = (self.scopes.clone(), self.pad);
        while self.scopes.len() > down_to && !self.build.is_closed() {
            match self.scopes.pop().expect("longer than the limit") {
                Scope::Loop { .. } => {}
                Scope::Parallel(block) => self.end_parallel(&block),
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

    /// The innermost loop: number of scopes up to and including it, break target, and continue
    /// target.
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
}
