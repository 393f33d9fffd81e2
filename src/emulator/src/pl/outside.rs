//! What is wired to the pads: a bench, which sees every change of a pad at its time and drives inputs at exact times.
//!
//! The logic is run cycle by cycle where the bench does something, and is not kept from skipping time where it does not.

use std::collections::BTreeMap;
use std::path::Path;

use kairos_bench::assemble::{assemble, Wire};
use kairos_bench::cards::Card;
use kairos_bench::engine::{Engine, Warning};
use kairos_bench::file::Source;
use kairos_bench::pad::Pad as BenchPad;
use kairos_bench::signal::Square;
use serde_json::{json, Value};

use super::event::Event;
use super::library::{Info, Inputs, Outputs, Pad, WaveInfo};
use super::wave::Wave;
use crate::machine::time::NS_PER_PL_CYCLE;

/// A bench at the pads of a board's logic.
pub struct Outside {
    engine: Engine,
    plan: Value,
    /// Channels of pads.
    channels: BTreeMap<u16, u32>,
    /// Pads that a part drives and the device could drive too, the part, and whether that has been told.
    shared: BTreeMap<u16, (usize, bool)>,
    /// Pads that have changed within a cycle, and what they are from the next one on.
    steady: Vec<(usize, u8)>,
    /// Clock generators that something is wired to, and the wave of each that it was told of.
    clocks: Vec<(WaveInfo, Option<Wave>)>,
}

impl Outside {
    /// The bench of a file, at the pads of this gateware, or without a file the cards that it is made for. `cards`: what the
    /// device database says of them. `wires`: what there is besides. The error is a line for the user.
    pub fn load(path: Option<&Path>, cards: &[Card], wires: &[Wire], info: &Info) -> Result<Self, String> {
        let name = path.map_or("the default bench".into(), |path| path.display().to_string());
        let text = match path {
            Some(path) => std::fs::read_to_string(path).map_err(|e| format!("bench {name}: {e}"))?,
            None => String::new(),
        };
        let is_wave = |pad: &Pad| info.waves.iter().any(|wave| usize::from(wave.pad) == pad.index);
        let pads = info.pads.iter().map(|pad| BenchPad {
            index: pad.index as u16,
            channel: pad.channel,
            name: pad.name.clone(),
            // Edges of clock generators are calculated, not run
            drives: pad.direction != "in" && !is_wave(pad),
            reads: pad.direction != "out",
        });
        let pads: Vec<BenchPad> = pads.collect();
        let source = Source {
            name: &name,
            text: &text,
        };
        let assembly = assemble(source, &pads, cards, wires)?;
        let both = |pad: &u16| pads.iter().any(|one| one.index == *pad && one.drives);
        let drivers = assembly.engine.drivers().into_iter();
        let shared = drivers
            .filter(|(pad, _)| both(pad))
            .map(|(pad, part)| (pad, (part, false)));
        let watched = info.waves.iter().filter(|wave| assembly.engine.watches(wave.pad));
        let clocks = watched.map(|wave| (wave.clone(), None)).collect();
        Ok(Self {
            shared: shared.collect(),
            engine: assembly.engine,
            plan: assembly.plan,
            channels: info.pads.iter().map(|pad| (pad.index as u16, pad.channel)).collect(),
            steady: Vec::new(),
            clocks,
        })
    }

    /// The first cycle from `cycle` on that has to be run for it.
    pub fn due(&self, cycle: u64) -> u64 {
        if !self.steady.is_empty() {
            return cycle;
        }
        self.next().unwrap_or(u64::MAX).max(cycle)
    }

    /// The cycle in which it next does something.
    pub fn next(&self) -> Option<u64> {
        self.engine.next().map(|at| at / NS_PER_PL_CYCLE)
    }

    /// The cycle in which the next of what it has begun is done.
    pub fn under_way(&self) -> Option<u64> {
        self.engine.under_way().map(|at| at / NS_PER_PL_CYCLE)
    }

