//! The DAC34H84: registers behind a serial port, PLL, pointers of its FIFO, test of its inputs, alarms, mixers. On the bus of
//! a Phaser, or on an SPI bus of its own; alone, nothing is at its inputs.

use kairos_contracts::chips::dac34h84::{
    self as dac, alarms, config1, config13, config2, config24, config25, config31, config9,
};
use kairos_contracts::chips::Register;
use serde::Deserialize;
use serde_json::{json, Value};

use super::reported::named;
use super::shift::{Sent, Shift, UnselectedMessage};
use crate::assemble::outputs::OutputKinds;
use crate::model::{set_levels, Change, Model, Outbox};
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings};
use crate::signal::{Ns, Signal};

/// Frequency of the reference of its PLL, Hz.
const REFERENCE: f64 = 125e6;
const TEST_FIRST: usize = dac::IOTEST_PATTERN as usize;
/// Words that are compared in a test of its inputs.
pub const TEST_WORDS: usize = dac::IOTEST_WORDS as usize;
const CELSIUS: u16 = 35;
/// Voltage of the loop filter of a PLL that has locked.
const LOCKED: u32 = 3;
const ALL_FIFO: u32 = 7;
/// Distances of the FIFO's pointers without an alarm.
const GOOD_OFFSETS: std::ops::RangeInclusive<u32> = 2..=6;
/// Steps of the mixer by eighths of the sample rate, for the bits that select them.
const MIXER_STEPS: [(kairos_contracts::chips::Field, f64); 4] = [
    (config13::CMIX_FS8, 1.0),
    (config13::CMIX_FS4, 2.0),
    (config13::CMIX_FS2, 4.0),
    (config13::CMIX_NFS4, -2.0),
];
/// Bytes of a message.
const MESSAGE: usize = 3;
const BYTE: u32 = 8;

/// The DAC.
pub struct Dac {
    pub registers: [u16; 128],
    message: Vec<u8>,
    /// Oscillators' words of both channel pairs in effect: frequency, phase.
    mixers: [(u32, u16); 2],
    alarms: u16,
}

impl Dac {
    /// The state after a reset.
    pub fn new() -> Self {
        let mut registers = [0; 128];
        registers[usize::from(dac::CONFIG0.address)] = dac::AFTER_RESET as u16;
        registers[usize::from(dac::ID.address)] = dac::VERSION as u16;
        registers[usize::from(dac::TEMPERATURE.address)] = CELSIUS << 8;
        Self {
            registers,
            message: Vec::new(),
            mixers: [(0, 0); 2],
            alarms: 0,
        }
    }

    fn register(&self, register: Register) -> u32 {
        self.registers[usize::from(register.address)].into()
    }

    /// Whether its PLL makes the rate of the samples at which the card works.
    pub fn is_locked(&self) -> bool {
        let (on, rate) = (self.register(dac::CONFIG24), self.register(dac::CONFIG25));
        let doubled = f64::from(1 << config25::PLL_M2.get(rate));
        let hz = REFERENCE * f64::from(config25::PLL_M.get(rate)) * doubled / f64::from(config25::PLL_N.get(rate) + 1);
        config24::PLL_ENA.get(on) != 0 && config24::PLL_RESET.get(on) == 0 && hz == f64::from(dac::SAMPLE_RATE)
    }

    /// Alarms that have occurred, or last; `test`: words that the channels send for a test, if they do.
    pub fn latched(&mut self, test: Option<[u16; TEST_WORDS]>) -> u16 {
        let mut now = 0;
        if !GOOD_OFFSETS.contains(&config9::FIFO_OFFSET.get(self.register(dac::CONFIG9))) {
            now = alarms::FIFO.put(now, ALL_FIFO);
        }
        now = alarms::PLL_LOCK.put(now, u32::from(!self.is_locked()));
        if config1::IOTEST_ENA.get(self.register(dac::CONFIG1)) != 0 {
            let wrong = (0..TEST_WORDS).fold(0, |bits, n| {
                let sent = test.map_or(!self.registers[TEST_FIRST + n], |words| words[n]);
                [TEST_FIRST, TEST_FIRST + TEST_WORDS]
                    .iter()
                    .fold(bits, |bits, first| bits | (self.registers[first + n] ^ sent))
            });
            self.registers[usize::from(dac::IOTEST.address)] |= wrong;
            now = alarms::IO_TEST.put(now, u32::from(wrong != 0));
        }
        self.alarms |= now as u16;
        self.alarms
    }

    /// Hz by which a channel pair's mixer shifts, and its phase in turns.
    pub fn mixing(&self, n: usize) -> (f64, f64) {
        let on = self.register(dac::CONFIG2);
        if config2::MIXER_ENA.get(on) == 0 {
            return (0.0, 0.0);
        }
        let coarse = self.register(dac::CONFIG13);
        let steps = MIXER_STEPS.iter().filter(|(field, _)| field.get(coarse) != 0);
        let rate = f64::from(dac::SAMPLE_RATE);
        let hz = steps.map(|(_, step)| step).sum::<f64>() * rate / 8.0;
        let (word, phase) = self.mixers[n];
        match config2::NCO_ENA.get(on) {
            0 => (hz, 0.0),
            _ => (
                hz + f64::from(word as i32) / 2f64.powi(32) * rate,
                f64::from(phase) / 65536.0,
            ),
        }
    }

