//! The SPI bus of a Phaser, byte by byte, and the chips on it: DAC34H84, two TRF372017, two attenuators.

use kairos_contracts::chips::dac34h84::{
    self as dac, alarms, config1, config13, config2, config24, config25, config31, config9,
};
use kairos_contracts::chips::phaser::{self as chip, spi_cfg, spi_divlen};
use kairos_contracts::chips::trf372017::{self as trf, register1, register2, register3, register4, register6};
use kairos_contracts::chips::Register;

use super::super::hmc542b::attenuation_db;
use crate::model::Outbox;
use crate::signal::Ns;

/// Frequency of the reference of the DAC's PLL and of the upconverters, Hz.
const REFERENCE: f64 = 125e6;
const TEST_FIRST: usize = dac::IOTEST_PATTERN as usize;
const TEST_WORDS: usize = dac::IOTEST_WORDS as usize;
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
/// A cycle of the bus's divider.
const TICK: Ns = chip::SPI_TICK_NS as Ns;

/// The DAC.
pub struct Dac {
    pub registers: [u16; 128],
    message: Vec<u8>,
    /// Oscillators' words of both channel pairs in effect: frequency, phase.
    mixers: [(u32, u16); 2],
    alarms: u16,
}

impl Dac {
    fn new() -> Self {
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
    fn latched(&mut self, test: Option<[u16; TEST_WORDS]>) -> u16 {
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
                return out.warn(format!("register {address:#04x} of its DAC cannot be written"));
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

    /// Exchanges a byte.
    fn exchange(&mut self, byte: u8, test: Option<[u16; TEST_WORDS]>) -> u8 {
        self.message.push(byte);
        let first = self.message[0];
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
        match self.message.len() {
            2 => (word >> 8) as u8,
            3 => word as u8,
            _ => 0,
        }
    }

    fn end(&mut self, out: &mut Outbox) {
        match std::mem::take(&mut self.message)[..] {
            [first, high, low] if u32::from(first) & dac::READ == 0 => {
                self.write(first.into(), u16::from_be_bytes([high, low]), out);
            }
            [_, _, _] => {}
            ref other => out.warn(format!("a message of {} bytes for its DAC, which has 3", other.len())),
        }
    }
}

/// An upconverter's chip.
#[derive(Default)]
pub struct Upconverter {
    /// Registers 0 (not written) to 7.
    pub registers: [u32; 8],
    message: Vec<u8>,
    /// The register asked for, after a clock without a select.
    asked: Option<(usize, bool)>,
    calibrated: bool,
}

impl Upconverter {
    /// Frequency of its oscillator in Hz, and of the modulator; 0 if it is off.
    pub fn hz(&self) -> (f64, f64) {
        let [_, one, two, three, four, _, six, _] = self.registers;
        let fraction = f64::from(register3::NFRAC.get(three)) / 2f64.powi(25) * f64::from(register4::EN_FRAC.get(four));
        let divider = f64::from(1u32 << register2::PLL_DIV_SEL.get(two));
        let compared = REFERENCE / f64::from(register1::RDIV.get(one).max(1));
        let oscillator = compared * (f64::from(register2::NINT.get(two)) + fraction) * divider;
        let off = register4::PWD_PLL.get(four) != 0 || register4::PWD_VCO.get(four) != 0;
        let silent = off || register4::PWD_TX_DIV.get(four) != 0;
        let divided = oscillator / f64::from(1u32 << register6::TX_DIV_SEL.get(six));
        (if off { 0.0 } else { oscillator }, if silent { 0.0 } else { divided })
    }

    /// Whether its oscillator has been calibrated, and reaches its frequency.
    pub fn is_locked(&self) -> bool {
        self.calibrated && (2.4e9..=4.8e9).contains(&self.hz().0)
    }

    fn read(&self, number: usize) -> u32 {
        match number {
            // Without the bit for a calibration that reached an end of its range
            0 => trf::IDENTITY,
            _ => self.registers[number],
        }
    }

    fn exchange(&mut self, byte: u8) -> u8 {
        let place = self.message.len();
        self.message.push(byte);
        let answer = match self.asked {
            Some((number, true)) => self.read(number),
            _ => 0,
        };
        answer.to_le_bytes().get(place).copied().unwrap_or_default()
    }

    fn end(&mut self, out: &mut Outbox) {
        let message = std::mem::take(&mut self.message);
        let Ok(bytes) = <[u8; 4]>::try_from(&message[..]) else {
            return out.warn(format!(
                "a message of {} bytes for an upconverter, which has 4",
                message.len()
            ));
        };
        let word = u32::from_le_bytes(bytes);
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
            return out.warn(format!("the word {word:#010x} for an upconverter has no register"));
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

/// The bus.
pub struct Bus {
    pub dac: Dac,
    pub upconverters: [Upconverter; 2],
    /// Shift registers of the attenuators, and their settings.
    attenuators: [(u8, u8); 2],
    until: Ns,
}

/// The configuration of a transfer: registers of the card.
pub struct Transfer {
    pub select: u32,
    pub divlen: u32,
    pub flags: u32,
}

impl Bus {
    /// The state after power-up.
    pub fn new() -> Self {
        Self {
            dac: Dac::new(),
            upconverters: Default::default(),
            attenuators: [(0, 0); 2],
            until: 0,
        }
    }

    /// Resets the DAC.
    pub fn reset_dac(&mut self) {
        self.dac = Dac::new();
    }

    /// Resets an attenuator: to the maximum.
    pub fn reset_attenuator(&mut self, n: usize) {
        self.attenuators[n] = (0, 0);
    }

    /// Attenuation in dB.
    pub fn attenuation(&self, n: usize) -> f64 {
        attenuation_db(self.attenuators[n].1.into())
    }

    /// Setting of an attenuator.
    pub fn setting(&self, n: usize) -> u8 {
        self.attenuators[n].1
    }

    /// Whether no transfer is going on.
    pub fn is_idle(&self, at: Ns) -> bool {
        at >= self.until
    }

    /// Whether the DAC has alarms.
    pub fn alarms(&mut self, test: Option<[u16; TEST_WORDS]>) -> bool {
        self.dac.latched(test) != 0
    }

    /// Exchanges up to a byte, and returns what was read.
    pub fn transfer(
        &mut self,
        at: Ns,
        by: &Transfer,
        byte: u8,
        test: Option<[u16; TEST_WORDS]>,
        out: &mut Outbox,
    ) -> u8 {
        if !self.is_idle(at) {
            out.warn("a byte for its SPI bus before the one before has been sent");
        }
        let divider = Ns::from(8 * spi_divlen::DIV.get(by.divlen) + 2);
        let length = spi_divlen::LENGTH.get(by.divlen) + 1;
        self.until = at + divider * Ns::from(length) * TICK;
        let ends = spi_cfg::END.get(by.flags) != 0;
        if by.select == 0 {
            if length > 1 {
                out.warn("a byte on its SPI bus selects no chip");
            }
            for each in &mut self.upconverters {
                each.asked = each.asked.map(|(number, _)| (number, true));
            }
            return 0;
        }
        let mut read = 0;
        if by.select & chip::DAC_SELECT != 0 {
            read |= self.dac.exchange(byte, test);
            if ends {
                self.dac.end(out);
            }
        }
        for n in 0..self.upconverters.len() {
            if by.select & chip::TRF_SELECT << n != 0 {
                if spi_cfg::LSB_FIRST.get(by.flags) == 0 {
                    out.warn(format!(
                        "channel {n}: its upconverter gets a byte with the highest bit first"
                    ));
                }
                read |= self.upconverters[n].exchange(byte);
                if ends {
                    self.upconverters[n].end(out);
                }
            }
            if by.select & chip::ATTENUATOR_SELECT << n != 0 {
                let (shifted, setting) = &mut self.attenuators[n];
                read |= std::mem::replace(shifted, byte);
                if ends {
                    *setting = *shifted;
                }
            }
        }
        read
    }
}
