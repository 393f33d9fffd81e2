//! The interface of a peripheral to the machine: reads and writes, time, interrupt lines.

use std::any::Any;

use super::memory::Memory;
use super::signals::{Cause, Signals};
use super::time::Cycles;

/// A time that is never reached.
pub const NEVER: Cycles = Cycles::MAX;

/// An access by a core.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    /// Number of the core.
    pub core: usize,
    /// Index of the window in the peripheral's slot.
    pub window: usize,
    /// Offset of the accessed word from the start of the window: a multiple of 4.
    pub offset: u32,
    /// Byte address.
    pub address: u32,
    /// 1, 2 or 4 bytes.
    pub size: u32,
    /// Time of the access.
    pub now: Cycles,
}

impl Access {
    /// Bit position of the access within the word.
    pub fn shift(&self) -> u32 {
        8 * (self.address & 3)
    }
}

/// Why an access failed on the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No slave at the address (DECERR).
    Decode,
    /// The slave responded with an error (SLVERR).
    Slave,
}

/// Result of an access that takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Loaded value, right-aligned.
    pub value: u32,
    /// The failure, if any.
    pub fault: Option<Fault>,
    /// When the response reaches the core.
    pub at: Cycles,
}

/// An access by a peripheral, as a master of the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// Byte address, a multiple of the size.
    pub address: u32,
    /// 1, 2 or 4 bytes.
    pub size: u32,
    /// The value to store (right-aligned), or `None` for a load.
    pub store: Option<u32>,
}

/// Resources available to a peripheral, and the cost of an access.
pub struct Context<'a> {
    /// DDR and on-chip memory.
    pub memory: &'a Memory,
    /// The signals between peripherals.
    pub signals: &'a mut Signals,
    /// Cycles that the core stalls beyond the instruction.
    pub stall: Cycles,
    /// End the core's turn after its block of code, since an event may have become due: preset for
    /// a write, not for a read.
    pub ends_turn: bool,
}

/// When a peripheral next acts, by kind of event; [`NEVER`] for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// An interrupt of each core. No turn goes beyond it. While all cores wait, time moves to that
    /// of core 1; that of core 0 does not advance time while input from the host is expected.
    pub timer: [Cycles; 2],
    /// An arrival from outside the chip. No turn goes beyond it, and time moves to it.
    pub arrival: Cycles,
    /// The answer to the latest `sev`. No turn of the core that executed it goes beyond it, and
    /// time moves to it.
    pub answer: Cycles,
    /// End of work in progress. Time moves to it; turns may go beyond it.
    pub work: Cycles,
    /// A core in `wfe` has been woken by the logic but has not been resumed; the logic is halted
    /// until then.
    pub woken: Cycles,
    /// A queued event that wakes no core.
    pub queued: Cycles,
    /// An input that the bench drives by itself. It matters to a core that waits for an event.
    pub bench: Cycles,
    /// A link that is unplugged or plugged in according to its description. It matters to a core
    /// that waits for an event; a device that is idle does not hurry to it.
    pub plug: Cycles,
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
            bench: NEVER,
            plug: NEVER,
        }
    }
}

/// Lowers `due` to `at` if that is earlier.
pub fn sooner(due: &mut Cycles, at: Option<Cycles>) {
    *due = (*due).min(at.unwrap_or(NEVER));
}

/// What to reset.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Reset {
    /// The processing system, with the cause.
    System(Cause),
    /// The private part of a core.
    Core(usize),
}

/// Whether the device is up, as far as a peripheral can tell while the machine is idle.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Readiness {
    /// The peripheral cannot tell.
    Unknown,
    /// It has just sent a probe; the answer is pending.
    Probing,
    /// The device is up.
    Up,
}

/// A model of a peripheral, a deterministic function of its registers and of time.
pub trait Peripheral: Any {
    /// Returns the word at `at.offset`. Bytes outside the access are ignored.
    fn read(&mut self, at: Access, context: &mut Context) -> u32;

    /// Stores `value`, which is right-aligned, to the bytes that the access covers.
    fn write(&mut self, at: Access, value: u32, context: &mut Context);

    /// Begins an access in a window whose accesses take time. `None`: nothing responds there;
    /// false: another access is in progress, whose result must be taken first.
    fn begin(&mut self, _at: Access, _store: Option<u32>, _context: &mut Context) -> Option<bool> {
        None
    }

    /// Takes the result of the access in progress.
    fn end(&mut self) -> Option<Ended> {
        None
    }

    /// Takes the access that it makes as a master, if it waits for one.
    fn ask(&mut self) -> Option<Asked> {
        None
    }

    /// Gives it the result of that access: the loaded value, right-aligned, or why it failed.
    fn answer(&mut self, _result: Result<u32, Fault>) {}

    /// Resets the peripheral; state outside the chip is kept.
    fn reset(&mut self, what: Reset, context: &mut Context);

    /// Updates the model to `now`; called once before anything else. Returns whether the peripheral
    /// keeps time: if not, this is never called again, and it never has due times.
    fn update(&mut self, _now: Cycles, _context: &mut Context) -> bool {
        false
    }

    /// Merges the times at which it next acts into `due`.
    fn next(&self, _due: &mut Due) {}

    /// Interrupt levels: bit n is the n-th of its shared lines, or core n's if the line is private.
    fn irq(&self) -> u32 {
        0
    }

    /// A core has executed `sev` at `now` (EVENTEVENTO). Called only if the peripheral keeps time.
    fn event(&mut self, _now: Cycles, _context: &mut Context) {}

    /// A core has executed `dbg`: its number, and r0 to r3. Called only if the peripheral keeps
    /// time.
    fn noted(&mut self, _number: u8, _registers: [u32; 4], _context: &mut Context) {}

    /// The signals between peripherals have changed ([`Signals::changed`]).
    fn signalled(&mut self, _now: Cycles, _context: &mut Context) {}

    /// Acts while no core runs, up to `until` or until it has an event for a core. Returns the time
    /// reached. Called only if the peripheral keeps time.
    fn idle(&mut self, until: Cycles, _context: &mut Context) -> Cycles {
        until
    }

    /// Whether the device is up; asked when nothing is due before core 0's timers. Called only if
    /// the peripheral keeps time.
    fn readiness(&mut self, _now: Cycles) -> Readiness {
        Readiness::Unknown
    }
}
