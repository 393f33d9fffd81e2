//! The AD9834 DDS alone on an SPI bus: 16-bit words for its control register, two frequency and two
//! phase registers, of which one each is in use, and a single tone.
//!
//! A change reaches the output after 8 cycles of its clock (data sheet, "Latency": 7 or 8). A
//! triangle is represented by its fundamental. The SIGN BIT OUT pin is reported but not wired; the
//! pins that can select registers, reset and sleep are low.

use std::collections::VecDeque;
use std::f64::consts::PI;

use kairos_contracts::chips::ad9834::{self as chip, control, frequency, phase};
use kairos_contracts::chips::Field;
use serde::Deserialize;
use serde_json::{json, Map, Value};

use super::reported::named;
use super::shift::{Shift, UnselectedMessage};
use crate::assemble::outputs::OutputKinds;
use crate::file::Power;
use crate::model::{set_levels, Change, Model, Outbox};
use crate::numbers::Natural;
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings};
use crate::signal::{Ns, Signal, Tone};

/// Names of the input lines.
pub const INPUTS: [&str; 3] = ["clk", "mosi", "cs0"];
const CLK: usize = 0;
const MOSI: usize = 1;
const CS: usize = 2;
/// Bits of a word.
const WORD: u32 = chip::CONTROL.width;
/// Maximum clock in Hz, of grade C.
const FASTEST: f64 = 75e6;
/// Minimum period of the serial clock in ns.
const PERIOD: Ns = 25;
/// Clock cycles from a word to the output.
const LATENCY: u64 = 8;
/// Steps per turn of the accumulator, and of a phase register.
const TURN: f64 = (1u64 << chip::FTW_BITS) as f64;
const PHASE_TURN: f64 = 4096.0;
/// The highest frequency word: half of the clock.
const HALF: u32 = 1 << (chip::FTW_BITS - 1);
/// Amplitude of a triangle's fundamental relative to a sine of the same height: 8/pi².
const TRIANGLE: f64 = 8.0 / (PI * PI);
/// Waveforms of the DAC, by `mode`.
const WAVEFORMS: [&str; 2] = ["sine", "triangle"];
/// Signals at the SIGN BIT OUT pin, by `sign_pib` and `div2`.
const SIGN: [[&str; 2]; 2] = [["msb/2", "msb"], ["reserved", "comparator"]];

/// Options of the chip.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Its clock in Hz; 0: none.
    pub clock_hz: f64,
    /// Power of its sine.
    pub full_scale_dbm: f64,
}

/// The chip.
pub struct Ad9834 {
    options: Options,
    lines: [bool; INPUTS.len()],
    shift: Shift,
    unselected_message: UnselectedMessage,
    /// Time of the serial clock's last falling edge within a message.
    fell: Option<Ns>,
    /// The warning about a too fast clock has been given since the chip was selected.
    scolded: bool,
    control: u32,
    frequencies: [u32; 2],
    phases: [u32; 2],
    /// The first half of a frequency word, its register, and its time.
    half: Option<(u32, usize, Ns)>,
    /// The frequency register that the preceding words wrote as a whole.
    whole: Option<usize>,
    /// The phase accumulator, and its time in clock cycles.
    accumulator: (u32, u64),
    was_reset: bool,
    /// It output a tone at the last check.
    sounds: bool,
    /// The last tone in the pipeline, and its time at the output.
    last: (Ns, Tone),
    pending: VecDeque<(Ns, Tone)>,
    words: u64,
}

