//! `with parallel` blocks that have begun and not ended: a list through the stack frames, from which
//! an exception takes those that it leaves. The cursor is then at the latest time that they have
//! reached, as it is after a block that ends in any other way.

use super::{Cursor, Emitter, ModuleBuilder};
use crate::ir::*;
use crate::language::{Builtin, Order};
use crate::program::Program;
use crate::syntax::{walk_stmts, StmtKind};
use crate::types::Kind;

/// The innermost open block; null outside of all.
const OPEN: &str = "kairos.parallel";

/// A block's entry in the list, in the frame of its function.
#[derive(Clone)]
pub(crate) struct Block {
    /// Address of the latest time reached (i64), and the enclosing block.
    latest: Value,
    outer: Value,
}

/// Latest time reached, next outer block.
fn layout() -> Ty {
    Ty::Struct([Ty::I64, Ty::Ptr].into())
}

/// Whether a program has parallel blocks.
pub(super) fn has_parallel(program: &Program) -> bool {
    program.live().any(|function| {
        let mut found = false;
        walk_stmts(&function.ast.body, &mut |stmt| {
            if let StmtKind::With { context, .. } = &stmt.kind {
                let kind = program.types.kind(function.types[context.id as usize]);
                found |= matches!(kind, Kind::Builtin(Builtin::Order(Order::Parallel)));
            }
        });
        found
    })
}

impl ModuleBuilder<'_> {
    pub(super) fn parallel_list(&mut self) {
        if self.parallel {
            self.global(OPEN, false, Init::Value(Value::zero(Ty::Ptr)));
        }
    }
}

impl Emitter<'_, '_> {
    /// Begins a block at `start`.
    pub(crate) fn begin_parallel(&mut self, start: Value) -> Block {
        let block = self.build.slot(layout());
        let latest = self.build.field(&block, &layout(), 0);
        self.build.store(start, &latest);
        let outer = self.open_block();
        let to = self.build.field(&block, &layout(), 1);
        self.build.store(outer.clone(), &to);
        self.build.store(block, &Value::global(OPEN));
        Block { latest, outer }
    }

    /// Notes the time that a statement of the block has reached, and returns the latest so far.
    pub(crate) fn reach(&mut self, block: &Block) -> Value {
        let now = self.now_mu();
        let latest = self.build.load(Ty::I64, &block.latest);
        let later = self.build.compare(Compare::Sgt, now.clone(), latest.clone());
        let latest = self.build.select(later, now, latest);
        self.build.store(latest.clone(), &block.latest);
        latest
    }

    /// Ends a block, or leaves it in the middle of a statement.
    pub(crate) fn end_parallel(&mut self, block: &Block) {
        let latest = self.reach(block);
        self.set_cursor(Cursor::At, latest);
        self.build.store(block.outer.clone(), &Value::global(OPEN));
    }

    /// The innermost open block, if the program has any.
    pub(crate) fn open_blocks(&mut self) -> Option<Value> {
        self.module.parallel.then(|| self.open_block())
    }

    fn open_block(&mut self) -> Value {
        self.build.load(Ty::Ptr, &Value::global(OPEN))
    }

    /// Ends the blocks that an exception has left, down to `kept`. Their entries are in frames that
    /// no longer exist, so nothing may be called before this, nor in it.
    pub(crate) fn end_blocks_left(&mut self, kept: &Option<Value>) {
        let Some(kept) = kept else { return };
        let cursor = self.module.cursor();
        let (head, inside) = (self.build.new_block("open blocks"), self.build.new_block("block left"));
        let done = self.build.new_block("no more blocks");
        self.build.jump(head);
        self.build.block = head;
        let block = self.open_block();
        let last = self.build.compare(Compare::Eq, block.clone(), kept.clone());
        self.build.branch(last, done, inside);
        self.build.block = inside;
        let latest = self.build.field(&block, &layout(), 0);
        let latest = self.build.load(Ty::I64, &latest);
        let now = self.build.load(Ty::I64, &cursor);
        let later = self.build.compare(Compare::Sgt, now.clone(), latest.clone());
        let latest = self.build.select(later, now, latest);
        self.build.store(latest, &cursor);
        let outer = self.build.field(&block, &layout(), 1);
        let outer = self.build.load(Ty::Ptr, &outer);
        self.build.store(outer, &Value::global(OPEN));
        self.build.jump(head);
        self.build.block = done;
    }
}
