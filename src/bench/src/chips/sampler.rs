//! The Sampler card: eight inputs with amplifiers whose gains are set by a shift register, and an
//! ADC (LTC2320-16) that samples all of them simultaneously and sends the codes on one line,
//! beginning with channel 7.

use kairos_contracts::chips::sampler::CHANNELS;
use serde_json::{json, Value};

use super::measuring::{set_volts, Amplifiers, Conversions, Times};
use super::shift::UnselectedMessage;
use crate::assemble::outputs::OutputKinds;
use crate::file::{section_with_inputs, SamplerRevision};
use crate::model::{set_levels, Change, Model, Outbox};
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings};
use crate::signal::{Ns, Signal};

/// Channels of the card.
pub const INPUTS_OF_CARD: usize = CHANNELS as usize;
/// Names of the input lines; the voltages follow them. The clock of a servo is `sck`.
pub const INPUTS: [&str; 6] = ["adc_clk", "cnv", "pgia_clk", "pgia_mosi", "pgia_cs0", "sck"];
/// Names of the output lines: all codes on one line, or two each on four lines with the clock,
/// whose pairs are inverted as [`SWAPPED`] says.
pub const ANSWERS: [&str; 7] = ["adc_miso", "pgia_miso", "clkout", "sdo0", "sdo1", "sdo2", "sdo3"];
/// Whether the card's board exchanges the wires of an output line's pair.
const SWAPPED: [bool; ANSWERS.len()] = [false, false, true, false, true, true, true];
const LANES: u32 = 4;
const CLK: usize = 0;
const CNV: usize = 1;
const PGIA_CLK: usize = 2;
const PGIA_MOSI: usize = 3;
const PGIA_CS: usize = 4;
const SCK: usize = 5;
/// Span in volts from the lowest to the highest code, of hardware revision 2.1 and of later ones.
pub const SPANS: [f64; 2] = [20.0, 20.48];
/// Timing at 1.5 million conversions per second, which start at the falling edge of CNV (LTC2320-16
/// data sheet, t_CNVH, t_CONV and t_CYC).
const TIMES: Times = Times {
    high: 30,
    said: "it samples for at least",
    conversion: 450,
    cycle: 667,
    edge: ["falls", "fell"],
};
/// Bits of a code.
const CODE: u32 = 16;

/// The card.
pub struct Sampler {
    span: f64,
    lines: [bool; INPUTS.len()],
    volts: [f64; INPUTS_OF_CARD],
    amplifiers: Amplifiers,
    unselected_message: UnselectedMessage,
    codes: [i32; INPUTS_OF_CARD],
    /// Number of code bits sent since the conversion.
    sent: u32,
    conversions: Conversions,
    answers: [bool; ANSWERS.len()],
}

impl Sampler {
    /// The state after power-up, with these voltages at its inputs; `span` is one of [`SPANS`].
    pub fn new(span: f64, volts: [f64; INPUTS_OF_CARD]) -> Self {
        Self {
            span,
            lines: [false; INPUTS.len()],
            volts,
            amplifiers: Amplifiers::default(),
            unselected_message: UnselectedMessage::default(),
            codes: [0; INPUTS_OF_CARD],
            sent: 0,
            conversions: Conversions::new(TIMES),
            answers: [false; ANSWERS.len()],
        }
    }

    /// The code of a channel if sampled now.
    fn code(&self, n: usize) -> i32 {
        let steps = (self.volts[n] * self.amplifiers.gain(n) / self.span * 65536.0).round();
        steps.clamp(-32768.0, 32767.0) as i32
    }

    fn convert(&mut self, at: Ns, level: bool, out: &mut Outbox) {
        if level {
            return self.conversions.rise(at);
        }
        if self.conversions.fall(at, out) {
            self.conversions.begin(at, out);
            self.codes = std::array::from_fn(|n| self.code(n));
            self.sent = 0;
        }
    }

