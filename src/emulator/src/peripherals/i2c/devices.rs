//! The simple devices on the board's I2C bus.

use super::{Device, Pointer};
use crate::machine::time::Cycles;

/// A port expander PCF8574A: it reads back the last byte written, since nothing else drives its
/// pins.
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

/// Address of the EUI-48 in a 24AA02E48, and start of the write-protected part (data sheet
/// DS20002124, section 9).
const EUI_48: usize = 0xfa;
const PROTECTED: usize = 0x80;

/// An EEPROM 24AA02: 256 bytes. A write takes no time.
pub struct Eeprom {
    bytes: [u8; 256],
    /// Number of bytes that can be written.
    writable: usize,
    pointer: Pointer,
}

impl Eeprom {
    /// Creates a 24AA02E48 with a Microchip EUI-48 that ends with this byte.
    pub fn with_identity(number: u8) -> Self {
        let mut this = Self::default();
        this.bytes[EUI_48..].copy_from_slice(&[0x00, 0x04, 0xa3, 0, 0, number]);
        this.writable = PROTECTED;
        this
    }
}

impl Default for Eeprom {
    fn default() -> Self {
        Self {
            bytes: [0xff; 256],
            writable: 256,
            pointer: Pointer::default(),
        }
    }
}

impl Device for Eeprom {
    fn addressed(&mut self) {
        self.pointer.addressed();
    }

    fn take(&mut self, byte: u8, _: Cycles) {
        let at = self.pointer.take(byte).map(usize::from);
        if let Some(at) = at.filter(|at| *at < self.writable) {
            self.bytes[at] = byte;
        }
    }

    fn give(&mut self, _: Cycles) -> u8 {
        self.bytes[usize::from(self.pointer.advance())]
    }
}
