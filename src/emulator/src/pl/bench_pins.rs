//! The connection of the pads to a bench, which receives every change of a pad with its time and
//! drives inputs at exact times.
//!
//! The logic is run cycle by cycle where the bench acts, and may skip time where it does not.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use kairos_bench::engine::Engine;
use kairos_bench::signal::Square;

use super::event::Event;
use super::library::{Info, Inputs, Outputs, Shown, WaveInfo};
use super::tones::{self, Tones};
use super::wave::Wave;
use super::words::{self, Words};
use crate::machine::time::NS_PER_PL_CYCLE;

/// A bench at the pads of a board's logic.
pub struct BenchPins {
    /// Shared with other boards if the bench connects them.
    engine: Rc<RefCell<Engine>>,
    /// Number of this board in the engine.
    board: usize,
    /// Engine number of the board's first pad.
    first: u16,
    /// Pads driven by a part that the device can drive too: the part, and whether the conflict has
    /// been reported.
    shared: BTreeMap<u16, (usize, bool)>,
    /// Pads that change within the cycle, and their value from the next one on.
    steady: Vec<(usize, u8)>,
    /// The tones of pulse cores.
    tones: Option<Tones>,
    /// The words of Shuttlers and Songbirds.
    words: Option<Words>,
    /// Clock generators with a part wired to them, and the last wave reported of each.
    clocks: Vec<(WaveInfo, Option<Wave>)>,
    /// The cards' power, if the board can switch it.
    power: Option<Power>,
}

/// Power of the cards: without it, no part receives anything.
struct Power {
    on: bool,
    /// Levels of pins that parts would have received meanwhile.
    levels: BTreeMap<u16, bool>,
}

/// Boards that switch the power of their cards on.
const SWITCH_POWER: [&str; 1] = ["kasli_soc;v1.2"];

impl BenchPins {
    /// Connects an engine to the pads of this gateware. `drives`: pads that the device may drive.
    /// The engine numbers the pads from `first` on, and the board as `board`.
    pub fn new(engine: Rc<RefCell<Engine>>, board: usize, first: u16, drives: BTreeSet<u16>, info: &Info) -> Self {
        let connected = engine.borrow();
        let drivers = connected.drivers().into_iter().filter(|(pad, _)| drives.contains(pad));
        let shared = drivers.map(|(pad, part)| (pad, (part, false))).collect();
        let watched = info.waves.iter().filter(|wave| connected.watches(first + wave.pad));
        let clocks = watched.map(|wave| (wave.clone(), None)).collect();
        let tones = tones::numbers(info, first).any(|number| connected.watches(number));
        let words = words::numbers(info, first).any(|number| connected.watches(number));
        drop(connected);
        Self {
            tones: tones.then(|| Tones::new(info, first)),
            words: words.then(|| Words::new(info, first)),
            engine,
            board,
            first,
            shared,
            steady: Vec::new(),
            clocks,
            power: SWITCH_POWER.contains(&info.board.as_str()).then(|| Power {
                on: false,
                levels: BTreeMap::new(),
            }),
        }
    }

    /// The first cycle from `cycle` on that has to be run for the bench.
    pub fn due(&self, cycle: u64) -> u64 {
        if !self.steady.is_empty() {
            return cycle;
        }
        self.next().unwrap_or(u64::MAX).max(cycle)
    }

    /// The cycle in which the bench next acts.
    pub fn next(&self) -> Option<u64> {
        let engine = self.engine.borrow();
        let known = engine.edge_due(self.board);
        let next = engine.next().into_iter().chain(known).min();
        next.map(|at| at / NS_PER_PL_CYCLE)
    }

    /// The cycle in which the next activity in progress at the bench ends.
    pub fn under_way(&self) -> Option<u64> {
        self.engine.borrow().under_way().map(|at| at / NS_PER_PL_CYCLE)
    }

    /// Applies the bench's edges in a cycle to the inputs. Returns whether an input changes.
    pub fn deliver(&mut self, cycle: u64, inputs: &mut Inputs) -> bool {
        let mut changes = !self.steady.is_empty();
        for (pad, level) in self.steady.drain(..) {
            inputs.pads_i[pad] = level;
        }
        let end = (cycle + 1) * NS_PER_PL_CYCLE;
        let mut engine = self.engine.borrow_mut();
        engine.run(end);
        while let Some(edge) = engine.edge(self.board, end) {
            let pad = usize::from(edge.pad - self.first);
            let bit = (edge.at % NS_PER_PL_CYCLE) as u32;
            let level = if edge.level { 0xff } else { 0 };
            let before = inputs.pads_i[pad];
            inputs.pads_i[pad] = before & !(0xff << bit) | level & 0xff << bit;
            if inputs.pads_i[pad] != level {
                self.steady.retain(|steady| steady.0 != pad);
                self.steady.push((pad, level));
            }
            changes |= before != inputs.pads_i[pad];
        }
        changes
    }

