//! A channel's eight spline engines and two frames: from segments to parameters, cycle by cycle.
//!
//! A cycle consists of reading the engines' outputs ([`Channel::shown`], or [`Channel::fill`] for
//! many cycles), then [`Channel::finish`], which determines the next state from the heads of the
//! FIFOs and the trigger.

use super::frame::{self, Frame};
use super::{Config, FrameCommit, Queue, Segments, Status, Underrun};
use crate::{wrap, Segment, Spline};
use kairos_contracts::pulse::{self as facts, State, TONES};

/// Number of engines of a channel.
pub const PARAMETERS: usize = facts::PARAMETERS;
/// Index of the first frame's engine.
const FRAMES: usize = facts::Parameter::Z0 as usize;
/// First of the frequency and amplitude engines of each tone.
const FREQUENCIES: [usize; TONES] = [facts::Parameter::F0 as usize, facts::Parameter::F1 as usize];
const AMPLITUDES: [usize; TONES] = [facts::Parameter::A0 as usize, facts::Parameter::A1 as usize];
const ALL: u8 = u8::MAX;

/// Outputs of a channel's engines in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycle {
    /// Values of the parameters, 40 bits; for frames, the accumulated rotation including the
    /// running segment.
    pub values: [i64; PARAMETERS],
    /// Frames as applied to each tone.
    pub applied: [i64; TONES],
    /// The tone's phase is set to the global phase in this cycle.
    pub sync: [bool; TONES],
    /// Feed-forward is added to the tone's phase.
    pub feed_forward: [bool; TONES],
    /// Levels of the output-enable pins.
    pub enable: [bool; TONES],
    /// Levels of the general-purpose pins.
    pub gpo: [bool; TONES],
}

#[derive(Clone, Debug)]
struct Engine {
    fifo: Queue<Waiting>,
    /// Effect of the zero-length segments received since the last other one.
    skipped: Skipped,
    state: State,
    spline: Spline,
    /// Remaining cycles of the running segment, including this one.
    left: u64,
    flags: u8,
    /// Output while no segment runs.
    held: i64,
    /// Whether the running segment starts in this cycle.
    starts: bool,
    /// The spline in the last of a number of cycles ahead, as computed by [`Channel::fill`].
    ahead: Option<(u64, Spline)>,
}

/// Effect of zero-length segments on a frame.
#[derive(Clone, Copy, Debug, Default)]
struct Skipped {
    cleared: bool,
    rotation: i64,
}

/// A segment in a FIFO, with the effect of the zero-length ones before it, which is discarded with
/// it.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    segment: Segment,
    before: Skipped,
}

/// Engines and frames of a channel.
#[derive(Clone, Debug)]
pub struct Channel {
    engines: [Engine; PARAMETERS],
    frames: [Frame; 2],
    commit: FrameCommit,
    underrun: Underrun,
    misalign_limit: u64,
    /// Number of consecutive cycles in which some engines waited while others ran.
    apart: u64,
    /// A zero-length segment has been received.
    empty: bool,
}

impl Channel {
    /// Creates the channel in the state after a reset.
    pub fn new(config: &Config) -> Self {
        let engine = |_| Engine {
            fifo: Queue::new(config.segment_fifo),
            skipped: Skipped::default(),
            state: State::Idle,
            spline: Spline::default(),
            left: 0,
            flags: 0,
            held: 0,
            starts: false,
            ahead: None,
        };
        Self {
            engines: core::array::from_fn(engine),
            frames: Default::default(),
            commit: config.frame_commit,
            underrun: config.underrun,
            misalign_limit: config.misalign_limit,
            apart: 0,
            empty: false,
        }
    }

    fn named(&self, parameters: u8) -> impl Iterator<Item = usize> {
        (0..PARAMETERS).filter(move |p| parameters >> p & 1 != 0)
    }

    /// States of the engines.
    pub fn states(&self) -> [State; PARAMETERS] {
        core::array::from_fn(|p| self.engines[p].state)
    }

    /// Number of segments in each FIFO.
    pub fn queued(&self) -> [usize; PARAMETERS] {
        core::array::from_fn(|p| self.engines[p].fifo.len())
    }

    /// Whether every engine is waiting for the trigger.
    pub fn armed(&self) -> bool {
        self.engines.iter().all(|engine| engine.state == State::Armed)
    }

