//! Memory of loops: what a pass took of the stack is given back before the next one.

use crate::emit::Emitter;
use crate::ir::*;
use crate::syntax::*;

/// The place before a loop.
pub(super) struct Before {
    place: (BlockId, usize),
    /// Blocks made from here on are those of the loop.
    first: BlockId,
}

impl<'p> Emitter<'_, 'p> {
    /// To be called when what the loop goes over has been evaluated, before its blocks are made.
    pub(super) fn before_loop(&self) -> Before {
        Before {
            place: (
                self.build.block,
                self.build.function.blocks[self.build.block].body.len(),
            ),
            first: self.build.function.blocks.len(),
        }
    }

    /// To be called when a loop has been lowered: at the beginning of each of `places` the stack is
    /// as it was before, if nothing that the passes made is needed any more. `target`: what a `for`
    /// sets.
    pub(super) fn give_back(&mut self, before: Before, body: &'p [Stmt], target: Option<&'p Expr>, places: &[BlockId]) {
        let takes = |instruction: &Instruction| matches!(instruction.op, Op::Alloca { .. });
        let mut blocks = self.build.function.blocks[before.first..].iter();
        if !blocks.any(|block| block.body.iter().any(takes)) || !self.leaves_nothing(body, target) {
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
