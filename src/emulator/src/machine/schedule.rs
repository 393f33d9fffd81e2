//! The machine: whose turn it is, and what time it is.
//!
//! Each core has its own local time; the one that is behind runs, for at most a quantum beyond the other, and never past the
//! next thing that is due (timer, network frame, answer of the PL). Peripherals and the PL are kept at the time of the core
//! that is behind. When no core runs, time moves to the next thing that is due; what counts is stated in
//! docs/interfaces.md section 7, "Virtual time". All of this depends on nothing but the guest and its input.

use std::cell::RefCell;
use std::rc::Rc;

use crate::host::image::Image;
use crate::host::net::Net;
use crate::machine::boot_rom;
use crate::machine::bus::Bus;
use crate::machine::cpu::{Core, Exit};
use crate::machine::memory::Memory;
use crate::machine::params::Params;
use crate::machine::time::{self, Cycles};
use crate::peripherals::ddrc::Ddrc;
use crate::peripherals::devcfg::Devcfg;
use crate::peripherals::sd::Card;
use crate::peripherals::slcr::{BootMode, Slcr};
use crate::pl::{Gateware, Pl};

/// What a core is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreState {
    /// Executing.
    Running,
    /// In `wfi`.
    WaitInterrupt,
    /// In `wfe`.
    WaitEvent,
    /// Held in reset.
    Reset,
    /// In the boot ROM, waiting for `sev` and an address at 0xFFFFFFF0.
    BootRom,
    /// Stuck for ever.
    Crashed,
}

/// What [`Machine::step`] did.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// A core ran, or time moved.
    Worked,
    /// Only the host can make progress; or core 0's next timer, or outputs queued in the PL, at the given time.
    HostOnly(Option<Cycles>),
}

/// A core alone may run this many quanta in one turn.
const ALONE: u64 = 20;
/// Turn of a core that has a masked interrupt pending, in cycles: one block. Firmware that sleeps with interrupts masked lets
/// them in for a few instructions between two sleeps only, and a longer turn would never end there.
const MASKED_TURN: Cycles = 1;
/// While the network comes up, core 0's timers move time at once; but not beyond this.
const BOOT_LIMIT: Cycles = 10 * time::CPU_HZ;
/// Virtual time between address requests while the network comes up.
const PROBE_INTERVAL: Cycles = time::CPU_HZ / 100;
/// PL cycles run at once while nothing else happens.
const PL_CHUNK: u64 = 1000;

/// What runs first.
pub enum Start {
    /// This firmware, placed in memory by the emulator as a loader would.
    Firmware(Image),
    /// The boot ROM, which loads a loader from the SD card or from the QSPI flash.
    BootRom(BootMode),
}

/// Two cores, peripherals, network and gateware.
pub struct Machine {
    /// Everything the cores see.
    pub bus: Rc<RefCell<Bus>>,
    /// The cores.
    pub cores: [Core; 2],
    state: [CoreState; 2],
    local: [Cycles; 2],
    now: Cycles,
    /// The gateway.
    pub net: Net,
    params: Params,
    start: Start,
    probed: Option<Cycles>,
    /// The guest has once stood idle with its network up.
    pub ready: bool,
    /// A host is connected that may still send something.
    pub host_listens: bool,
    /// Everything the UARTs sent.
    pub uart: Vec<u8>,
    /// How many bytes each UART has sent of that.
    pub uart_bytes: [usize; 2],
    /// Why cores crashed; taken by whoever reports it.
    pub crashes: Vec<String>,
}

impl Machine {
    /// A machine of `mib` MiB with the firmware loaded and core 0 at its entry.
    pub fn new(image: Image, mib: usize, params: Params, pl: Option<Pl>) -> Result<Self, String> {
        let bus = Bus::new(Memory::new(mib), pl);
        let mut machine = Self::with_bus(bus, Start::Firmware(image), params)?;
        machine.begin()?;
        Ok(machine)
    }

