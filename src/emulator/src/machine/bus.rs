//! Who answers at which address, and who drives which interrupt. Cores come here for everything
//! that is not memory. It knows peripherals only as such: which there are is said by whoever makes
//! it.

use std::any::Any;

use super::memory::Memory;
use super::peripheral::{Access, Context, Due, Ended, Peripheral, Reset, Standing, NEVER};
use super::signals::Signals;
use super::time::Cycles;

/// A range of addresses at which a peripheral answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First address.
    pub base: u32,
    /// Bytes.
    pub size: u32,
    /// Before a read everything else is brought to its time: it tells what the others do.
    pub tells_of_others: bool,
    /// An access takes its time, while that of everything else goes on: the window is in none of
    /// the bus's spaces.
    pub waits: bool,
}

/// Which interrupts a peripheral drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupts {
    /// A private line (16 to 31), each core has its own.
    Private(u32),
    /// Shared lines (32 to 95); none, if it has no interrupt.
    Shared(&'static [u32]),
}

/// A peripheral in its place.
pub struct Place {
    /// Where it answers. The first place that has a window for an address has it.
    pub windows: &'static [Window],
    /// What it drives.
    pub interrupts: Interrupts,
    /// The model.
    pub peripheral: Box<dyn Peripheral>,
}

/// Cost and consequence of an access.
#[derive(Default, Clone, Copy)]
pub struct Effect {
    /// Cycles the core stalls.
    pub stall: Cycles,
    /// The core's turn must end soon: something may have become due.
    pub ends_turn: bool,
}

