//! The time cursor, a variable of the firmware.

use super::{Builder, Emitter, ModuleBuilder};
use crate::ir::*;

/// The firmware's variable, an i64.
const CURSOR: &str = "rtio_cursor";

/// What is done to the cursor, each by a function of the library: not the firmware's of that name, so that LLVM can put it in
/// place of its calls. In large functions, which it compiles quickly and badly, they stay calls.
#[derive(Clone, Copy)]
pub enum Cursor {
    Now,
    At,
    Delay,
}

impl Cursor {
    const ALL: [Cursor; 3] = [Cursor::Now, Cursor::At, Cursor::Delay];

    fn symbol(self) -> &'static str {
        match self {
            Cursor::Now => "now_mu",
            Cursor::At => "at_mu",
            Cursor::Delay => "delay_mu",
        }
    }

    fn function(self) -> Function {
        let cursor = Value::global(CURSOR);
        let (params, returns) = match self {
            Cursor::Now => (vec![], Ty::I64),
            Cursor::At | Cursor::Delay => (vec![Ty::I64], Ty::unit()),
        };
        let mut function = Function::new(self.symbol(), params, returns, None);
        function.attributes = "alwaysinline nounwind";
        let mut build = Builder::new(function);
        let time = Value {
            ty: Ty::I64,
            kind: ValueKind::Temp(0),
        };
        let result = match self {
            Cursor::Now => build.load(Ty::I64, &cursor),
            Cursor::At => {
                build.store(time, &cursor);
                Value::unit()
            }
            Cursor::Delay => {
                let now = build.load(Ty::I64, &cursor);
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
        self.build.call(how.symbol(), vec![time], Ty::unit(), None);
    }
}
