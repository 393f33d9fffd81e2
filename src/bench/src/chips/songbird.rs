//! The Songbird card: tones, whose sum a fast DAC puts out.
//!
//! The tones arrive as the words that the gateware shows of each, after the latency of its logic. From these they
//! are computed in the integers that the gateware accumulates (`tone.rs`). The DAC, an LTC2000, is on an SPI bus
//! whose select is active low; it puts out data once it has been configured as the driver does.

use kairos_contracts::chips::songbird::{self as chip, message};
use serde::Deserialize;
use serde_json::{json, Value};

use self::tone::{Waveform, MOST, STEP};
use super::reported::named;
use super::shift::{Sent, Shift};
use super::shuttler::FIELDS;
use crate::assemble::outputs::{Kind, OutputKinds};
use crate::model::{set_levels, Change, Model, Outbox};
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings};
use crate::signal::{Ns, Signal, Tone};
use toml::Spanned;

mod tone;

/// Names of the input lines.
pub const INPUTS: [&str; 3] = ["clk", "mosi", "cs0"];
const CLK: usize = 0;
const MOSI: usize = 1;
const CS: usize = 2;
/// Names of the output lines.
pub const ANSWERS: [&str; 1] = ["miso"];
/// Bits of a message that count.
const MESSAGE: u32 = 16;
const REGISTERS: usize = 128;
/// Place of the number of triggers among a tone's words.
const TRIGGERS: usize = 8;

/// Options of the card.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Number of tones.
    pub tones: usize,
    /// Whether the sampling clock is connected.
    pub clock: bool,
    /// Time between renewals of the output, and of tones that change: a multiple of 8 ns.
    pub update: Ns,
}

/// One tone, and what is known of it outside.
struct Output {
    words: [u64; FIELDS],
    waveform: Waveform,
    /// The last tone sent, and its time.
    sent: (Tone, Ns),
}

/// The card.
pub struct Songbird {
    outputs: Vec<Output>,
    options: Options,
    registers: [u8; REGISTERS],
    lines: [bool; INPUTS.len()],
    shift: Shift,
    answer: Sent,
    miso: bool,
    volts: f64,
    /// Whether the sum has been limited since the last event.
    limited: bool,
    next: Option<Ns>,
}

impl Songbird {
    /// The state after power-up.
    pub fn new(options: Options) -> Self {
        let output = || Output {
            words: [0; FIELDS],
            waveform: Waveform::default(),
            sent: (Tone::OFF, 0),
        };
        Self {
            outputs: (0..options.tones).map(|_| output()).collect(),
            options,
            registers: [0; REGISTERS],
            lines: [false, false, true],
            shift: Shift::default(),
            answer: Sent::default(),
            miso: false,
            volts: 0.0,
            limited: false,
            next: None,
        }
    }

    /// Whether the DAC puts out data.
    fn on(&self) -> bool {
        self.options.clock && self.registers[chip::DAC_OUTPUT as usize] == chip::DAC_OUTPUT_ON as u8
    }

    fn bus(&mut self, at: Ns, before: [bool; INPUTS.len()], out: &mut Outbox) {
        let now = self.lines;
        if before[CS] != now[CS] {
            let count = self.shift.count;
            if now[CS] && count > 0 && count < MESSAGE {
                out.warn(format!(
                    "a message of {count} bits instead of at least {MESSAGE}: ignored"
                ));
            }
            (self.shift, self.answer) = Default::default();
        }
        if now[CS] || before[CLK] == now[CLK] {
            return;
        }
        if now[CLK] {
            self.shift.take(now[MOSI]);
            let word = (self.shift.bits << (32 - self.shift.count.min(32))) as u32;
            let reads = message::READ.get(word) != 0;
            let register = message::REGISTER.get(word) as usize;
            match self.shift.count {
                8 if reads => self.answer = Sent::new(self.read(register).into(), 8),
                MESSAGE if !reads => self.write(at, register, message::VALUE.get(word) as u8, out),
                _ => {}
            }
        } else {
            let miso = self.answer.take();
            if miso != self.miso {
                self.miso = miso;
                out.send(self.outputs.len() + 1, Signal::Level(miso));
            }
        }
    }

    fn read(&self, register: usize) -> u8 {
        let present = match register as u32 {
            chip::DAC_CLOCK | chip::DAC_DATA_CLOCK if self.options.clock => chip::DAC_PRESENT as u8,
            _ => 0,
        };
        self.registers[register] | present
    }

