//! The bench of a device of one or more boards: assembled from the device database and the command
//! line, and divided among the boards.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use kairos_bench::assemble::{assemble, Device, Wire};
use kairos_bench::cards::Card;
use kairos_bench::chips::shuttler::FIELDS;
use kairos_bench::engine::{Divided, Engine, Warning};
use kairos_bench::file::{self, Source};
use kairos_bench::pad::{Output as BenchOutput, Pad as BenchPad, Waveforms as BenchWaveforms};
use kairos_contracts::pulse::TONES;
use serde_json::{json, Map, Value};

use super::bench_pins::BenchPins;
use super::library::{Info, Pad};
use super::{tones, words};
use crate::machine::time::NS_PER_PL_CYCLE;

/// Bits 23..16 of a channel are the destination of its board.
pub const DESTINATION_SHIFT: u32 = 16;

/// Channels of a Shuttler or Songbird beside two for each output: settings and trigger.
const COMMON_CHANNELS: u16 = 2;

/// The bench to be wired to the pins.
#[derive(Default)]
pub struct Wiring {
    /// A bench file; without one, the bench consists of the chips of the cards.
    pub file: Option<PathBuf>,
    /// Cards from the device database.
    pub cards: Vec<Card>,
    /// Channels of the database's devices by name.
    pub names: BTreeMap<String, u32>,
    /// Additional wires.
    pub wires: Vec<Wire>,
}

/// A bench, as seen by the host; the boards have their [`BenchPins`].
pub struct Bench {
    engines: Vec<Rc<RefCell<Engine>>>,
    /// For each board, the index of its engine.
    of_board: Vec<usize>,
    plan: Value,
    /// Channels of pads, tones and words of Shuttlers and Songbirds.
    channels: BTreeMap<u16, u32>,
    /// Warnings of parts, with the index of their engine.
    warnings: Vec<(usize, Warning)>,
    /// Number of warnings taken from each engine.
    warnings_read: Vec<usize>,
}

