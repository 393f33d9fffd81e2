//! A Cortex-A9 core: Unicorn for the instructions, the host for everything around them.
//!
//! Unicorn executes blocks of code; a hook at the start of each counts its instructions and ends the turn when its time is
//! up. Exceptions, hints (`wfi`, `wfe`, `sev`) and a few system registers are handled here. What Unicorn executes silently
//! wrong ([`special`]) is found when a block is translated: the turn ends before the block runs for the first time, a hook
//! is placed on the instruction, and the turn goes on. So it does not matter how, when and by whom code was loaded.
//! Code is read at its virtual address: address spaces must be flat for code, as those of the firmware are.

pub mod exception;
mod slice;
pub mod special;

use std::cell::RefCell;
use std::ffi::c_void;
use std::rc::Rc;

use unicorn_engine::{
    uc_emu_stop, uc_engine, uc_error, uc_hook, uc_hook_add, Arch, ArmCpuModel, Context, HookType, MemType, Mode, Prot,
    RegisterARM, RegisterARMCP, Unicorn,
};

use self::exception::{get, set, set_cp15, Exception};
use self::slice::Slice;
use self::special::Special;
use crate::machine::bus::{Bus, MMIO};
use crate::machine::time::Cycles;

/// Written to the exception syndrome; still there after a hint, overwritten by an undefined instruction.
const SENTINEL: u32 = 0x5e11_71e1;

/// Why a turn ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Exit {
    /// Its time was up, or something may have become due.
    Slice,
    /// `wfi`
    WaitInterrupt,
    /// `wfe`
    WaitEvent,
    /// The core can do nothing any more; the reason.
    Crashed(String),
}

/// A core.
pub struct Core {
    index: usize,
    uc: Unicorn<'static, ()>,
    slice: Rc<Slice>,
    bus: Rc<RefCell<Bus>>,
    power_up: Context,
}

/// Called from translated code at the start of every block.
unsafe extern "C" fn on_block(uc: *mut uc_engine, address: u64, size: u32, data: *mut c_void) {
    // SAFETY: the pointer given to `uc_hook_add`, which lives as long as the core.
    let slice = unsafe { &*data.cast::<Slice>() };
    if slice.used() >= slice.limit.get() {
        slice.stopped.set(true);
        // SAFETY: the engine that called.
        let _ = unsafe { uc_emu_stop(uc) };
        return;
    }
    let instructions = u64::from(size / 4).max(1);
    slice.count.set(slice.count.get() + instructions);
    slice.block.set((address as u32, instructions));
}

fn failed(what: &str) -> impl Fn(uc_error) -> String + '_ {
    move |e| format!("the processor emulation cannot {what}: {e}")
}

impl Core {
    /// Core `index` (0 or 1) on `bus`, in the state after reset.
    pub fn new(index: usize, bus: &Rc<RefCell<Bus>>) -> Result<Self, String> {
        let mut uc = Unicorn::new(Arch::ARM, Mode::LITTLE_ENDIAN).map_err(failed("start"))?;
        uc.ctl_set_cpu_model(ArmCpuModel::CORTEX_A9 as i32)
            .map_err(failed("select the Cortex-A9"))?;
        uc.ctl_exits_enable().map_err(failed("run"))?;
        let slice = Rc::new(Slice::default());
        for (base, size, pointer) in bus.borrow().memory.blocks().into_iter().filter(|block| block.1 > 0) {
            // SAFETY: the bus owns the memory and outlives the core, which holds it.
            unsafe { uc.mem_map_ptr(base, size, Prot::ALL, pointer.cast()) }.map_err(failed("map memory"))?;
        }
        for &(base, size) in MMIO {
            map(&mut uc, index, base, size, &slice, bus).map_err(failed("map registers"))?;
        }
        // Secure state, so that the guest may write the registers it expects.
        let scr = RegisterARMCP {
            cp: 15,
            is64: 0,
            sec: 0,
            crn: 1,
            crm: 1,
            opc1: 0,
            opc2: 0,
            val: 0,
        };
        exception::write_coprocessor(&mut uc, scr);
        set_cp15(&mut uc, 15, 4, 0, 0, 0xf8f0_0000); // CBAR
        set(&mut uc, RegisterARM::CPSR, 0x1d3);
        let power_up = uc.context_init().map_err(failed("save its state"))?;
        let mut core = Self {
            index,
            uc,
            slice,
            bus: bus.clone(),
            power_up,
        };
        core.install_hooks().map_err(failed("hook"))?;
        Ok(core)
    }

