//! The processing system's interface to the XADC (UG585, appendix B.16), and the registers of its
//! sensors (UG480). Transfers take no time.

use std::collections::VecDeque;

use crate::machine::peripheral::{Access, Context, Peripheral, Reset};

const CONFIG: u32 = 0x00;
const STATUS: u32 = 0x0c;
const COMMAND: u32 = 0x10;
const DATA: u32 = 0x14;
const CONTROL: u32 = 0x18;

const ENABLE: u32 = 1 << 31;
const RESET: u32 = 1 << 4;
/// Depth of the result FIFO.
const DEPTH: usize = 15;

/// Interface and sensors.
pub struct Xadc {
    /// Temperature of the chip in °C.
    celsius: u32,
    config: u32,
    control: u32,
    /// The result of the latest command; it enters the FIFO at the next one.
    next: u16,
    answers: VecDeque<u16>,
}

impl Xadc {
    /// Creates the interface after power-up, in a chip at this temperature in °C.
    pub fn new(celsius: u32) -> Self {
        Self {
            celsius,
            config: 0x1114,
            control: RESET,
            next: 0,
            answers: VecDeque::new(),
        }
    }

    /// A register of the XADC: 12 bits in the upper part of 16.
    fn sensor(&self, register: u32) -> u16 {
        let volts = |v: f64| v / 3.0;
        let fraction = match register {
            0x00 => (f64::from(self.celsius) + 273.15) / 503.975,
            0x01 | 0x06 | 0x0d => volts(1.0),
            0x02 | 0x0e => volts(1.8),
            0x0f => volts(1.5),
            _ => 0.0,
        };
        ((fraction * 4096.0).round() as u16).min(4095) << 4
    }

    /// Reads the register at `offset`.
    fn read(&mut self, offset: u32) -> u32 {
        match offset {
            CONFIG => self.config,
            // The command FIFO is always empty.
            STATUS => {
                let (empty, full) = (self.answers.is_empty(), self.answers.len() == DEPTH);
                1 << 10 | (self.answers.len() as u32) << 12 | u32::from(full) << 9 | u32::from(empty) << 8
            }
            DATA => self.answers.pop_front().unwrap_or(0).into(),
            CONTROL => self.control,
            _ => 0,
        }
    }

    /// Writes a register.
    fn write(&mut self, offset: u32, value: u32) {
        match offset {
            CONFIG => self.config = value,
            CONTROL => {
                self.control = value;
                if value & RESET != 0 {
                    self.answers.clear();
                    self.next = 0;
                }
            }
            COMMAND if self.config & ENABLE != 0 && self.control & RESET == 0 => {
                if self.answers.len() < DEPTH {
                    self.answers.push_back(self.next);
                }
                self.next = match value >> 26 {
                    1 => self.sensor(value >> 16 & 0x3ff),
                    _ => 0,
                };
            }
            _ => {}
        }
    }
}

impl Peripheral for Xadc {
    fn read(&mut self, at: Access, _: &mut Context) -> u32 {
        self.read(at.offset)
    }

    fn write(&mut self, at: Access, value: u32, context: &mut Context) {
        self.write(at.offset, value);
        context.ends_turn = false;
    }

    fn reset(&mut self, what: Reset, _: &mut Context) {
        if let Reset::System(_) = what {
            *self = Self::new(self.celsius);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_is_returned_with_the_next_command() {
        let mut x = Xadc::new(45);
        x.write(COMMAND, 1 << 26);
        assert_eq!(x.read(STATUS) >> 8 & 1, 1, "it is in reset");
        x.write(CONTROL, 0);
        x.write(CONFIG, ENABLE | 0x1114);
        for command in [1 << 26, 1 << 26 | 2 << 16, 0] {
            x.write(COMMAND, command);
        }
        assert_eq!(x.read(STATUS) >> 12 & 0xf, 3);
        x.read(DATA);
        assert_eq!((x.read(DATA), x.read(DATA)), (0xa1a0, 0x99a0));
        assert_eq!(x.read(STATUS) >> 8 & 1, 1);
    }
}
