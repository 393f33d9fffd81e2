//! The simple devices of the board's I2C bus.

use super::{Device, Pointer};
use crate::machine::time::Cycles;

/// A port expander PCF8574A: a byte written comes back, for nothing else pulls its pins.
pub struct Expander(u8);

impl Default for Expander {
    fn default() -> Self {
        Self(0xff)
    }
}

impl Device for Expander {
    fn take(&mut self, byte: u8, _: Cycles) {
        self.0 = byte;
    }

    fn give(&mut self, _: Cycles) -> u8 {
        self.0
    }
}

/// An EEPROM 24AA02: 256 bytes. A write takes no time.
pub struct Eeprom {
    bytes: [u8; 256],
    pointer: Pointer,
}

impl Default for Eeprom {
    fn default() -> Self {
        Self {
            bytes: [0xff; 256],
            pointer: Pointer::default(),
        }
    }
}

impl Device for Eeprom {
    fn addressed(&mut self) {
        self.pointer.addressed();
    }

    fn take(&mut self, byte: u8, _: Cycles) {
        if let Some(at) = self.pointer.take(byte) {
            self.bytes[usize::from(at)] = byte;
        }
    }

    fn give(&mut self, _: Cycles) -> u8 {
        self.bytes[usize::from(self.pointer.advance())]
    }
}
