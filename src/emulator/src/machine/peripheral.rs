//! What a peripheral is to the machine: it is read and written, keeps time, and drives interrupt lines.

use std::any::Any;

use super::memory::Memory;
use super::signals::{Cause, Signals};
use super::time::Cycles;

/// No time at all.
pub const NEVER: Cycles = Cycles::MAX;

/// An access by a core.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    /// The core that makes it.
    pub core: usize,
    /// Which of the peripheral's windows it goes to, in the order of the table.
    pub window: usize,
    /// The word that it touches, from the start of the window: a multiple of 4.
    pub offset: u32,
    /// Its own address.
    pub address: u32,
    /// 1, 2 or 4 bytes.
    pub size: u32,
    /// When it is made.
    pub now: Cycles,
}

impl Access {
    /// Bits of the word below those that it touches.
    pub fn shift(&self) -> u32 {
        8 * (self.address & 3)
    }
}

/// Why the bus has failed an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nobody has the address (DECERR).
    Decode,
    /// Who has it says so (SLVERR).
    Slave,
}

/// How an access has ended that took its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// What was loaded, right-aligned.
    pub value: u32,
    /// It has failed.
    pub fault: Option<Fault>,
    /// When the core has the answer.
    pub at: Cycles,
}

/// What a peripheral reaches, and what an access costs.
pub struct Context<'a> {
    /// DDR and on-chip memory.
    pub memory: &'a Memory,
    /// The wires between peripherals.
    pub signals: &'a mut Signals,
    /// Cycles that the core stalls beyond the instruction.
    pub stall: Cycles,
    /// The core's turn ends with its block of code, since something may have become due: preset for
    /// a write, not for a read.
    pub ends_turn: bool,
}

/// When a peripheral next acts, by what hangs on it; [`NEVER`] where nothing does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// An interrupt of each core. No turn goes beyond. While all wait, time moves to those of core
    /// 1; core 0's do not make it move as long as the host is expected to say something.
    pub timer: [Cycles; 2],
    /// Something comes in from outside of the chip. No turn goes beyond, and time moves to it.
    pub arrival: Cycles,
    /// The answer to the newest `sev`. No turn of the core that executed it goes beyond, and time
    /// moves to it.
    pub answer: Cycles,
    /// A stretch of work that is under way. Time moves to its end, turns do not care.
    pub work: Cycles,
    /// A core in `wfe` has been woken by the logic and does not know it yet: until then the logic
    /// stands still.
    pub woken: Cycles,
    /// Something that waits for its time and wakes no core.
    pub queued: Cycles,
    /// Something comes in at the pins by itself. It counts for a core that waits for an event.
    pub outside: Cycles,
}

impl Default for Due {
    fn default() -> Self {
        Self {
            timer: [NEVER; 2],
            arrival: NEVER,
            answer: NEVER,
            work: NEVER,
            woken: NEVER,
            queued: NEVER,
            outside: NEVER,
        }
    }
}

/// Makes `due` not later than `at`.
pub fn sooner(due: &mut Cycles, at: Option<Cycles>) {
    *due = (*due).min(at.unwrap_or(NEVER));
}

/// What is reset.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Reset {
    /// The processing system, for this reason.
    System(Cause),
    /// The private part of a core.
    Core(usize),
}

/// Whether the device is up, as far as a peripheral can tell while the machine stands still.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Standing {
    /// It cannot.
    Unknown,
    /// It has just asked, and the answer is to be waited for.
    Asking,
    /// It is up.
    Up,
}

/// A model of a peripheral. What it does follows from its registers and the time it is given.
pub trait Peripheral: Any {
    /// The word at `at.offset`. What the access does not touch is ignored.
    fn read(&mut self, at: Access, context: &mut Context) -> u32;

    /// Stores `value`, which is right-aligned, whatever bytes of the word the access touches.
    fn write(&mut self, at: Access, value: u32, context: &mut Context);

    /// Begins an access in a window whose accesses take their time. `None`: nobody answers there;
    /// false: another access is under way, whose end is to be taken first.
    fn begin(&mut self, _at: Access, _store: Option<u32>, _context: &mut Context) -> Option<bool> {
        None
    }

    /// Takes the end of the access that is under way.
    fn end(&mut self) -> Option<Ended> {
        None
    }

    /// Back to what a reset makes of it; what is outside of the chip stays as it is.
    fn reset(&mut self, what: Reset, context: &mut Context);

    /// Brings it to `now`; called once before anything else. Returns whether it keeps time: if not,
    /// this is never called again, and nothing is ever due.
    fn update(&mut self, _now: Cycles, _context: &mut Context) -> bool {
        false
    }

    /// Adds when it next acts.
    fn next(&self, _due: &mut Due) {}

    /// Levels of its interrupts: bit n is the n-th line of its row in the table, or that of core n
    /// if the line is private.
    fn irq(&self) -> u32 {
        0
    }

    /// A core has executed `sev` at `now` (EVENTEVENTO). For those that keep time.
    fn event(&mut self, _now: Cycles, _context: &mut Context) {}

    /// A core has executed `dbg` with this number and these in r0 to r3. For those that keep time.
    fn noted(&mut self, _number: u8, _registers: [u32; 4], _context: &mut Context) {}

    /// The wires between peripherals have changed ([`Signals::changed`]).
    fn signalled(&mut self, _now: Cycles, _context: &mut Context) {}

    /// No core runs: acts by itself up to `until`, or until it has something for a core. Returns
    /// the time reached. For those that keep time.
    fn idle(&mut self, until: Cycles, _context: &mut Context) -> Cycles {
        until
    }

    /// Nothing is due before core 0's timers: is the device up? For those that keep time.
    fn standing(&mut self, _now: Cycles) -> Standing {
        Standing::Unknown
    }
}
