//! Memory returned by functions. It remains on the stack of the function, which nothing overwrites
//! before the caller continues, since interrupts use a separate stack. The function stores its
//! final stack pointer, and the caller extends its own stack down to it.

use super::{Emitter, ModuleBuilder};
use crate::ir::*;

/// Stack pointer at the end of the function that returned last.
const STACK: &str = "kairos.stack";

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

    /// Stores the stack pointer at the end of this function, if it may leave memory on its stack.
    pub(crate) fn leave_stack(&mut self) {
        if self.module.returning.contains(&self.function.symbol) {
            let stack = self.stack();
            self.build.store(stack, &Value::global(STACK));
        }
    }

    /// Keeps the stack of `symbol` after a call, if it may have left memory there.
    pub(crate) fn take_over_stack(&mut self, symbol: &str) {
        if !self.module.returning.contains(symbol) {
            return;
        }
        // As 64-bit numbers; addresses may be shorter.
        let [own, other] = [self.build.slot(Ty::I64), Value::global(STACK)];
        let stack = self.stack();
        self.build.store(Value::int(Ty::I64, 0), &own);
        self.build.store(stack, &own);
        let [own, end] = [own, other.clone()].map(|place| self.build.load(Ty::I64, &place));
        let size = self.build.binary(Binary::Sub, own, end);
        let size = self.build.convert(size, &Ty::I32);
        let taken = self.build.alloca(Ty::I8, size);
        // Otherwise the allocation would be unused and optimised away.
        self.build.store(taken, &other);
    }
}