    fn write(&mut self, address: usize, word: u16, out: &mut Outbox) {
        match address as u8 {
            address if address == dac::ALARMS.address => return self.alarms = 0,
            address
                if [dac::TEMPERATURE, dac::ID]
                    .map(|register| register.address)
                    .contains(&address) =>
            {
                return out.warn(format!("register {address:#04x} of a DAC34H84 cannot be written"));
            }
            _ => {}
        }
        let before = std::mem::replace(&mut self.registers[address], word);
        let rises = config31::SIF_SYNC.get(word.into()) != 0 && config31::SIF_SYNC.get(before.into()) == 0;
        let synchronises = address == usize::from(dac::CONFIG31.address) && rises;
        for n in 0..self.mixers.len() {
            // Writing a phase applies it, too
            if synchronises || address == usize::from(dac::CONFIG18.address) + n {
                let low = usize::from(dac::CONFIG20.address) + 2 * n;
                let frequency = u32::from(self.registers[low + 1]) << 16 | u32::from(self.registers[low]);
                self.mixers[n] = (frequency, self.registers[usize::from(dac::CONFIG18.address) + n]);
            }
        }
    }

    /// What it sends while it receives the next byte of a message. `test`: as for `latched`.
    pub fn reply(&mut self, test: Option<[u16; TEST_WORDS]>) -> u8 {
        let Some(&first) = self.message.first() else {
            return 0;
        };
        let reads = u32::from(first) & dac::READ != 0 && config2::SIF4_ENA.get(self.register(dac::CONFIG2)) != 0;
        if !reads {
            return 0;
        }
        let address = first & !(dac::READ as u8);
        let word = match address {
            address if address == dac::ALARMS.address => self.latched(test),
            address if address == dac::IOTEST.address => {
                self.latched(test);
                self.registers[usize::from(address)]
            }
            address if address == dac::CONFIG24.address => {
                let voltage = if self.is_locked() { LOCKED } else { 0 };
                config24::LFVOLT.put(self.register(dac::CONFIG24), voltage) as u16
            }
            address => self.registers[usize::from(address)],
        };
        let bytes = word.to_be_bytes();
        bytes.get(self.message.len() - 1).copied().unwrap_or_default()
    }

    /// Receives a byte of a message.
    pub fn take(&mut self, byte: u8) {
        self.message.push(byte);
    }

    /// Ends a message.
    pub fn end(&mut self, out: &mut Outbox) {
        match std::mem::take(&mut self.message)[..] {
            [first, high, low] if u32::from(first) & dac::READ == 0 => {
                self.write(first.into(), u16::from_be_bytes([high, low]), out);
            }
            [_, _, _] => {}
            [] => {}
            ref other => out.warn(format!(
                "a message of {} bytes for a DAC34H84, which has {MESSAGE}",
                other.len()
            )),
        }
    }
}

impl Default for Dac {
    fn default() -> Self {
        Self::new()
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
pub struct Dac34h84 {
    lines: [bool; INPUTS.len()],
    pub(super) dac: Dac,
    /// Words at its inputs for a test, if there are any.
    pub(super) test: Option<[u16; TEST_WORDS]>,
    shift: Shift,
    sent: Sent,
    miso: bool,
    unselected_message: UnselectedMessage,
}

impl Dac34h84 {
    /// The state after power-up.
    pub fn new() -> Self {
        Self {
            lines: [false, false, true],
            dac: Dac::new(),
            test: None,
            shift: Shift::default(),
            sent: Sent::default(),
            miso: false,
            unselected_message: UnselectedMessage::default(),
        }
    }

    /// Resets it, as its pin does.
    pub(super) fn reset(&mut self) {
        self.dac = Dac::new();
    }

    fn rise(&mut self) {
        self.shift.take(self.lines[MOSI]);
        if let Some(byte) = self.shift.message(BYTE) {
            self.dac.take(byte as u8);
            self.sent = Sent::new(self.dac.reply(self.test).into(), BYTE);
        }
    }

    fn end(&mut self, out: &mut Outbox) {
        let left = std::mem::take(&mut self.shift).count;
        if left != 0 {
            out.warn(format!("a message for a DAC34H84 ends {left} bits after a byte"));
        }
        self.dac.end(out);
        self.sent = Sent::default();
    }
}

impl Default for Dac34h84 {
    fn default() -> Self {
        Self::new()
    }
}

impl Model for Dac34h84 {
    fn input(&mut self, _at: Ns, changes: &[Change], out: &mut Outbox) {
        let before = self.lines;
        set_levels(&mut self.lines, changes);
        if before[CS] != self.lines[CS] {
            self.unselected_message.end();
        }
        if !before[CS] && self.lines[CS] {
            self.end(out);
        }
        let selected = !self.lines[CS];
        let mut miso = self.miso && selected;
        match (before[CLK], self.lines[CLK]) {
            (false, true) if selected => self.rise(),
            (false, true) => self.unselected_message.bit(out),
            (true, false) if selected => miso = self.sent.take(),
            _ => {}
        }
        if miso != self.miso {
            self.miso = miso;
            out.send(0, Signal::Level(miso));
        }
    }

    fn report(&self, _at: Ns) -> Value {
        let mixers: Vec<_> = (0..2).map(|n| self.dac.mixing(n).0).collect();
        json!({
            "chip": "DAC34H84",
            "locked": self.dac.is_locked(),
            "mixer_hz": mixers,
            "registers": named("CONFIG", &self.dac.registers),
        })
    }
}

/// A DAC34H84 in a bench file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Section {}

impl BenchSection for Section {
    fn model(_settings: &Settings<Self>) -> Result<CardModel, Rejected> {
        let model = CardModel::new(Dac34h84::new(), &INPUTS, OutputKinds::default());
        Ok(model.answering(&ANSWERS))
    }
}

#[cfg(test)]
#[path = "dac34h84_tests.rs"]
mod tests;
