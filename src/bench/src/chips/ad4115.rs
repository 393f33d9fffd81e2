//! The AD4115 ADC: 16 voltage inputs with dividers and a 24-bit converter. A message is eight bits
//! that name a register, followed by the register's bits.
//!
//! Only single conversions at the fastest rate of its filters are modelled; continuous conversion,
//! calibrations, other rates and other pairs of inputs cause warnings.

use kairos_contracts::chips::shuttler::{
    self as chip, adc_channel, adc_interface, adc_mode, adc_setup, adc_status, communication,
};
use serde_json::{json, Value};

use super::shift::{Sent, Shift};
use crate::signal::Ns;

/// Voltage inputs.
pub const INPUTS: usize = 16;
const REGISTERS: usize = 64;
/// Input pair numbers of inputs against VINCOM.
const PAIR: u32 = 5;
const COMMON: u32 = 16;

#[derive(Debug, Clone, Copy, Default)]
enum Port {
    #[default]
    Communication,
    Write(usize),
    Read,
}

/// The chip.
pub struct Ad4115 {
    volts: [f64; INPUTS],
    registers: [u32; REGISTERS],
    port: Port,
    shift: Shift,
    sent: Sent,
    /// Number of consecutive ones.
    ones: u32,
    /// End of the conversion in progress.
    ends: Option<Ns>,
}

/// Width of a register in bits.
fn width(number: usize) -> u32 {
    match number {
        0x00 => chip::ADC_STATUS.width,
        0x03 | 0x04 | 0x30..=0x3f => chip::ADC_DATA.width,
        0x05 => 8,
        _ => chip::ADC_MODE.width,
    }
}

fn is_there(number: usize) -> bool {
    matches!(number, 0..=4 | 6 | 7 | 0x10..=0x3f)
}

impl Ad4115 {
    /// The state after power-up, with these voltages at its inputs.
    pub fn new(volts: [f64; INPUTS]) -> Self {
        let mut registers = [0; REGISTERS];
        for register in [chip::ADC_STATUS, chip::ADC_MODE, chip::ADC_INTERFACE] {
            registers[usize::from(register.address)] = register.reset;
        }
        registers[usize::from(chip::ADC_ID.address)] = chip::ADC_ID_VALUE;
        for n in 0..16 {
            registers[usize::from(chip::ADC_CHANNEL.address) + n] = if n == 0 { chip::ADC_CHANNEL.reset } else { 1 };
        }
        for register in [chip::ADC_SETUP, chip::ADC_FILTER, chip::ADC_OFFSET, chip::ADC_GAIN] {
            let first = usize::from(register.address);
            registers[first..first + 8].fill(register.reset);
        }
        Self {
            volts,
            registers,
            port: Port::default(),
            shift: Shift::default(),
            sent: Sent::default(),
            ones: 0,
            ends: None,
        }
    }

    fn mode(&self) -> u32 {
        adc_mode::MODE.get(self.registers[usize::from(chip::ADC_MODE.address)])
    }

    /// Begins a message as the chip is selected.
    pub fn begin(&mut self) {
        (self.port, self.shift, self.sent) = Default::default();
    }

    /// Ends a message as the chip is deselected; returns a warning if it is incomplete.
    pub fn end(&mut self) -> Option<String> {
        let count = self.shift.count;
        // A reset may end within a message.
        let cut = count != 0 && self.ones < count;
        self.begin();
        cut.then(|| format!("ADC: a message ended after {count} bits of its part: check its length"))
    }

    /// Handles a rising clock edge.
    pub fn rise(&mut self, at: Ns, bit: bool) -> Option<String> {
        self.finish(at);
        self.ones = if bit { self.ones + 1 } else { 0 };
        if self.ones >= chip::ADC_RESET_BITS {
            *self = Self::new(self.volts);
            return None;
        }
        self.shift.take(bit);
        match self.port {
            Port::Communication => {
                let word = self.shift.message(chip::COMMUNICATION.width)? as u32;
                // The ones of a reset name no register.
                if word >> 7 != 0 {
                    return None;
                }
                let number = communication::REGISTER.get(word) as usize;
                if !is_there(number) {
                    return Some(format!("ADC: it has no register {number:#04x}"));
                }
                self.port = match communication::READ.get(word) {
                    0 => Port::Write(number),
                    _ => {
                        self.sent = Sent::new(self.read(number).into(), width(number));
                        Port::Read
                    }
                };
                None
            }
            Port::Write(number) => {
                let word = self.shift.message(width(number))? as u32;
                self.port = Port::Communication;
                self.write(at, number, word)
            }
            Port::Read => {
                self.shift = Shift::default();
                None
            }
        }
    }

    /// Handles a falling clock edge; returns the output bit.
    pub fn fall(&mut self) -> Option<bool> {
        matches!(self.port, Port::Read).then(|| self.sent.take())
    }

    fn read(&mut self, number: usize) -> u32 {
        if number == usize::from(chip::ADC_DATA.address) {
            let status = &mut self.registers[usize::from(chip::ADC_STATUS.address)];
            *status = adc_status::NOT_READY.put(*status, 1);
        }
        self.registers[number]
    }

