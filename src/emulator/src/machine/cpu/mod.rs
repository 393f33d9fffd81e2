//! A Cortex-A9 core: Unicorn executes the instructions, the host handles everything else.
//!
//! Unicorn executes blocks of code; a hook at the start of each counts its instructions and ends
//! the turn when its time is up. Exceptions, hints (`wfi`, `wfe`, `sev`) and a few system registers
//! are handled here. Instructions that Unicorn executes incorrectly without an error ([`special`])
//! are found when a block is translated: the turn ends before the block runs for the first time, a
//! hook is placed on the instruction, and the turn continues. So it does not matter how, when and
//! by whom code was loaded. Code is read at its virtual address: the mapping of code must be flat,
//! as it is in the firmware.

pub mod access;
pub mod exception;
mod hooks;
mod slice;
pub mod special;
mod steps;
mod transfer;
mod translated;

use std::cell::RefCell;
use std::rc::Rc;

use unicorn_engine::{uc_error, Arch, ArmCpuModel, Context, Mode, Prot, RegisterARM, RegisterARMCP, UcHookId, Unicorn};

use self::access::Access;
use self::exception::{get, set, set_cp15, Exception};
use self::slice::Slice;
use self::steps::Steps;
use self::translated::PAGE;
use crate::machine::bus::Bus;
use crate::machine::time::Cycles;

/// Written to the exception syndrome register; kept by a hint, overwritten by an undefined
/// instruction.
const SENTINEL: u32 = 0x5e11_71e1;

/// Why a turn ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Exit {
    /// Its time was up, or an event may have become due.
    Slice,
    /// `wfi`
    WaitInterrupt,
    /// `wfe`
    WaitEvent,
    /// An access takes time.
    Access(Access),
    /// The core cannot continue; the reason.
    Crashed(String),
}

/// A core.
pub struct Core {
    index: usize,
    uc: Unicorn<'static, ()>,
    slice: Rc<Slice>,
    bus: Rc<RefCell<Bus>>,
    power_up: Context,
    /// Status of a pending asynchronous abort.
    pending: Option<u32>,
    /// Hooks on unmapped address ranges.
    unmapped: Vec<UcHookId>,
}

fn failed(what: &str) -> impl Fn(uc_error) -> String + '_ {
    move |e| format!("the processor emulation cannot {what}: {e}")
}

