//! The Shuttler card: 16 outputs with a DAC and a relay each, and an ADC.
//!
//! The waveforms arrive as the words that the gateware shows for each output, after the latency of
//! its logic. Relays and ADC are on SPI buses; both selects are active low. The connections between
//! outputs and inputs of the ADC are not published, so the bench file specifies the input voltages.

use kairos_contracts::chips::shuttler as chip;
use serde::Deserialize;
use serde_json::{json, Value};
use toml::Spanned;

use self::output::Output;
use super::ad4115::Ad4115;
use super::shift::Shift;
use crate::assemble::outputs::{Kind, OutputKinds};
use crate::model::{set_levels, Change, Model, Outbox};
use crate::numbers::Finite;
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings};
use crate::signal::{Ns, Signal};

mod output;
mod waveform;

pub use self::output::cosine;
pub use self::waveform::binomials;
pub use super::ad4115::INPUTS as ADC_INPUTS;

/// Names of the input lines.
pub const INPUTS: [&str; 6] = ["relay_clk", "relay_mosi", "relay_cs0", "adc_clk", "adc_mosi", "adc_cs0"];
const RELAY: usize = 0;
const ADC: usize = 3;
/// Lines within a bus.
const CLK: usize = 0;
const MOSI: usize = 1;
const CS: usize = 2;
/// Number of outputs.
pub const OUTPUTS: usize = chip::OUTPUTS as usize;
/// Words of an output: four coefficients each of level and amplitude, three of the phase, and the
/// settings with the number of triggers.
pub const FIELDS: usize = 12;
/// Number of words, which are the inputs after the lines, ordered by output.
pub const WORDS: usize = OUTPUTS * FIELDS;
/// The first tone, and the first voltage, among the outputs of the model.
const TONES: usize = 0;
const VOLTS: usize = OUTPUTS;
/// Names of the output lines.
pub const ANSWERS: [&str; 1] = ["adc_miso"];
const MISO: usize = 2 * OUTPUTS;

/// Options of the card.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Volts at the inputs of the ADC.
    pub adc_volts: [f64; ADC_INPUTS],
    /// Whether the device has the bus of the relays; without it they are closed.
    pub relays: bool,
    /// Time between renewals of a changing output, a multiple of the sampling interval of 8 ns.
    pub update: Ns,
}

/// The card.
pub struct Shuttler {
    outputs: [Output; OUTPUTS],
    update: Ns,
    lines: [bool; INPUTS.len()],
    shift: Shift,
    adc: Ad4115,
    miso: bool,
}

impl Shuttler {
    /// The state after power-up: all relays open.
    pub fn new(options: Options) -> Self {
        Self {
            outputs: std::array::from_fn(|number| Output::new(number, !options.relays)),
            update: options.update,
            lines: [false; INPUTS.len()],
            shift: Shift::default(),
            adc: Ad4115::new(options.adc_volts),
            miso: false,
        }
    }

    fn relay_bus(&mut self, at: Ns, before: &[bool], now: &[bool], out: &mut Outbox) {
        if !before[CLK] && now[CLK] && !now[CS] {
            self.shift.take(now[MOSI]);
        }
        match (before[CS], now[CS]) {
            (true, false) => self.shift = Shift::default(),
            (false, true) if self.shift.count == chip::OUTPUTS => self.switch(at, self.shift.bits, out),
            (false, true) if self.shift.count > 0 => {
                let count = self.shift.count;
                out.warn(format!(
                    "relays: a message of {count} bits instead of {OUTPUTS}: ignored"
                ));
            }
            _ => {}
        }
    }

    fn switch(&mut self, at: Ns, relays: u64, out: &mut Outbox) {
        for (number, output) in self.outputs.iter_mut().enumerate() {
            let closed = relays >> number & 1 != 0;
            if closed != output.closed {
                output.closed = closed;
                output.renew(at, self.update, out);
            }
        }
    }

    /// Handles new words of the outputs.
    fn show(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let words = || {
            changes.iter().filter_map(|(input, signal)| match signal {
                Signal::Word(word) => Some((input.checked_sub(INPUTS.len())?, *word)),
                _ => None,
            })
        };
        for (number, output) in self.outputs.iter_mut().enumerate() {
            let of_it = |word_number: &usize| word_number / FIELDS == number;
            if words().any(|(word_number, _)| of_it(&word_number)) {
                let own = words().filter(|(word_number, _)| of_it(word_number));
                output.take(at, own.map(|(word_number, word)| (word_number % FIELDS, word)));
                output.renew(at, self.update, out);
            }
        }
    }