/// A window of a place, for look-up.
#[derive(Clone, Copy)]
struct Route {
    base: u32,
    size: u32,
    place: usize,
    window: usize,
    tells_of_others: bool,
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

/// Memory, peripherals and the wires between them.
pub struct Bus {
    /// DDR and OCM.
    pub memory: Memory,
    /// The wires.
    pub signals: Signals,
    /// `sev` executed.
    pub sev_count: u64,
    /// The core that executed the newest `sev`.
    pub sev_core: usize,
    /// No core does anything before this time unless something wakes it. For boards that are joined
    /// to others.
    pub acting: Cycles,
    /// A core waits for an event of the PL, or for the answer to an access. Likewise.
    pub awaiting_pl: bool,
    places: Vec<Place>,
    /// Places that keep time, in the order in which they are brought to it.
    clocked: Vec<usize>,
    /// Windows by address.
    routes: Vec<Route>,
    /// The one of the newest access: that of the next one, mostly.
    recent: Route,
    /// Levels of interrupts that each place drives now.
    levels: Vec<u32>,
    spaces: &'static [(u32, u32)],
}

/// Calls a peripheral with what it reaches, then lets its interrupts follow. For use where parts of
/// the bus are borrowed.
macro_rules! with_context {
    ($bus:expr, $place:expr, $ends_turn:expr, |$peripheral:ident, $context:ident| $call:expr) => {{
        let place = &mut $bus.places[$place];
        let mut context = Context {
            memory: &$bus.memory,
            signals: &mut $bus.signals,
            stall: 0,
            ends_turn: $ends_turn,
        };
        let ($peripheral, $context) = (&mut *place.peripheral, &mut context);
        let result = $call;
        let effect = Effect {
            stall: context.stall,
            ends_turn: context.ends_turn,
        };
        (result, effect)
    }};
}

impl Bus {
    /// Peripherals in their `places`; those that keep time are brought to it in this order, so the
    /// interrupt controller comes last. `spaces`: ranges (base, size) in which an access is no
    /// external abort. Who comes last answers to all addresses there that are nobody else's.
    pub fn new(memory: Memory, spaces: &'static [(u32, u32)], places: Vec<Place>) -> Self {
        let mut routes = Vec::new();
        for (place, entry) in places.iter().enumerate() {
            for (window, entry) in entry.windows.iter().enumerate() {
                routes.push(Route {
                    base: entry.base,
                    size: entry.size,
                    place,
                    window,
                    tells_of_others: entry.tells_of_others,
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
            acting: NEVER,
            awaiting_pl: false,
            clocked: Vec::new(),
            levels: vec![0; places.len()],
            places,
            recent: routes[0],
            routes,
            spaces,
        };
        for place in 0..bus.places.len() {
            if with_context!(bus, place, false, |p, cx| p.update(0, cx)).0 {
                bus.clocked.push(place);
            }
        }
        bus
    }

    /// Ranges (base, size) answered here; anything else that is not memory is an external abort.
    pub fn spaces(&self) -> &'static [(u32, u32)] {
        self.spaces
    }

    /// The first peripheral of this type.
    pub fn get<P: Peripheral>(&self) -> Option<&P> {
        let all = self.places.iter();
        all.filter_map(|place| (&*place.peripheral as &dyn Any).downcast_ref())
            .next()
    }

    /// The first peripheral of this type, to be changed.
    pub fn get_mut<P: Peripheral>(&mut self) -> Option<&mut P> {
        let all = self.places.iter_mut();
        all.filter_map(|place| (&mut *place.peripheral as &mut dyn Any).downcast_mut())
            .next()
    }

    /// Changes the first peripheral of this type, which may drive wires then.
    pub fn with<P: Peripheral, R>(&mut self, change: impl FnOnce(&mut P, &mut Context) -> R) -> Option<R> {
        let is = |place: &Place| (&*place.peripheral as &dyn Any).is::<P>();
        let index = self.places.iter().position(is)?;
        let (result, _) = with_context!(self, index, false, |p, cx| {
            (p as &mut dyn Any).downcast_mut().map(|p: &mut P| change(p, cx))
        });
        self.drive(index);
        result
    }

    /// A reset: of a core, or of everything except for memory and what was recorded.
    pub fn reset(&mut self, what: Reset) {
        if let Reset::System(_) = what {
            self.signals.reset();
            self.levels.fill(0);
        }
        for place in 0..self.places.len() {
            with_context!(self, place, false, |p, cx| p.reset(what, cx));
            self.drive(place);
        }
    }

    /// Brings everything that keeps time to `now`, and the interrupt lines up to date.
    pub fn update(&mut self, now: Cycles) {
        for n in 0..self.clocked.len() {
            let place = self.clocked[n];
            with_context!(self, place, false, |p, cx| p.update(now, cx));
            self.drive(place);
        }
    }

    /// Puts the levels of a peripheral's interrupts on its lines.
    fn drive(&mut self, place: usize) {
        let Place {
            peripheral, interrupts, ..
        } = &self.places[place];
        let levels = peripheral.irq();
        if levels == self.levels[place] {
            return;
        }
        self.levels[place] = levels;
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

    /// What is due next.
    pub fn due(&self) -> Due {
        let mut due = Due::default();
        for place in &self.clocked {
            self.places[*place].peripheral.next(&mut due);
        }
        due
    }

    /// When the next thing is due that waits for its time, or is under way, and wakes no core.
    pub fn queued(&self) -> Option<Cycles> {
        Some(self.due().queued).filter(|due| *due != NEVER)
    }

    /// No core runs: peripherals act by themselves up to `until`, or until one has something for a
    /// core. Returns the time reached.
    pub fn idle(&mut self, until: Cycles) -> Cycles {
        let mut reached = until;
        for n in 0..self.clocked.len() {
            reached = with_context!(self, self.clocked[n], false, |p, cx| p.idle(reached, cx)).0;
        }
        reached
    }

    /// Whether the device is up, as far as a peripheral can tell.
    pub fn standing(&mut self, now: Cycles) -> Standing {
        let mut clocked = self.clocked.iter();
        let known = |place: &usize| match self.places[*place].peripheral.standing(now) {
            Standing::Unknown => None,
            known => Some(known),
        };
        clocked.find_map(known).unwrap_or(Standing::Unknown)
    }

    /// `core` executed `sev` at `now`.
    pub fn send_event(&mut self, core: usize, now: Cycles) {
        self.sev_count += 1;
        self.sev_core = core;
        self.signals.event = [Some(now); 2];
        for n in 0..self.clocked.len() {
            with_context!(self, self.clocked[n], false, |p, cx| p.event(now, cx));
        }
        log::trace!("core {core}: sev at {now}");
    }

    /// A core has executed `dbg` with this number and these in r0 to r3.
    pub fn noted(&mut self, number: u8, registers: [u32; 4]) {
        for n in 0..self.clocked.len() {
            with_context!(self, self.clocked[n], false, |p, cx| p.noted(number, registers, cx));
        }
    }

    /// The window that has an address; where there is none, the last place has it.
    fn route(&mut self, address: u32) -> Route {
        if !self.recent.has(address) {
            let next = self.routes.partition_point(|route| route.base <= address);
            let window = self.routes[..next].last().copied().filter(|route| route.has(address));
            self.recent = window.unwrap_or(Route {
                base: address & !3,
                size: 4,
                place: self.places.len() - 1,
                window: 0,
                tells_of_others: false,
                waits: false,
            });
        }
        self.recent
    }

    /// Whether an access there takes its time.
    pub fn waits(&mut self, address: u32) -> bool {
        self.route(address).waits
    }

    /// Begins such an access at `now`: a load, or a store of a value. `None`: nobody answers there;
    /// false: another one is under way.
    pub fn begin(&mut self, core: usize, address: u32, size: u32, store: Option<u32>, now: Cycles) -> Option<bool> {
        let route = self.route(address);
        let at = route.access(core, address, size, now);
        with_context!(self, route.place, true, |p, cx| p.begin(at, store, cx)).0
    }

    /// Takes the end of the access that is under way at the place of `address`.
    pub fn end(&mut self, address: u32) -> Option<Ended> {
        let place = self.route(address).place;
        self.places[place].peripheral.end()
    }

    /// A load of `size` bytes by `core` at `now`; the value is right-aligned.
    pub fn read(&mut self, core: usize, address: u32, size: u32, now: Cycles) -> (u32, Effect) {
        let route = self.route(address);
        if route.tells_of_others {
            self.update(now);
        }
        let (place, at) = (route.place, route.access(core, address, size, now));
        let (word, effect) = with_context!(self, place, false, |p, cx| p.read(at, cx));
        (word >> at.shift(), effect)
    }

    /// A store of `size` bytes by `core` at `now`.
    pub fn write(&mut self, core: usize, address: u32, size: u32, value: u32, now: Cycles) -> Effect {
        let route = self.route(address);
        let (place, at) = (route.place, route.access(core, address, size, now));
        let ((), effect) = with_context!(self, place, true, |p, cx| p.write(at, value, cx));
        self.drive(place);
        while std::mem::take(&mut self.signals.changed) {
            for place in 0..self.places.len() {
                with_context!(self, place, false, |p, cx| p.signalled(now, cx));
            }
        }
        effect
    }
}
