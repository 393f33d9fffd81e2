//! An I/O expander MCP23017 (data sheet DS20001952): two ports of 8 pins, with directions and output
//! levels. Nothing drives the pins: inputs are low.
//!
//! On a Kasli-SoC one pin switches the power of the cards, and one the source of the clock.

use kairos_contracts::chips::kasli_soc::{CLOCK, EXPANDERS, POWER};

use super::{Device, Pointer};
use crate::machine::signals::Signals;
use crate::machine::time::Cycles;

/// Addresses, of pairs of registers for both ports (IOCON.BANK = 0).
const REGISTERS: usize = 0x16;
const GPIO: usize = 0x12;
const LATCH: usize = 0x14;

/// The chip with a number on a Kasli-SoC, 0 or 1.
pub struct Mcp23017 {
    number: u8,
    bytes: [u8; REGISTERS],
    pointer: Pointer,
}

impl Mcp23017 {
    /// The state after power-up: all pins are inputs.
    pub fn new(number: u8) -> Self {
        let mut bytes = [0; REGISTERS];
        let [_, _, direction, ..] = EXPANDERS[0];
        bytes[usize::from(direction)..][..2].fill(0xff);
        Self {
            number,
            bytes,
            pointer: Pointer::default(),
        }
    }

    /// The levels that the pins of a port have.
    fn levels(&self, port: usize) -> u8 {
        self.bytes[LATCH + port] & !self.bytes[port]
    }
}

impl Device for Mcp23017 {
    fn addressed(&mut self) {
        self.pointer.addressed();
    }

    fn take(&mut self, byte: u8, _: Cycles) {
        let Some(register) = self.pointer.take(byte) else {
            return;
        };
        let register = usize::from(register) % REGISTERS;
        // A port is written through its latch.
        let at = register + if (GPIO..LATCH).contains(&register) { 2 } else { 0 };
        self.bytes[at] = byte;
    }

    fn give(&mut self, _: Cycles) -> u8 {
        let register = usize::from(self.pointer.advance()) % REGISTERS;
        match register.checked_sub(GPIO) {
            Some(port) if port < 2 => self.levels(port),
            _ => self.bytes[register],
        }
    }

    fn drive(&self, signals: &mut Signals) {
        let pins = [(POWER, &mut signals.card_power), (CLOCK, &mut signals.own_clock)];
        for ([[expander, port, bit, ..]], signal) in pins {
            if expander == self.number {
                *signal = self.levels(usize::from(port)) >> bit & 1 != 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(chip: &mut Mcp23017, bytes: &[u8]) {
        chip.addressed();
        bytes.iter().for_each(|byte| chip.take(*byte, 0));
    }

    fn read(chip: &mut Mcp23017, register: u8, count: usize) -> Vec<u8> {
        write(chip, &[register]);
        chip.addressed();
        (0..count).map(|_| chip.give(0)).collect()
    }

    #[test]
    fn output_pins_have_the_levels_of_their_latch() {
        let mut chip = Mcp23017::new(0);
        assert_eq!(read(&mut chip, 0x00, 2), [0xff, 0xff], "inputs");
        write(&mut chip, &[0x12, 0xa5, 0x3c]);
        assert_eq!(read(&mut chip, 0x12, 4), [0, 0, 0xa5, 0x3c]);
        write(&mut chip, &[0x00, 0xf0, 0x00]);
        assert_eq!(read(&mut chip, 0x12, 2), [0x05, 0x3c]);
    }

    #[test]
    fn cards_have_power_once_their_pin_is_a_high_output() {
        let mut signals = Signals::default();
        let mut chip = Mcp23017::new(1);
        for (bytes, expected) in [(&[0x12, 0x80], false), (&[0x00, 0x7f], true), (&[0x12, 0x7f], false)] {
            write(&mut chip, bytes);
            chip.drive(&mut signals);
            assert_eq!(signals.card_power, expected, "{bytes:02x?}");
        }
    }
}
