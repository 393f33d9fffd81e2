//! The TRF372017, a modulator with its local oscillator: registers with their read-back, dividers, calibration. On the bus of
//! a Phaser, or alone on an SPI bus, where its output of the local oscillator is a tone.

use kairos_contracts::chips::trf372017::{self as trf, register1, register2, register3, register4, register6};
use serde::Deserialize;
use serde_json::{json, Value};

use super::reported::named;
use crate::assemble::outputs::OutputKinds;
use crate::model::{set_levels, Change, Model, Outbox};
use crate::numbers::Positive;
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings};
use crate::signal::{turns_of, Ns, Signal, Tone};

/// Frequency of a Phaser's reference, Hz.
pub const REFERENCE: f64 = 125e6;
/// Range of its oscillator, Hz.
const OSCILLATOR: std::ops::RangeInclusive<f64> = 2.4e9..=4.8e9;
/// Power of the local oscillator at its output, dBm.
const POWER: f64 = 0.0;
const WORD: u32 = 32;

/// The chip behind its shift register.
pub struct Upconverter {
    /// Registers 0 (not written) to 7.
    pub registers: [u32; 8],
    reference: f64,
    /// The register asked for, and whether there was a clock without a select after that.
    asked: Option<(usize, bool)>,
    calibrated: bool,
}

impl Default for Upconverter {
    fn default() -> Self {
        Self::new(REFERENCE)
    }
}

impl Upconverter {
    /// The state after power-up, with a reference in Hz.
    pub fn new(reference: f64) -> Self {
        Self {
            registers: [0; 8],
            reference,
            asked: None,
            calibrated: false,
        }
    }

    /// Frequency of its oscillator in Hz, and of the modulator; 0 if it is off.
    pub fn hz(&self) -> (f64, f64) {
        let [_, one, two, three, four, _, six, _] = self.registers;
        let fraction = f64::from(register3::NFRAC.get(three)) / 2f64.powi(25) * f64::from(register4::EN_FRAC.get(four));
        let divider = f64::from(1u32 << register2::PLL_DIV_SEL.get(two));
        let compared = self.reference / f64::from(register1::RDIV.get(one).max(1));
        let oscillator = compared * (f64::from(register2::NINT.get(two)) + fraction) * divider;
        let off = register4::PWD_PLL.get(four) != 0 || register4::PWD_VCO.get(four) != 0;
        let silent = off || register4::PWD_TX_DIV.get(four) != 0;
        let divided = oscillator / f64::from(1u32 << register6::TX_DIV_SEL.get(six));
        (if off { 0.0 } else { oscillator }, if silent { 0.0 } else { divided })
    }

    /// Whether its oscillator has been calibrated, and reaches its frequency.
    pub fn is_locked(&self) -> bool {
        self.calibrated && OSCILLATOR.contains(&self.hz().0)
    }

    /// The word that the next message reads, 0 if none was asked for.
    pub fn answer(&self) -> u32 {
        match self.asked {
            // Without the bit for a calibration that reached an end of its range
            Some((0, true)) => trf::IDENTITY,
            Some((number, true)) => self.registers[number],
            _ => 0,
        }
    }

    /// A clock while it is not selected: it prepares its answer.
    pub fn clocked(&mut self) {
        self.asked = self.asked.map(|(number, _)| (number, true));
    }

    /// Ends a message with this word.
    pub fn write(&mut self, word: u32, out: &mut Outbox) {
        if std::mem::take(&mut self.asked).is_some_and(|(_, clocked)| clocked) {
            return;
        }
        let number = (word & 7) as usize;
        if word & 0x1f == trf::READ & 0x1f {
            if word & trf::READ == trf::READ {
                self.asked = Some(((word >> 28 & 7) as usize, false));
            }
            return;
        }
        if word & 8 == 0 {
            return out.warn(format!("the word {word:#010x} for a TRF372017 has no register"));
        }
        self.registers[number] = word;
        if number == 2 && register2::EN_CAL.get(word) != 0 {
            self.registers[number] = register2::EN_CAL.put(word, 0);
            self.calibrated = true;
        } else if number == 1 || number == 2 || number == 3 {
            self.calibrated = false;
        }
    }
}