    /// With a boot ROM, `mib` MiB of DDR, a PL without configuration, and what it may be configured with. `flash`: contents of
    /// the QSPI flash, which is then booted from; else the `card` is.
    pub fn with_boot_rom(
        mib: usize,
        params: Params,
        gateware: Gateware,
        card: Option<Card>,
        flash: Option<Vec<u8>>,
    ) -> Result<Self, String> {
        let mode = match flash {
            Some(_) => BootMode::Qspi,
            None => BootMode::SdCard,
        };
        let mut bus = Bus::new(Memory::after_reset(mib), None);
        bus.gateware = gateware;
        bus.sd.card = card;
        bus.flash = flash.unwrap_or_default();
        bus.slcr = Slcr::after_power_up(mode);
        bus.ddrc = Ddrc::new(false);
        bus.devcfg = Devcfg::default();
        let mut machine = Self::with_bus(bus, Start::BootRom(mode), params)?;
        machine.begin()?;
        Ok(machine)
    }

    fn with_bus(mut bus: Bus, start: Start, params: Params) -> Result<Self, String> {
        bus.xadc.celsius = params.chip_celsius.min(200) as u32;
        let bus = Rc::new(RefCell::new(bus));
        let cores = [Core::new(0, &bus)?, Core::new(1, &bus)?];
        Ok(Self {
            bus,
            cores,
            state: [CoreState::Running, CoreState::BootRom],
            local: [0; 2],
            now: 0,
            net: Net::new(time::from_ns(params.net_latency_ns)),
            params,
            start,
            probed: None,
            ready: false,
            host_listens: false,
            uart: Vec::new(),
            uart_bytes: [0; 2],
            crashes: Vec::new(),
        })
    }

    /// Places what runs first, and lets core 0 start there.
    fn begin(&mut self) -> Result<(), String> {
        let mut bus = self.bus.borrow_mut();
        let entry = match &self.start {
            Start::Firmware(image) => {
                image.place(&bus.memory)?;
                image.entry
            }
            Start::BootRom(BootMode::Qspi) => {
                let found = boot_rom::search(&bus.flash, &bus.memory);
                let (entry, place) = found.map_err(|e| format!("boot ROM: the QSPI flash {e}"))?;
                bus.devcfg.set_multiboot(place);
                entry
            }
            Start::BootRom(BootMode::SdCard) => {
                let card = bus.sd.card.as_ref().ok_or("boot ROM: there is no SD card")?;
                let image = boot_rom::read_card(card.image()).map_err(|e| format!("boot ROM: the SD card {e}"))?;
                boot_rom::load(&image, &bus.memory).map_err(|e| format!("boot ROM: BOOT.BIN {e}"))?
            }
        };
        drop(bus);
        self.cores[0].reset(entry);
        Ok(())
    }

    /// The time of the core that is behind, or the time reached while all wait.
    pub fn now(&self) -> Cycles {
        self.now
    }

    /// What a core is doing.
    pub fn state(&self, core: usize) -> CoreState {
        self.state[core]
    }

    /// Moves time forward while no core runs (to follow the wall clock).
    pub fn move_to(&mut self, t: Cycles) {
        self.now = self.now.max(t);
    }

    /// One turn of one core, or one move of time.
    pub fn step(&mut self) -> Step {
        self.serve_requests();
        let Some(core) = self.behind() else { return self.idle() };
        self.now = self.now.max(self.local[core]);
        if self.serve() {
            return Step::Worked; // a core woke: it may be the one behind
        }
        let start = self.local[core];
        let end = self.horizon(core, start);
        if self.bus.borrow().gic.irq(core) && !self.cores[core].irq_masked() {
            self.cores[core].interrupt();
        }
        let (exit, used) = self.cores[core].run(start, end.saturating_sub(start).max(1));
        self.local[core] = start + used;
        self.finish(core, exit);
        Step::Worked
    }