    /// The bit that the ADC outputs on a line with `channels` channels, highest channel first.
    fn bit(&self, line: u32, channels: u32) -> bool {
        if self.sent >= channels * CODE {
            return false;
        }
        let (index, bit) = (
            (line * channels + self.sent / CODE) as usize,
            CODE - 1 - self.sent % CODE,
        );
        let code = INPUTS_OF_CARD.checked_sub(index + 1).map_or(0, |n| self.codes[n]);
        code >> bit & 1 != 0
    }

    fn clock_adc(&mut self, at: Ns, level: bool, out: &mut Outbox) {
        match level {
            true => self.conversions.read(at, out),
            false => self.sent += 1,
        }
    }

    fn amplifiers(&mut self, before: &[bool; INPUTS.len()], out: &mut Outbox) {
        match (before[PGIA_CS], self.lines[PGIA_CS]) {
            (true, false) => self.amplifiers.begin(),
            (false, true) => self.amplifiers.end(out),
            _ => {}
        }
        if before[PGIA_CS] != self.lines[PGIA_CS] {
            self.unselected_message.end();
        }
        match (before[PGIA_CLK], self.lines[PGIA_CLK]) {
            (false, true) if self.lines[PGIA_CS] => self.unselected_message.bit(out),
            (false, true) => self.amplifiers.take(self.lines[PGIA_MOSI]),
            _ => {}
        }
    }
}

section_with_inputs! {
    /// A Sampler in a bench file.
    Section {
        /// Hardware revision: `v2.1`, whose range is 10 V, or a later one with 10.24 V.
        hw_rev: Option<SamplerRevision>
    }
}

impl BenchSection for Section {
    fn model(settings: &Settings<Self>) -> Result<CardModel, Rejected> {
        let revision = settings.get(|section| section.hw_rev);
        let span = SPANS[usize::from(revision != Some(SamplerRevision::First))];
        let inputs = settings.in_file.map(Self::inputs).unwrap_or_default();
        let card =
            CardModel::new(Sampler::new(span, inputs.volts()), &INPUTS, OutputKinds::default()).answering(&ANSWERS);
        Ok(CardModel {
            sources: inputs.sources(INPUTS.len()),
            ..card
        })
    }
}

impl Model for Sampler {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let before = self.lines;
        set_levels(&mut self.lines, changes);
        set_volts(&mut self.volts, INPUTS.len(), changes);
        if before[CNV] != self.lines[CNV] {
            self.convert(at, self.lines[CNV], out);
        }
        for clock in [CLK, SCK] {
            if before[clock] != self.lines[clock] {
                self.clock_adc(at, self.lines[clock], out);
            }
        }
        self.amplifiers(&before, out);
        let mut answers = [false; ANSWERS.len()];
        answers[..3].copy_from_slice(&[
            self.bit(0, INPUTS_OF_CARD as u32),
            self.amplifiers.bit() && !self.lines[PGIA_CS],
            self.lines[SCK],
        ]);
        for lane in 0..LANES {
            answers[3 + lane as usize] = self.bit(lane, INPUTS_OF_CARD as u32 / LANES);
        }
        for (n, (level, swapped)) in answers.into_iter().zip(SWAPPED).enumerate() {
            let level = level ^ swapped;
            if level != self.answers[n] {
                self.answers[n] = level;
                out.send(n, Signal::Level(level));
            }
        }
    }

    fn report(&self, _at: Ns) -> Value {
        let mut report = json!({
            "card": "Sampler",
            "conversions": self.conversions.count,
            "registers": { "PGIA": self.amplifiers.gains },
        });
        for n in 0..INPUTS_OF_CARD {
            report[format!("ch{n}")] =
                json!({ "volts": self.volts[n], "gain": self.amplifiers.gain(n), "code": self.codes[n] });
        }
        report
    }
}

#[cfg(test)]
#[path = "sampler_tests.rs"]
mod tests;