    /// Puts what it does in a cycle on the inputs. Returns whether one changes.
    pub fn deliver(&mut self, cycle: u64, inputs: &mut Inputs) -> bool {
        let mut changes = !self.steady.is_empty();
        for (pad, level) in self.steady.drain(..) {
            inputs.pads_i[pad] = level;
        }
        let end = (cycle + 1) * NS_PER_PL_CYCLE;
        self.engine.run(end);
        while let Some(edge) = self.engine.edge(end) {
            let pad = usize::from(edge.pad);
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

    /// What has changed at the pads.
    pub fn see(&mut self, events: &[Event]) {
        for event in events {
            if event.level.is_some() {
                self.tell_conflict(event);
            }
            let is_clock = self.clocks.iter().any(|clock| clock.0.pad == event.pad);
            if self.engine.watches(event.pad) && !is_clock {
                self.engine.pin(event.time_ns, event.pad, event.level == Some(true));
            }
        }
    }

    /// The device drives a pin: a part must not.
    fn tell_conflict(&mut self, event: &Event) {
        if let Some((part, told)) = self.shared.get_mut(&event.pad).filter(|(_, told)| !told) {
            *told = true;
            let text = "the device drives the pin that it drives: an output of one of them is an input of the other";
            self.engine.warn(*part, event.time_ns, text.into());
        }
    }

    /// Clock generators, as they are in a quiet cycle that has been run: of one that is as before nothing is told.
    pub fn see_clocks(&mut self, cycle: u64, outputs: &Outputs) {
        for (info, known) in &mut self.clocks {
            let wave = info.wave(outputs).map(|wave| wave.at_cycle(0, cycle));
            if wave != *known {
                *known = wave;
                let at = cycle * NS_PER_PL_CYCLE;
                self.engine.clock(at, info.pad, wave.map(|wave| square(&wave, at)));
            }
        }
    }

    /// Why it has ended, if it has.
    pub fn failure(&self) -> Option<&str> {
        self.engine.failure()
    }

    /// Its parts and wires.
    pub fn plan(&self) -> &Value {
        &self.plan
    }

    /// What its parts say of themselves at `now`, and warnings from number `from` on: time, text, and what `source` knows of
    /// the place in the kernel that was the last, at that time, to reach the part through one of these channels.
    pub fn report(&self, now: u64, from: usize, source: impl Fn(u64, &[u32]) -> Value) -> Value {
        let warnings = self.engine.warnings(from);
        let line = |warning: &Warning| {
            let pads = self.engine.pads_of(warning.part);
            let channels: Vec<u32> = pads.filter_map(|pad| self.channels.get(&pad).copied()).collect();
            json!([warning.at, warning.text, source(warning.at, &channels)])
        };
        let lines: Vec<Value> = warnings.iter().map(line).collect();
        let unfinished: Vec<Value> = self.engine.unfinished().iter().map(line).collect();
        json!({
            "parts": self.engine.report(now),
            "plan": self.plan,
            "warnings": lines,
            "unfinished": unfinished,
            "next": from + warnings.len(),
            "changes": self.engine.told,
        })
    }

    /// The tones of an output of a part, from the first on.
    pub fn tones(&self, part: &str, output: usize) -> Option<Value> {
        self.engine.tones(part, output)
    }

    /// The voltages of an output of a part, from the first on.
    pub fn volts(&self, part: &str, output: usize) -> Option<Value> {
        self.engine.volts(part, output)
    }

    /// The numbers of an output of a part, from the first on: photons, a population or a voltage.
    pub fn numbers(&self, part: &str, output: usize) -> Option<Value> {
        self.engine.numbers(part, output)
    }

    /// What it has done to input pins.
    pub fn driven(&self) -> Value {
        self.engine.driven()
    }
}

/// A wave as it was in cycle 0, for whoever wants its frequency in Hz and a rising edge from `from` on.
fn square(wave: &Wave, from: u64) -> Square {
    let period = NS_PER_PL_CYCLE as f64 * 2.0 * wave.half as f64 / wave.word as f64;
    let cycle = from / NS_PER_PL_CYCLE;
    let edge = wave.rises(cycle);
    Square {
        hz: 1e9 / period,
        edge: edge * NS_PER_PL_CYCLE,
    }
}
