//! Accesses that take time, for instance through a port to another board's memory. When the core
//! stops, the instruction has not been executed; it completes when the last part of its access has
//! been answered.
//!
//! A load error is a synchronous external abort at the instruction. A store error is asynchronous:
//! the instruction completes, the abort is taken when CPSR.A allows it, and DFAR is not valid
//! (Cortex-A9 TRM, 6.5 "External aborts"). The port is treated as Strongly-ordered memory: the core
//! continues only after the response to a store.

use unicorn_engine::RegisterARM;

use super::exception::{self, get, set, Exception};
use super::transfer::Transfer;
use super::{Core, Exit};
use crate::machine::peripheral::Fault;

/// The access of a waiting instruction.
#[derive(Debug, PartialEq, Eq)]
pub struct Access {
    transfer: Transfer,
    /// Loaded values; for stores, a placeholder for each completed part.
    loaded: Vec<u32>,
    fault: Option<Fault>,
    /// The next part is in progress on the bus.
    pub under_way: bool,
}

/// A part of an access, as a bus transaction.
pub struct Step {
    /// Its address.
    pub address: u32,
    /// 1, 2 or 4 bytes.
    pub size: u32,
    /// Value to be stored; `None` for a load.
    pub store: Option<u32>,
}

impl Core {
    /// Begins the access of the instruction at the program counter to `address`, which takes time.
    pub(super) fn begin_access(&mut self, address: u32) -> Exit {
        let pc = self.pc();
        let word = self.bus.borrow().memory.word(pc);
        let thumb = self.cpsr() >> 5 & 1 != 0;
        let Some(transfer) = (!thumb).then(|| Transfer::of(&self.uc, word, pc)).flatten() else {
            return Exit::Crashed(self.describe(&format!(
                "accesses {address:#010x} by an instruction that is not modelled there ({word:#010x})"
            )));
        };
        if transfer
            .parts
            .iter()
            .any(|part| !transfer.address.is_multiple_of(part.size))
        {
            return self.abort(pc, exception::ALIGNMENT, transfer.write, transfer.address);
        }
        self.slice.leave_after(pc);
        Exit::Access(Access {
            transfer,
            loaded: Vec::new(),
            fault: None,
            under_way: false,
        })
    }

    /// Returns the next part of an access.
    pub fn step(&self, access: &Access) -> Step {
        let (transfer, n) = (&access.transfer, access.loaded.len());
        Step {
            address: transfer.at(n),
            size: transfer.parts[n].size,
            store: transfer.write.then(|| transfer.stored(&self.uc, n, self.pc())),
        }
    }

    /// Handles the response to a part. Returns true if it was the last, after which the core
    /// continues.
    pub fn answered(&mut self, access: &mut Access, value: u32, fault: Option<Fault>) -> bool {
        let (transfer, pc) = (&access.transfer, self.pc());
        let slave = |fault| {
            if fault == Fault::Slave {
                exception::SLAVE_ERROR
            } else {
                0
            }
        };
        match fault {
            Some(fault) if !transfer.write => {
                let address = transfer.at(access.loaded.len());
                self.abort(pc, exception::EXTERNAL_ABORT | slave(fault), false, address);
                return true;
            }
            _ => access.fault = access.fault.or(fault),
        }
        access.loaded.push(value);
        if access.loaded.len() < transfer.parts.len() {
            return false;
        }
        set(&mut self.uc, RegisterARM::PC, pc.wrapping_add(4));
        let loaded = if transfer.write { &[] } else { &access.loaded[..] };
        transfer.complete(&mut self.uc, loaded);
        if let Some(fault) = access.fault {
            self.pending = Some(exception::ASYNCHRONOUS_ABORT | slave(fault));
        }
        true
    }

    /// Takes a synchronous data abort.
    fn abort(&mut self, pc: u32, status: u32, write: bool, address: u32) -> Exit {
        log::debug!(
            "core {}: data abort {status:#x} at {address:#010x}, pc {pc:#010x}",
            self.index
        );
        exception::set_data_fault(&mut self.uc, status, write, address);
        exception::enter(&mut self.uc, Exception::DataAbort, pc.wrapping_add(8));
        if self.slice.abort() {
            return Exit::Crashed(self.describe(&format!("takes one abort after the other, last at {address:#010x}")));
        }
        Exit::Slice
    }

    /// Whether an asynchronous abort is pending.
    pub fn abort_waits(&self) -> bool {
        self.pending.is_some()
    }

    /// Takes the pending asynchronous abort, if there is one and it is not masked. Must be called
    /// between turns.
    pub fn take_abort(&mut self) {
        if get(&self.uc, RegisterARM::CPSR) & 0x100 != 0 {
            return;
        }
        if let Some(status) = self.pending.take() {
            exception::set_cp15(&mut self.uc, 5, 0, 0, 0, status);
            let pc = self.pc();
            exception::enter(&mut self.uc, Exception::DataAbort, pc.wrapping_add(8));
        }
    }
}