    /// Whether the power of the cards has to be switched to this state.
    pub fn needs_power(&self, on: bool) -> bool {
        self.power.as_ref().is_some_and(|power| power.on != on)
    }

    /// Switches the power of the cards: on, the parts find the levels that their pins have.
    pub fn set_power(&mut self, on: bool, at: u64) {
        let Some(power) = &mut self.power else { return };
        power.on = on;
        let mut engine = self.engine.borrow_mut();
        for (pad, level) in std::mem::take(&mut power.levels) {
            engine.pin(at, pad, level);
        }
    }

    /// Passes changes of the pads to the bench. Returns whether a part received any.
    pub fn observe_pads(&mut self, events: &[Event]) -> bool {
        let mut received = false;
        for event in events {
            let pad = self.first + event.pad;
            let mut engine = self.engine.borrow_mut();
            let shared = self
                .shared
                .get_mut(&pad)
                .filter(|(_, warned)| event.level.is_some() && !warned);
            if let Some((part, warned)) = shared {
                // The device and a part both drive the pin
                *warned = true;
                let text =
                    "the device drives the pin that it drives: an output of one of them is an input of the other";
                engine.warn(*part, event.time_ns, text);
            }
            let is_clock = self.clocks.iter().any(|clock| clock.0.pad == event.pad);
            if engine.watches(pad) && !is_clock {
                let level = event.level == Some(true);
                match &mut self.power {
                    Some(power) if !power.on => {
                        power.levels.insert(pad, level);
                    }
                    _ => {
                        engine.pin(event.time_ns, pad, level);
                        received = true;
                    }
                }
            }
        }
        received
    }

    /// Number of cycles that the logic may be run before the recording must be passed to the bench.
    pub fn stretch(&self) -> u64 {
        let tones = self.tones.as_ref().map_or(u64::MAX, |_| tones::AHEAD);
        let words = self.words.as_ref().map_or(u64::MAX, |_| words::AHEAD);
        tones.min(words)
    }

    /// Passes new output of pulse cores, Shuttlers and Songbirds to the bench, if a part is wired to them.
    /// `origin`: the cycle in which the coarse counter was 0. Returns whether there was any.
    pub fn observe_outputs<'a>(&mut self, shown: impl FnOnce() -> Shown<'a>, origin: u64) -> bool {
        if self.tones.is_none() && self.words.is_none() {
            return false;
        }
        let (shown, mut engine) = (shown(), self.engine.borrow_mut());
        let tones = self.tones.as_mut();
        let tones = tones.is_some_and(|tones| tones.observe(&shown, origin, &mut engine));
        let words = self.words.as_mut();
        words.is_some_and(|words| words.observe(&shown, origin, &mut engine)) || tones
    }

    /// Restarts the recording after the logic has been reconfigured at cycle `cycle`.
    pub fn restart(&mut self, info: &Info, cycle: u64) {
        if let Some(tones) = &mut self.tones {
            *tones = Tones::new(info, self.first);
        }
        if let Some(words) = &mut self.words {
            words.restart(cycle, &mut self.engine.borrow_mut());
        }
    }

    /// Passes changed waves of clock generators, as of a quiet cycle that has been run, to the
    /// bench. Returns whether there were any.
    pub fn observe_clocks(&mut self, cycle: u64, outputs: &Outputs) -> bool {
        let mut received = false;
        for (info, known) in &mut self.clocks {
            let wave = info.wave(outputs).map(|wave| wave.at_cycle(0, cycle));
            if wave != *known {
                *known = wave;
                let at = cycle * NS_PER_PL_CYCLE;
                let pad = self.first + info.pad;
                let wave = wave.map(|wave| square(&wave, at));
                self.engine.borrow_mut().clock(at, pad, wave);
                received = true;
            }
        }
        received
    }
}

/// Frequency in Hz, and a rising edge from `from` on, of a wave as of cycle 0.
fn square(wave: &Wave, from: u64) -> Square {
    let period = NS_PER_PL_CYCLE as f64 * 2.0 * wave.half as f64 / wave.word as f64;
    let cycle = from / NS_PER_PL_CYCLE;
    let edge = wave.rises(cycle);
    Square {
        hz: 1e9 / period,
        edge: edge * NS_PER_PL_CYCLE,
    }
}