    fn write(&mut self, at: Ns, number: usize, word: u32) -> Option<String> {
        let address = number as u8;
        if [chip::ADC_STATUS.address, chip::ADC_DATA.address, chip::ADC_ID.address].contains(&address) {
            return Some(format!("ADC: its register {number:#04x} cannot be written"));
        }
        let was = self.mode();
        self.registers[number] = word;
        if address == chip::ADC_INTERFACE.address && word != 0 {
            let [status, short] = [adc_interface::DATA_STATUS, adc_interface::SHORT_DATA].map(|field| field.get(word));
            return (status | short != 0).then(|| "ADC: results with status or of 16 bits are not modelled".into());
        }
        if address != chip::ADC_MODE.address {
            return None;
        }
        if was == adc_mode::MODE_POWER_DOWN && self.mode() != was {
            self.registers[number] = adc_mode::MODE.put(word, was);
            return Some("ADC: it is powered down: only a reset wakes it".into());
        }
        match self.mode() {
            adc_mode::MODE_SINGLE => {
                self.ends = Some(at + (1e9 / chip::ADC_SETTLED_RATE) as Ns);
                self.warn_of_conversion()
            }
            adc_mode::MODE_STANDBY | adc_mode::MODE_POWER_DOWN => {
                self.ends = None;
                None
            }
            _ => Some("ADC: continuous conversion and calibrations are not modelled".into()),
        }
    }

    /// The first enabled channel, and its register.
    fn channel(&self) -> Option<(usize, u32)> {
        let first = usize::from(chip::ADC_CHANNEL.address);
        let on = |n: &usize| adc_channel::ENABLE.get(self.registers[first + n]) != 0;
        (0..16).find(on).map(|n| (n, self.registers[first + n]))
    }

    fn warn_of_conversion(&self) -> Option<String> {
        let Some((_, word)) = self.channel() else {
            return Some("ADC: a conversion without a channel".into());
        };
        let setup = adc_channel::SETUP.get(word) as usize;
        let rate = self.registers[usize::from(chip::ADC_FILTER.address) + setup] & 0x1f;
        if rate != 0 {
            return Some("ADC: conversions at rates other than the fastest are not modelled".into());
        }
        let settings = self.registers[usize::from(chip::ADC_SETUP.address) + setup];
        let internal = adc_setup::REFERENCE.get(settings) == adc_setup::REFERENCE_INTERNAL;
        let mode = self.registers[usize::from(chip::ADC_MODE.address)];
        (internal && adc_mode::REF_EN.get(mode) == 0)
            .then(|| "ADC: a conversion with the internal reference, which is off (ref_en)".into())
    }

    /// Stores the result of a conversion that has ended.
    fn finish(&mut self, at: Ns) {
        if self.ends.is_none_or(|ends| at < ends) {
            return;
        }
        self.ends = None;
        let Some((n, word)) = self.channel() else { return };
        let setup = adc_channel::SETUP.get(word) as usize;
        let of = |register: kairos_contracts::chips::Register| self.registers[usize::from(register.address) + setup];
        let pair = adc_channel::INPUT.get(word);
        let input = |number: u32| self.volts.get(number as usize).copied().unwrap_or(0.0);
        let volts = match (pair >> PAIR, pair & ((1 << PAIR) - 1)) {
            (positive, COMMON) => input(positive),
            (positive, negative) => input(positive) - input(negative),
        };
        let part = volts * chip::ADC_DIVIDER / chip::ADC_REFERENCE;
        let bipolar = adc_setup::BIPOLAR.get(of(chip::ADC_SETUP)) != 0;
        let gain = f64::from(of(chip::ADC_GAIN)) / f64::from(chip::ADC_GAIN.reset);
        let offset = f64::from(of(chip::ADC_OFFSET)) - f64::from(chip::ADC_OFFSET.reset);
        let code = match bipolar {
            true => 8_388_608.0 * (part * gain + 1.0) + offset,
            false => 16_777_216.0 * part * gain + offset,
        };
        let held = code.round().clamp(0.0, 16_777_215.0);
        self.registers[usize::from(chip::ADC_DATA.address)] = held as u32;
        let status = adc_status::CHANNEL.put(0, n as u32);
        self.registers[usize::from(chip::ADC_STATUS.address)] =
            adc_status::ADC_ERROR.put(status, u32::from(held != code.round()));
        let mode = &mut self.registers[usize::from(chip::ADC_MODE.address)];
        *mode = adc_mode::MODE.put(*mode, adc_mode::MODE_STANDBY);
    }

    /// State.
    pub fn report(&self) -> Value {
        let modes = ["continuous", "single", "standby", "power-down"];
        json!({
            "mode": modes.get(self.mode() as usize).unwrap_or(&"calibration"),
            "converting": self.ends.is_some(),
            "code": self.registers[usize::from(chip::ADC_DATA.address)],
        })
    }
}

#[cfg(test)]
#[path = "ad4115_tests.rs"]
mod tests;
