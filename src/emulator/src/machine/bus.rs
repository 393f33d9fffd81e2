//! Address decoding and interrupt routing. Cores use the bus for all accesses except those to
//! memory. The set of peripherals is supplied by the caller of [`Bus::new`].

use std::any::Any;

use super::disturbance::Disturbance;
use super::memory::Memory;
use super::peripheral::{Access, Asked, Context, Due, Ended, Fault, Peripheral, Readiness, Reset, NEVER};
use super::signals::Signals;
use super::time::Cycles;

/// An address range at which a peripheral responds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First address.
    pub base: u32,
    /// Size in bytes.
    pub size: u32,
    /// Everything else is updated before a read, since the value depends on other peripherals.
    pub observes_other_boards: bool,
    /// Accesses take time, during which everything else keeps running. The window is not part of
    /// the bus's spaces.
    pub waits: bool,
}

/// Interrupts driven by a peripheral.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupts {
    /// A private line (16 to 31) of each core.
    Private(u32),
    /// Shared lines (32 to 95); empty for a peripheral without interrupts.
    Shared(&'static [u32]),
}

/// A peripheral with its addresses and interrupts.
pub struct Slot {
    /// Its address ranges. Where windows overlap, the first slot has precedence.
    pub windows: &'static [Window],
    /// Its interrupts.
    pub interrupts: Interrupts,
    /// The peripheral.
    pub peripheral: Box<dyn Peripheral>,
}

/// Cost and consequences of an access.
#[derive(Default, Clone, Copy)]
pub struct Effect {
    /// Cycles the core stalls.
    pub stall: Cycles,
    /// The core's turn must end soon: an event may have become due.
    pub ends_turn: bool,
}

/// A window of a slot, for lookup.
#[derive(Clone, Copy)]
struct Route {
    base: u32,
    size: u32,
    slot: usize,
    window: usize,
    observes_other_boards: bool,
    waits: bool,
}

impl Route {
    fn has(&self, address: u32) -> bool {
        address.wrapping_sub(self.base) < self.size
    }

    fn access(&self, core: usize, address: u32, size: u32, now: Cycles) -> Access {
        Access {
            core,
            window: self.window,
            offset: (address - self.base) & !3,
            address,
            size,
            now,
        }
    }
}

/// Memory, peripherals and the signals between them.
pub struct Bus {
    /// DDR and OCM.
    pub memory: Memory,
    /// The signals between peripherals.
    pub signals: Signals,
    /// Number of `sev` executed.
    pub sev_count: u64,
    /// The core that executed the last `sev`.
    pub sev_core: usize,
    /// Makes accesses of the cores that take time late.
    pub disturbance: Disturbance,
    /// No core acts before this time unless woken. Used for boards that are linked to others.
    pub acting: Cycles,
    /// A core waits for an event of the PL, or for the response to an access. Used likewise.
    pub awaiting_pl: bool,
    slots: Vec<Slot>,
    /// Slots that keep time, in the order in which they are updated.
    clocked: Vec<usize>,
    /// Windows by address.
    routes: Vec<Route>,
    /// Route of the last access, which is usually that of the next one.
    recent: Route,
    /// Interrupt levels currently driven by each slot.
    levels: Vec<u32>,
    spaces: &'static [(u32, u32)],
}

/// Calls a peripheral with its context. For use where parts of the bus are borrowed.
macro_rules! with_context {
    ($bus:expr, $slot:expr, $ends_turn:expr, |$peripheral:ident, $context:ident| $call:expr) => {{
        let slot = &mut $bus.slots[$slot];
        let mut context = Context {
            memory: &$bus.memory,
            signals: &mut $bus.signals,
            stall: 0,
            ends_turn: $ends_turn,
        };
        let ($peripheral, $context) = (&mut *slot.peripheral, &mut context);
        let result = $call;
        let effect = Effect {
            stall: context.stall,
            ends_turn: context.ends_turn,
        };
        (result, effect)
    }};
}

impl Bus {
    /// Creates a bus with peripherals in their `slots`; those that keep time are updated in this
    /// order, so the interrupt controller comes last. `spaces`: ranges (base, size) in which an
    /// access causes no external abort; the last slot responds to addresses in them that no window
    /// contains.
    pub fn new(memory: Memory, spaces: &'static [(u32, u32)], slots: Vec<Slot>) -> Self {
        let mut routes = Vec::new();
        for (slot, entry) in slots.iter().enumerate() {
            for (window, entry) in entry.windows.iter().enumerate() {
                routes.push(Route {
                    base: entry.base,
                    size: entry.size,
                    slot,
                    window,
                    observes_other_boards: entry.observes_other_boards,
                    waits: entry.waits,
                });
            }
        }
        routes.sort_by_key(|route| route.base);
        let mut bus = Self {
            memory,
            signals: Signals::default(),
            sev_count: 0,
            sev_core: 1,
            disturbance: Disturbance::default(),
            acting: NEVER,
            awaiting_pl: false,
            clocked: Vec::new(),
            levels: vec![0; slots.len()],
            slots,
            recent: routes[0],
            routes,
            spaces,
        };
        for slot in 0..bus.slots.len() {
            if with_context!(bus, slot, false, |p, cx| p.update(0, cx)).0 {
                bus.clocked.push(slot);
            }
        }
        bus
    }

