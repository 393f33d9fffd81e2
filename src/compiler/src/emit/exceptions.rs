//! Raising exceptions, and the scopes that must be left properly.
//!
//! A raise site passes the number of a constant record with position and message to a shared cold
//! function, so that its cost is one call.

use std::collections::BTreeMap;
use std::rc::Rc;

use kairos_contracts::session::HOST_STRING;

use super::parallel::Block;
use super::{int, Emitter, ModuleBuilder};
use crate::host::Caught;
use crate::ir::*;
use crate::language::Exception;
use crate::source::Span;
use crate::syntax::Stmt;

/// Offsets in an exception record, in bytes: the message, its length, and the three parameters.
pub(super) const MESSAGE: i64 = 28;
pub(super) const MESSAGE_LENGTH: i64 = 32;
pub(crate) const PARAMS: i64 = 40;

/// Number of bits in the parameters: so many classes can be caught.
pub(crate) const MARKS: u32 = 3 * 64;
/// `marked(record, offset, mask)`: whether the host's exception has one of the bits.
const MARKED: &str = "kairos.marked";

/// A scope around the current statement that must be left properly.
#[derive(Clone)]
pub(crate) enum Scope<'p> {
    Loop {
        on_break: BlockId,
        on_continue: BlockId,
    },
    /// A `finally` body to run on exit, with the landing pad outside of it.
    Finally {
        body: &'p [Stmt],
        pad: Option<usize>,
    },
    Parallel(Block),
    /// A caught exception that must be ended on exit.
    Handler {
        /// Number of exceptions that remain in flight: those from before the `try`.
        depth: Value,
        pad: Option<usize>,
    },
}

/// The landing pad of a `try`.
pub(crate) struct Pad {
    pub block: BlockId,
    /// Where exceptions from inner landing pads that did not match there are dispatched.
    pub dispatch: BlockId,
    /// Holds the exception record.
    pub slot: Value,
    pub clauses: Vec<Option<Rc<str>>>,
    pub cleanup: bool,
}

/// The constant parts of the exception records, as an array.
const SITES: &str = "kairos.raises";
/// Raises at a site, with three 64-bit integers.
const RAISE: &str = "kairos.raise";
/// The same with 32-bit integers, which are passed in registers.
const RAISE_SHORT: &str = "kairos.raise.short";

