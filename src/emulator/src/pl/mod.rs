//! The programmable logic: the gateware library behind the ports of the processing system, and its
//! clock.
//!
//! [`Pl`] runs the cycles; what lies between them is owned by its parts: the logic with its signals,
//! time skipping, the counter, the buses, events and their answers, the ends of links, the horizon
//! among several boards, the pins' trace and the bench at the pins.
//!
//! The clock is lazy. `cycle` is the number of the next PL cycle to run; cycle c begins at 8 ns *
//! c. While the logic is quiet and nothing is in progress on a port, cycles are not run: the coarse
//! counter is loaded with the value it would have (`sim_tsc_load`), at most up to `sim_next_due`.
//! This is done when an input reaches the logic, not at every query for events. The counter always
//! equals the cycle number minus a constant, which is checked in every cycle that is run.

mod accesses;
pub mod acp;
pub mod bench;
pub mod bench_pins;
pub mod bitstream;
mod buses;
mod counter;
mod dma_events;
mod ends;
pub mod event;
mod events;
pub mod fabric;
pub mod gp;
mod horizon;
mod hp;
pub mod join;
pub mod kernel_writes;
pub mod library;
pub mod link;
pub mod lockstep;
mod logic;
mod ports;
mod recorded_outputs;
mod running;
mod skipping;
mod slave;
pub mod sources;
mod submissions;
mod tones;
pub mod trace;
pub mod wave;
mod wires;
mod words;

use self::bench_pins::BenchPins;
use self::buses::Buses;
use self::counter::Counter;
use self::ends::Ends;
use self::events::Events;
use self::horizon::Horizon;
use self::library::Library;
use self::logic::{Logic, Signals};
use self::skipping::{Skipping, AFTER_EVENT, AFTER_INPUT};
use self::sources::Sources;
use self::submissions::Submissions;
use self::trace::Trace;
use crate::machine::memory::Memory;
use crate::machine::params::Params;
use crate::machine::signals::Caller;
use crate::machine::time::{self, Cycles, NS_PER_PL_CYCLE};

/// The gateware and the state of its surroundings.
pub struct Pl {
    /// Number of the next cycle.
    cycle: u64,
    logic: Logic,
    skipping: Skipping,
    counter: Counter,
    buses: Buses,
    /// Signals to the cores.
    events: Events,
    /// Events from the cores.
    submissions: Submissions,
    /// Its ends of links.
    ends: Ends,
    /// How far other boards let it run.
    horizon: Horizon,
    /// Changes at the pads.
    trace: Trace,
    /// The bench wired to its pads.
    bench: Option<BenchPins>,
    /// Locations in the kernel's library from which outputs were submitted.
    sources: Sources,
    /// Each system reset reconfigures the logic, as where a boot loader does so.
    reloads: bool,
}

impl Pl {
    /// Creates the PL at time 0, with a library that has just been reset.
    pub fn new(library: Library, params: &Params, skip: bool) -> Self {
        let pads = library.info.pads.iter().map(|p| p.index + 1).max().unwrap_or(0);
        let follows = library.info.links.iter().any(|name| name == link::UP);
        let sources = Sources::new(&library.descriptor);
        Self {
            cycle: 0,
            logic: Logic::new(library),
            skipping: Skipping::new(skip),
            counter: Counter::new(follows),
            buses: Buses::new(params),
            events: Events::default(),
            submissions: Submissions::default(),
            ends: Ends::default(),
            horizon: Horizon::default(),
            trace: Trace::new(pads),
            bench: None,
            sources,
            reloads: false,
        }
    }

    /// Reconfigures the logic at each system reset from now on, as where a boot loader does so.
    pub fn set_reloads(&mut self, reloads: bool) {
        self.reloads = reloads;
    }

    /// Whether each system reset reconfigures the logic.
    pub fn reloads(&self) -> bool {
        self.reloads
    }

    /// Sets whether cycles are skipped at all.
    pub fn set_skip(&mut self, skip: bool) {
        self.skipping.enable(skip);
    }

    /// Wires a bench to the pads.
    pub fn set_bench(&mut self, bench: Option<BenchPins>) {
        self.bench = bench;
    }

    /// The library's description of itself.
    pub fn info(&self) -> &library::Info {
        self.logic.info()
    }

