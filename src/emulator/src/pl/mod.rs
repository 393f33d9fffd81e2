//! The programmable logic: the gateware library behind the ports of the processing system, and its clock.
//!
//! The clock is lazy. `cycle` is the number of the next PL cycle to run; cycle c begins at 8 ns *
//! c. When the logic is quiet and nothing is under way on a port, cycles are not run: the coarse
//! counter is loaded with the value it would have (`sim_tsc_load`), at most up to `sim_next_due`.
//! That is done when something comes to the logic, and not each time that somebody asks whether
//! anything has happened. The counter always equals the cycle number minus a constant, and this is
//! checked in every cycle that is run.

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
mod running;
mod skip;
pub mod sources;
mod tones;
pub mod trace;
pub mod wave;
mod wires;

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

/// Cycles always run after an input changed (synchronisers).
const SETTLE: u64 = 8;
/// The same after an event: the logic says itself that one is in its synchroniser.
const SETTLE_EVENT: u64 = 2;
/// The same after a word of a link: its own cycle, and the one in which that counts as movement.
const SETTLE_WORD: u64 = 2;
/// After a `sev`, the logic must begin to read within so many cycles, else it does not answer.
const RESPONSE_WINDOW: u64 = 64;

/// The gateware and everything about its ports.
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
    /// The cycles before this one are known to change nothing, and have not been skipped yet if
    /// `cycle` is behind.
    rested: u64,
    /// The cycle behind the newest read that the register bus alone has seen. Nothing comes to the
    /// logic before.
    read: u64,
    /// Cycle number minus coarse counter; known after the first cycle.
    offset: Option<u64>,
    /// Cycles that must be run before the next jump.
    settle: u64,
    /// Whether to jump at all.
    pub skip: bool,
    /// Each reset of the chip configures it anew, as where a loader boots.
    pub reloads: bool,
    /// Cycles run.
    pub clocked: u64,
    /// Cycles jumped over.
    pub skipped: u64,
    /// What happened at the pads.
    pub trace: Trace,
    /// EVENTEVENTI has toggled since this was last cleared; the cycle in which it did.
    pub event: Option<u64>,
    /// An interrupt has been raised since this was last cleared; the cycle in which it was.
    pub raised: Option<u64>,
    sev_cycle: u64,
    awaiting: bool,
    seen: (u64, u64),
    gp_cycles: u64,
    /// Times the counter was not what it should be.
    pub slips: u64,
    /// Cycles of the newest `sev`.
    submissions: VecDeque<u64>,
    /// How many there were.
    submitted: u64,
    /// Its links.
    ends: Vec<End>,
    /// When one of them is next plugged in, or pulled out.
    replug: u64,
    /// Of a link to the board above, whose time the counter takes over.
    follows: bool,
    /// Cycles that had to be run before the cores had come to them, for another board.
    pub ahead: u64,
    /// What is wired to its pads.
    pub outside: Option<Outside>,
    /// It is one of several boards.
    step: Option<Lockstep>,
    /// Then: nothing comes from others before this cycle, unless it does something that reaches them.
    agreed: u64,
    /// It has done something in this run that may reach others.
    touched: bool,
    /// Where in the kernel's library outputs come from.
    pub sources: Sources,
    /// Of DMA traces, if it has one.
    player: Option<Player>,
}

/// Number of `sev` whose cycles are kept.
const SUBMISSIONS: usize = 4096;

impl Pl {
    /// With the library fresh from reset, at time 0.
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

    /// What the library says about itself.
    pub fn info(&self) -> &library::Info {
        &self.library.info
    }

    /// The time at which the coarse counter was 0, as far as it is known.
    pub fn origin_ns(&self) -> Option<u64> {
        self.offset.map(|offset| offset.wrapping_mul(NS_PER_PL_CYCLE))
    }

