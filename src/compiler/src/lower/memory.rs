//! Memory of loops: stack space allocated in an iteration is freed before the next.

use crate::emit::Emitter;
use crate::escape::Head;
use crate::ir::*;
use crate::syntax::*;

/// The position before a loop.
pub(super) struct Before {
    place: (BlockId, usize),
    /// Blocks created from here on belong to the loop.
    first: BlockId,
}

impl<'p> Emitter<'_, 'p> {
    /// Must be called after the iterable has been evaluated and before blocks of the loop are
    /// created.
    pub(super) fn before_loop(&self) -> Before {
        Before {
            place: (
                self.build.block,
                self.build.function.blocks[self.build.block].body.len(),
            ),
            first: self.build.function.blocks.len(),
        }
    }

    /// Must be called when a loop has been lowered. Restores the stack pointer at the beginning of
    /// each of `places`, if nothing allocated by iterations is needed any more.
    pub(super) fn give_back(&mut self, before: Before, head: Head<'p>, body: &'p [Stmt], places: &[BlockId]) {
        let takes = |instruction: &Instruction| matches!(instruction.op, Op::Alloca { .. });
        let mut blocks = self.build.function.blocks[before.first..].iter();
        if !blocks.any(|block| block.body.iter().any(takes)) || !self.leaves_nothing(head, body) {
            return;
        }
        let save = self.module.external("llvm.stacksave.p0", &[], Ty::Ptr, true);
        let restore = self
            .module
            .external("llvm.stackrestore.p0", &[Ty::Ptr], Ty::unit(), true);
        let call = |callee, args, returns| Op::Call {
            callee,
            args,
            returns,
            unwind: None,
            looped: false,
        };
        let stack = self
            .build
            .insert(before.place, Some(Ty::Ptr), call(save, vec![], Ty::Ptr));
        for &place in places {
            let op = call(restore.clone(), vec![stack.clone()], Ty::unit());
            self.build.insert((place, 0), None, op);
        }
    }
}
