//! Callbacks from Unicorn: start of a block, register access, exception, unsupported instruction.

use std::cell::RefCell;
use std::ffi::c_void;
use std::rc::Rc;

use kairos_contracts::memory::KERNEL_LIBRARY;
use unicorn_engine::{uc_emu_stop, uc_engine, uc_error, uc_hook, uc_hook_add, uc_reg_read};
use unicorn_engine::{HookType, MemType, RegisterARM, Unicorn};

use super::exception::{self, get, set, Exception};
use super::slice::Slice;
use super::special::{self, Special};
use super::{transfer, Core, SENTINEL};
use crate::machine::bus::Bus;
use crate::machine::signals::Caller;

/// Called from translated code at the start of every block.
unsafe extern "C" fn on_block(uc: *mut uc_engine, address: u64, size: u32, data: *mut c_void) {
    // SAFETY: the pointer given to `uc_hook_add`; it is valid as long as the core exists.
    let slice = unsafe { &*data.cast::<Slice>() };
    if slice.used() >= slice.limit.get() {
        slice.stopped.set(true);
        // SAFETY: the calling engine.
        let _ = unsafe { uc_emu_stop(uc) };
        return;
    }
    let instructions = u64::from(size / 4).max(1);
    slice.count.set(slice.count.get() + instructions);
    slice.block.set((address as u32, instructions));
    let in_kernel = KERNEL_LIBRARY.contains(&(address as usize));
    if slice.in_kernel.replace(in_kernel) != in_kernel {
        crossed(uc, slice, address as u32, in_kernel);
    }
}

/// What begins at `address` is of the kernel and not of the firmware as before, or the other way round.
fn crossed(uc: *mut uc_engine, slice: &Slice, address: u32, in_kernel: bool) {
    if !in_kernel {
        slice.left.set(caller(uc));
    }
    if let Some(steps) = slice.steps.borrow_mut().as_mut() {
        match in_kernel {
            true => steps.enter(uc),
            false => steps.record(uc, address, slice.now()),
        }
    }
}

/// Registers that identify the caller of the code that is about to run.
fn caller(uc: *mut uc_engine) -> Caller {
    let register = |register: RegisterARM| {
        let mut value = 0u32;
        // SAFETY: the calling engine; a 32-bit register is read into 32 bits.
        let _ = unsafe { uc_reg_read(uc, register as i32, (&raw mut value).cast()) };
        value
    };
    Caller {
        link: register(RegisterARM::LR),
        stack: register(RegisterARM::SP),
        frame: register(RegisterARM::R11),
    }
}

impl Core {
    pub(super) fn install_hooks(&mut self) -> Result<(), uc_error> {
        let mut id: uc_hook = 0;
        // SAFETY: the callback has the type of a block hook; the slice outlives the engine (both
        // belong to the core).
        let status = unsafe {
            uc_hook_add(
                self.uc.get_handle(),
                &raw mut id,
                HookType::BLOCK.0 as i32,
                on_block as *mut c_void,
                Rc::as_ptr(&self.slice).cast_mut().cast(),
                1,
                0,
            )
        };
        Result::from(status)?;

        let (slice, bus) = (self.slice.clone(), self.bus.clone());
        self.uc.add_edge_gen_hook(1, 0, move |uc, block, _| {
            let mut code = vec![0; block.size.into()];
            let bus = bus.borrow();
            bus.memory.read(block.pc as u32, &mut code);
            slice.translated.borrow_mut().note(block.pc as u32, &code, &bus.memory);
            let thumb = get(uc, RegisterARM::CPSR) >> 5 & 1 != 0;
            if !thumb && !KERNEL_LIBRARY.contains(&(block.pc as usize)) {
                slice.blocks.borrow_mut().insert(block.pc as u32, block.size.into());
            }
            let found = special::scan(&code, thumb);
            for (offset, special) in found {
                let at = block.pc as u32 + offset;
                if !slice.known.borrow().contains(&at) {
                    slice.found.borrow_mut().push((at, special));
                    slice.kick(); // the block hook ends the turn before the block runs
                }
            }
        })?;

        let (slice, bus) = (self.slice.clone(), self.bus.clone());
        self.uc
            .add_intr_hook(move |uc, number| on_exception(uc, number, &slice, &bus))?;

        let slice = self.slice.clone();
        self.uc.add_insn_invalid_hook(move |uc| {
            if get(uc, RegisterARM::ESR) == SENTINEL {
                slice.hint.set(true);
                return false;
            }
            let pc = get(uc, RegisterARM::PC);
            let thumb = get(uc, RegisterARM::CPSR) >> 5 & 1;
            exception::enter(uc, Exception::Undefined, pc.wrapping_add(4 - 2 * thumb));
            set(uc, RegisterARM::ESR, SENTINEL);
            if slice.abort() {
                slice.kick();
            }
            true
        })?;

        self.watch_unmapped()
    }

