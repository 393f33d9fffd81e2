//! A UART. Transmission takes no time; nothing is ever received.

use crate::machine::peripheral::{Access, Context, Peripheral, Reset};

/// Registers.
pub struct Uart {
    number: usize,
    words: [u32; 0x48 / 4],
    mask: u32,
    status: u32,
}

const TX_EMPTY: u32 = 1 << 3;
const RX_EMPTY: u32 = 1 << 1;

impl Uart {
    /// UART `number` (0 or 1) after power-up.
    pub fn new(number: usize) -> Self {
        let mut words = [0; 0x48 / 4];
        words[0] = 0x128; // CR: transmitter and receiver disabled
        words[0x18 / 4] = 0x28b;
        words[0x34 / 4] = 0xf;
        words[0x20 / 4] = 0x20;
        words[0x44 / 4] = 0x20;
        Self {
            number,
            words,
            mask: 0,
            status: TX_EMPTY,
        }
    }

    /// Reads the register at `offset`.
    fn read(&self, offset: u32) -> u32 {
        match offset {
            0x10 => self.mask,
            0x14 => self.status,
            0x2c => TX_EMPTY | RX_EMPTY,
            0x30 => 0,
            _ => self.words.get(offset as usize / 4).copied().unwrap_or(0),
        }
    }

    /// Writes a register. Returns the byte sent, if the transmitter is enabled.
    fn write(&mut self, offset: u32, value: u32) -> Option<u8> {
        match offset {
            0x00 => self.words[0] = value & !3, // the reset bits are self-clearing
            0x08 => self.mask |= value,
            0x0c => self.mask &= !value,
            0x14 => self.status = self.status & !value | TX_EMPTY,
            0x10 | 0x2c => {}
            0x30 => {
                if self.words[0] & 0x30 == 0x10 {
                    self.status |= TX_EMPTY;
                    return Some(value as u8);
                }
            }
            _ => {
                if let Some(w) = self.words.get_mut(offset as usize / 4) {
                    *w = value;
                }
            }
        }
        None
    }
}

impl Peripheral for Uart {
    fn read(&mut self, at: Access, _: &mut Context) -> u32 {
        Uart::read(self, at.offset)
    }

    fn write(&mut self, at: Access, value: u32, context: &mut Context) {
        if let Some(byte) = self.write(at.offset, value) {
            let console = &mut context.signals.console;
            console.text.push(byte);
            console.sent[self.number] += 1;
        }
    }

    fn reset(&mut self, what: Reset, _: &mut Context) {
        if let Reset::System(_) = what {
            *self = Self::new(self.number);
        }
    }

    fn irq(&self) -> u32 {
        (self.status & self.mask != 0).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uart_transmits_only_when_enabled() {
        let mut u = Uart::new(0);
        assert_eq!(u.write(0x30, b'x'.into()), None);
        u.write(0, 0x14);
        assert_eq!(u.write(0x30, b'y'.into()), Some(b'y'));
        assert_eq!(u.read(0x2c) & TX_EMPTY, TX_EMPTY);
        u.write(8, TX_EMPTY);
        assert_eq!(u.irq(), 1);
    }
}
