//! Accesses of the cores through the general-purpose ports.
//!
//! GP0 has registers: each access is performed at once, and its core stalls. An access through GP1 goes to another board's
//! memory and takes as long as that: it is begun, time goes on for all boards, and its core waits for the answer.

use super::gp::Access;
use super::Pl;
use crate::machine::memory::Memory;
use crate::machine::peripheral::{Ended, Fault};
use crate::machine::signals::Caller;
use crate::machine::time::{self, Cycles};

/// A GP0 access that takes longer has hung.
const GP_LIMIT: u64 = 10_000;

impl Pl {
    /// Performs a GP0 access begun at `now` by code that has `caller`. Returns the data and the cycles the core stalls.
    pub fn access(&mut self, access: Access, caller: Caller, now: Cycles, memory: &Memory) -> (u32, Cycles) {
        if let (Some(value), Some(player)) = (access.store, &mut self.player) {
            if player.stored(access.address, value) {
                self.sources.played(caller, player, memory);
            }
        }
        self.come_to(now, memory);
        self.gp.start(access);
        for _ in 0..GP_LIMIT {
            self.clock_now(memory);
            if let Some(answer) = self.gp.finish() {
                if answer.failed() {
                    log::warn!("pl: access to {:#010x} answered with an error", access.address);
                }
                let stall = self.gp_cycles.max(time::from_pl(self.cycle).saturating_sub(now));
                return (answer.data, stall);
            }
        }
        log::error!("pl: no answer to the access to {:#010x}", access.address);
        self.gp.abandon();
        (0, self.gp_cycles)
    }

    /// Whether something answers at GP1.
    pub fn has_window(&self) -> bool {
        self.library.info.window
    }

    /// Begins an access through GP1 at `now`, unless another one is under way.
    pub fn begin_window(&mut self, access: Access, now: Cycles, memory: &Memory) -> bool {
        let free = self.window.idle();
        if free {
            self.come_to(now, memory);
            self.window.start(access);
        }
        free
    }

    /// Takes the end of that access, with which the port is free.
    pub fn take_window(&mut self) -> Option<Ended> {
        let answer = self.window.finish()?;
        Some(Ended {
            value: answer.data,
            fault: match answer.response {
                2 => Some(Fault::Slave),
                3 => Some(Fault::Decode),
                _ => None,
            },
            at: time::from_pl(answer.cycle + 1),
        })
    }

    /// When the answer of an access through GP1 can come at the earliest, if one is under way.
    pub fn window_due(&self) -> Option<Cycles> {
        (!self.window.idle()).then(|| time::from_pl(self.cycle + 1))
    }
}