impl ModuleBuilder<'_> {
    /// Emits the cold functions that fill in and raise an exception record, and the constant parts
    /// of the records.
    pub(crate) fn raise_helpers(&mut self) {
        let sites = std::mem::take(&mut self.raise_sites);
        let Some(first) = sites.first() else { return };
        let ty = first.ty.clone();
        self.global(SITES, true, Init::Array(ty.clone(), sites));
        let [wide, short] = self.raises;
        if wide || short {
            self.raise_wide(&ty);
        }
        if short {
            self.raise_short();
        }
    }

    fn raise_wide(&mut self, site: &Ty) {
        let wide = vec![Ty::I32, Ty::I64, Ty::I64, Ty::I64];
        let mut function = crate::ir::Function::new(RAISE, wide, Ty::unit(), None);
        function.attributes = "cold noinline noreturn";
        let mut build = super::build::Builder::new(function);
        // The first nine words, up to the message, are copied from the site; see the exception
        // record of the kernel ABI.
        let words = Ty::Struct(vec![Ty::I32; 10].into());
        let record = Ty::Struct([words.clone(), Ty::I64, Ty::I64, Ty::I64].into());
        let slot = build.slot(record.clone());
        let site = build.element(&Value::global(SITES), site, param(0, Ty::I32));
        for index in 0..9 {
            let from = build.field(&site, &words, index);
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

    fn raise_short(&mut self) {
        let mut function = crate::ir::Function::new(RAISE_SHORT, vec![Ty::I32; 4], Ty::unit(), None);
        function.attributes = "cold noinline noreturn";
        let mut build = super::build::Builder::new(function);
        let values = (1..=3).map(|number| build.convert(param(number, Ty::I32), &Ty::I64));
        let args = std::iter::once(param(0, Ty::I32)).chain(values).collect();
        build.call(RAISE, args, Ty::unit(), None);
        build.end(Terminator::Unreachable);
        self.module.functions.push(build.finish());
    }

    /// Adds the constant part of an exception record: id, file, line, column, function, message.
    /// Returns its number.
    pub(crate) fn raise_site(&mut self, key: i32, message: &str, span: Span, function: &str) -> Value {
        let (line, column) = self.sources.position(span);
        let file = self.sources.file(span.file).name.clone();
        let mut members = vec![int(key.into())];
        let text = |module: &mut Self, text: &str| match module.string(text.as_bytes()).kind {
            ValueKind::Struct(members) => members.to_vec(),
            _ => unreachable!("a string is a record"),
        };
        // The host knows where the source is, so that the library does not depend on it.
        match self.program.entry.as_ref().is_some_and(|entry| entry.standalone) {
            true => members.extend(text(self, &file)),
            false => members.extend([int(self.host.store_str(&file).into()), int((HOST_STRING as i32).into())]),
        }
        members.extend([int(line.into()), int(column.into())]);
        members.extend(text(self, function));
        members.extend(text(self, message));
        self.raise_sites.push(Value::record(members));
        int(self.raise_sites.len() as i64 - 1)
    }

    /// What an `except` clause for the class of this key, or for `Exception`, catches; None: everything.
    pub(crate) fn caught(&mut self, key: Option<i32>) -> Option<Caught> {
        if let Some(known) = self.caught.get(&key) {
            return known.clone();
        }
        let caught = self.host.caught(key);
        self.caught.insert(key, caught.clone());
        caught
    }

    /// Emits the function that tests a word of an exception of the host.
    pub(crate) fn marked_function(&mut self) {
        if !self.marked {
            return;
        }
        let mut function = crate::ir::Function::new(MARKED, vec![Ty::Ptr, Ty::I32, Ty::I32], Ty::I1, None);
        function.attributes = "cold noinline nounwind";
        let mut build = super::build::Builder::new(function);
        let record = param(0, Ty::Ptr);
        let from = build.element(&record, &Ty::I8, int(MESSAGE_LENGTH));
        let length = build.load(Ty::I32, &from);
        let from_host = build.compare(Compare::Eq, length, int((HOST_STRING as i32).into()));
        let from = build.element(&record, &Ty::I8, param(1, Ty::I32));
        let word = build.load(Ty::I32, &from);
        let bits = build.binary(Binary::And, word, param(2, Ty::I32));
        let some = build.compare(Compare::Ne, bits, int(0));
        let both = build.binary(Binary::And, from_host, some);
        build.end(Terminator::Return(both));
        self.module.functions.push(build.finish());
    }

    /// The global that identifies an exception id in landing pads.
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

/// A parameter of a helper function.
fn param(number: u32, ty: Ty) -> Value {
    Value {
        ty,
        kind: ValueKind::Temp(number),
    }
}

impl Emitter<'_, '_> {
    /// Address of the constant part of a record for an exception raised at this point.
    pub(crate) fn raise_site(&mut self, key: i32, message: &str) -> Value {
        let (span, function) = (self.build.span, &self.function.info.qualified_name);
        let number = self.module.raise_site(key, message, span, function);
        let ty = self.module.raise_sites[0].ty.clone();
        self.build.element(&Value::global(SITES), &ty, number)
    }

    /// Raises an exception with up to three integers; ends the current block.
    pub(crate) fn raise(&mut self, key: i32, message: &str, params: &[Value]) {
        let (span, function) = (self.build.span, &self.function.info.qualified_name);
        let mut args = vec![self.module.raise_site(key, message, span, function)];
        let short = params.iter().all(|param| match param.as_int() {
            Some(known) => i32::try_from(known).is_ok(),
            None => param.ty == Ty::I32,
        });
        let ty = if short { Ty::I32 } else { Ty::I64 };
        for index in 0..3 {
            let param = params.get(index).cloned().unwrap_or(Value::int(ty.clone(), 0));
            args.push(self.build.convert(param, &ty));
        }
        let unwind = self.unwind();
        self.module.raises[usize::from(short)] = true;
        let helper = if short { RAISE_SHORT } else { RAISE };
        self.build.call(helper, args, Ty::unit(), unwind);
        self.build.end(Terminator::Unreachable);
    }

    /// Whether the exception in `record` came from the host. Its message is a string of the host's
    /// table, and in the place of its parameters are the numbers of its classes (`Caught::number`).
    pub(crate) fn is_from_host(&mut self, record: &Value) -> Value {
        let from = self.build.element(record, &Ty::I8, int(MESSAGE_LENGTH));
        let length = self.build.load(Ty::I32, &from);
        self.build
            .compare(Compare::Eq, length, int((HOST_STRING as i32).into()))
    }

    /// Whether the exception in `record` came from the host and is an instance of one of the classes
    /// of these numbers, which are less than `MARKS`.
    pub(crate) fn is_marked(&mut self, record: &Value, numbers: &[u32]) -> Value {
        let mut masks = BTreeMap::<u32, u32>::new();
        for number in numbers {
            *masks.entry(number / 32).or_default() |= 1 << (number % 32);
        }
        let mut marked = Value::bool(false);
        for (word, mask) in masks {
            self.module.marked = true;
            let args = vec![
                record.clone(),
                int(PARAMS + 4 * i64::from(word)),
                int((mask as i32).into()),
            ];
            let this = self.build.call(MARKED, args, Ty::I1, None);
            marked = self.either(marked, this);
        }
        marked
    }

    pub(crate) fn either(&mut self, a: Value, b: Value) -> Value {
        match a.as_int() {
            Some(0) => b,
            _ => self.build.binary(Binary::Or, a, b),
        }
    }

    /// The record of an exception that is not raised yet.
    pub(crate) fn exception_record(&mut self, key: i32, message: &str, params: &[Value]) -> Value {
        let site = self.raise_site(key, message);
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
