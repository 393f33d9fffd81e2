//! The Novogorny card: eight inputs with amplifiers whose gains are set by a shift register, and an
//! ADC (LTC2335-16) that converts them in sequence, according to its sequencer's table of control
//! words. ADC and amplifiers share a bus, with active-low selects.
//!
//! The table can be reloaded each time the ADC is selected: the first valid control word replaces
//! the table, further ones are appended, and an invalid one ends loading. The next conversion uses
//! the table's first word. The settling time of the multiplexer is not modelled.

use kairos_contracts::chips::novogorny::{adc_control, result, ADC_CONTROL, CHANNELS, RESULT, SEQUENCE, SPANS};
use serde_json::{json, Value};

use super::measuring::{set_volts, Amplifiers, Conversions, Times};
use super::shift::{Sent, Shift, UnselectedMessage};
use crate::assemble::outputs::OutputKinds;
use crate::file::section_with_inputs;
use crate::model::{set_levels, Change, Model, Outbox};
use crate::numbers::Positive;
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings};
use crate::signal::{Ns, Signal};

/// Channels of the card.
pub const INPUTS_OF_CARD: usize = CHANNELS as usize;
/// Names of the input lines; the voltages follow them.
pub const INPUTS: [&str; 5] = ["adc_clk", "adc_mosi", "adc_cs0", "adc_cs1", "cnv"];
/// Names of the output lines.
pub const ANSWERS: [&str; 1] = ["adc_miso"];
const CLK: usize = 0;
const MOSI: usize = 1;
const CS_ADC: usize = 2;
const CS_PGIA: usize = 3;
const CNV: usize = 4;
/// Timing at a million conversions per second, which start at the rising edge of CNV (LTC2335-16
/// data sheet, t_CNVH, t_BUSYLH and t_CONV, t_CYC).
const TIMES: Times = Times {
    high: 40,
    said: "at least",
    conversion: 30 + 550,
    cycle: 1000,
    edge: ["rises", "rose"],
};
/// Minimum time in ns from the last edge of the clock to CNV (t_QUIET).
const QUIET: Ns = 20;
/// Number of codes of the ADC.
const CODES: f64 = 65536.0;

/// Progress of loading the table since the ADC was selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Filling {
    #[default]
    Not,
    /// The table is being loaded.
    Begun,
    /// Further words are not part of the table.
    Over,
}

/// The card.
pub struct Novogorny {
    vref: f64,
    lines: [bool; INPUTS.len()],
    volts: [f64; INPUTS_OF_CARD],
    amplifiers: Amplifiers,
    unselected_message: UnselectedMessage,
    /// Control words, and the index of the next conversion's.
    table: Vec<u32>,
    next_word: usize,
    filling: Filling,
    shift: Shift,
    conversions: Conversions,
    /// Time of the last edge of the ADC's clock.
    clocked: Option<Ns>,
    codes: [u32; INPUTS_OF_CARD],
    sent: Sent,
    /// The bit at the ADC's output.
    bit: bool,
    answer: bool,
}

impl Novogorny {
    /// The state after power-up, with a reference in volts and these voltages at its inputs: the
    /// ADC converts channel 0 in its widest range.
    pub fn new(vref: f64, volts: [f64; INPUTS_OF_CARD]) -> Self {
        let widest = adc_control::SOFTSPAN.mask();
        Self {
            vref,
            lines: [false, false, true, true, false],
            volts,
            amplifiers: Amplifiers::default(),
            unselected_message: UnselectedMessage::default(),
            table: vec![widest],
            next_word: 0,
            filling: Filling::Not,
            shift: Shift::default(),
            conversions: Conversions::new(TIMES),
            clocked: None,
            codes: [0; INPUTS_OF_CARD],
            sent: Sent::default(),
            bit: false,
            answer: false,
        }
    }

    /// The 16-bit code of a channel in a range, if sampled now.
    fn code(&self, channel: usize, span: usize) -> u32 {
        let [span, bipolar] = SPANS[span];
        let steps = (self.volts[channel] * self.amplifiers.gain(channel) / (span * self.vref) * CODES).round();
        let lowest = if bipolar == 0.0 { 0.0 } else { -CODES / 2.0 };
        steps.clamp(lowest, lowest + CODES - 1.0) as i32 as u32 & 0xffff
    }

    /// Handles a rising edge of CNV: samples and converts according to the table's next word.
    fn convert(&mut self, at: Ns, out: &mut Outbox) {
        if let Some(time) = self.clocked.map(|edge| at - edge).filter(|time| *time < QUIET) {
            out.warn(format!(
                "CNV rises {time} ns after the ADC's clock changed: the minimum is {QUIET} ns"
            ));
        }
        self.conversions.rise(at);
        self.conversions.begin(at, out);
        let word = self.table[self.next_word];
        self.next_word = (self.next_word + 1) % self.table.len();
        let [channel, span] = [adc_control::CHANNEL, adc_control::SOFTSPAN].map(|field| field.get(word));
        let code = self.code(channel as usize, span as usize);
        self.codes[channel as usize] = code;
        let word = result::SOFTSPAN.put(result::CHANNEL.put(result::CODE.put(0, code), channel), span);
        self.sent = Sent::new(word.into(), RESULT.width);
        self.bit = self.sent.take();
    }

