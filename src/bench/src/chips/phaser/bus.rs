//! The SPI bus of a Phaser, byte by byte, and the chips on it: DAC34H84, two TRF372017, two attenuators.

use kairos_contracts::chips::phaser::{self as chip, spi_cfg, spi_divlen};

use super::super::dac34h84::{Dac, TEST_WORDS};
use super::super::hmc542b::attenuation_db;
use super::super::trf372017;
use crate::model::Outbox;
use crate::signal::Ns;

/// A cycle of the bus's divider.
const TICK: Ns = chip::SPI_TICK_NS as Ns;

/// An upconverter's chip, with the bytes of the message that it receives.
#[derive(Default)]
pub struct Upconverter {
    pub chip: trf372017::Upconverter,
    message: Vec<u8>,
}

impl Upconverter {
    fn exchange(&mut self, byte: u8) -> u8 {
        let answer = self.chip.answer().to_le_bytes().get(self.message.len()).copied();
        self.message.push(byte);
        answer.unwrap_or_default()
    }

    fn end(&mut self, out: &mut Outbox) {
        let message = std::mem::take(&mut self.message);
        match <[u8; 4]>::try_from(&message[..]) {
            Ok(bytes) => self.chip.write(u32::from_le_bytes(bytes), out),
            Err(_) => out.warn(format!(
                "a message of {} bytes for an upconverter, which has 4",
                message.len()
            )),
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
                each.chip.clocked();
            }
            return 0;
        }
        let mut read = 0;
        if by.select & chip::DAC_SELECT != 0 {
            read |= self.dac.reply(test);
            self.dac.take(byte);
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
