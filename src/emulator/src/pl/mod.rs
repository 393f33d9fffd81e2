//! The programmable logic: the gateware library behind the ports of the processing system, and its
//! clock.
//!
//! The clock is lazy. `cycle` is the number of the next PL cycle to run; cycle c begins at 8 ns *
//! c. While the logic is quiet and nothing is in progress on a port, cycles are not run: the coarse
//! counter is loaded with the value it would have (`sim_tsc_load`), at most up to `sim_next_due`.
//! This is done when an input reaches the logic, not at every query for events. The counter always
//! equals the cycle number minus a constant, which is checked in every cycle that is run.

mod accesses;
pub mod acp;
pub mod bench;
pub mod bitstream;
mod ends;
pub mod event;
pub mod fabric;
pub mod gp;
mod hp;
pub mod join;
pub mod library;
pub mod link;
pub mod lockstep;
pub mod outside;
mod played;
mod ports;
mod running;
mod shown;
mod skip;
pub mod sources;
mod tones;
pub mod trace;
pub mod wave;
mod wires;
mod words;

use std::collections::VecDeque;

use self::acp::Acp;
use self::gp::Gp;
use self::hp::Hp;
use self::library::{Inputs, Library, Outputs};
use self::link::End;
use self::lockstep::Lockstep;
use self::outside::Outside;
use self::played::Player;
use self::sources::Sources;
use self::trace::Trace;
use crate::machine::memory::Memory;
use crate::machine::params::Params;
use crate::machine::signals::Caller;
use crate::machine::time::{self, Cycles, NS_PER_PL_CYCLE};

/// Cycles that are always run after an input change (synchronisers).
const SETTLE: u64 = 8;
/// The same after an event: the logic itself is not quiet while one is in its synchroniser.
const SETTLE_EVENT: u64 = 2;
/// The same after a word of a link: the cycle of the word, and the one in which it counts as a
/// change.
const SETTLE_WORD: u64 = 2;
/// The logic must begin to read within this many cycles after a `sev`; otherwise no answer is
/// expected.
const RESPONSE_WINDOW: u64 = 64;

/// The gateware and the state of its ports.
pub struct Pl {
    library: Library,
    inputs: Inputs,
    outputs: Outputs,
    acp: Acp,
    hp: Hp,
    gp: Gp,
    window: Gp,
    /// Number of the next cycle.
    cycle: u64,
    /// The cycles before this one are known to change nothing; those from `cycle` on have not been
    /// skipped yet.
    rested: u64,
    /// The cycle after the latest read performed by the register bus alone. No input reaches the
    /// logic before it.
    read: u64,
    /// Cycle number minus coarse counter; known after the first cycle.
    offset: Option<u64>,
    /// Cycles that must be run before cycles may be skipped.
    settle: u64,
    /// Whether to skip cycles at all.
    pub skip: bool,
    /// Each system reset reconfigures the logic, as where a boot loader does so.
    pub reloads: bool,
    /// Number of cycles run.
    pub clocked: u64,
    /// Number of cycles skipped.
    pub skipped: u64,
    /// Changes at the pads.
    pub trace: Trace,
    /// Cycle in which EVENTEVENTI has toggled since this was last cleared.
    pub event: Option<u64>,
    /// Cycle in which an interrupt has been raised since this was last cleared.
    pub raised: Option<u64>,
    sev_cycle: u64,
    awaiting: bool,
    seen: (u64, u64),
    gp_cycles: u64,
    /// How often the counter differed from its expected value.
    pub slips: u64,
    /// Cycles of the latest `sev`.
    submissions: VecDeque<u64>,
    /// Number of `sev`.
    submitted: u64,
    /// Its ends of links.
    ends: Vec<End>,
    /// Next cycle in which one of them is plugged in or unplugged.
    replug: u64,
    /// Whether it has a link to the board above, whose time the counter takes over.
    follows: bool,
    /// Cycles run ahead of this board's cores because another board needed them.
    pub ahead: u64,
    /// The bench wired to its pads.
    pub outside: Option<Outside>,
    /// Its place among several boards.
    step: Option<Lockstep>,
    /// With several boards: nothing arrives from others before this cycle, unless this board
    /// affects them.
    agreed: u64,
    /// Whether it has done anything in this run that may affect others.
    touched: bool,
    /// Locations in the kernel's library from which outputs were submitted.
    pub sources: Sources,
    /// The player of DMA traces, if the gateware has one.
    player: Option<Player>,
}

