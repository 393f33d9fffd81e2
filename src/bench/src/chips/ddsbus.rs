//! AD9914 chips on a parallel bus with common address, data and strobe, and a select line per chip.
//! A frequency update reaches the selected chips, a reset all of them.

use serde::Deserialize;
use serde_json::{json, Value};

use super::ad9914::Ad9914;
use crate::assemble::outputs::OutputKinds;
use crate::model::{set_levels, Change, Model, Outbox};
use crate::numbers::Natural;
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings};
use crate::signal::{Ns, Signal, Tone};

/// Maximum number of chips on a bus.
pub const CHANNELS: usize = 8;
/// Names of the input lines.
pub const INPUTS: [&str; 35] = [
    "wr_n", "fud", "rst", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "d0", "d1", "d2", "d3", "d4", "d5", "d6",
    "d7", "d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15", "sel_n0", "sel_n1", "sel_n2", "sel_n3", "sel_n4",
    "sel_n5", "sel_n6", "sel_n7",
];
const STROBE: usize = 0;
const UPDATE: usize = 1;
const RESET: usize = 2;
const ADDRESS: usize = 3;
const DATA: usize = ADDRESS + 8;
const SELECT: usize = DATA + 16;

/// Options of a bus.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Number of chips.
    pub chips: usize,
    /// Their system clock in Hz; 0: none.
    pub clock: f64,
    /// Whether a signal is present at their SYNC_IN inputs.
    pub synchronised: bool,
}

/// The bus with its chips.
pub struct DdsBus {
    lines: [bool; INPUTS.len()],
    chips: Vec<Ad9914>,
    tones: Vec<Tone>,
    last: Ns,
    /// The strobe has been low: it is high when idle, so its first rising edge is that at power-up.
    strobed: bool,
    /// The warning that no chip is selected has been given.
    unselected: bool,
}

impl DdsBus {
    /// The state after power-up.
    pub fn new(options: Options) -> Self {
        let chip = |_| Ad9914::new(options.clock, options.synchronised);
        Self {
            lines: [false; INPUTS.len()],
            chips: (0..options.chips).map(chip).collect(),
            tones: vec![Tone::OFF; options.chips],
            last: 0,
            strobed: false,
            unselected: false,
        }
    }

    fn word(&self, first: usize, bits: usize) -> u32 {
        let lines = self.lines[first..first + bits].iter().rev();
        lines.fold(0, |word, line| word << 1 | u32::from(*line))
    }

    fn selected(&self) -> Vec<usize> {
        (0..self.chips.len()).filter(|n| !self.lines[SELECT + n]).collect()
    }

    /// Performs an operation on the selected chips.
    fn send(&mut self, what: &str, out: &mut Outbox, mut to: impl FnMut(&mut Ad9914) -> Vec<String>) {
        let selected = self.selected();
        if selected.is_empty() && !self.unselected {
            out.warn(format!(
                "{what} while no chip is selected: no chip receives it; check the channel of the AD9914, there are {}",
                self.chips.len()
            ));
        }
        self.unselected = selected.is_empty();
        for n in selected {
            out.warn_of(n, to(&mut self.chips[n]));
        }
    }

    /// Sends the tones of chips that have changed.
    fn sound(&mut self, at: Ns, out: &mut Outbox) {
        for n in 0..self.chips.len() {
            let tone = self.chips[n].tone(at);
            if !self.tones[n].goes_on(at - self.last, &tone) {
                out.send(n, Signal::Tone(tone));
            }
            self.tones[n] = tone;
        }
        self.last = at;
    }
}

impl Model for DdsBus {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let before = self.lines;
        set_levels(&mut self.lines, changes);
        let rises = |line: usize| !before[line] && self.lines[line];
        let [written, updated, reset] = [STROBE, UPDATE, RESET].map(rises);
        self.strobed |= before[STROBE] && !self.lines[STROBE];
        if written && self.strobed {
            let (address, word) = (self.word(ADDRESS, 8), self.word(DATA, 16));
            self.send("a write", out, |chip| chip.write(address, word).into_iter().collect());
        }
        if reset {
            self.chips.iter_mut().for_each(|chip| chip.reset(at));
        }
        if updated {
            self.send("an update", out, |chip| chip.update(at));
        }
        if updated || reset {
            self.sound(at, out);
        }
    }

    fn report(&self, _at: Ns) -> Value {
        let mut report = json!({ "card": "AD9914 bus" });
        for (n, chip) in self.chips.iter().enumerate() {
            report[format!("ch{n}")] = chip.report();
        }
        report
    }

    fn unfinished(&self) -> Vec<(Ns, String)> {
        let waiting = self.chips.iter().enumerate().map(|(n, chip)| (n, chip.waiting()));
        let warnings = waiting.filter(|(_, names)| !names.is_empty()).map(|(n, names)| {
            let names = names.join(", ");
            (
                self.last,
                format!("ch{n}: {names} written but not applied: no update (FUD) followed"),
            )
        });
        warnings.collect()
    }
}

/// A bus with AD9914 in a bench file. Missing values are those of the device database, or else
/// defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Section {
    /// Hz of the system clock of all chips, default 3 GHz; 0: none.
    clock_hz: Option<Natural>,
    /// Whether a signal is present at their SYNC_IN inputs.
    sync_in: Option<bool>,
}

impl BenchSection for Section {
    fn model(settings: &Settings<Self>) -> Result<CardModel, Rejected> {
        let chips = settings
            .card
            .lines
            .keys()
            .filter(|line| line.starts_with("sel_n"))
            .count();
        let options = Options {
            chips: chips.min(CHANNELS),
            clock: settings.get(|section| section.clock_hz).map_or(3e9, |clock| clock.0),
            synchronised: settings.in_file.and_then(|section| section.sync_in).unwrap_or(false),
        };
        Ok(CardModel::new(
            DdsBus::new(options),
            &INPUTS,
            OutputKinds::tones(options.chips),
        ))
    }
}