impl Ad9834 {
    /// The state after power-up.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            lines: [false, false, true],
            shift: Shift::default(),
            unselected_message: UnselectedMessage::default(),
            fell: None,
            scolded: false,
            control: chip::CONTROL.reset,
            frequencies: [0; 2],
            phases: [0; 2],
            half: None,
            whole: None,
            accumulator: (0, 0),
            was_reset: false,
            sounds: false,
            last: (0, Tone::OFF),
            pending: VecDeque::new(),
            words: 0,
        }
    }

    /// The effective value of a control that selects registers, reset or sleep: the control
    /// register's, or that of the pins, which are low.
    fn set(&self, field: Field) -> usize {
        match control::PIN_SW.get(self.control) {
            0 => field.get(self.control) as usize,
            _ => 0,
        }
    }

    fn is_reset(&self) -> bool {
        self.set(control::CORE_RESET) != 0
    }

    /// The frequency word in use.
    fn word(&self) -> u32 {
        self.frequencies[self.set(control::FSEL)]
    }

    /// The phase register in use, in turns.
    fn phase(&self) -> f64 {
        f64::from(self.phases[self.set(control::PSEL)]) / PHASE_TURN
    }

    fn hz(&self, word: u32) -> f64 {
        f64::from(word) / TURN * self.options.clock_hz
    }

    /// Clock cycles since power-up, and the fraction of the current one.
    fn cycles(&self, at: Ns) -> (u64, f64) {
        let billionths = u128::from(at) * self.options.clock_hz.round() as u128;
        let (whole, part) = (billionths / 1_000_000_000, billionths % 1_000_000_000);
        (whole as u64, part as f64 * 1e-9)
    }

    /// Advances the phase accumulator to a time.
    fn advance_phase(&mut self, at: Ns) {
        let ((phase, since), (now, _)) = (self.accumulator, self.cycles(at));
        let runs = self.set(control::SLEEP1) == 0;
        let turned = if runs {
            u64::from(self.word()).wrapping_mul(now - since)
        } else {
            0
        };
        let phase = u64::from(phase).wrapping_add(turned) as u32 & ((1 << chip::FTW_BITS) - 1);
        self.accumulator = (if self.is_reset() { 0 } else { phase }, now);
    }

    /// Handles a received word.
    fn take(&mut self, at: Ns, word: u32, out: &mut Outbox) {
        self.advance_phase(at);
        self.words += 1;
        let register = match (frequency::SECOND.get(word), frequency::FIRST.get(word)) {
            (0, 1) => Some(0),
            (1, 0) => Some(1),
            _ => None,
        };
        let whole = self.whole.take();
        if let Some((_, other, _)) = self.half.filter(|half| Some(half.1) != register) {
            self.half = None;
            out.warn(format!("{}: another word came", missing(other)));
        }
        match register {
            Some(register) => self.tune(at, register, word, whole, out),
            None if frequency::SECOND.get(word) != 0 => {
                self.phases[phase::REGISTER.get(word) as usize] = phase::POW.get(word);
            }
            None => self.configure(word, out),
        }
        self.sound(at, out);
    }

    /// Writes half of a frequency register; `whole` is the register that the preceding words wrote
    /// as a whole.
    fn tune(&mut self, at: Ns, register: usize, word: u32, whole: Option<usize>, out: &mut Outbox) {
        let half = frequency::HALF.get(word);
        let bits = chip::FTW_BITS / 2;
        let both = control::B28.get(self.control) != 0;
        let (low, high) = match self.half.take() {
            _ if !both => {
                let (low, high) = (
                    self.frequencies[register] & frequency::HALF.mask(),
                    self.frequencies[register] >> bits,
                );
                if control::HLB.get(self.control) != 0 {
                    (low, half)
                } else {
                    (half, high)
                }
            }
            None => {
                (self.half, self.whole) = (Some((half, register, at)), whole);
                return;
            }
            Some((low, ..)) => (low, half),
        };
        self.frequencies[register] = high << bits | low;
        if both {
            if whole == Some(register) {
                out.warn(format!(
                    "frequency register {register} is written in full twice in a row: another word must come between"
                ));
            }
            self.whole = Some(register);
        }
        if self.frequencies[register] > HALF {
            let hz = self.hz(self.frequencies[register]);
            out.warn(format!(
                "the frequency in register {register}, {:.3} MHz, is above half of its clock",
                hz / 1e6
            ));
        }
    }

    /// Handles a control word.
    fn configure(&mut self, word: u32, out: &mut Outbox) {
        self.control = word;
        self.was_reset |= self.is_reset();
        if self.is_reset() {
            self.accumulator.0 = 0;
        }
        if control::OPBITEN.get(word) == 0 {
            return;
        }
        if control::MODE.get(word) != 0 {
            out.warn("its pin SIGN BIT OUT is on with a triangle (opbiten, mode): that is reserved");
        }
        if self.sign() == "reserved" {
            out.warn("its pin SIGN BIT OUT shows the comparator divided by two (sign_pib, div2): that is reserved");
        }
    }

    /// The signal at the SIGN BIT OUT pin.
    fn sign(&self) -> &'static str {
        let [pib, div2] = [control::SIGN_PIB, control::DIV2].map(|field| field.get(self.control) as usize);
        match control::OPBITEN.get(self.control) {
            0 => "off",
            _ => SIGN[pib][div2],
        }
    }

    /// Whether its settings produce a tone.
    fn is_on(&self) -> bool {
        let silent = [control::CORE_RESET, control::SLEEP1, control::SLEEP12];
        self.word() != 0 && silent.iter().all(|field| self.set(*field) == 0)
    }

    /// The output tone at time `at`; the accumulator must already be advanced to it.
    fn tone(&self, at: Ns) -> Tone {
        if !self.is_on() || self.options.clock_hz == 0.0 {
            return Tone::OFF;
        }
        let (_, part) = self.cycles(at);
        let turned = f64::from(self.accumulator.0) + part * f64::from(self.word());
        let height = if control::MODE.get(self.control) == 0 {
            1.0
        } else {
            TRIANGLE
        };
        Tone {
            hz: self.hz(self.word()),
            dbm: self.options.full_scale_dbm + 20.0 * height.log10(),
            turns: (turned / TURN + self.phase()).rem_euclid(1.0),
        }
    }

    /// Warnings when it starts to output a tone.
    fn lacks(&self) -> impl Iterator<Item = String> {
        let hz = self.options.clock_hz;
        let clock = match hz {
            0.0 => Some("a tone is set but it has no clock (clock_hz)".into()),
            _ if hz > FASTEST => Some(format!("its clock is at most 75 MHz, not {} MHz", hz / 1e6)),
            _ => None,
        };
        let text = "it is started without a reset since power-up (init)";
        clock.into_iter().chain((!self.was_reset).then(|| text.into()))
    }

    /// Queues the output tone if it has changed.
    fn sound(&mut self, at: Ns, out: &mut Outbox) {
        let on = self.is_on();
        if on && !self.sounds {
            self.lacks().for_each(|text| out.warn(text));
        }
        self.sounds = on;
        let mut tone = self.tone(at);
        // Rounded up to whole nanoseconds, with the phase advanced accordingly
        let exact = LATENCY as f64 * 1e9 / self.options.clock_hz.max(1.0);
        let later = exact.ceil();
        tone.turns = (tone.turns + tone.hz * (later - exact) * 1e-9).rem_euclid(1.0);
        let (at, (since, before)) = (at + later as Ns, self.last);
        if !before.goes_on(at - since, &tone) {
            self.last = (at, tone);
            self.pending.push_back(self.last);
        }
    }

    /// Handles the bus; `before` are its previous levels.
    fn bus(&mut self, at: Ns, before: &[bool; INPUTS.len()], out: &mut Outbox) {
        match (before[CS], self.lines[CS]) {
            (true, false) => {
                (self.shift, self.fell, self.scolded) = Default::default();
                if !before[CLK] {
                    out.warn("its clock is low when it is selected: it must be high (SPI_CLK_POLARITY)");
                }
            }
            (false, true) if self.shift.count > 0 => {
                let count = self.shift.count;
                out.warn(format!("a message ended after {count} of the {WORD} bits of a word"));
            }
            _ => {}
        }
        if before[CS] != self.lines[CS] {
            self.unselected_message.end();
        }
        match (before[CLK], self.lines[CLK]) {
            (true, false) if self.lines[CS] => self.unselected_message.bit(out),
            (true, false) => self.fall(at, out),
            _ => {}
        }
    }

    /// Samples a bit at a falling edge of the serial clock.
    fn fall(&mut self, at: Ns, out: &mut Outbox) {
        let before = self.fell.replace(at);
        if let Some(period) = before.map(|before| at - before).filter(|period| *period < PERIOD) {
            if !self.scolded {
                out.warn(format!("a clock of {period} ns: the minimum period is {PERIOD} ns"));
            }
            self.scolded = true;
        }
        self.shift.take(self.lines[MOSI]);
        if let Some(word) = self.shift.message(WORD) {
            self.take(at, word as u32, out);
        }
    }
}

