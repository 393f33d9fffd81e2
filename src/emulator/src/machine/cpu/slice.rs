//! Progress of a core in its turn, shared with the hooks that Unicorn calls from translated code.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};

use super::special::Special;
use super::steps::Steps;
use super::translated::Translated;
use crate::machine::signals::Caller;
use crate::machine::time::Cycles;

/// Progress of one core since the start of its turn, and its limits.
#[derive(Default)]
pub struct Slice {
    /// Virtual time at the start of the turn.
    pub start: Cell<Cycles>,
    /// Instructions counted, including all of the block being run.
    pub count: Cell<u64>,
    /// Stall cycles of accesses.
    pub stall: Cell<Cycles>,
    /// The turn ends before the first block that starts at or after this many cycles.
    pub limit: Cell<Cycles>,
    /// Address and number of instructions of the block being run.
    pub block: Cell<(u32, u64)>,
    /// Whether that block is in the kernel's library.
    pub in_kernel: Cell<bool>,
    /// Registers when the core last left the library.
    pub left: Cell<Caller>,
    /// What is recorded then, if anything.
    pub steps: RefCell<Option<Steps>>,
    /// The block hook ended the turn.
    pub stopped: Cell<bool>,
    /// Special instructions in blocks translated in this turn.
    pub found: RefCell<Vec<(u32, Special)>>,
    /// Pages of translated blocks that have not been dropped.
    pub translated: RefCell<Translated>,
    /// Blocks of the firmware that were translated: their addresses, and their numbers of bytes.
    pub blocks: RefCell<BTreeMap<u32, u32>>,
    /// Addresses of special instructions that have a hook.
    pub known: RefCell<HashSet<u32>>,
    /// Unmapped access that ended the turn.
    pub unmapped: Cell<Option<(u32, bool)>>,
    /// `wfe` or `yield` ended the turn.
    pub hint: Cell<bool>,
    /// Aborts and undefined instructions in close succession.
    pub streak: Cell<u32>,
    /// Instructions counted in all turns before this one.
    pub total: Cell<u64>,
    /// `total + count` at the last abort.
    pub last_abort: Cell<u64>,
}

impl Slice {
    /// Prepares a turn.
    pub fn begin(&self, start: Cycles, limit: Cycles) {
        self.start.set(start);
        self.limit.set(limit);
        self.count.set(0);
        self.stall.set(0);
        self.block.set((0, 0));
        self.stopped.set(false);
        self.unmapped.set(None);
        self.hint.set(false);
    }

    /// Cycles used so far.
    pub fn used(&self) -> Cycles {
        self.count.get() + self.stall.get()
    }

    /// Virtual time at the start of the block being run (accesses are not timed more precisely).
    pub fn now(&self) -> Cycles {
        self.start.get() + self.used() - self.block.get().1
    }

    /// Virtual time at the instruction at `address` of the block being run.
    pub fn at(&self, address: u32) -> Cycles {
        let (start, length) = self.block.get();
        self.now() + u64::from(address.wrapping_sub(start) / 4).min(length)
    }

    /// Uncounts the instructions of the block after `address`: they are counted when execution
    /// resumes there.
    pub fn leave_after(&self, address: u32) {
        let (start, length) = self.block.get();
        let done = (u64::from(address.wrapping_sub(start) / 4) + 1).min(length);
        self.count.set(self.count.get() - (length - done));
        self.block.set((start, done));
    }

    /// Ends the turn at the next block.
    pub fn kick(&self) {
        self.limit.set(0);
    }

    /// Records an abort; returns true if the core makes no more progress.
    pub fn abort(&self) -> bool {
        let now = self.total.get() + self.count.get();
        let streak = if now - self.last_abort.get() < 64 {
            self.streak.get() + 1
        } else {
            0
        };
        self.last_abort.set(now);
        self.streak.set(streak);
        streak > 1000
    }
}
