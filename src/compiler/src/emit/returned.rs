//! Memory that a function returns. What it has made stands on its stack, which nothing else uses
//! until its caller goes on: interrupts have a stack of their own. So it says how far its stack
//! went, and the caller lets its own begin there.

use super::{int, Emitter, ModuleBuilder};
use crate::ir::*;

/// How far the stack of a function went that has just returned.
const STACK: &str = "kairos.stack";

/// Bytes of the stack that the firmware may use when it reads the attributes that a kernel leaves behind.
const ROOM: i64 = 64 << 10;

impl ModuleBuilder<'_> {
    pub(super) fn stack_end(&mut self) {
        self.global(STACK, false, Init::Value(Value::int(Ty::I64, 0)));
    }
}

impl Emitter<'_, '_> {
    fn stack(&mut self) -> Value {
        let save = self.module.external("llvm.stacksave.p0", &[], Ty::Ptr, true);
        self.build.call(&save, vec![], Ty::Ptr, None)
    }

    /// Before the entry is called: what it leaves in attributes lies below the firmware's own stack.
    pub(crate) fn leave_room(&mut self) {
        let room = self.build.alloca(Ty::I8, int(ROOM));
        self.build.store(room, &Value::global(STACK));
    }

    /// At the end of this function, if it may return memory of its stack.
    pub(crate) fn leave_stack(&mut self) {
        if self.module.returning.contains(&self.function.symbol) {
            let stack = self.stack();
            self.build.store(stack, &Value::global(STACK));
        }
    }

    /// Behind a call of `symbol`: takes over its stack, if it may have returned memory of it.
    pub(crate) fn take_over_stack(&mut self, symbol: &str) {
        if !self.module.returning.contains(symbol) {
            return;
        }
        // As numbers; addresses may be shorter.
        let [own, other] = [self.build.slot(Ty::I64), Value::global(STACK)];
        let stack = self.stack();
        self.build.store(Value::int(Ty::I64, 0), &own);
        self.build.store(stack, &own);
        let [own, end] = [own, other.clone()].map(|place| self.build.load(Ty::I64, &place));
        let size = self.build.binary(Binary::Sub, own, end);
        let size = self.build.convert(size, &Ty::I32);
        let taken = self.build.alloca(Ty::I8, size);
        // Else nothing would use it.
        self.build.store(taken, &other);
    }
}