    /// Flags of the running segments, or of the last ones that ran.
    pub fn flags(&self) -> [u8; PARAMETERS] {
        core::array::from_fn(|p| self.engines[p].flags)
    }

    /// Tones whose phase is set to the global phase in this cycle.
    pub fn sync(&self) -> [bool; TONES] {
        FREQUENCIES.map(|p| self.engines[p].starts && self.engines[p].flags & facts::TONE_FLAG_SYNC != 0)
    }

    /// Outputs of the engines in this cycle.
    pub fn shown(&self) -> Cycle {
        let values = core::array::from_fn(|p| self.value(p));
        let flags = self.flags();
        let level = |of: [usize; TONES], flag| of.map(|p| flags[p] & flag != 0);
        let frame_flags = [flags[FRAMES], flags[FRAMES + 1]];
        Cycle {
            values,
            applied: core::array::from_fn(|t| frame::applied(t, [values[FRAMES], values[FRAMES + 1]], frame_flags)),
            sync: self.sync(),
            feed_forward: level(FREQUENCIES, facts::TONE_FLAG_FEED_FORWARD),
            enable: level(AMPLITUDES, facts::TONE_FLAG_ENABLE),
            gpo: level(AMPLITUDES, facts::TONE_FLAG_GPO),
        }
    }

    fn value(&self, p: usize) -> i64 {
        let engine = &self.engines[p];
        match (engine.state, p.checked_sub(FRAMES)) {
            (State::Run, None) => engine.spline.value(),
            (State::Run, Some(frame)) => self.frames[frame].shown(engine.spline.value(), engine.flags),
            _ => engine.held,
        }
    }

    /// The value of a parameter if it is constant for the next [`Channel::quiet`] cycles.
    pub fn constant(&self, p: usize) -> Option<i64> {
        let engine = &self.engines[p];
        (engine.state != State::Run || engine.spline.is_constant()).then(|| self.value(p))
    }

    /// Writes the values of parameter `p` from this cycle on, for at most [`Channel::quiet`]
    /// cycles. The channel is not advanced.
    pub fn fill(&mut self, p: usize, out: &mut [i64]) {
        let constant = self.constant(p);
        let (Some((last, before)), None) = (out.split_last_mut(), constant) else {
            return out.fill(constant.unwrap_or_default());
        };
        let engine = &mut self.engines[p];
        let mut spline = engine.spline;
        spline.fill(before);
        *last = spline.value();
        engine.ahead = Some((out.len() as u64, spline));
        let engine = &self.engines[p];
        if let Some(frame) = p.checked_sub(FRAMES) {
            for value in out {
                *value = self.frames[frame].shown(*value, engine.flags);
            }
        }
    }

    /// Number of cycles, including this one, in which only the splines' values change unless a
    /// trigger or segment arrives.
    pub fn quiet(&self) -> u64 {
        let mut cycles = u64::MAX;
        let (mut armed, mut running) = (false, false);
        for engine in &self.engines {
            match engine.state {
                State::Run => (running, cycles) = (true, cycles.min(engine.left)),
                State::Armed => armed = true,
                State::Idle | State::Fault if engine.fifo.is_empty() => {}
                State::Idle | State::Fault => cycles = 1,
            }
        }
        if armed && running && self.misalign_limit != 0 {
            cycles = cycles.min(self.misalign_limit + 1 - self.apart);
        }
        cycles
    }

    /// Ends `cycles` (1 to [`Channel::quiet`]) cycles. `trigger`: level of the trigger in the last
    /// one, whose number is `cycle`.
    pub fn finish(&mut self, cycles: u64, trigger: bool, status: &mut Status, channel: usize, cycle: u64) {
        let before = self.states();
        let ended = self.advance(cycles);
        if core::mem::take(&mut self.empty) {
            status.errors |= facts::ERROR_TAU0;
        }
        let all_wait = (0..PARAMETERS).all(|p| self.head_waits(p));
        let dry = mask(|p| ended >> p & 1 != 0 && self.engines[p].fifo.is_empty());
        if dry != 0 {
            status.underrun(channel, dry, cycle);
            self.stop(if dry == ALL { State::Idle } else { State::Fault });
            if dry != ALL {
                status.misaligned(channel, cycle);
            }
            return;
        }
        if self.are_apart(before, cycles) {
            status.misaligned(channel, cycle);
            return self.stop(State::Fault);
        }
        let all_have_heads = self.engines.iter().all(|engine| !engine.fifo.is_empty());
        for (p, state) in before.into_iter().enumerate() {
            match state {
                State::Run if ended >> p & 1 == 0 => {}
                State::Run if self.head_waits(p) => self.engines[p].state = State::Armed,
                State::Run => self.load(p),
                State::Armed if trigger => self.load(p),
                State::Idle if self.head_waits(p) => self.engines[p].state = State::Armed,
                State::Idle if all_have_heads => self.load(p),
                State::Fault if !self.head_waits(p) => drop(self.engines[p].fifo.pop()),
                _ => {}
            }
        }
        if before[0] == State::Fault && all_wait {
            self.engines.iter_mut().for_each(|engine| engine.state = State::Armed);
        }
    }