    /// Hooks accesses to unmapped addresses, and no others: a page with such a hook is never
    /// written directly.
    pub(super) fn watch_unmapped(&mut self) -> Result<(), uc_error> {
        for hook in std::mem::take(&mut self.unmapped) {
            self.uc.remove_hook(hook)?;
        }
        let gaps = self.bus.borrow().memory.gaps();
        for (first, last) in gaps {
            let slice = self.slice.clone();
            let unmapped = HookType::MEM_READ_UNMAPPED | HookType::MEM_WRITE_UNMAPPED | HookType::MEM_FETCH_UNMAPPED;
            let hook = self
                .uc
                .add_mem_hook(unmapped, first, last, move |_, kind, address, _, _| {
                    slice
                        .unmapped
                        .set(Some((address as u32, kind == MemType::WRITE_UNMAPPED)));
                    false
                })?;
            self.unmapped.push(hook);
        }
        Ok(())
    }

    /// Places hooks on special instructions found in blocks translated since the last call.
    pub(super) fn place_hooks(&mut self) {
        let found = std::mem::take(&mut *self.slice.found.borrow_mut());
        for (address, kind) in found {
            let new = self.slice.known.borrow_mut().insert(address);
            // Unicorn's own MPIDR is right for core 0.
            if new && !(matches!(kind, Special::ReadMpidr(_)) && self.index == 0) {
                let (slice, bus, core) = (self.slice.clone(), self.bus.clone(), self.index);
                let result = self.uc.add_code_hook(address.into(), address.into(), move |uc, at, _| {
                    execute(uc, at as u32, core, &slice, &bus);
                });
                if let Err(e) = result {
                    log::error!("core {}: no hook on {address:#010x}: {e}", self.index);
                }
            }
            let _ = self.uc.ctl_remove_cache(address.into(), u64::from(address) + 4);
        }
    }
}

/// Maps a register range of the bus into a core.
pub(super) fn map(
    uc: &mut Unicorn<'static, ()>,
    core: usize,
    base: u32,
    size: u32,
    slice: &Rc<Slice>,
    bus: &Rc<RefCell<Bus>>,
) -> Result<(), uc_error> {
    let (read_slice, read_bus) = (slice.clone(), bus.clone());
    let (write_slice, write_bus) = (slice.clone(), bus.clone());
    uc.mmio_map(
        base.into(),
        size.into(),
        Some(move |_: &mut Unicorn<()>, offset: u64, size: usize| {
            let slice = &read_slice;
            let (value, effect) = read_bus
                .borrow_mut()
                .read(core, base + offset as u32, size as u32, slice.now());
            slice.stall.set(slice.stall.get() + effect.stall);
            if effect.ends_turn {
                slice.kick();
            }
            value.into()
        }),
        Some(move |_: &mut Unicorn<()>, offset: u64, size: usize, value: u64| {
            let slice = &write_slice;
            let mut bus = write_bus.borrow_mut();
            bus.signals.caller = slice.left.get();
            let effect = bus.write(core, base + offset as u32, size as u32, value as u32, slice.now());
            slice.stall.set(slice.stall.get() + effect.stall);
            if effect.ends_turn {
                slice.kick();
            }
        }),
    )
}