/// Number of `sev` whose cycles are recorded.
const SUBMISSIONS: usize = 4096;

impl Pl {
    /// Creates the PL at time 0, with a library that has just been reset.
    pub fn new(library: Library, params: &Params, skip: bool) -> Self {
        let pads = library.info.pads.iter().map(|p| p.index + 1).max().unwrap_or(0);
        let follows = library.info.links.iter().any(|name| name == link::UP);
        let player = Player::find(&library.descriptor);
        Self {
            library,
            inputs: Inputs::zero(),
            outputs: Outputs::zero(),
            acp: Acp::new(params.acp_read_latency, params.acp_write_visible),
            hp: Hp::default(),
            gp: Gp::default(),
            window: Gp::default(),
            cycle: 0,
            rested: 0,
            read: 0,
            offset: None,
            settle: SETTLE,
            skip,
            reloads: false,
            clocked: 0,
            skipped: 0,
            trace: Trace::new(pads),
            event: None,
            raised: None,
            sev_cycle: 0,
            awaiting: false,
            seen: (0, 0),
            gp_cycles: params.gp_access,
            slips: 0,
            submissions: VecDeque::new(),
            submitted: 0,
            ends: Vec::new(),
            replug: u64::MAX,
            follows,
            ahead: 0,
            outside: None,
            step: None,
            agreed: 0,
            touched: false,
            sources: Sources::default(),
            player,
        }
    }

    /// The library's description of itself.
    pub fn info(&self) -> &library::Info {
        &self.library.info
    }

    /// The time at which the coarse counter was 0, if known.
    pub fn origin_ns(&self) -> Option<u64> {
        self.offset.map(|offset| offset.wrapping_mul(NS_PER_PL_CYCLE))
    }