    /// Advances by a number of cycles. Returns the engines whose segments have ended.
    fn advance(&mut self, cycles: u64) -> u8 {
        let mut ended = 0;
        for (p, engine) in self.engines.iter_mut().enumerate() {
            engine.starts = false;
            if engine.state != State::Run {
                continue;
            }
            engine.left -= cycles;
            let constant = engine.spline.is_constant();
            match engine.ahead.take() {
                Some((found, spline)) if found == cycles => engine.spline = spline,
                _ if constant => {}
                _ => engine.spline.skip(cycles - 1),
            }
            let last = engine.spline.value();
            engine.spline.advance();
            let frame = p.checked_sub(FRAMES).map(|frame| &mut self.frames[frame]);
            engine.held = frame.as_ref().map_or(last, |frame| frame.shown(last, engine.flags));
            if engine.left == 0 {
                ended |= 1 << p;
                if let Some(frame) = frame {
                    frame.end(last, engine.spline.value(), constant, engine.flags, self.commit);
                }
            }
        }
        ended
    }

    fn head_waits(&self, p: usize) -> bool {
        let head = self.engines[p].fifo.head();
        head.is_some_and(|head| head.segment.waits())
    }

    fn load(&mut self, p: usize) {
        let engine = &mut self.engines[p];
        let Some(Waiting { segment, before }) = engine.fifo.pop() else {
            return;
        };
        engine.state = State::Run;
        engine.spline = Spline::new(&segment);
        engine.left = segment.tau;
        engine.flags = segment.flags;
        engine.starts = true;
        if let Some(frame) = p.checked_sub(FRAMES) {
            self.frames[frame].skip(before.cleared, before.rotation);
            self.frames[frame].start(segment.flags);
        }
    }

    /// Stops all engines after this cycle.
    fn stop(&mut self, state: State) {
        self.apart = 0;
        self.engines.iter_mut().for_each(|engine| engine.state = state);
        if self.underrun == Underrun::Mute {
            AMPLITUDES.iter().for_each(|&p| self.engines[p].held = 0);
        }
    }

    /// Whether some engines have waited too long while others run.
    fn are_apart(&mut self, before: [State; PARAMETERS], cycles: u64) -> bool {
        let apart = before.contains(&State::Armed) && before.contains(&State::Run);
        self.apart = if apart { self.apart + cycles } else { 0 };
        self.misalign_limit != 0 && self.apart > self.misalign_limit
    }
}

impl Segments for Channel {
    fn has_room(&self, parameters: u8) -> bool {
        self.named(parameters).all(|p| self.engines[p].fifo.has_room())
    }

    fn push(&mut self, parameters: u8, segment: Segment) {
        for p in self.named(parameters) {
            let engine = &mut self.engines[p];
            if segment.tau != 0 {
                let before = core::mem::take(&mut engine.skipped);
                engine.fifo.push(Waiting { segment, before });
                continue;
            }
            self.empty = true;
            let clears = segment.flags & facts::FRAME_FLAG_CLEAR != 0;
            let rotation = if clears { 0 } else { engine.skipped.rotation };
            engine.skipped.cleared |= clears;
            engine.skipped.rotation = wrap(rotation + segment.u[0], facts::VALUE_BITS);
        }
    }
}

fn mask(holds: impl Fn(usize) -> bool) -> u8 {
    (0..PARAMETERS).fold(0, |mask, p| mask | u8::from(holds(p)) << p)
}