    /// What the outputs of pulse cores have shown.
    pub fn shown(&self) -> library::Shown<'_> {
        self.library.shown()
    }

    /// Interrupts to the processing system.
    pub fn interrupts(&self) -> u16 {
        self.outputs.irq_f2p
    }

    fn idle(&self) -> bool {
        self.outputs.sim_quiet != 0 && self.settle == 0 && self.ports_idle()
    }

    /// Nothing is under way on a port.
    fn ports_idle(&self) -> bool {
        self.acp.idle() && self.hp.idle() && self.gp.idle() && self.window.idle()
    }

    /// When the answer that a core may be waiting for can come at the earliest, or memory be read
    /// for it; `None` if none is expected.
    pub fn answer(&self) -> Option<Cycles> {
        if !self.awaiting {
            return None;
        }
        if self.idle() {
            return self.next();
        }
        Some(time::from_pl(self.acp.next_effect(self.cycle)))
    }

    /// The cycle in which the logic has done what a core waits for: an event, or the answer to an access.
    fn waker(&self) -> Option<u64> {
        let answer = self.window.answer().map(|answer| answer.cycle);
        self.event.into_iter().chain(answer).chain(self.raised).min()
    }

    /// When it has raised an interrupt that nobody has been told of.
    pub fn interrupted(&self) -> Option<Cycles> {
        self.raised.map(|cycle| time::from_pl(cycle + 1))
    }

    /// When the logic has woken a core that has not been told.
    pub fn woke(&self) -> Option<Cycles> {
        self.waker().map(|cycle| time::from_pl(cycle + 1))
    }

    /// If the logic does something in its next cycles, not only at a known later time: the end of
    /// the next `cycles`.
    pub fn stretch(&self, cycles: u64) -> Option<Cycles> {
        let end = if self.idle() {
            // Of a late word, which is an error and told as one, time would wait in the past for ever
            self.arrival()?.max(self.cycle) + 1
        } else {
            self.cycle + cycles
        };
        Some(time::from_pl(end))
    }

    /// Begins at `now`, before its first cycle.
    fn start_at(&mut self, now: Cycles) {
        self.cycle = time::to_pl(now);
    }

    /// Configures the logic anew, at the cycle that it has reached. What is wired to it stays. The
    /// error is a line for the user.
    pub fn reload(&mut self, memory: &Memory) -> Result<(), String> {
        self.catch_up(memory);
        self.library.reset()?;
        self.outputs = Outputs::zero();
        if let Some(outside) = &mut self.outside {
            outside.begin_anew(&self.library.info);
        }
        self.acp = self.acp.anew();
        (self.hp, self.gp, self.window) = (Hp::default(), Gp::default(), Gp::default());
        (self.offset, self.settle) = (None, SETTLE);
        (self.event, self.raised) = (None, None);
        (self.awaiting, self.seen) = (false, (0, 0));
        Ok(())
    }

    /// When the logic next does something by itself: now if it is not quiet, else when something
    /// waits for its time.
    pub fn next(&self) -> Option<Cycles> {
        if !self.idle() {
            return Some(time::from_pl(self.cycle + 1));
        }
        match self.due().min(self.arrival().unwrap_or(u64::MAX)) {
            u64::MAX => None,
            due => Some(time::from_pl(due.max(self.cycle) + 1)),
        }
    }

    /// The cycle in which something that waits for its time is due.
    fn due(&self) -> u64 {
        let due = match (self.outputs.sim_next_due, self.offset) {
            (u64::MAX, _) | (_, None) => u64::MAX,
            (due, Some(offset)) => due.saturating_add(offset),
        };
        due.min(self.replug)
    }

    /// Runs one cycle with the ports.
    fn clock(&mut self, memory: &Memory) {
        self.deliver();
        self.look_outside();
        self.acp.drive(self.cycle, &mut self.inputs, memory);
        self.hp.drive(self.cycle, &mut self.inputs, memory);
        let (gp, window) = (self.gp.drive(), self.window.drive());
        self.inputs.set_gp0(gp);
        self.inputs.set_gp1(window);
        let before = self.told();
        self.library.cycle(&self.inputs, &mut self.outputs);
        self.acp.sample(self.cycle, &self.inputs, &self.outputs);
        self.hp.sample(self.cycle, &self.inputs, &self.outputs);
        self.gp.sample(self.cycle, gp, self.outputs.gp0());
        self.window.sample(self.cycle, window, self.outputs.gp1());
        self.inputs.link_rx_valid = 0;
        self.after(1, before);
    }

    /// EVENTEVENTI and the interrupts.
    fn told(&self) -> (u8, u16) {
        (self.outputs.event_i, self.outputs.irq_f2p)
    }

    /// Book-keeping after `n` cycles of which only the last may differ from the ones before.
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
        let mut heard = false;
        if let Some(outside) = &mut self.outside {
            heard = outside.see(events);
            if let Some(origin) = self.offset {
                heard |= outside.see_tones(|| self.library.shown(), origin);
            }
        }
        if self.outputs.sim_quiet != 0 {
            if let Some(outside) = &mut self.outside {
                heard |= outside.see_clocks(last, &self.outputs);
            }
            self.trace.expect(self.library.waves(&self.outputs), last);
        }
        if heard {
            self.touch();
        }
        self.send();
        if self.awaiting {
            let now = (self.acp.accepted, self.acp.written);
            // Several requests may be under way: answered is the newest when the logic has come to rest.
            let answered = now.1 > self.seen.1 && self.idle();
            let ignored = now.0 == self.seen.0 && self.cycle > self.sev_cycle + RESPONSE_WINDOW;
            self.awaiting = !answered && !ignored;
        }
    }

    /// What it does may reach other boards.
    fn touch(&mut self) {
        self.touched = true;
        self.agreed = 0;
    }

    /// Lets the bench drive its inputs in the next cycle.
    fn look_outside(&mut self) {
        if let Some(outside) = &mut self.outside {
            if outside.due(self.cycle) == self.cycle && outside.deliver(self.cycle, &mut self.inputs) {
                self.settle = SETTLE;
            }
        }
    }

    /// The first cycle that has to be run for what is wired to the pads.
    fn outside_due(&self) -> u64 {
        self.outside
            .as_ref()
            .map_or(u64::MAX, |outside| outside.due(self.cycle))
    }

    /// How many cycles may be run before what is wired to the outputs hears of them.
    fn outside_stretch(&self) -> u64 {
        self.outside.as_ref().map_or(u64::MAX, Outside::stretch)
    }

    /// When what is wired to the pads next does something: of interest to a core that waits for an input.
    pub fn outside_next(&self) -> Option<Cycles> {
        let cycle = self.outside.as_ref()?.next()?;
        Some(time::from_pl(cycle.max(self.cycle) + 1))
    }

    /// When the next of what it has begun is done: a run is not over before.
    pub fn outside_under_way(&self) -> Option<Cycles> {
        let cycle = self.outside.as_ref()?.under_way()?;
        Some(time::from_pl(cycle.max(self.cycle) + 1))
    }

    /// Whether clock generators run, which never end.
    pub fn runs_on(&self) -> bool {
        self.library.waves(&self.outputs).next().is_some()
    }

    /// Up to which time in ns the trace is complete.
    pub fn known_ns(&self) -> u64 {
        self.cycle * NS_PER_PL_CYCLE
    }

    /// Numbers of the first and of the next `sev` in the record, and the cycles of those from
    /// number `from` on.
    pub fn submissions(&self, from: u64) -> (u64, u64, impl Iterator<Item = u64> + '_) {
        let oldest = self.submitted - self.submissions.len() as u64;
        let first = from.clamp(oldest, self.submitted);
        let kept = self.submissions.iter().skip((first - oldest) as usize);
        (first, self.submitted, kept.copied())
    }

    /// A number that depends on every event at the pins, every `sev` that is kept, and the time.
    pub fn digest(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut h = DefaultHasher::new();
        (self.trace.digest(), self.submitted, &self.submissions, self.reached()).hash(&mut h);
        h.finish()
    }

    /// A core executed `sev` at `now`, having come from `caller`: EVENTEVENTO toggles.
    pub fn send_event(&mut self, now: Cycles, caller: Caller, memory: &Memory) {
        self.come_to(now, memory);
        if let Some(address) = self.acp.newest {
            self.sources.reads(address, memory);
        }
        self.sources.submitted(caller, memory);
        // The logic may be ahead of this core, for the other one. Two events must not fall into one
        // cycle, where they would be none.
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