    fn write(&mut self, at: Ns, register: usize, value: u8, out: &mut Outbox) {
        if register as u32 == chip::DAC_RESET && value & 1 != 0 {
            self.registers = [0; REGISTERS];
        } else {
            self.registers[register] = value;
        }
        self.renew(at, out);
    }

    /// Handles new words of the tones, all of the same time.
    fn show(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let words = || {
            changes.iter().filter_map(|(input, signal)| match signal {
                Signal::Word(word) => Some((input.checked_sub(INPUTS.len())?, *word)),
                _ => None,
            })
        };
        if words().next().is_none() {
            return;
        }
        let mut early = None;
        let on = self.on();
        for (number, output) in self.outputs.iter_mut().enumerate() {
            let own = words().filter(|(place, _)| place / FIELDS == number);
            let before = output.words;
            own.for_each(|(place, word)| output.words[place % FIELDS] = word);
            if output.words != before {
                output.waveform.take(at, &before, &output.words);
                if !on && output.words[TRIGGERS] != before[TRIGGERS] && output.words[TRIGGERS] != 0 {
                    early = Some(number);
                }
            }
        }
        self.limited = false;
        if let Some(number) = early {
            let text = "a trigger while the DAC is not configured: nothing comes out before `init` of the card";
            out.warn_of(number, [text.into()]);
        }
        self.renew(at, out);
    }

    /// Renews tones and output, and plans the next renewal, at a multiple of the interval.
    fn renew(&mut self, at: Ns, out: &mut Outbox) {
        let (on, update) = (self.on(), self.options.update);
        let due = (at / update + 1) * update;
        let moves = on && self.outputs.iter().any(|output| output.waveform.moves());
        self.next = moves.then_some(due);
        let (mut sum, mut reach) = (0.0, 0.0);
        for (number, output) in self.outputs.iter_mut().enumerate() {
            let waveform = &output.waveform;
            sum += waveform.sample(at);
            reach += waveform.amplitude(at).abs();
            let tone = if on { waveform.tone(at, due - at) } else { Tone::OFF };
            let (before, since) = output.sent;
            if !before.goes_on(at - since, &tone) {
                output.sent = (tone, at);
                out.send(number, Signal::Tone(tone));
            }
        }
        if on && reach > MOST + 1.0 && !self.limited {
            self.limited = true;
            let text = format!("its tones add up to {:.3} V: they are limited to 1 V", reach * STEP);
            out.warn(text);
        }
        let volts = if on {
            sum.clamp(-MOST - 1.0, MOST).round() * STEP + 0.0
        } else {
            0.0
        };
        if volts != self.volts {
            self.volts = volts;
            out.send(self.outputs.len(), Signal::Volts(volts));
        }
    }
}

impl Model for Songbird {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let before = self.lines;
        set_levels(&mut self.lines, changes);
        if before != self.lines {
            self.bus(at, before, out);
        }
        self.show(at, changes, out);
    }

    fn next(&self) -> Option<Ns> {
        self.next
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        self.renew(at, out);
    }

    fn report(&self, at: Ns) -> Value {
        let mut report = json!({ "card": "Songbird", "volts": self.volts, "on": self.on() });
        report["registers"] = named("DAC", &self.registers[..=0x1e]).into();
        for (number, output) in self.outputs.iter().enumerate() {
            let mut tone = output.waveform.report(at);
            tone["triggers"] = json!([output.words[TRIGGERS] as u32, output.words[TRIGGERS] >> 32]);
            report[format!("tone{number}")] = tone;
        }
        report
    }
}

/// A Songbird in a bench file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Section {
    /// Whether the sampling clock is connected; default true.
    clock: Option<bool>,
    /// Time between renewals of the output's voltage and of tones that change; default 1000.
    update_ns: Option<Spanned<u32>>,
}

impl BenchSection for Section {
    fn model(settings: &Settings<Self>) -> Result<CardModel, Rejected> {
        let section = settings.in_file.unwrap_or(&settings.in_database);
        let tones = usize::from(settings.card.outputs);
        let update = super::shuttler::update(section.update_ns.as_ref())?;
        let options = Options {
            tones,
            clock: section.clock.unwrap_or(true),
            update,
        };
        let mut outputs = OutputKinds::default();
        for tone in 0..tones {
            outputs.add(&format!("tone{tone}"), Kind::Tone);
        }
        outputs.add("out", Kind::Volts);
        let card = CardModel::new(Songbird::new(options), &INPUTS, outputs).answering(&ANSWERS);
        Ok(CardModel {
            words: tones * FIELDS,
            ..card
        })
    }
}

#[cfg(test)]
#[path = "songbird_tests.rs"]
mod tests;