    /// Ranges (base, size) decoded by the bus; anything else that is not memory is an external
    /// abort.
    pub fn spaces(&self) -> &'static [(u32, u32)] {
        self.spaces
    }

    /// Returns the first peripheral of this type.
    pub fn get<P: Peripheral>(&self) -> Option<&P> {
        let all = self.slots.iter();
        all.filter_map(|slot| (&*slot.peripheral as &dyn Any).downcast_ref())
            .next()
    }

    /// Returns the first peripheral of this type, mutably.
    pub fn get_mut<P: Peripheral>(&mut self) -> Option<&mut P> {
        let all = self.slots.iter_mut();
        all.filter_map(|slot| (&mut *slot.peripheral as &mut dyn Any).downcast_mut())
            .next()
    }

    /// Calls `change` on the first peripheral of this type, then updates its interrupts.
    pub fn with<P: Peripheral, R>(&mut self, change: impl FnOnce(&mut P, &mut Context) -> R) -> Option<R> {
        let is = |slot: &Slot| (&*slot.peripheral as &dyn Any).is::<P>();
        let index = self.slots.iter().position(is)?;
        let (result, _) = with_context!(self, index, false, |p, cx| {
            (p as &mut dyn Any).downcast_mut().map(|p: &mut P| change(p, cx))
        });
        self.drive(index);
        result
    }

    /// Resets a core, or everything except memory and recordings.
    pub fn reset(&mut self, what: Reset) {
        if let Reset::System(_) = what {
            self.signals.reset();
            self.levels.fill(0);
        }
        for slot in 0..self.slots.len() {
            with_context!(self, slot, false, |p, cx| p.reset(what, cx));
            self.drive(slot);
        }
    }

    /// Updates everything that keeps time to `now`, and the interrupt lines. Accesses that peripherals make are
    /// performed on the way.
    pub fn update(&mut self, now: Cycles) {
        loop {
            for n in 0..self.clocked.len() {
                let slot = self.clocked[n];
                with_context!(self, slot, false, |p, cx| p.update(now, cx));
                self.drive(slot);
            }
            if !self.serve(now) {
                return;
            }
        }
    }

    /// Performs the accesses that peripherals wait for, at `now`. Returns whether there were any.
    fn serve(&mut self, now: Cycles) -> bool {
        let mut any = false;
        for n in 0..self.clocked.len() {
            let slot = self.clocked[n];
            if let Some(asked) = self.slots[slot].peripheral.ask() {
                let result = self.perform(asked, now);
                self.slots[slot].peripheral.answer(result);
                any = true;
            }
        }
        any
    }

    /// Performs an access of a peripheral to memory or to another one.
    fn perform(&mut self, asked: Asked, now: Cycles) -> Result<u32, Fault> {
        let Asked { address, size, store } = asked;
        let mut bytes = store.unwrap_or(0).to_le_bytes();
        let part = &mut bytes[..size as usize];
        let in_memory = match store {
            Some(_) => self.memory.write(address, part),
            None => self.memory.read(address, part),
        };
        let within = |(base, size): &(u32, u32)| address.wrapping_sub(*base) < *size;
        match store {
            _ if in_memory => {}
            _ if !self.spaces.iter().any(within) => return Err(Fault::Decode),
            Some(value) => {
                self.write(0, address, size, value, now);
            }
            None => bytes = self.read(0, address, size, now).0.to_le_bytes(),
        }
        Ok(u32::from_le_bytes(bytes))
    }

    /// Drives a peripheral's interrupt levels onto its lines.
    fn drive(&mut self, slot: usize) {
        let Slot {
            peripheral, interrupts, ..
        } = &self.slots[slot];
        let levels = peripheral.irq();
        if levels == self.levels[slot] {
            return;
        }
        self.levels[slot] = levels;
        let lines = &mut self.signals.lines;
        match *interrupts {
            Interrupts::Private(line) => {
                for (core, word) in lines.private.iter_mut().enumerate() {
                    *word = *word & !(1 << line) | (levels >> core & 1) << line;
                }
            }
            Interrupts::Shared(numbers) => {
                for (n, line) in numbers.iter().enumerate() {
                    let at = line - 32;
                    lines.shared = lines.shared & !(1 << at) | u64::from(levels >> n & 1) << at;
                }
            }
        }
    }

    /// The due times of the next events.
    pub fn due(&self) -> Due {
        let mut due = Due::default();
        for slot in &self.clocked {
            self.slots[*slot].peripheral.next(&mut due);
        }
        due
    }

    /// Due time of the next queued event that wakes no core.
    pub fn queued(&self) -> Option<Cycles> {
        Some(self.due().queued).filter(|due| *due != NEVER)
    }

    /// Lets peripherals act while no core runs, up to `until` or until one has an event for a core.
    /// Returns the time reached.
    pub fn idle(&mut self, until: Cycles) -> Cycles {
        let mut reached = until;
        for n in 0..self.clocked.len() {
            reached = with_context!(self, self.clocked[n], false, |p, cx| p.idle(reached, cx)).0;
        }
        reached
    }

    /// Whether the device is up, as far as a peripheral can tell.
    pub fn readiness(&mut self, now: Cycles) -> Readiness {
        let mut clocked = self.clocked.iter();
        let known = |slot: &usize| match self.slots[*slot].peripheral.readiness(now) {
            Readiness::Unknown => None,
            known => Some(known),
        };
        clocked.find_map(known).unwrap_or(Readiness::Unknown)
    }

    /// Signals the `sev` executed by `core` at `now`.
    pub fn send_event(&mut self, core: usize, now: Cycles) {
        self.sev_count += 1;
        self.sev_core = core;
        self.signals.event = [Some(now); 2];
        for n in 0..self.clocked.len() {
            with_context!(self, self.clocked[n], false, |p, cx| p.event(now, cx));
        }
        log::trace!("core {core}: sev at {now}");
    }

    /// Passes on a `dbg` executed by a core: its number and the values of r0 to r3.
    pub fn noted(&mut self, number: u8, registers: [u32; 4]) {
        for n in 0..self.clocked.len() {
            with_context!(self, self.clocked[n], false, |p, cx| p.noted(number, registers, cx));
        }
    }

    /// The window that contains an address; the last slot if none does.
    fn route(&mut self, address: u32) -> Route {
        if !self.recent.has(address) {
            let next = self.routes.partition_point(|route| route.base <= address);
            let window = self.routes[..next].last().copied().filter(|route| route.has(address));
            self.recent = window.unwrap_or(Route {
                base: address & !3,
                size: 4,
                slot: self.slots.len() - 1,
                window: 0,
                observes_other_boards: false,
                waits: false,
            });
        }
        self.recent
    }

    /// Whether an access to this address takes time.
    pub fn waits(&mut self, address: u32) -> bool {
        self.route(address).waits
    }

    /// Begins an access that takes time, at `now`: a load, or a store of a value. `None`: nothing
    /// responds at the address; false: another access is in progress.
    pub fn begin(&mut self, core: usize, address: u32, size: u32, store: Option<u32>, now: Cycles) -> Option<bool> {
        let route = self.route(address);
        let at = route.access(core, address, size, now);
        with_context!(self, route.slot, true, |p, cx| p.begin(at, store, cx)).0
    }

    /// Takes the result of the access in progress at the slot of `address`.
    pub fn end(&mut self, address: u32) -> Option<Ended> {
        let slot = self.route(address).slot;
        self.slots[slot].peripheral.end()
    }

    /// Performs a load of `size` bytes by `core` at `now`; the value is right-aligned.
    pub fn read(&mut self, core: usize, address: u32, size: u32, now: Cycles) -> (u32, Effect) {
        let route = self.route(address);
        if route.observes_other_boards {
            self.update(now);
        }
        let (slot, at) = (route.slot, route.access(core, address, size, now));
        let (word, effect) = with_context!(self, slot, false, |p, cx| p.read(at, cx));
        (word >> at.shift(), self.disturbed(effect))
    }

    /// Performs a store of `size` bytes by `core` at `now`.
    pub fn write(&mut self, core: usize, address: u32, size: u32, value: u32, now: Cycles) -> Effect {
        let route = self.route(address);
        let (slot, at) = (route.slot, route.access(core, address, size, now));
        let ((), effect) = with_context!(self, slot, true, |p, cx| p.write(at, value, cx));
        self.drive(slot);
        while std::mem::take(&mut self.signals.changed) {
            for slot in 0..self.slots.len() {
                with_context!(self, slot, false, |p, cx| p.signalled(now, cx));
            }
        }
        self.disturbed(effect)
    }

    /// The effect of an access that may meet another one, if it takes time at all.
    fn disturbed(&mut self, mut effect: Effect) -> Effect {
        if effect.stall > 0 {
            effect.stall += self.disturbance.access();
        }
        effect
    }
}
