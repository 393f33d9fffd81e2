//! The machine: scheduling of the cores, and virtual time.
//!
//! Each core has its own local time; the one that is behind runs, for at most a quantum beyond the
//! other, and never past the next event that is due (timer, network frame, answer of the PL).
//! Peripherals and the PL are kept at the time of the core that is behind. When no core runs, time
//! moves to the next event that is due; docs/interfaces.md section 7, "Virtual time", states which
//! events count. All of this is a deterministic function of the guest and its input.

mod access;
mod idle;
mod serve;
mod together;

use std::cell::RefCell;
use std::rc::Rc;

use super::bus::Bus;
use super::cpu::access::Access;
use super::cpu::{Core, Exit};
use super::disturbance::{Disturbance, Of};
use super::params::Params;
use super::peripheral::NEVER;
use super::time::Cycles;

pub use self::together::{NamedMachine, System};

/// State of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreState {
    /// Executing.
    Running,
    /// In `wfi`.
    WaitInterrupt,
    /// In `wfe`.
    WaitEvent,
    /// Waiting for an access that takes time.
    WaitAccess,
    /// Held in reset.
    Reset,
    /// In the boot ROM, waiting for `sev` and an address at 0xFFFFFFF0.
    BootRom,
    /// Stopped by an error.
    Crashed,
}

/// Result of [`Machine::step`].
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// A core ran, or time advanced.
    Worked,
    /// Only the host can make progress, or core 0's next timer or outputs queued in the PL, at the
    /// given time.
    HostOnly(Option<Cycles>),
}

/// Quanta per turn of a core that runs alone.
const ALONE: u64 = 20;
/// Turn, in cycles, of a core that has a masked interrupt pending: one block. Firmware that sleeps
/// with interrupts masked unmasks them only for a few instructions between two sleeps, and longer
/// turns would never end there.
const MASKED_TURN: Cycles = 1;
/// Turn of a core while an access of the other one is in progress, so that the other is resumed
/// soon after its end.
const ACCESS_TURN: Cycles = 64;
/// Cycles by which a core may be ahead of the one whose events the logic executes, as far as that one may
/// submit more: whoever looks at the logic carries it along, and what is submitted for an earlier time would
/// reach it late. The other way round the lead is a quantum, so that turns are not shorter on the whole.
const LEAD: Cycles = 200;
/// Loads the code to be run first and returns its entry point; called at power-up and after each
/// system reset. The error is a one-line message for the user.
pub type Start = Box<dyn Fn(&mut Bus) -> Result<u32, String>>;

/// Interrupts of a core that the model adds: each holds up what runs on it, and nothing else.
struct Interrupts {
    disturbance: Disturbance,
    /// When the next one comes, and how long it takes.
    next: Cycles,
    takes: Cycles,
}

impl Interrupts {
    fn new(seed: u64, of: Of) -> Self {
        let mut made = Self {
            disturbance: Disturbance::new(seed, of),
            next: NEVER,
            takes: 0,
        };
        made.plan(0);
        made
    }

    fn plan(&mut self, now: Cycles) {
        if let Some((until, takes)) = self.disturbance.interrupt() {
            (self.next, self.takes) = (now + until, takes);
        }
    }

    /// The cycles for which one that is due at `now` holds up the core; 0 if none is. What came while the
    /// core slept has been dealt with.
    fn take(&mut self, now: Cycles) -> Cycles {
        if now < self.next {
            return 0;
        }
        let takes = self.takes.saturating_sub(now - self.next);
        self.plan(now + takes);
        takes
    }
}

/// Two cores and their bus.
pub struct Machine {
    /// The bus of the cores.
    pub bus: Rc<RefCell<Bus>>,
    /// The cores.
    pub cores: [Core; 2],
    state: [CoreState; 2],
    accesses: [Option<Access>; 2],
    local: [Cycles; 2],
    interrupts: [Interrupts; 2],
    now: Cycles,
    /// Time reached by peripherals the last time they acted without a core.
    reached: Cycles,
    params: Params,
    start: Start,
    /// The guest has been idle with its network up.
    pub ready: bool,
    /// A host is connected that may still send data.
    pub host_listens: bool,
    /// Reasons of core crashes, to be taken and reported.
    pub crashes: Vec<String>,
}

impl Machine {
    /// Creates a machine without firmware: both cores are held in reset.
    pub fn held(bus: Bus, params: Params) -> Result<Self, String> {
        let mut machine = Self::new(bus, Box::new(|_: &mut Bus| Ok(0)), params)?;
        machine.state = [CoreState::Reset; 2];
        Ok(machine)
    }

    /// Creates a machine whose core 0 runs the code loaded by `start`.
    pub fn new(mut bus: Bus, start: Start, params: Params) -> Result<Self, String> {
        bus.disturbance = Disturbance::new(params.disturbances, Of::Accesses);
        let bus = Rc::new(RefCell::new(bus));
        let cores = [Core::new(0, &bus)?, Core::new(1, &bus)?];
        let mut machine = Self {
            bus,
            cores,
            state: [CoreState::Running, CoreState::BootRom],
            accesses: [None, None],
            local: [0; 2],
            interrupts: [Of::Core0, Of::Core1].map(|of| Interrupts::new(params.disturbances, of)),
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

    /// Loads the code to be run first and starts core 0 there.
    fn begin(&mut self) -> Result<(), String> {
        let entry = (self.start)(&mut self.bus.borrow_mut())?;
        self.cores[0].reset(entry);
        Ok(())
    }

    /// The local time of the core that is behind, or the time reached while all wait.
    pub fn now(&self) -> Cycles {
        self.now
    }

    /// State of a core.
    pub fn state(&self, core: usize) -> CoreState {
        self.state[core]
    }

    /// Advances time while no core runs (to follow the wall clock).
    pub fn move_to(&mut self, t: Cycles) {
        self.now = self.now.max(t);
    }

    /// Runs one turn of one core, or advances time once.
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

    /// Runs one turn of a core, up to `limit`.
    fn turn(&mut self, core: usize, limit: Cycles) {
        self.now = self.now.max(self.local[core]);
        if self.serve() {
            return; // a core woke, which may be the one behind
        }
        let start = self.local[core];
        let held_up = self.interrupts[core].take(start);
        if held_up > 0 {
            self.local[core] = start + held_up;
            return;
        }
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

    /// Time at which the turn of `core` must end.
    fn horizon(&self, core: usize, start: Cycles) -> Cycles {
        let bus = self.bus.borrow();
        let other = 1 - core;
        let due = bus.due();
        let alone = start + ALONE * self.params.quantum;
        let mut end = match self.state[other] {
            CoreState::Running if bus.sev_core == other => self.local[other] + LEAD,
            CoreState::Running => self.local[other] + self.params.quantum,
            CoreState::WaitEvent if bus.sev_core == other => {
                // When the logic may wake it; while it works, that is not known in advance.
                let acts = due.answer.min(due.queued).min(due.bench).min(due.plug);
                let wakes = if due.work == NEVER { acts } else { start };
                alone.min(wakes.max(start + LEAD))
            }
            _ => alone,
        };
        end = end.min(self.interrupts[core].next);
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

    /// Runs until `condition` holds or time reaches `until`, without a host, for tests. Returns
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

    /// A hash of the time, the console text, the number of `sev`, and each core's instruction count
    /// and registers.
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