impl Bench {
    /// Loads the bench of boards with this gateware, in the order of their destinations. Returns
    /// also each board's part of it: `None` where none of its pins leads to a part. The error is a
    /// one-line message for the user.
    pub fn load(wiring: &Wiring, boards: &[&Info]) -> Result<(Self, Vec<Option<BenchPins>>), String> {
        let file = wiring.file.as_deref();
        let name = file.map_or("the default bench".into(), |path| path.display().to_string());
        let text = match file {
            Some(path) => file::load(&name, path)?,
            None => String::new(),
        };
        let (mut pads, mut outputs, mut waveforms, mut starts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut next = 0;
        for (board, info) in boards.iter().enumerate() {
            starts.push(next);
            pads.extend(pads_of(board, next, info));
            outputs.extend(outputs_of(board, next, info));
            waveforms.extend(waveforms_of(board, next, info));
            next = words::numbers(info, next).end;
        }
        let source = Source {
            name: &name,
            text: &text,
        };
        let device = Device {
            pads: &pads,
            outputs: &outputs,
            waveforms: &waveforms,
            cards: &wiring.cards,
            names: &wiring.names,
        };
        let assembly = assemble(source, &device, &wiring.wires)?;
        let Divided { engines, of_board } = assembly.engine.divide(&starts);
        let engines: Vec<_> = engines
            .into_iter()
            .map(|engine| Rc::new(RefCell::new(engine)))
            .collect();
        let pins_of = |board: usize| {
            let engine = engines[of_board[board]].clone();
            if engine.borrow().is_empty() {
                return None;
            }
            let before = &of_board[..board];
            let number = before.iter().filter(|other| **other == of_board[board]).count();
            let own = pads.iter().filter(|pad| pad.board == board && pad.drives);
            let drives = own.map(|pad| pad.index).collect();
            Some(BenchPins::new(engine, number, starts[board], drives, boards[board]))
        };
        let pins = (0..boards.len()).map(pins_of).collect();
        let bench = Self {
            plan: assembly.plan,
            channels: channels_of(&pads, &outputs, &waveforms),
            warnings: Vec::new(),
            warnings_read: vec![0; engines.len()],
            engines,
            of_board,
        };
        Ok((bench, pins))
    }

    /// Whether parts connect the pins of two boards, which then must run in lockstep.
    pub fn joins(&self, one: usize, other: usize) -> bool {
        self.of_board[one] == self.of_board[other]
    }

    /// Whether a copy of this process would have a bench of its own: models in Python have processes, which would serve
    /// both.
    pub fn may_be_copied(&self) -> bool {
        let parts = self.plan["parts"].as_array();
        !parts.is_some_and(|parts| parts.iter().any(|part| part["kind"] == "python"))
    }

    /// Gives its parts the random numbers of a bench with this seed, from now on.
    pub fn reseed(&self, seed: u64) {
        for engine in &self.engines {
            engine.borrow_mut().reseed(seed);
        }
    }

    /// The reason of its failure, if it has failed.
    pub fn failure(&self) -> Option<String> {
        let mut engines = self.engines.iter();
        engines.find_map(|engine| engine.borrow().failure().map(String::from))
    }

    /// Its parts and wires.
    pub fn plan(&self) -> &Value {
        &self.plan
    }

    /// The state of its parts at `now`, and warnings from number `from` on: time, text, and the
    /// result of `source`, which looks up the last location in a kernel from which the part was reached, at that
    /// time, through one of these channels.
    pub fn report(&mut self, now: u64, from: usize, source: impl Fn(u64, &[u32]) -> Value) -> Value {
        self.forward_warnings();
        let warnings = self.warnings.get(from..).unwrap_or_default();
        let line = |engine: usize, warning: &Warning| {
            let engine = self.engines[engine].borrow();
            let pads = engine.pads_of(warning.part);
            let channels: Vec<u32> = pads.iter().filter_map(|pad| self.channels.get(pad).copied()).collect();
            json!([warning.at, warning.text, source(warning.at, &channels)])
        };
        let lines: Vec<Value> = warnings
            .iter()
            .map(|(engine, warning)| line(*engine, warning))
            .collect();
        let (mut parts, mut unfinished, mut changes) = (Map::new(), Vec::new(), 0);
        for (number, engine) in self.engines.iter().enumerate() {
            let engine = engine.borrow();
            parts.extend(engine.report(now).as_object().cloned().unwrap_or_default());
            unfinished.extend(engine.unfinished().iter().map(|warning| line(number, warning)));
            changes += engine.delivered();
        }
        json!({
            "parts": parts,
            "plan": self.plan,
            "warnings": lines,
            "unfinished": unfinished,
            "next": from + lines.len(),
            "changes": changes,
        })
    }

    /// Collects new warnings of the parts; those of several engines are merged in the order of
    /// time.
    fn forward_warnings(&mut self) {
        let known = self.warnings.len();
        for (number, (engine, warnings_read)) in self.engines.iter().zip(&mut self.warnings_read).enumerate() {
            let engine = engine.borrow();
            let new = engine.warnings(*warnings_read);
            *warnings_read += new.len();
            self.warnings
                .extend(new.iter().map(|warning| (number, warning.clone())));
        }
        if self.engines.len() > 1 {
            self.warnings[known..].sort_by_key(|(_, warning)| warning.at);
        }
    }

    fn of_part(&self, what: impl Fn(&Engine) -> Option<Value>) -> Option<Value> {
        self.engines.iter().find_map(|engine| what(&engine.borrow()))
    }

    /// All tones of an output of a part.
    pub fn tones(&self, part: &str, output: usize) -> Option<Value> {
        self.of_part(|engine| engine.tones(part, output))
    }

    /// All voltages of an output of a part.
    pub fn volts(&self, part: &str, output: usize) -> Option<Value> {
        self.of_part(|engine| engine.volts(part, output))
    }

    /// All numbers of an output of a part: photons, a population or a voltage.
    pub fn numbers(&self, part: &str, output: usize) -> Option<Value> {
        self.of_part(|engine| engine.numbers(part, output))
    }

    /// All edges driven onto input pins: [time in ns, pad, level], in the order of time.
    pub fn driven(&self) -> Value {
        let mut edges: Vec<_> = Vec::new();
        for engine in &self.engines {
            edges.extend_from_slice(engine.borrow().driven());
        }
        if self.engines.len() > 1 {
            edges.sort_by_key(|edge| edge.at);
        }
        let rows = edges
            .iter()
            .map(|edge| json!([edge.at, edge.pad, u8::from(edge.level)]));
        rows.collect()
    }
}

/// Channels by the number of a pad, a tone or a word.
fn channels_of(pads: &[BenchPad], outputs: &[BenchOutput], waveforms: &[BenchWaveforms]) -> BTreeMap<u16, u32> {
    let pads = pads.iter().map(|pad| (pad.index, pad.channel));
    let tones = outputs
        .iter()
        .flat_map(|output| (0..TONES as u16).map(|tone| (output.tones + tone, output.channel)));
    // Every channel of such a card, which follow that of its settings, may be what acts on a word.
    let words = waveforms.iter().flat_map(|card| {
        // The tones of a Phaser as a satellite follow its controls
        let tones = card.parameters.get("tones").map(|tones| 1 + 2 * *tones as u16);
        let channels = tones.unwrap_or(COMMON_CHANNELS + 2 * card.outputs);
        (0..FIELDS as u16 * card.outputs)
            .map(move |word| (card.words + word, card.channel + u32::from(word % channels)))
    });
    pads.chain(tones).chain(words).collect()
}

/// A board's Shuttlers and Songbirds. Their words are numbered after its tones; its pads begin with `first`.
fn waveforms_of(board: usize, first: u16, info: &Info) -> impl Iterator<Item = BenchWaveforms> + '_ {
    let mut next = words::numbers(info, first).start;
    info.waveforms.iter().map(move |card| {
        let words = next;
        next += FIELDS as u16 * card.outputs;
        BenchWaveforms {
            board,
            kind: card.kind.clone(),
            channel: card.channel | (board as u32) << DESTINATION_SHIFT,
            name: card.name.clone(),
            words,
            outputs: card.outputs,
            parameters: card.parameters.clone(),
        }
    })
}