impl Core {
    /// Creates core `index` (0 or 1) on `bus`, in the state after reset.
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
        let spaces = bus.borrow().spaces();
        for &(base, size) in spaces {
            hooks::map(&mut uc, index, base, size, &slice, bus).map_err(failed("map registers"))?;
        }
        // Secure state, so that the guest can write the registers it expects.
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
            pending: None,
            unmapped: Vec::new(),
        };
        core.install_hooks().map_err(failed("hook"))?;
        Ok(core)
    }

    /// Maps or unmaps DDR.
    pub fn map_ddr(&mut self, running: bool) -> Result<(), String> {
        let (base, size, pointer) = self.bus.borrow().memory.ddr();
        if running {
            // SAFETY: the bus owns the memory and outlives the core, which holds it.
            unsafe { self.uc.mem_map_ptr(base, size, Prot::ALL, pointer.cast()) }.map_err(failed("map memory"))?;
        } else {
            self.uc.mem_unmap(base, size).map_err(failed("unmap memory"))?;
        }
        self.watch_unmapped().map_err(failed("hook"))
    }

    /// Resets the core: registers as after power-up, program counter at `entry`, all translations
    /// dropped.
    pub fn reset(&mut self, entry: u32) {
        if let Err(e) = self.uc.context_restore(&self.power_up) {
            log::error!("core {}: reset failed: {e}", self.index);
        }
        self.flush_tlb();
        self.flush_code();
        set(&mut self.uc, RegisterARM::PC, entry);
        self.slice.streak.set(0);
        self.pending = None;
        // Unicorn does not report the very first block.
        self.scan_page(entry);
    }

    /// Scans the page of `entry` for special instructions.
    fn scan_page(&mut self, entry: u32) {
        let mut code = vec![0; 4096 - (entry as usize & 0xfff)];
        {
            let bus = self.bus.borrow();
            bus.memory.read(entry & !3, &mut code);
            self.slice.translated.borrow_mut().note(entry & !3, &code, &bus.memory);
        }
        let found = special::scan(&code, false);
        self.slice
            .found
            .borrow_mut()
            .extend(found.into_iter().map(|(offset, s)| ((entry & !3) + offset, s)));
        self.place_hooks();
    }

    /// Drops translated code that no longer matches memory, since another agent loaded code.
    pub fn flush_code(&mut self) {
        let shared = self.bus.clone();
        let bus = shared.borrow();
        let changed = self.slice.translated.borrow_mut().take_changed(&bus.memory);
        // Unicorn looks up translations by the current mapping
        if changed
            .iter()
            .all(|page| exception::walk(&self.uc, &bus.memory, *page, false, true).is_none())
        {
            for page in changed {
                let end = u64::from(page) + u64::from(PAGE);
                let _ = self.uc.ctl_remove_cache(page.into(), end);
            }
        } else {
            let _ = self.uc.ctl_flush_tb();
        }
    }

    /// Drops address translations.
    pub fn flush_tlb(&mut self) {
        let _ = self.uc.ctl_flush_tlb();
    }

    /// Records from now on what the kernel has at its calls of the firmware, in up to so many bytes.
    pub fn record_steps(&self, most: usize) {
        *self.slice.steps.borrow_mut() = Some(Steps::within(most));
    }

    /// What was recorded, see [`steps`]; empty if that was not asked for.
    pub fn steps(&self) -> Vec<u8> {
        let steps = self.slice.steps.borrow();
        steps.as_ref().map_or(vec![], |steps| steps.bytes().to_vec())
    }

    /// Blocks of the firmware that were translated: address and number of bytes.
    pub fn blocks(&self) -> Vec<(u32, u32)> {
        let blocks = self.slice.blocks.borrow();
        blocks.iter().map(|(address, size)| (*address, *size)).collect()
    }

    /// Translates blocks of the firmware before they run, so that copies of this process need not. Nothing else
    /// changes. Blocks that are not mapped as they were, and those that are translated already, are left out.
    pub fn translate(&mut self, blocks: &[(u32, u32)]) {
        let shared = self.bus.clone();
        let bus = shared.borrow();
        let known = self.slice.blocks.borrow().clone();
        // A block that cannot be fetched would be a fault outside of a turn.
        let is_mapped = |address: u32| exception::walk(&self.uc, &bus.memory, address, false, true).is_none();
        let mut new = vec![];
        for &(address, size) in blocks {
            let mut code = vec![0; size as usize];
            let ends = [address, address.wrapping_add(size.saturating_sub(1))];
            if known.contains_key(&address) || !ends.into_iter().all(is_mapped) || !bus.memory.read(address, &mut code)
            {
                continue;
            }
            self.slice.translated.borrow_mut().note(address, &code, &bus.memory);
            let found = special::scan(&code, false);
            let known = self.slice.known.borrow();
            let found = found.into_iter().map(|(offset, special)| (address + offset, special));
            self.slice
                .found
                .borrow_mut()
                .extend(found.filter(|(at, _)| !known.contains(at)));
            new.push((address, size));
        }
        drop(bus);
        self.place_hooks();
        for (address, _) in &new {
            if let Err(error) = self.uc.ctl_request_cache((*address).into(), None) {
                log::debug!("core {}: block {address:#010x} is not translated: {error}", self.index);
            }
        }
        self.slice.blocks.borrow_mut().extend(new);
    }

    /// Instructions executed since power-up.
    pub fn instructions(&self) -> u64 {
        self.slice.total.get()
    }

    /// Program counter.
    pub fn pc(&self) -> u32 {
        get(&self.uc, RegisterARM::PC)
    }

    /// Returns a general register, r0 + `n`.
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

    /// Takes an interrupt. Must be called between turns, while interrupts are not masked.
    pub fn interrupt(&mut self) {
        let pc = self.pc();
        exception::enter(&mut self.uc, Exception::Irq, pc.wrapping_add(4));
    }

    /// Runs from `start` for about `limit` cycles, up to the first block that begins later. Returns
    /// why the turn ended and the cycles used.
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
                if e != uc_error::FETCH_UNMAPPED && self.bus.borrow_mut().waits(address) {
                    return self.begin_access(address);
                }
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
