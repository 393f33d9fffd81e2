//! The machine: whose turn it is, and what time it is.
//!
//! Each core has its own local time; the one that is behind runs, for at most a quantum beyond the
//! other, and never past the next thing that is due (timer, network frame, answer of the PL).
//! Peripherals and the PL are kept at the time of the core that is behind. When no core runs, time
//! moves to the next thing that is due; what counts is stated in docs/interfaces.md section 7,
//! "Virtual time". All of this depends on nothing but the guest and its input.

mod access;
mod idle;
mod serve;
mod together;

use std::cell::RefCell;
use std::rc::Rc;

use super::bus::Bus;
use super::cpu::access::Access;
use super::cpu::{Core, Exit};
use super::params::Params;
use super::peripheral::NEVER;
use super::time::Cycles;

pub use self::together::{NamedMachine, System};

/// What a core is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreState {
    /// Executing.
    Running,
    /// In `wfi`.
    WaitInterrupt,
    /// In `wfe`.
    WaitEvent,
    /// An access takes its time.
    WaitAccess,
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
    /// Only the host can make progress; or core 0's next timer, or outputs queued in the PL, at the
    /// given time.
    HostOnly(Option<Cycles>),
}

/// A core alone may run this many quanta in one turn.
const ALONE: u64 = 20;
/// Turn of a core that has a masked interrupt pending, in cycles: one block. Firmware that sleeps
/// with interrupts masked lets them in for a few instructions between two sleeps only, and a longer
/// turn would never end there.
const MASKED_TURN: Cycles = 1;
/// Turn of a core while an access of the other one is under way: that one is not to know of its end
/// much too late.
const ACCESS_TURN: Cycles = 64;
/// Places what runs first in memory and returns its entry point: at power-up, and after each reset
/// of the system. The error is a line for the user.
pub type Start = Box<dyn Fn(&mut Bus) -> Result<u32, String>>;

/// Two cores and what they see.
pub struct Machine {
    /// Everything the cores see.
    pub bus: Rc<RefCell<Bus>>,
    /// The cores.
    pub cores: [Core; 2],
    state: [CoreState; 2],
    accesses: [Option<Access>; 2],
    local: [Cycles; 2],
    now: Cycles,
    /// Up to where peripherals have acted by themselves when they did last.
    reached: Cycles,
    params: Params,
    start: Start,
    /// The guest has once stood idle with its network up.
    pub ready: bool,
    /// A host is connected that may still send something.
    pub host_listens: bool,
    /// Why cores crashed; taken by whoever reports it.
    pub crashes: Vec<String>,
}

impl Machine {
    /// Without firmware: both cores are held in reset.
    pub fn held(bus: Bus, params: Params) -> Result<Self, String> {
        let mut machine = Self::new(bus, Box::new(|_: &mut Bus| Ok(0)), params)?;
        machine.state = [CoreState::Reset; 2];
        Ok(machine)
    }

    /// Core 0 runs what `start` places.
    pub fn new(bus: Bus, start: Start, params: Params) -> Result<Self, String> {
        let bus = Rc::new(RefCell::new(bus));
        let cores = [Core::new(0, &bus)?, Core::new(1, &bus)?];
        let mut machine = Self {
            bus,
            cores,
            state: [CoreState::Running, CoreState::BootRom],
            accesses: [None, None],
            local: [0; 2],
            now: 0,
            reached: 0,
            params,
            start,
            ready: false,
            host_listens: false,
            crashes: Vec::new(),
        };
        machine.begin()?;
        Ok(machine)
    }

    /// Places what runs first, and lets core 0 start there.
    fn begin(&mut self) -> Result<(), String> {
        let entry = (self.start)(&mut self.bus.borrow_mut())?;
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
        match self.behind() {
            Some(core) => {
                self.turn(core, NEVER);
                Step::Worked
            }
            None => self.idle(),
        }
    }

    /// One turn of a core, up to `limit` at most.
    fn turn(&mut self, core: usize, limit: Cycles) {
        self.now = self.now.max(self.local[core]);
        if self.serve() {
            return; // a core woke: it may be the one behind
        }
        let start = self.local[core];
        let end = self.horizon(core, start).min(limit);
        if self.irq(core) && !self.cores[core].irq_masked() {
            self.cores[core].interrupt();
        }
        self.cores[core].take_abort();
        let (exit, used) = self.cores[core].run(start, end.saturating_sub(start).max(1));
        self.local[core] = start + used;
        self.finish(core, exit);
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
        let due = bus.due();
        end = end.min(due.timer[0]).min(due.timer[1]).min(due.arrival);
        if bus.sev_core == core {
            end = end.min(due.answer);
        }
        if self.state[other] == CoreState::WaitAccess {
            end = end.min(start + ACCESS_TURN);
        }
        if bus.signals.lines.irq[core] && self.cores[core].irq_masked() || self.cores[core].abort_waits() {
            end = end.min(start + MASKED_TURN);
        }
        end
    }

    /// The IRQ input of a core.
    fn irq(&self, core: usize) -> bool {
        self.bus.borrow().signals.lines.irq[core]
    }

    fn finish(&mut self, core: usize, exit: Exit) {
        match exit {
            Exit::Slice => {}
            Exit::Access(access) => {
                self.state[core] = CoreState::WaitAccess;
                self.accesses[core] = Some(access);
                self.begin_access(core);
            }
            Exit::WaitInterrupt => self.state[core] = CoreState::WaitInterrupt,
            Exit::WaitEvent => match self.bus.borrow_mut().signals.event[core].take() {
                Some(t) => self.local[core] = self.local[core].max(t),
                None => self.state[core] = CoreState::WaitEvent,
            },
            Exit::Crashed(why) => {
                self.state[core] = CoreState::Crashed;
                self.crashes.push(why);
            }
        }
    }

    /// Runs until `condition` holds or time reaches `until`, without any host. For tests. Returns
    /// whether it holds.
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

    /// A number that depends on the time, every instruction count, register, `sev` and character sent.
    pub fn digest(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut h = DefaultHasher::new();
        let bus = self.bus.borrow();
        (self.now, self.local, &bus.signals.console.text, bus.sev_count).hash(&mut h);
        for core in &self.cores {
            (core.instructions(), core.pc(), core.cpsr()).hash(&mut h);
            (0..13).for_each(|n| core.register(n).hash(&mut h));
        }
        h.finish()
    }
}