    /// Handles a received control word.
    fn fill(&mut self, at: Ns, word: u32, out: &mut Outbox) {
        let valid = adc_control::VALID.get(word) != 0;
        match self.filling {
            Filling::Over => return,
            Filling::Not if valid => self.table.clear(),
            _ => {}
        }
        self.filling = if valid { Filling::Begun } else { Filling::Over };
        if !valid {
            // A transfer without a table is a read.
            return self.conversions.read(at, out);
        }
        if self.table.len() == SEQUENCE as usize {
            self.filling = Filling::Over;
            return out.warn(format!(
                "the ADC takes at most {SEQUENCE} control words: the others are ignored"
            ));
        }
        self.table.push(word);
        self.next_word = 0;
    }

    /// Handles changes of both selects; `before` are the previous levels.
    fn select(&mut self, before: &[bool; INPUTS.len()], out: &mut Outbox) {
        match (before[CS_ADC], self.lines[CS_ADC]) {
            (true, false) => (self.shift, self.filling) = Default::default(),
            (false, true) if self.shift.count > 0 => {
                let (count, width) = (self.shift.count, ADC_CONTROL.width);
                out.warn(format!(
                    "a control word of the ADC ended after {count} of its {width} bits"
                ));
            }
            _ => {}
        }
        match (before[CS_PGIA], self.lines[CS_PGIA]) {
            (true, false) => self.amplifiers.begin(),
            (false, true) => self.amplifiers.end(out),
            _ => {}
        }
        if before[CS_ADC..=CS_PGIA] != self.lines[CS_ADC..=CS_PGIA] {
            self.unselected_message.end();
        }
    }

    /// Handles an edge of the clock.
    fn clock(&mut self, at: Ns, out: &mut Outbox) {
        let (rises, bit) = (self.lines[CLK], self.lines[MOSI]);
        let [adc, amplifiers] = [CS_ADC, CS_PGIA].map(|line| !self.lines[line]);
        if adc {
            self.clocked = Some(at);
        }
        if !rises {
            return;
        }
        if amplifiers {
            self.amplifiers.take(bit);
        }
        if adc {
            if self.conversions.count > 0 {
                self.conversions.read(at, out);
            }
            self.bit = self.sent.take();
            self.shift.take(bit);
            if let Some(word) = self.shift.message(ADC_CONTROL.width) {
                self.fill(at, word as u32, out);
            }
        }
        if !(adc || amplifiers) {
            self.unselected_message.bit(out);
        }
    }
}

impl Model for Novogorny {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let before = self.lines;
        set_levels(&mut self.lines, changes);
        set_volts(&mut self.volts, INPUTS.len(), changes);
        self.select(&before, out);
        match (before[CNV], self.lines[CNV]) {
            (false, true) => self.convert(at, out),
            (true, false) => drop(self.conversions.fall(at, out)),
            _ => {}
        }
        if before[CLK] != self.lines[CLK] {
            self.clock(at, out);
        }
        let answer = self.bit && !self.lines[CS_ADC];
        if answer != self.answer {
            self.answer = answer;
            out.send(0, Signal::Level(answer));
        }
    }

    fn report(&self, _at: Ns) -> Value {
        let words = self.table.iter().map(
            |word| json!({ "channel": adc_control::CHANNEL.get(*word), "range": adc_control::SOFTSPAN.get(*word) }),
        );
        let mut report = json!({
            "card": "Novogorny",
            "conversions": self.conversions.count,
            "table": words.collect::<Vec<Value>>(),
            "next": self.next_word,
            "registers": { "PGIA": self.amplifiers.gains },
        });
        for n in 0..INPUTS_OF_CARD {
            report[format!("ch{n}")] =
                json!({ "volts": self.volts[n], "gain": self.amplifiers.gain(n), "code": self.codes[n] });
        }
        report
    }
}

section_with_inputs! {
    /// A Novogorny in a bench file.
    Section {
        /// Reference of its ADC in volts; default 5.
        vref: Option<Positive>
    }
}

impl BenchSection for Section {
    fn model(settings: &Settings<Self>) -> Result<CardModel, Rejected> {
        let vref = settings.get(|section| section.vref).map_or(5.0, |vref| vref.0);
        let inputs = settings.in_file.map(Self::inputs).unwrap_or_default();
        let model = Novogorny::new(vref, inputs.volts());
        Ok(CardModel {
            sources: inputs.sources(INPUTS.len()),
            ..CardModel::new(model, &INPUTS, OutputKinds::default()).answering(&ANSWERS)
        })
    }
}

#[cfg(test)]
#[path = "novogorny_tests.rs"]
mod tests;
