//! The time cursor, a variable in the firmware.

use super::{int, Builder, Emitter, ModuleBuilder};
use crate::ir::*;

/// The firmware variable, an i64.
const CURSOR: &str = "rtio_cursor";

/// Accesses to the cursor, each a function of the library instead of the firmware's function, so
/// that LLVM can inline it. In large functions, which are compiled quickly without inlining, they
/// remain calls.
#[derive(Clone, Copy)]
pub enum Cursor {
    Now,
    At,
    Delay,
    /// Takes an i32: constant delays are short, and LLVM compiles values that fit a register
    /// faster.
    ShortDelay,
}

impl Cursor {
    const ALL: [Cursor; 4] = [Cursor::Now, Cursor::At, Cursor::Delay, Cursor::ShortDelay];

    /// Contains a dot, so that it cannot clash with firmware symbols, which a program may also
    /// declare.
    fn symbol(self) -> &'static str {
        match self {
            Cursor::Now => "cursor.now",
            Cursor::At => "cursor.at",
            Cursor::Delay => "cursor.delay",
            Cursor::ShortDelay => "cursor.short_delay",
        }
    }

    fn function(self) -> Function {
        let cursor = Value::global(CURSOR);
        let (params, returns) = match self {
            Cursor::Now => (vec![], Ty::I64),
            Cursor::At | Cursor::Delay => (vec![Ty::I64], Ty::unit()),
            Cursor::ShortDelay => (vec![Ty::I32], Ty::unit()),
        };
        let taken = params.first().cloned().unwrap_or(Ty::I64);
        let mut function = Function::new(self.symbol(), params, returns, None);
        function.attributes = "alwaysinline nounwind";
        let mut build = Builder::new(function);
        let time = Value {
            ty: taken,
            kind: ValueKind::Temp(0),
        };
        let result = match self {
            Cursor::Now => build.load(Ty::I64, &cursor),
            Cursor::At => {
                build.store(time, &cursor);
                Value::unit()
            }
            Cursor::Delay | Cursor::ShortDelay => {
                let now = build.load(Ty::I64, &cursor);
                let time = build.convert(time, &Ty::I64);
                let later = build.binary(Binary::Add, now, time);
                build.store(later, &cursor);
                Value::unit()
            }
        };
        build.end(Terminator::Return(result));
        build.finish()
    }
}

impl ModuleBuilder<'_> {
    /// Address of the cursor.
    pub(crate) fn cursor(&mut self) -> Value {
        self.timeline = true;
        Value::global(CURSOR)
    }

    pub(crate) fn cursor_functions(&mut self) {
        self.global(CURSOR, false, Init::External(Ty::I64));
        let functions = Cursor::ALL.map(Cursor::function);
        self.module.functions.extend(functions);
    }
}

impl Emitter<'_, '_> {
    pub(crate) fn now_mu(&mut self) -> Value {
        self.module.timeline = true;
        self.build.call(Cursor::Now.symbol(), vec![], Ty::I64, None)
    }

    /// Sets or moves the cursor.
    pub(crate) fn set_cursor(&mut self, how: Cursor, time: Value) {
        self.module.timeline = true;
        let (how, time) = match (how, time.as_int().map(i32::try_from)) {
            (Cursor::Delay, Some(Ok(short))) => (Cursor::ShortDelay, int(short.into())),
            _ => (how, time),
        };
        self.build.call(how.symbol(), vec![time], Ty::unit(), None);
    }
}