    fn adc_bus(&mut self, at: Ns, before: &[bool], now: &[bool], out: &mut Outbox) {
        let warnings = match (before[CS], now[CS]) {
            (true, false) => {
                self.adc.begin();
                None
            }
            (false, true) => self.adc.end(),
            _ => None,
        };
        out.warnings.extend(warnings);
        match (before[CLK], now[CLK]) {
            (false, true) if !now[CS] => out.warnings.extend(self.adc.rise(at, now[MOSI])),
            (true, false) if !now[CS] => {
                let miso = self.adc.fall().unwrap_or(false);
                if miso != self.miso {
                    self.miso = miso;
                    out.send(MISO, Signal::Level(miso));
                }
            }
            _ => {}
        }
    }
}

impl Model for Shuttler {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let before = self.lines;
        set_levels(&mut self.lines, changes);
        let now = self.lines;
        if before[RELAY..ADC] != now[RELAY..ADC] {
            self.relay_bus(at, &before[RELAY..ADC], &now[RELAY..ADC], out);
        }
        if before[ADC..] != now[ADC..] {
            self.adc_bus(at, &before[ADC..], &now[ADC..], out);
        }
        self.show(at, changes, out);
    }

    fn next(&self) -> Option<Ns> {
        self.outputs.iter().filter_map(|output| output.next).min()
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        for output in self.outputs.iter_mut().filter(|output| output.next == Some(at)) {
            output.renew(at, self.update, out);
        }
    }

    fn report(&self, _at: Ns) -> Value {
        let closed = |(number, output): (usize, &Output)| u32::from(output.closed) << number;
        let relays: u32 = self.outputs.iter().enumerate().map(closed).sum();
        let mut report = json!({
            "card": "Shuttler",
            "relays": relays,
            "adc": self.adc.report(),
            "registers": { "RELAYS": relays },
        });
        for (number, output) in self.outputs.iter().enumerate() {
            report[format!("ch{number}")] = output.report();
        }
        report
    }
}

/// A Shuttler in a bench file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Section {
    /// Volts at the ADC's VIN0, VIN1 and so on, up to 16 of them; default 0.
    adc_volts: Option<Spanned<Vec<Finite>>>,
    /// Time between renewals of a changing output; default 1000.
    update_ns: Option<Spanned<u32>>,
}

impl Section {
    fn adc_volts(&self) -> Result<[f64; ADC_INPUTS], Rejected> {
        let mut volts = [0.0; ADC_INPUTS];
        if let Some(setting) = &self.adc_volts {
            if setting.get_ref().len() > volts.len() {
                return Err((setting.span(), "the ADC of a Shuttler has 16 inputs".into()));
            }
            for (input, volt) in volts.iter_mut().zip(setting.get_ref()) {
                *input = volt.0;
            }
        }
        Ok(volts)
    }
}

/// The time between renewals that a bench file gives, by default 1000 ns.
pub fn update(setting: Option<&Spanned<u32>>) -> Result<Ns, Rejected> {
    let Some(setting) = setting else {
        return Ok(1000);
    };
    let update = *setting.get_ref();
    if update == 0 || update % 8 != 0 {
        let text = format!("{update} ns is invalid: it must be a multiple of 8 ns, a cycle of the RTIO clock");
        return Err((setting.span(), text));
    }
    Ok(update.into())
}

impl BenchSection for Section {
    fn model(settings: &Settings<Self>) -> Result<CardModel, Rejected> {
        let section = settings.in_file.unwrap_or(&settings.in_database);
        let options = Options {
            adc_volts: section.adc_volts()?,
            relays: settings.has(INPUTS[0]),
            update: update(section.update_ns.as_ref())?,
        };
        let mut outputs = OutputKinds::default();
        for output in 0..OUTPUTS {
            outputs.add(&format!("tone{output}"), Kind::Tone);
            outputs.add(&format!("ch{output}"), Kind::Volts);
        }
        let card = CardModel::new(Shuttler::new(options), &INPUTS, outputs).answering(&ANSWERS);
        Ok(CardModel { words: WORDS, ..card })
    }
}

#[cfg(test)]
#[path = "shuttler_tests.rs"]
mod tests;