    /// The running core with the smallest local time.
    fn behind(&self) -> Option<usize> {
        (0..2)
            .filter(|&c| self.state[c] == CoreState::Running)
            .min_by_key(|&c| self.local[c])
    }

    /// The end of the turn of `core`.
    fn horizon(&self, core: usize, start: Cycles) -> Cycles {
        let bus = self.bus.borrow();
        let other = 1 - core;
        let mut end = if self.state[other] == CoreState::Running {
            self.local[other] + self.params.quantum
        } else {
            start + ALONE * self.params.quantum
        };
        let due = [bus.next_timer(0), bus.next_timer(1), self.net.next()];
        for t in due.into_iter().flatten() {
            end = end.min(t);
        }
        if let Some(pl) = bus.pl.as_ref().filter(|_| bus.sev_core == core) {
            end = end.min(pl.answer().unwrap_or(Cycles::MAX));
        }
        if bus.gic.irq(core) && self.cores[core].irq_masked() {
            end = end.min(start + MASKED_TURN);
        }
        end
    }

    fn finish(&mut self, core: usize, exit: Exit) {
        match exit {
            Exit::Slice => {}
            Exit::WaitInterrupt => self.state[core] = CoreState::WaitInterrupt,
            Exit::WaitEvent => match self.bus.borrow_mut().requests.event[core].take() {
                Some(t) => self.local[core] = self.local[core].max(t),
                None => self.state[core] = CoreState::WaitEvent,
            },
            Exit::Crashed(why) => {
                self.state[core] = CoreState::Crashed;
                self.crashes.push(why);
            }
        }
    }