/// Names of the input lines.
pub const INPUTS: [&str; 3] = ["clk", "mosi", "cs0"];
const CLK: usize = 0;
const MOSI: usize = 1;
const CS: usize = 2;
/// Names of the output lines.
pub const ANSWERS: [&str; 1] = ["miso"];

/// The chip alone on a bus.
pub struct Trf372017 {
    lines: [bool; INPUTS.len()],
    pub(super) chip: Upconverter,
    /// Bits of the message so far, the first one lowest, and their number.
    word: u32,
    count: u32,
    miso: bool,
    /// The last tone sent, and its time.
    tone: (Tone, Ns),
}

impl Trf372017 {
    /// The state after power-up, with a reference in Hz.
    pub fn new(reference: f64) -> Self {
        Self {
            lines: [false, false, true],
            chip: Upconverter::new(reference),
            word: 0,
            count: 0,
            miso: false,
            tone: (Tone::OFF, 0),
        }
    }

    /// Frequency in Hz at the output of the local oscillator, 0 if it is off.
    fn output(&self) -> f64 {
        let [_, _, _, _, four, _, six, _] = self.chip.registers;
        let off = register4::PWD_OUT_BUFF.get(four) != 0 || register4::PWD_LO_DIV.get(four) != 0;
        if off || !self.chip.is_locked() {
            return 0.0;
        }
        self.chip.hz().0 / f64::from(1u32 << register6::LO_DIV_SEL.get(six))
    }

    /// Sends the tone at the output if it has changed.
    fn show(&mut self, at: Ns, out: &mut Outbox) {
        let (hz, (before, since)) = (self.output(), self.tone);
        if hz == before.hz {
            return;
        }
        let turns = (before.turns + turns_of(before.hz, at - since)).rem_euclid(1.0);
        let tone = match hz {
            0.0 => Tone::OFF,
            _ => Tone { hz, dbm: POWER, turns },
        };
        self.tone = (tone, at);
        out.send(0, Signal::Tone(tone));
    }

    fn end(&mut self, at: Ns, out: &mut Outbox) {
        let (word, count) = (std::mem::take(&mut self.word), std::mem::take(&mut self.count));
        match count {
            0 => {}
            WORD => self.chip.write(word, out),
            _ => out.warn(format!("a message of {count} bits for a TRF372017, which has {WORD}")),
        }
        self.show(at, out);
    }
}

impl Model for Trf372017 {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let before = self.lines;
        set_levels(&mut self.lines, changes);
        if !before[CS] && self.lines[CS] {
            self.end(at, out);
        }
        let selected = !self.lines[CS];
        let mut miso = self.miso && selected;
        match (before[CLK], self.lines[CLK]) {
            (false, true) if selected => {
                miso = self.chip.answer().checked_shr(self.count).unwrap_or_default() & 1 != 0;
                if self.count < WORD {
                    self.word |= u32::from(self.lines[MOSI]) << self.count;
                }
                self.count += 1;
            }
            (false, true) => self.chip.clocked(),
            _ => {}
        }
        if miso != self.miso {
            self.miso = miso;
            // This output follows the tone.
            out.send(1, Signal::Level(miso));
        }
    }

    fn report(&self, _at: Ns) -> Value {
        let (oscillator, modulator) = self.chip.hz();
        json!({
            "chip": "TRF372017",
            "locked": self.chip.is_locked(),
            "oscillator_hz": oscillator,
            "local_oscillator_hz": modulator,
            "output_hz": self.output(),
            "registers": named("REGISTER", &self.chip.registers),
        })
    }
}

/// A TRF372017 in a bench file. Missing values are those of the device database, or else defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Section {
    /// Reference in Hz; default 125 MHz.
    reference_hz: Option<Positive>,
}

impl BenchSection for Section {
    fn model(settings: &Settings<Self>) -> Result<CardModel, Rejected> {
        let reference = settings
            .get(|section| section.reference_hz)
            .map_or(REFERENCE, |hz| hz.0);
        let model = CardModel::new(Trf372017::new(reference), &INPUTS, OutputKinds::tones(1));
        Ok(model.answering(&ANSWERS))
    }
}

#[cfg(test)]
#[path = "trf372017_tests.rs"]
mod tests;