    /// The recording of the outputs of pulse cores and Shuttlers.
    pub fn shown(&self) -> library::Shown<'_> {
        self.library.shown()
    }

    /// Levels of the interrupts to the processing system.
    pub fn interrupts(&self) -> u16 {
        self.outputs.irq_f2p
    }

    fn idle(&self) -> bool {
        self.outputs.sim_quiet != 0 && self.settle == 0 && self.ports_idle()
    }

    /// Whether no transaction is in progress on a port.
    fn ports_idle(&self) -> bool {
        self.acp.idle() && self.hp.idle() && self.gp.idle() && self.window.idle()
    }

    /// Earliest time at which the answer awaited by a core, or a read of memory for it, can occur;
    /// `None` if none is expected.
    pub fn answer(&self) -> Option<Cycles> {
        if !self.awaiting {
            return None;
        }
        if self.idle() {
            return self.next();
        }
        Some(time::from_pl(self.acp.next_effect(self.cycle)))
    }

    /// The cycle in which the logic produced what a core waits for: an event, an interrupt, or the
    /// response to an access.
    fn waker(&self) -> Option<u64> {
        let answer = self.window.answer().map(|answer| answer.cycle);
        self.event.into_iter().chain(answer).chain(self.raised).min()
    }

    /// Time at which it raised an interrupt that has not been delivered yet.
    pub fn interrupted(&self) -> Option<Cycles> {
        self.raised.map(|cycle| time::from_pl(cycle + 1))
    }

    /// Time at which the logic woke a core that has not been resumed yet.
    pub fn woke(&self) -> Option<Cycles> {
        self.waker().map(|cycle| time::from_pl(cycle + 1))
    }

    /// If the logic is active in its next cycles, not only at a known later time: the end of the
    /// next `cycles`.
    pub fn stretch(&self, cycles: u64) -> Option<Cycles> {
        let end = if self.idle() {
            // A late word is an error and reported as one; without the maximum, time would stop
            // there
            self.arrival()?.max(self.cycle) + 1
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
        self.library.reset()?;
        self.outputs = Outputs::zero();
        if let Some(outside) = &mut self.outside {
            outside.restart(&self.library.info, self.cycle);
        }
        self.acp = self.acp.restarted();
        (self.hp, self.gp, self.window) = (Hp::default(), Gp::default(), Gp::default());
        (self.offset, self.settle) = (None, SETTLE);
        (self.event, self.raised) = (None, None);
        (self.awaiting, self.seen) = (false, (0, 0));
        Ok(())
    }

    /// When the logic next acts by itself: at once unless it is quiet, otherwise when the next
    /// queued event is due.
    pub fn next(&self) -> Option<Cycles> {
        if !self.idle() {
            return Some(time::from_pl(self.cycle + 1));
        }
        match self.due().min(self.arrival().unwrap_or(u64::MAX)) {
            u64::MAX => None,
            due => Some(time::from_pl(due.max(self.cycle) + 1)),
        }
    }

    /// The cycle in which the next queued event is due.
    fn due(&self) -> u64 {
        let due = match (self.outputs.sim_next_due, self.offset) {
            (u64::MAX, _) | (_, None) => u64::MAX,
            (due, Some(offset)) => due.saturating_add(offset),
        };
        due.min(self.replug)
    }

    /// Runs one cycle including the ports.
    fn clock(&mut self, memory: &Memory) {
        self.deliver();
        self.look_outside();
        self.acp.drive(self.cycle, &mut self.inputs, memory);
        self.hp.drive(self.cycle, &mut self.inputs, memory);
        let (gp, window) = (self.gp.drive(), self.window.drive());
        self.inputs.set_gp0(gp);
        self.inputs.set_gp1(window);
        let before = self.signals();
        self.library.cycle(&self.inputs, &mut self.outputs);
        self.acp.sample(self.cycle, &self.inputs, &self.outputs);
        self.hp.sample(self.cycle, &self.inputs, &self.outputs);
        self.gp.sample(self.cycle, gp, self.outputs.gp0());
        self.window.sample(self.cycle, window, self.outputs.gp1());
        self.inputs.link_rx_valid = 0;
        self.after(1, before);
    }

    /// EVENTEVENTI and the interrupts, to be compared across cycles.
    fn signals(&self) -> (u8, u16) {
        (self.outputs.event_i, self.outputs.irq_f2p)
    }

    /// Bookkeeping after `n` cycles of which only the last may differ from the ones before.
    fn after(&mut self, n: u64, (event, interrupts): (u8, u16)) {
        self.clocked += n;
        self.cycle += n;
        let last = self.cycle - 1;
        self.settle = self.settle.saturating_sub(n);
        if self.outputs.event_i != event {
            self.event.get_or_insert(last);
        }
        if self.outputs.irq_f2p & !interrupts != 0 {
            self.raised.get_or_insert(last);
        }
        match self.offset {
            None => self.offset = Some(last.wrapping_sub(self.outputs.sim_tsc)),
            Some(offset) if self.outputs.sim_tsc.wrapping_add(offset) != last => {
                if self.slips == 0 && !self.follows {
                    log::error!(
                        "pl: in cycle {last} the coarse counter is {}, not {}: it was changed by the logic itself",
                        self.outputs.sim_tsc,
                        last.wrapping_sub(offset)
                    );
                }
                self.slips += u64::from(!self.follows);
                self.offset = Some(last.wrapping_sub(self.outputs.sim_tsc));
            }
            Some(_) => {}
        }
        let events = self
            .trace
            .record(last * NS_PER_PL_CYCLE, &self.outputs.pads_o, &self.outputs.pads_oe);
        let mut received = false;
        if let Some(outside) = &mut self.outside {
            received = outside.see(events);
            if let Some(origin) = self.offset {
                received |= outside.see_shown(|| self.library.shown(), origin);
            }
        }
        if self.outputs.sim_quiet != 0 {
            if let Some(outside) = &mut self.outside {
                received |= outside.see_clocks(last, &self.outputs);
            }
            self.trace.expect(self.library.waves(&self.outputs), last);
        }
        if received {
            self.touch();
        }
        self.send();
        if self.awaiting {
            let now = (self.acp.accepted, self.acp.written);
            // Several requests may be in progress: the latest has been answered once the logic is
            // idle.
            let answered = now.1 > self.seen.1 && self.idle();
            let ignored = now.0 == self.seen.0 && self.cycle > self.sev_cycle + RESPONSE_WINDOW;
            self.awaiting = !answered && !ignored;
        }
    }

    /// Records that this board may have affected others.
    fn touch(&mut self) {
        self.touched = true;
        self.agreed = 0;
    }

    /// Lets the bench drive the inputs for the next cycle.
    fn look_outside(&mut self) {
        if let Some(outside) = &mut self.outside {
            if outside.due(self.cycle) == self.cycle && outside.deliver(self.cycle, &mut self.inputs) {
                self.settle = SETTLE;
            }
        }
    }

    /// The first cycle that has to be run for the bench.
    fn outside_due(&self) -> u64 {
        self.outside
            .as_ref()
            .map_or(u64::MAX, |outside| outside.due(self.cycle))
    }

    /// Number of cycles that may be run before the bench must see the outputs.
    fn outside_stretch(&self) -> u64 {
        self.outside.as_ref().map_or(u64::MAX, Outside::stretch)
    }

    /// When the bench next acts: of interest to a core that waits for an input.
    pub fn outside_next(&self) -> Option<Cycles> {
        let cycle = self.outside.as_ref()?.next()?;
        Some(time::from_pl(cycle.max(self.cycle) + 1))
    }

    /// When the next activity in progress at the bench ends; a run does not end before.
    pub fn outside_under_way(&self) -> Option<Cycles> {
        let cycle = self.outside.as_ref()?.under_way()?;
        Some(time::from_pl(cycle.max(self.cycle) + 1))
    }

    /// Whether clock generators are running; they never stop by themselves.
    pub fn runs_on(&self) -> bool {
        self.library.waves(&self.outputs).next().is_some()
    }

    /// Time in ns up to which the trace is complete.
    pub fn known_ns(&self) -> u64 {
        self.cycle * NS_PER_PL_CYCLE
    }

    /// Number of the first `sev` returned and of the next one, and the cycles of the recorded ones
    /// from number `from` on.
    pub fn submissions(&self, from: u64) -> (u64, u64, impl Iterator<Item = u64> + '_) {
        let oldest = self.submitted - self.submissions.len() as u64;
        let first = from.clamp(oldest, self.submitted);
        let kept = self.submissions.iter().skip((first - oldest) as usize);
        (first, self.submitted, kept.copied())
    }

    /// A hash of all events at the pins, the recorded `sev`, and the time.
    pub fn digest(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut h = DefaultHasher::new();
        (self.trace.digest(), self.submitted, &self.submissions, self.reached()).hash(&mut h);
        h.finish()
    }

    /// Toggles EVENTEVENTO for a `sev` executed at `now` by a core with this `caller`.
    pub fn send_event(&mut self, now: Cycles, caller: Caller, memory: &Memory) {
        self.come_to(now, memory);
        if let Some(address) = self.acp.newest {
            self.sources.reads(address, memory);
        }
        self.sources.submitted(caller, memory);
        // The logic may be ahead of this core because of the other one. Two events must not fall
        // into one cycle, where they would cancel.
        if self.cycle == self.sev_cycle {
            self.clock_now(memory);
        }
        self.inputs.event_o ^= 1;
        self.settle = self.settle.max(SETTLE_EVENT);
        self.sev_cycle = self.cycle;
        self.awaiting = true;
        self.seen = (self.acp.accepted, self.acp.written);
        if self.submissions.len() == SUBMISSIONS {
            self.submissions.pop_front();
        }
        self.submissions.push_back(self.cycle);
        self.submitted += 1;
    }
}