    /// Brings everything to `now`; returns whether a core woke.
    fn serve(&mut self) -> bool {
        let mut bus = self.bus.borrow_mut();
        bus.update(self.now);
        if !bus.gem.sent.is_empty() {
            for frame in std::mem::take(&mut bus.gem.sent) {
                self.net.push(frame);
            }
            self.net.poll(self.now);
        }
        let mut arrived = false;
        while let Some(frame) = self.net.arrived(self.now) {
            let bus = &mut *bus;
            bus.gem.receive(frame, &bus.memory);
            arrived = true;
        }
        if arrived {
            bus.lines();
        }
        for (uart, bytes) in bus.uart.iter_mut().zip(&mut self.uart_bytes) {
            *bytes += uart.output.len();
            self.uart.append(&mut uart.output);
        }
        let mut woke = bus.requests.system_reset.is_some();
        for core in 0..2 {
            let when = match self.state[core] {
                CoreState::WaitInterrupt if bus.gic.irq(core) => self.now,
                CoreState::WaitEvent if bus.gic.irq(core) && !self.cores[core].irq_masked() => self.now,
                CoreState::WaitEvent => match bus.requests.event[core].take() {
                    Some(t) => t,
                    None => continue,
                },
                CoreState::BootRom => {
                    if bus.requests.event[core].take().is_none() {
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

    /// Resets and cache maintenance asked for by the guest.
    fn serve_requests(&mut self) {
        let mut bus = self.bus.borrow_mut();
        let requests = &mut bus.requests;
        let (code, tlb) = (
            std::mem::take(&mut requests.flush_code),
            std::mem::take(&mut requests.flush_tlb),
        );
        let (held, released) = (
            std::mem::take(&mut requests.core1_held),
            std::mem::take(&mut requests.core1_released),
        );
        let system = std::mem::take(&mut requests.system_reset);
        let ddr = std::mem::take(&mut requests.ddr_running);
        for c in 0..2 {
            if code[c] {
                self.cores[c].flush_code();
            }
            if tlb[c] {
                self.cores[c].flush_tlb();
            }
        }
        if let Some(cause) = system {
            log::info!("system reset: {cause:?}");
            bus.reset_peripherals(cause);
            drop(bus);
            self.set_ddr(false);
            self.state = [CoreState::Running, CoreState::BootRom];
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
            bus.gic.reset_core(1);
            bus.private[1] = Default::default();
        }
        if released && self.state[1] == CoreState::Reset {
            bus.requests.event[1] = None;
            drop(bus);
            self.cores[1].reset(0);
            self.state[1] = CoreState::Running;
            self.local[1] = self.local[1].max(self.local[0]);
        }
    }

    /// DDR appears when its controller runs, and disappears with a reset; nothing changes without a boot ROM.
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

    /// No core runs.
    fn idle(&mut self) -> Step {
        if self.serve() {
            return Step::Worked;
        }
        let bus = self.bus.borrow();
        let (core0, core1) = (bus.next_timer(0), bus.next_timer(1));
        let busy = bus.pl.as_ref().filter(|pl| pl.busy());
        let busy = busy.map(|pl| time::from_pl(pl.cycle() + PL_CHUNK));
        // A core in `wfe` waits for the logic, also when something has been written that was not its answer.
        let waits = self.state[bus.sev_core] == CoreState::WaitEvent;
        let answer = bus
            .pl
            .as_ref()
            .and_then(|pl| if waits { pl.next() } else { pl.answer() });
        let queued = bus.pl.as_ref().and_then(|pl| pl.next());
        let receiving = bus.gem.receiving();
        drop(bus);
        // Outputs that wait for their time wake no core. While a host may be about to answer the device they must not
        // make time pass, or a remote call would last as long as the outputs submitted before it.
        let played = queued.filter(|_| !(self.ready && self.host_listens));
        let device = [core1, busy, answer, played, self.net.next()]
            .into_iter()
            .flatten()
            .min();
        if device.is_none() && !self.ready && receiving {
            if self.net.guest_up {
                self.ready = true;
            } else if self.probed.is_none_or(|t| self.now >= t + PROBE_INTERVAL) {
                self.probed = Some(self.now);
                self.net.probe(self.now);
                return Step::Worked;
            }
        }
        let booting = !self.ready && self.now < BOOT_LIMIT;
        let target = match (device, core0) {
            (Some(d), Some(c)) => d.min(c),
            (Some(d), None) => d,
            (None, Some(c)) if booting => c,
            _ => return Step::HostOnly([core0, queued].into_iter().flatten().min()),
        };
        let mut bus = self.bus.borrow_mut();
        let bus = &mut *bus;
        let mut reached = target.max(self.now);
        if let Some(pl) = &mut bus.pl {
            pl.advance(reached, &bus.memory, true);
            if let Some(cycle) = pl.event {
                reached = reached.min(time::from_pl(cycle + 1)).max(self.now);
            }
        }
        self.now = reached;
        Step::Worked
    }

    /// Runs until `condition` holds or time reaches `until`, without any host. For tests. Returns whether it holds.
    pub fn run_until(&mut self, until: Cycles, mut condition: impl FnMut(&mut Self) -> bool) -> bool {
        while self.now < until && self.crashes.is_empty() {
            if condition(self) {
                return true;
            }
            match self.step() {
                Step::Worked => {}
                Step::HostOnly(Some(t)) => self.move_to(t.min(until)),
                Step::HostOnly(None) => break,
            }
        }
        condition(self)
    }

    /// A number that depends on the time, every instruction count, register, event at the pins and character sent.
    pub fn digest(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut h = DefaultHasher::new();
        (self.now, self.local, &self.uart).hash(&mut h);
        for core in &self.cores {
            (core.instructions(), core.pc(), core.cpsr()).hash(&mut h);
            (0..13).for_each(|n| core.register(n).hash(&mut h));
        }
        let bus = self.bus.borrow();
        (bus.sev_count, &bus.sev_cycles).hash(&mut h);
        bus.pl.as_ref().map(|pl| (pl.trace.digest(), pl.cycle())).hash(&mut h);
        h.finish()
    }
}