    /// DDR appears, or disappears.
    pub fn map_ddr(&mut self, running: bool) -> Result<(), String> {
        let (base, size, pointer) = self.bus.borrow().memory.ddr();
        if running {
            // SAFETY: the bus owns the memory and outlives the core, which holds it.
            unsafe { self.uc.mem_map_ptr(base, size, Prot::ALL, pointer.cast()) }.map_err(failed("map memory"))
        } else {
            self.uc.mem_unmap(base, size).map_err(failed("unmap memory"))
        }
    }

    fn install_hooks(&mut self) -> Result<(), uc_error> {
        let mut id: uc_hook = 0;
        // SAFETY: the callback has the type of a block hook; the slice outlives the engine (both belong to the core).
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
            bus.borrow().memory.read(block.pc as u32, &mut code);
            let found = special::scan(&code, get(uc, RegisterARM::CPSR) >> 5 & 1 != 0);
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

        let slice = self.slice.clone();
        let unmapped = HookType::MEM_READ_UNMAPPED | HookType::MEM_WRITE_UNMAPPED | HookType::MEM_FETCH_UNMAPPED;
        self.uc.add_mem_hook(unmapped, 1, 0, move |_, kind, address, _, _| {
            slice
                .unmapped
                .set(Some((address as u32, kind == MemType::WRITE_UNMAPPED)));
            false
        })?;
        Ok(())
    }

    /// Reset: registers as after power-up, program counter at `entry`, all translations dropped.
    pub fn reset(&mut self, entry: u32) {
        if let Err(e) = self.uc.context_restore(&self.power_up) {
            log::error!("core {}: reset failed: {e}", self.index);
        }
        self.flush_code();
        self.flush_tlb();
        set(&mut self.uc, RegisterARM::PC, entry);
        self.slice.streak.set(0);
        // The very first block is not reported by Unicorn.
        self.look_at(entry);
    }

    /// Looks for special instructions in the page of `entry`.
    fn look_at(&mut self, entry: u32) {
        let mut code = vec![0; 4096 - (entry as usize & 0xfff)];
        self.bus.borrow().memory.read(entry & !3, &mut code);
        let found = special::scan(&code, false);
        self.slice
            .found
            .borrow_mut()
            .extend(found.into_iter().map(|(offset, s)| ((entry & !3) + offset, s)));
        self.place_hooks();
    }

    /// Drops translated code: it was loaded by someone else.
    pub fn flush_code(&mut self) {
        let _ = self.uc.ctl_flush_tb();
    }

    /// Drops address translations.
    pub fn flush_tlb(&mut self) {
        let _ = self.uc.ctl_flush_tlb();
    }

    /// Instructions executed since power-up.
    pub fn instructions(&self) -> u64 {
        self.slice.total.get()
    }

    /// Program counter.
    pub fn pc(&self) -> u32 {
        get(&self.uc, RegisterARM::PC)
    }

    /// Sets a general register (the argument of a test guest).
    pub fn register(&self, n: i32) -> u32 {
        self.uc.reg_read(RegisterARM::R0 as i32 + n).unwrap_or(0) as u32
    }

    /// Current program status register.
    pub fn cpsr(&self) -> u32 {
        get(&self.uc, RegisterARM::CPSR)
    }

    /// Whether interrupts are masked.
    pub fn irq_masked(&self) -> bool {
        self.cpsr() & 0x80 != 0
    }

    /// Takes an interrupt. Only between turns, and not while masked.
    pub fn interrupt(&mut self) {
        let pc = self.pc();
        exception::enter(&mut self.uc, Exception::Irq, pc.wrapping_add(4));
    }