/// Handles an exception that Unicorn reports by number.
fn on_exception(uc: &mut Unicorn<'_, ()>, number: u32, slice: &Slice, bus: &RefCell<Bus>) {
    let pc = get(uc, RegisterARM::PC);
    let fault = match number {
        2 => {
            exception::enter(uc, Exception::SupervisorCall, pc);
            return;
        }
        3 | 7 => {
            let status = if number == 7 {
                exception::DEBUG_EVENT
            } else {
                exception::walk(uc, &bus.borrow().memory, pc, false, true).unwrap_or(exception::EXTERNAL_ABORT)
            };
            exception::set_fetch_fault(uc, status, pc);
            exception::enter(uc, Exception::PrefetchAbort, pc.wrapping_add(4));
            pc
        }
        4 => {
            let write = get(uc, RegisterARM::ESR) >> 6 & 1 != 0;
            let bus = bus.borrow();
            let (first, last) = transfer::touched(uc, bus.memory.word(pc), pc).unwrap_or((0, 0));
            let status = |at| exception::walk(uc, &bus.memory, at, write, false).map(|s| (s, at));
            // An access that crosses into a second page and faults there reports that page's start.
            let second = last & !0xfff;
            let (status, address) = status(first).or_else(|| status(second)).unwrap_or((0x01, first));
            exception::set_data_fault(uc, status, write, address);
            exception::enter(uc, Exception::DataAbort, pc.wrapping_add(8));
            address
        }
        _ => {
            log::error!("exception {number} at {pc:#010x} is not handled");
            slice.streak.set(u32::MAX - 1);
            slice.kick();
            return;
        }
    };
    set(uc, RegisterARM::ESR, SENTINEL);
    log::debug!("exception {number} at pc {pc:#010x}, address {fault:#010x}");
    if slice.abort() {
        slice.kick();
    }
}

/// Executes a special instruction in place of Unicorn.
fn execute(uc: &mut Unicorn<'_, ()>, address: u32, core: usize, slice: &Slice, bus: &RefCell<Bus>) {
    let mut code = [0; 4];
    bus.borrow().memory.read(address, &mut code);
    let thumb = get(uc, RegisterARM::CPSR) >> 5 & 1 != 0;
    // Other code may have been loaded to this address since the hook was placed.
    let (special, length) = if thumb {
        special::thumb(
            u16::from_le_bytes([code[0], code[1]]),
            u16::from_le_bytes([code[2], code[3]]),
        )
    } else {
        (special::arm(u32::from_le_bytes(code)), 4)
    };
    let other = 1 - core;
    let result = match special {
        None => return,
        Some(Special::SendEvent) => {
            let mut bus = bus.borrow_mut();
            bus.signals.caller = match slice.in_kernel.get() {
                true => Caller {
                    link: address.wrapping_add(4),
                    ..caller(uc.get_handle())
                },
                false => slice.left.get(),
            };
            bus.send_event(core, slice.at(address));
            slice.kick();
            return;
        }
        Some(Special::Note(number)) => {
            let registers = [RegisterARM::R0, RegisterARM::R1, RegisterARM::R2, RegisterARM::R3];
            let mut bus = bus.borrow_mut();
            bus.signals.caller = slice.left.get();
            bus.noted(number, registers.map(|register| get(uc, register)));
            return;
        }
        Some(Special::CodeChanged) => {
            bus.borrow_mut().signals.flush_code[other] = true;
            return;
        }
        Some(Special::TlbChanged) => {
            bus.borrow_mut().signals.flush_tlb[other] = true;
            return;
        }
        Some(Special::WriteCycles(_)) => return,
        Some(Special::ReadMpidr(rt)) => (rt, 0x8000_0000 | core as u32),
        Some(Special::ReadCycles(rt)) => (rt, slice.at(address) as u32),
    };
    let (rt, value) = result;
    if rt < 13 {
        let _ = uc.reg_write(RegisterARM::R0 as i32 + i32::from(rt), value.into());
    } else if rt == 14 {
        set(uc, RegisterARM::LR, value);
    }
    slice.leave_after(address);
    set(uc, RegisterARM::PC, address.wrapping_add(length) | u32::from(thumb));
}
