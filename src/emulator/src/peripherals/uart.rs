//! A UART (0xE0000000, 0xE0001000). Transmission takes no time; nothing is ever received.

/// Registers and everything sent so far.
pub struct Uart {
    words: [u32; 0x48 / 4],
    mask: u32,
    status: u32,
    /// Bytes sent since power-up.
    pub output: Vec<u8>,
}

const TX_EMPTY: u32 = 1 << 3;
const RX_EMPTY: u32 = 1 << 1;

impl Default for Uart {
    fn default() -> Self {
        let mut words = [0; 0x48 / 4];
        words[0] = 0x128; // CR: transmitter and receiver disabled
        words[0x18 / 4] = 0x28b;
        words[0x34 / 4] = 0xf;
        words[0x20 / 4] = 0x20;
        words[0x44 / 4] = 0x20;
        Self {
            words,
            mask: 0,
            status: TX_EMPTY,
            output: Vec::new(),
        }
    }
}

impl Uart {
    /// Level of the interrupt.
    pub fn irq(&self) -> bool {
        self.status & self.mask != 0
    }

    /// Reads the register at `offset`.
    pub fn read(&self, offset: u32) -> u32 {
        match offset {
            0x10 => self.mask,
            0x14 => self.status,
            0x2c => TX_EMPTY | RX_EMPTY,
            0x30 => 0,
            _ => self.words.get(offset as usize / 4).copied().unwrap_or(0),
        }
    }

    /// Writes a register. Only an enabled transmitter sends.
    pub fn write(&mut self, offset: u32, value: u32) {
        match offset {
            0x00 => self.words[0] = value & !3, // the reset bits clear themselves
            0x08 => self.mask |= value,
            0x0c => self.mask &= !value,
            0x14 => self.status = self.status & !value | TX_EMPTY,
            0x10 | 0x2c => {}
            0x30 => {
                if self.words[0] & 0x30 == 0x10 {
                    self.output.push(value as u8);
                    self.status |= TX_EMPTY;
                }
            }
            _ => {
                if let Some(w) = self.words.get_mut(offset as usize / 4) {
                    *w = value;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmits_only_when_enabled() {
        let mut u = Uart::default();
        u.write(0x30, b'x'.into());
        u.write(0, 0x14);
        u.write(0x30, b'y'.into());
        assert_eq!(u.output, b"y");
        assert_eq!(u.read(0x2c) & TX_EMPTY, TX_EMPTY);
        u.write(8, TX_EMPTY);
        assert!(u.irq());
    }
}
