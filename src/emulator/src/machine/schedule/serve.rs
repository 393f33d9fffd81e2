//! Work between turns: updating peripherals, waking cores, and carrying out the guest's requests to
//! the machine.

use super::{CoreState, Machine};
use crate::machine::peripheral::Reset;

impl Machine {
    /// Updates everything to `now`; returns whether a core woke.
    pub(super) fn serve(&mut self) -> bool {
        let mut bus = self.bus.borrow_mut();
        bus.update(self.now);
        let mut woke = bus.signals.system_reset.is_some();
        drop(bus);
        woke |= self.serve_accesses();
        let mut bus = self.bus.borrow_mut();
        for core in 0..2 {
            let when = match self.state[core] {
                CoreState::WaitInterrupt if bus.signals.lines.irq[core] || self.cores[core].abort_waits() => self.now,
                CoreState::WaitEvent if bus.signals.lines.irq[core] && !self.cores[core].irq_masked() => self.now,
                CoreState::WaitEvent => match bus.signals.event[core].take() {
                    Some(t) => t,
                    None => continue,
                },
                CoreState::BootRom => {
                    if bus.signals.event[core].take().is_none() {
                        continue;
                    }
                    let entry = bus.memory.word(0xffff_fff0);
                    if entry == 0 {
                        continue;
                    }
                    drop(bus);
                    self.cores[core].reset(entry);
                    bus = self.bus.borrow_mut();
                    self.now
                }
                _ => continue,
            };
            self.state[core] = CoreState::Running;
            self.local[core] = self.local[core].max(when);
            woke = true;
        }
        woke
    }

    /// Carries out resets and cache maintenance requested by the guest.
    pub(super) fn serve_requests(&mut self) {
        let mut bus = self.bus.borrow_mut();
        let signals = &mut bus.signals;
        let (code, tlb) = (
            std::mem::take(&mut signals.flush_code),
            std::mem::take(&mut signals.flush_tlb),
        );
        let (held, released) = (
            std::mem::take(&mut signals.core1_held),
            std::mem::take(&mut signals.core1_released),
        );
        let system = std::mem::take(&mut signals.system_reset);
        let ddr = std::mem::take(&mut signals.ddr_running);
        drop(bus);
        for c in 0..2 {
            if code[c] {
                self.cores[c].flush_code();
            }
            if tlb[c] {
                self.cores[c].flush_tlb();
            }
        }
        let mut bus = self.bus.borrow_mut();
        if let Some(cause) = system {
            log::info!("system reset: {cause:?}");
            bus.reset(Reset::System(cause));
            drop(bus);
            self.set_ddr(false);
            self.state = [CoreState::Running, CoreState::BootRom];
            self.accesses = [None, None];
            self.local = [self.now.max(self.local[0]); 2];
            if let Err(e) = self.begin() {
                self.state[0] = CoreState::Crashed;
                self.crashes.push(e);
            }
            return;
        }
        if ddr {
            drop(bus);
            self.set_ddr(true);
            bus = self.bus.borrow_mut();
        }
        if held {
            self.state[1] = CoreState::Reset;
            self.accesses[1] = None;
            bus.reset(Reset::Core(1));
        }
        if released && self.state[1] == CoreState::Reset {
            bus.signals.event[1] = None;
            drop(bus);
            self.cores[1].reset(0);
            self.state[1] = CoreState::Running;
            self.local[1] = self.local[1].max(self.local[0]);
        }
    }

    /// Maps DDR when its controller starts, and unmaps it on a reset; has no effect without a boot
    /// ROM.
    fn set_ddr(&mut self, running: bool) {
        let memory = &self.bus.borrow().memory;
        if !memory.has_boot_rom() || memory.is_ddr_running() == running {
            return;
        }
        memory.set_ddr(running);
        for core in &mut self.cores {
            if let Err(e) = core.map_ddr(running) {
                self.crashes.push(e);
            }
        }
    }
}
