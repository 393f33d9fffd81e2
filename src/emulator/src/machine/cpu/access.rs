//! Accesses that take their time: through a port to another board's memory, say. The instruction
//! has not been executed when the core stops; it is when the last of its parts has been answered.
//!
//! An error of a load is a synchronous external abort at the instruction. One of a store is
//! asynchronous: the instruction is complete, the abort is taken when CPSR.A allows it, and DFAR
//! says nothing (Cortex-A9 TRM, 6.5 "External aborts"). The port is taken for Strongly-ordered
//! memory: the core goes on with the answer to a store, not before.

use unicorn_engine::RegisterARM;

use super::exception::{self, get, set, Exception};
use super::transfer::Transfer;
use super::{Core, Exit};
use crate::machine::peripheral::Fault;

/// The access of an instruction that waits.
#[derive(Debug, PartialEq, Eq)]
pub struct Access {
    transfer: Transfer,
    /// What has been loaded, or nothing for each part that has been stored.
    loaded: Vec<u32>,
    fault: Option<Fault>,
    /// The bus performs its next part.
    pub under_way: bool,
}

/// A part of an access for the bus.
pub struct Step {
    /// Its address.
    pub address: u32,
    /// 1, 2 or 4 bytes.
    pub size: u32,
    /// What is stored; `None`: a load.
    pub store: Option<u32>,
}

impl Core {
    /// The instruction at the program counter touches what takes its time at `address`.
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

    /// The next part of an access.
    pub fn step(&self, access: &Access) -> Step {
        let (transfer, n) = (&access.transfer, access.loaded.len());
        Step {
            address: transfer.at(n),
            size: transfer.parts[n].size,
            store: transfer.write.then(|| transfer.stored(&self.uc, n, self.pc())),
        }
    }

    /// The part has been performed. Whether that was the last; then the core goes on.
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

    /// Whether an asynchronous abort waits.
    pub fn abort_waits(&self) -> bool {
        self.pending.is_some()
    }

    /// Takes the asynchronous abort that waits, if there is one and it is not masked. Only between turns.
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
