//! Accesses of the cores through the general-purpose ports.
//!
//! GP0 leads to registers: each access is performed at once, and its core stalls. An access through
//! GP1 goes to another board's memory and takes time: it is begun, time continues for all boards,
//! and its core waits for the response.

use super::gp::Access;
use super::Pl;
use crate::machine::memory::Memory;
use crate::machine::peripheral::{Asked, Ended, Fault};
use crate::machine::signals::Caller;
use crate::machine::time::{self, Cycles};

/// A GP0 access that takes more cycles than this has hung.
const GP_LIMIT: u64 = 10_000;
/// Cycles after the beginning of a read in which nothing may be due, for it to be performed by the
/// register bus alone.
const ALONE: u64 = 16;

/// Result of an access through GP0.
pub struct Done {
    /// Loaded value.
    pub value: u32,
    /// Stall cycles of the core.
    pub stall: Cycles,
    /// Nothing else resulted from it or happened meanwhile.
    pub alone: bool,
}

impl Pl {
    /// Performs a GP0 access begun at `now` by code with this `caller`.
    pub fn access(&mut self, access: Access, caller: Caller, now: Cycles, memory: &Memory) -> Done {
        if let Some(value) = access.store {
            let cycle = time::to_pl(now).max(self.cycle);
            self.sources.stored(access.address, value, caller, cycle, memory);
        }
        self.advance(now, memory, false);
        let begin = time::to_pl(now).max(self.cycle).max(self.skipping.read_until());
        let alone = access.store.is_none() && self.is_still(begin + ALONE);
        if let Some((word, cycles)) = self.read_alone(access, alone) {
            let end = begin + cycles;
            self.skipping.read(end);
            return self.done(access.loaded(word), end, now, alone);
        }
        self.come_to(now, memory);
        self.buses.registers().start(access);
        for _ in 0..GP_LIMIT {
            self.clock_now(memory);
            if let Some(answer) = self.buses.registers().finish() {
                if answer.failed() {
                    log::warn!("pl: access to {:#010x} answered with an error", access.address);
                }
                return self.done(answer.data, self.cycle, now, alone);
            }
        }
        log::error!("pl: no answer to the access to {:#010x}", access.address);
        self.buses.registers().abandon();
        self.done(0, 0, now, false)
    }

    /// The result of an access that began at `now` and ends with cycle `end`.
    fn done(&self, value: u32, end: u64, now: Cycles, alone: bool) -> Done {
        Done {
            value,
            stall: self.buses.stall(now, time::from_pl(end)),
            alone,
        }
    }

    /// Whether the logic is quiescent until `target` and no event is undelivered; then a load
    /// changes nothing either. The result does not depend on whether cycles are skipped.
    fn is_still(&self, target: u64) -> bool {
        let delivered = self.events.first().is_none();
        delivered && self.logic.info().links.is_empty() && self.is_quiescent_until(target)
    }

    /// Performs a load that is known to have no side effects by clocking the register bus alone;
    /// the rest of the logic stays halted.
    fn read_alone(&mut self, access: Access, alone: bool) -> Option<(u32, u64)> {
        if !alone || !self.skipping.is_enabled() {
            return None;
        }
        self.logic.read(access.address, access.size)
    }

    /// Whether the gateware has a slave at GP1.
    pub fn has_window(&self) -> bool {
        self.logic.info().window
    }

    /// Begins an access through GP1 at `now`. Returns false if another one is in progress.
    pub fn begin_window(&mut self, access: Access, now: Cycles, memory: &Memory) -> bool {
        let free = self.buses.window().idle();
        if free {
            self.come_to(now, memory);
            self.buses.begin_window(access, now);
        }
        free
    }

    /// Takes the result of that access, which frees the port.
    pub fn take_window(&mut self) -> Option<Ended> {
        let (answer, at) = self.buses.take_window()?;
        Some(Ended {
            value: answer.data,
            fault: match answer.response {
                2 => Some(Fault::Slave),
                3 => Some(Fault::Decode),
                _ => None,
            },
            at,
        })
    }

    /// When the logic has begun an access to a peripheral that the bus has yet to perform.
    pub fn asked(&self) -> Option<Cycles> {
        self.buses.ask().then(|| time::from_pl(self.cycle))
    }

    /// Takes that access.
    pub fn take_asked(&mut self) -> Option<Asked> {
        self.buses.slave().take()
    }

    /// Gives the logic its result.
    pub fn answer_asked(&mut self, result: Result<u32, Fault>) {
        self.buses.slave().answer(result);
    }

    /// Earliest time of the response to the access through GP1, if one is in progress.
    pub fn window_due(&self) -> Option<Cycles> {
        (!self.buses.window().idle()).then(|| time::from_pl(self.cycle + 1))
    }
}
