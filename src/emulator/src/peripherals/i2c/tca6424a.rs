//! An I/O expander TCA6424A (data sheet SCPS193): three ports of 8 pins, each with output levels,
//! direction, and input polarity. Nothing is wired to the pins: inputs are low.

use kairos_contracts::chips::tca6424a::{command, CONFIGURATION, INPUT, OUTPUT, POLARITY};
use kairos_contracts::chips::Register;

use super::Device;
use crate::machine::time::Cycles;

/// Number of ports, and address distance between kinds of registers.
const PORTS: usize = 3;
const KIND: usize = 4;
/// Number of addresses; the last one of each kind is reserved.
const ADDRESSES: usize = 4 * KIND;

/// The chip.
pub struct Tca6424a {
    bytes: [u8; ADDRESSES],
    /// Register for the next byte, and whether the address then advances to the next port.
    at: usize,
    advances: bool,
    /// Whether the first byte, the register address, has been received.
    commanded: bool,
}

impl Default for Tca6424a {
    /// The state after power-up: all pins are inputs.
    fn default() -> Self {
        let mut bytes = [0; ADDRESSES];
        for register in [OUTPUT, POLARITY, CONFIGURATION] {
            bytes[index(register)..][..PORTS].fill(register.reset as u8);
        }
        Self {
            bytes,
            at: 0,
            advances: true,
            commanded: false,
        }
    }
}

/// Address of the first register of a kind.
fn index(register: Register) -> usize {
    usize::from(register.address)
}

impl Tca6424a {
    /// Advances to the next port, from the last one to the first.
    fn advance(&mut self) {
        let (kind, port) = (self.at / KIND, self.at % KIND);
        if self.advances {
            self.at = KIND * kind + (port + 1) % PORTS;
        }
    }

    /// The levels of the pins of a port as read by the input register.
    fn levels(&self, port: usize) -> u8 {
        let [output, inverted, input] = [OUTPUT, POLARITY, CONFIGURATION].map(|kind| self.bytes[index(kind) + port]);
        output & !input | inverted & input
    }
}

impl Device for Tca6424a {
    fn addressed(&mut self) {
        self.commanded = false;
    }

    fn take(&mut self, byte: u8, _: Cycles) {
        if !std::mem::replace(&mut self.commanded, true) {
            self.at = command::REGISTER.get(byte.into()) as usize;
            self.advances = command::AUTO_INCREMENT.get(byte.into()) != 0;
            return;
        }
        if self.at % KIND < PORTS && (index(OUTPUT)..ADDRESSES).contains(&self.at) {
            self.bytes[self.at] = byte;
        }
        self.advance();
    }

    fn give(&mut self, _: Cycles) -> u8 {
        let byte = match self.at.checked_sub(index(INPUT)) {
            Some(port) if port < PORTS => self.levels(port),
            _ => self.bytes.get(self.at).copied().unwrap_or(0),
        };
        self.advance();
        byte
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(chip: &mut Tca6424a, bytes: &[u8]) {
        chip.addressed();
        bytes.iter().for_each(|byte| chip.take(*byte, 0));
    }

    fn read(chip: &mut Tca6424a, command: u8, count: usize) -> Vec<u8> {
        write(chip, &[command]);
        chip.addressed();
        (0..count).map(|_| chip.give(0)).collect()
    }

    #[test]
    fn output_pins_have_levels_and_input_pins_none() {
        let mut chip = Tca6424a::default();
        assert_eq!(read(&mut chip, 0x80, 3), [0, 0, 0], "inputs");
        assert_eq!(read(&mut chip, 0x84, 3), [0xff; 3]);
        write(&mut chip, &[0x84, 0x12, 0x34, 0x56]);
        write(&mut chip, &[0x8c, 0x00, 0x0f, 0xff]);
        assert_eq!(read(&mut chip, 0x80, 3), [0x12, 0x30, 0x00]);
        write(&mut chip, &[0x88, 0xff, 0xf5, 0x00]);
        assert_eq!(read(&mut chip, 0x80, 3), [0x12, 0x35, 0x00], "of inputs only");
    }

    #[test]
    fn consecutive_bytes_access_ports_in_turn_or_one_port() {
        let mut chip = Tca6424a::default();
        write(&mut chip, &[0x86, 1, 2, 3, 4]);
        assert_eq!(read(&mut chip, 0x84, 4), [2, 3, 4, 2]);
        write(&mut chip, &[0x05, 7, 8]);
        assert_eq!(read(&mut chip, 0x84, 3), [2, 8, 4]);
        assert_eq!(read(&mut chip, 0x05, 3), [8, 8, 8]);
    }

    #[test]
    fn absent_register_is_not_written() {
        let mut chip = Tca6424a::default();
        for command in [0x80, 0x87, 0x8f, 0x90, 0xff] {
            write(&mut chip, &[command, 0x55]);
        }
        assert_eq!(read(&mut chip, 0x84, 3), [0xff; 3]);
        assert_eq!((read(&mut chip, 0x80, 1), read(&mut chip, 0xff, 1)), (vec![0], vec![0]));
    }
}