    /// Changes at the pads.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Clears the recorded changes at the pads.
    pub fn clear_trace(&mut self) {
        self.trace.clear();
    }

    /// Locations in the kernel's library from which outputs were submitted.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The recording of the outputs of pulse cores, Shuttlers and Songbirds.
    pub fn shown(&self) -> library::Shown<'_> {
        self.logic.shown()
    }

    /// The time at which the coarse counter was 0, if known.
    pub fn origin_ns(&self) -> Option<u64> {
        self.counter.origin().map(|origin| origin.wrapping_mul(NS_PER_PL_CYCLE))
    }

    /// Number of cycles run, and skipped.
    pub fn cycles(&self) -> (u64, u64) {
        self.skipping.counts()
    }

    /// How often the counter differed from its expected value.
    pub fn slips(&self) -> u64 {
        self.counter.slips()
    }

    /// Cycles run ahead of this board's cores because another board needed them.
    pub fn ahead(&self) -> u64 {
        self.horizon.ahead()
    }

    /// Levels of the interrupts to the processing system.
    pub fn interrupts(&self) -> u16 {
        self.logic.signals().interrupts
    }

    fn idle(&self) -> bool {
        self.logic.is_quiet() && self.skipping.is_allowed() && self.buses.are_idle()
    }

    /// Earliest time at which the answer awaited by a core, or a read of memory for it, can occur;
    /// `None` if none is expected.
    pub fn answer(&self) -> Option<Cycles> {
        if !self.submissions.are_awaiting() {
            return None;
        }
        if self.idle() {
            return self.next().into_iter().chain(self.next_plug()).min();
        }
        Some(time::from_pl(self.buses.next_effect(self.cycle)))
    }

    /// The cycle in which the logic produced what a core waits for: an event, an interrupt, or the
    /// response to an access.
    fn waker(&self) -> Option<u64> {
        let answer = self.buses.window().answer().map(|answer| answer.cycle);
        self.events.first().into_iter().chain(answer).min()
    }

    /// Time at which it raised an interrupt that has not been delivered yet.
    pub fn interrupted(&self) -> Option<Cycles> {
        self.events.interrupt().map(|cycle| time::from_pl(cycle + 1))
    }

    /// Time at which the logic woke a core that has not been resumed yet.
    pub fn woke(&self) -> Option<Cycles> {
        self.waker().map(|cycle| time::from_pl(cycle + 1))
    }

    /// Delivers the logic's signals to the cores. Returns the time of an event.
    pub fn deliver_events(&mut self) -> Option<Cycles> {
        self.events.deliver().map(|cycle| time::from_pl(cycle + 1))
    }

    /// If the logic is active in its next cycles, not only at a known later time: the end of the
    /// next `cycles`.
    pub fn stretch(&self, cycles: u64) -> Option<Cycles> {
        let end = if self.idle() {
            // A late word is an error and reported as one; without the maximum, time would stop
            // there
            self.ends.arrival()?.max(self.cycle) + 1
        } else {
            self.cycle + cycles
        };
        Some(time::from_pl(end))
    }

    /// Sets the time of the first cycle to `now`.
    fn start_at(&mut self, now: Cycles) {
        self.cycle = time::to_pl(now);
    }

    /// Reconfigures the logic at the cycle reached. Connections to it are kept. The error is a
    /// one-line message for the user.
    pub fn reload(&mut self, memory: &Memory) -> Result<(), String> {
        self.catch_up(memory);
        self.logic.reset()?;
        if let Some(bench) = &mut self.bench {
            bench.restart(self.logic.info(), self.cycle);
        }
        self.buses.reset();
        self.counter.reset();
        self.skipping.require(AFTER_INPUT);
        self.events = Events::default();
        self.submissions.reset();
        Ok(())
    }

    /// When the logic next acts by itself: at once unless it is quiet, otherwise when the next
    /// queued event is due.
    pub fn next(&self) -> Option<Cycles> {
        if !self.idle() {
            return Some(time::from_pl(self.cycle + 1));
        }
        self.ending(self.queued().min(self.ends.arrival().unwrap_or(u64::MAX)))
    }

    /// When a link is next unplugged or plugged in according to its description.
    pub fn next_plug(&self) -> Option<Cycles> {
        self.ending(self.ends.next_change())
    }

    /// The time at which `cycle`, or the next one if that is past, has been run; `None` if that is
    /// never.
    fn ending(&self, cycle: u64) -> Option<Cycles> {
        (cycle != u64::MAX).then(|| time::from_pl(cycle.max(self.cycle) + 1))
    }

    /// The cycle in which the next queued event is due.
    fn queued(&self) -> u64 {
        self.counter.cycle_of(self.logic.outputs().sim_next_due)
    }

    /// The first cycle that has to be run for a queued event or a link.
    fn due(&self) -> u64 {
        self.queued().min(self.ends.next_change())
    }

    /// Runs one cycle including the ports.
    fn clock(&mut self, memory: &Memory) {
        self.receive_words();
        self.drive_bench_inputs();
        let driven = self.buses.drive(self.cycle, self.logic.inputs_mut(), memory);
        let before = self.logic.signals();
        self.logic.cycle();
        self.buses
            .sample(self.cycle, driven, self.logic.inputs(), self.logic.outputs());
        self.after(1, before);
    }

    /// Bookkeeping after `n` cycles of which only the last may differ from the ones before, which
    /// had the signals `before`.
    fn after(&mut self, n: u64, before: Signals) {
        self.skipping.ran(n);
        self.cycle += n;
        let last = self.cycle - 1;
        self.events.observe(last, before, self.logic.signals());
        self.counter.check(last, self.logic.outputs().sim_tsc);
        let received = self.record(last);
        if received | self.ends.send(self.cycle, self.logic.outputs()) {
            self.horizon.affect_others();
        }
        if self.submissions.are_awaiting() {
            let idle = self.idle();
            self.submissions.update(self.cycle, self.buses.progress(), idle);
        }
    }

    /// Records the pads in cycle `last`, and passes changes to the bench. Returns whether a part
    /// received any.
    fn record(&mut self, last: u64) -> bool {
        let outputs = self.logic.outputs();
        let events = self
            .trace
            .record(last * NS_PER_PL_CYCLE, &outputs.pads_o, &outputs.pads_oe);
        let mut received = false;
        if let Some(bench) = &mut self.bench {
            received = bench.observe_pads(events);
            if let Some(origin) = self.counter.origin() {
                received |= bench.observe_outputs(|| self.logic.shown(), origin);
            }
        }
        if self.logic.is_quiet() {
            if let Some(bench) = &mut self.bench {
                received |= bench.observe_clocks(last, outputs);
            }
            self.trace.expect(self.logic.waves(), last);
        }
        received
    }

    /// Whether clock generators are running; they never stop by themselves.
    pub fn runs_on(&self) -> bool {
        self.logic.waves().next().is_some()
    }

    /// Time in ns up to which the trace is complete.
    pub fn known_ns(&self) -> u64 {
        self.cycle * NS_PER_PL_CYCLE
    }

    /// Number of the first `sev` returned and of the next one, and the cycles of the recorded ones
    /// from number `from` on.
    pub fn submissions(&self, from: u64) -> (u64, u64, impl Iterator<Item = u64> + '_) {
        self.submissions.since(from)
    }

    /// A hash of all events at the pins, the recorded `sev`, and the time.
    pub fn digest(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut h = DefaultHasher::new();
        (self.trace.digest(), &self.submissions, self.reached()).hash(&mut h);
        h.finish()
    }

    /// Toggles EVENTEVENTO for a `sev` executed at `now` by a core with this `caller`.
    pub fn send_event(&mut self, now: Cycles, caller: Caller, memory: &Memory) {
        self.come_to(now, memory);
        // The logic may be ahead of this core because of the other one. Two events must not fall
        // into one cycle, where they would cancel.
        if self.cycle == self.submissions.latest() {
            self.clock_now(memory);
        }
        self.sources.submitted(caller, self.cycle, memory);
        self.logic.inputs_mut().event_o ^= 1;
        self.skipping.require(AFTER_EVENT);
        self.submissions.submit(self.cycle, self.buses.progress());
    }

    /// Handles a hint of the firmware about the trace of a kernel: its number, and r0 to r3.
    pub fn noted(&mut self, number: u8, registers: [u32; 4], caller: Caller, memory: &Memory) {
        self.sources.noted(number, registers, caller, memory);
    }
}