    fn place_hooks(&mut self) {
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

    /// Runs from `start` for about `limit` cycles: to the first block that begins later. Returns why it ended and the cycles
    /// used.
    pub fn run(&mut self, start: Cycles, limit: Cycles) -> (Exit, Cycles) {
        self.slice.begin(start, limit);
        let pc = self.pc();
        let thumb = self.cpsr() >> 5 & 1;
        set(&mut self.uc, RegisterARM::ESR, SENTINEL);
        let result = self.uc.emu_start(u64::from(pc | thumb), 0, 0, 0);
        let exit = self.interpret(result);
        self.slice.total.set(self.slice.total.get() + self.slice.count.get());
        if !self.slice.found.borrow().is_empty() {
            self.place_hooks();
        }
        (exit, self.slice.used())
    }

    fn interpret(&mut self, result: Result<(), uc_error>) -> Exit {
        let slice = self.slice.clone();
        if slice.streak.get() > 1000 {
            return Exit::Crashed(self.describe("takes one abort after the other"));
        }
        match result {
            Ok(()) if slice.stopped.get() => Exit::Slice,
            Ok(()) if self.behind_hint(3) => Exit::WaitInterrupt,
            Ok(()) => Exit::Slice,
            Err(uc_error::INSN_INVALID) if slice.hint.get() => {
                if self.behind_hint(2) {
                    Exit::WaitEvent
                } else {
                    Exit::Slice
                }
            }
            Err(e @ (uc_error::READ_UNMAPPED | uc_error::WRITE_UNMAPPED | uc_error::FETCH_UNMAPPED)) => {
                let pc = self.pc();
                let (address, write) = slice.unmapped.get().unwrap_or((pc, false));
                log::debug!("core {}: external abort at {address:#010x}, pc {pc:#010x}", self.index);
                if e == uc_error::FETCH_UNMAPPED {
                    exception::set_fetch_fault(&mut self.uc, exception::EXTERNAL_ABORT, address);
                    exception::enter(&mut self.uc, Exception::PrefetchAbort, pc.wrapping_add(4));
                } else {
                    exception::set_data_fault(&mut self.uc, exception::EXTERNAL_ABORT, write, address);
                    exception::enter(&mut self.uc, Exception::DataAbort, pc.wrapping_add(8));
                }
                if slice.abort() {
                    return Exit::Crashed(
                        self.describe(&format!("takes one abort after the other, last at {address:#010x}")),
                    );
                }
                Exit::Slice
            }
            Err(e) => Exit::Crashed(self.describe(&format!("stopped: {e}"))),
        }
    }

    /// Whether the instruction just executed is hint `number` (2 `wfe`, 3 `wfi`).
    fn behind_hint(&self, number: u16) -> bool {
        let (pc, thumb) = (self.pc(), self.cpsr() >> 5 & 1 != 0);
        let bus = self.bus.borrow();
        if thumb {
            let mut b = [0; 2];
            bus.memory.read(pc.wrapping_sub(2), &mut b);
            return u16::from_le_bytes(b) == 0xbf00 | number << 4;
        }
        bus.memory.word(pc.wrapping_sub(4)) & 0x0fff_ffff == 0x0320_f000 | u32::from(number)
    }

    fn describe(&self, what: &str) -> String {
        format!(
            "core {} {what}; pc {:#010x}, lr {:#010x}, sp {:#010x}, cpsr {:#010x}, dfar {:#010x}, ifar {:#010x}",
            self.index,
            self.pc(),
            get(&self.uc, RegisterARM::LR),
            get(&self.uc, RegisterARM::SP),
            self.cpsr(),
            exception::cp15(&self.uc, 6, 0, 0, 0),
            exception::cp15(&self.uc, 6, 0, 0, 2),
        )
    }
}

/// Maps one register range of the bus into a core.
fn map(
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
            if effect.kick {
                slice.kick();
            }
            value.into()
        }),
        Some(move |_: &mut Unicorn<()>, offset: u64, size: usize, value: u64| {
            let slice = &write_slice;
            let mut bus = write_bus.borrow_mut();
            let effect = bus.write(core, base + offset as u32, size as u32, value as u32, slice.now());
            slice.stall.set(slice.stall.get() + effect.stall);
            if effect.kick {
                slice.kick();
            }
        }),
    )
}

/// Exceptions that Unicorn reports by number.
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
            let (first, last) = exception::touched(uc, bus.memory.word(pc), pc).unwrap_or((0, 0));
            let status = |at| exception::walk(uc, &bus.memory, at, write, false).map(|s| (s, at));
            // An access that spans two pages faults on the second at that page's start.
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

/// A special instruction is about to be executed.
fn execute(uc: &mut Unicorn<'_, ()>, address: u32, core: usize, slice: &Slice, bus: &RefCell<Bus>) {
    let mut code = [0; 4];
    bus.borrow().memory.read(address, &mut code);
    let thumb = get(uc, RegisterARM::CPSR) >> 5 & 1 != 0;
    // Other code may have been loaded to this address since.
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
            bus.borrow_mut().send_event(core, slice.at(address));
            slice.kick();
            return;
        }
        Some(Special::CodeChanged) => {
            bus.borrow_mut().requests.flush_code[other] = true;
            return;
        }
        Some(Special::TlbChanged) => {
            bus.borrow_mut().requests.flush_tlb[other] = true;
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