/// Warning text for an incomplete frequency word.
fn missing(register: usize) -> String {
    format!("the second half of the word for frequency register {register} is missing (b28)")
}

impl Ad9834 {
    /// The values of all registers, by name.
    fn named(&self) -> Map<String, Value> {
        let mut found = named("FREQUENCY", &self.frequencies);
        found.append(&mut named("PHASE", &self.phases));
        found.insert("CONTROL".into(), self.control.into());
        found
    }
}

impl Model for Ad9834 {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let before = self.lines;
        set_levels(&mut self.lines, changes);
        self.bus(at, &before, out);
    }

    fn next(&self) -> Option<Ns> {
        self.pending.front().map(|(at, _)| *at)
    }

    fn under_way(&self) -> Option<Ns> {
        self.pending.back().map(|(at, _)| *at)
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        while let Some((_, tone)) = self.pending.front().filter(|(due, _)| *due <= at).copied() {
            self.pending.pop_front();
            out.send(0, Signal::Tone(tone));
        }
    }

    fn report(&self, _at: Ns) -> Value {
        let selected = [control::FSEL, control::PSEL].map(|field| self.set(field));
        json!({
            "chip": "AD9834",
            "frequency_hz": self.hz(self.word()),
            "phase_turns": self.phase(),
            "frequencies_hz": self.frequencies.map(|word| self.hz(word)),
            "phases_turns": self.phases.map(|word| f64::from(word) / PHASE_TURN),
            "frequency_register": selected[0],
            "phase_register": selected[1],
            "waveform": WAVEFORMS[control::MODE.get(self.control) as usize],
            "sign_bit_out": self.sign(),
            "reset": self.is_reset(),
            "clock_stopped": self.set(control::SLEEP1) != 0,
            "dac_off": self.set(control::SLEEP12) != 0,
            "clock_hz": self.options.clock_hz,
            "words": self.words,
            "registers": self.named(),
        })
    }

    fn unfinished(&self) -> Vec<(Ns, String)> {
        self.half
            .iter()
            .map(|(_, register, at)| (*at, missing(*register)))
            .collect()
    }
}

/// An AD9834 in a bench file. Missing values are those of the device database, or else defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Section {
    /// Hz of its clock, default 75 MHz; 0: none.
    clock_hz: Option<Natural>,
    /// Power of its sine.
    full_scale_dbm: Power,
}

impl BenchSection for Section {
    fn model(settings: &Settings<Self>) -> Result<CardModel, Rejected> {
        let options = Options {
            clock_hz: settings.get(|section| section.clock_hz).map_or(75e6, |clock| clock.0),
            full_scale_dbm: settings.in_file.map_or(0.0, |section| section.full_scale_dbm.0 .0),
        };
        Ok(CardModel::new(Ad9834::new(options), &INPUTS, OutputKinds::tones(1)))
    }
}

#[cfg(test)]
#[path = "ad9834_tests.rs"]
mod tests;