/// The outputs of a board's pulse cores. Their tones are numbered after its pads, which begin with
/// `first`.
fn outputs_of(board: usize, first: u16, info: &Info) -> impl Iterator<Item = BenchOutput> + '_ {
    let tones = tones::numbers(info, first).step_by(TONES);
    info.outputs.iter().zip(tones).map(move |(output, tones)| BenchOutput {
        board,
        channel: output.channel | (board as u32) << DESTINATION_SHIFT,
        core: output.name.clone(),
        number: output.output,
        tones,
        sample_hz: f64::from(info.samples_per_cycle) * 1e9 / NS_PER_PL_CYCLE as f64,
    })
}

/// The pins of a board whose pads are numbered from `first` on.
fn pads_of(board: usize, first: u16, info: &Info) -> impl Iterator<Item = BenchPad> + '_ {
    let is_wave = |pad: &Pad| info.waves.iter().any(|wave| usize::from(wave.pad) == pad.index);
    info.pads.iter().map(move |pad| BenchPad {
        index: first + pad.index as u16,
        board,
        channel: pad.channel | (board as u32) << DESTINATION_SHIFT,
        name: pad.name.clone(),
        // Edges of clock generators are calculated, not simulated
        drives: pad.direction != "in" && !is_wave(pad),
        reads: pad.direction != "out",
    })
}
