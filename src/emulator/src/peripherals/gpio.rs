//! GPIO controller (0xE000A000), banks 0 and 1, as far as pins are used, and the I2C bus of the board on two of them: SCL on
//! MIO 50, SDA on MIO 51, with pull-ups. Registers: chapter 14 and appendix B.19 of the chip's manual.
//!
//! On the bus are what boards of this kind have: a switch (TCA9548, address 0x74), and behind its channel 2 a port expander
//! (PCF8574A, 0x3e) and an EEPROM (24AA02, 0x50), behind channel 4 a clock synthesiser (Si5324, 0x68). A device may hold SDA
//! low when it is cut off in the middle of a byte, as real ones do.

use crate::machine::time::Cycles;
use crate::peripherals::si5324::Si5324;

const SCL: u32 = 1 << (50 - 32);
const SDA: u32 = 1 << (51 - 32);
/// Channels of the switch behind which the synthesiser and the other devices are.
const BEHIND: u8 = 1 << 2;
const BEHIND_CLOCK: u8 = 1 << 4;

/// The controller.
#[derive(Default)]
pub struct Gpio {
    /// Output, direction and output enable of banks 0 and 1.
    data: [u32; 2],
    direction: [u32; 2],
    enable: [u32; 2],
    bus: I2c,
}

impl Gpio {
    /// Back to power-up; devices on the bus keep what they have.
    pub fn reset(&mut self) {
        (self.data, self.direction, self.enable) = Default::default();
        self.pins_changed();
    }

    /// Puts a clock synthesiser on the bus, or takes it away.
    pub fn set_clock(&mut self, chip: Option<Si5324>) {
        self.bus.clock = chip;
    }

    /// Frequency that the synthesiser gives in Hz; 0: it is silent or absent.
    pub fn clock_output(&self, now: Cycles) -> u64 {
        self.bus.clock.as_ref().map_or(0, |chip| chip.output(now))
    }

    /// Frequency of the external clock in Hz; 0: there is none.
    pub fn clock_input(&self) -> u64 {
        self.bus.clock.as_ref().map_or(0, |chip| chip.external())
    }

    /// The external clock has this frequency in Hz from `now` on; 0: it is gone.
    pub fn set_clock_input(&mut self, frequency: u64, now: Cycles) {
        if let Some(chip) = &mut self.bus.clock {
            chip.set_external(frequency, now);
        }
    }

    /// Whether a pin of bank 1 is pulled down by the chip.
    fn low(&self, pin: u32) -> bool {
        self.direction[1] & self.enable[1] & pin != 0 && self.data[1] & pin == 0
    }

    fn pins_changed(&mut self) {
        self.bus.set(!self.low(SCL), !self.low(SDA));
    }

    /// Reads the register at `offset`.
    pub fn read(&self, offset: u32) -> u32 {
        match offset {
            0x40 => self.data[0],
            0x44 => self.data[1],
            0x60 => self.data[0] & self.direction[0] & self.enable[0],
            0x64 => {
                let driven = self.data[1] & self.direction[1] & self.enable[1] & !(SCL | SDA);
                let (scl, sda) = self.bus.levels();
                driven | if scl { SCL } else { 0 } | if sda { SDA } else { 0 }
            }
            0x204 => self.direction[0],
            0x208 => self.enable[0],
            0x244 => self.direction[1],
            0x248 => self.enable[1],
            _ => 0,
        }
    }

    /// Writes the register at `offset`.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        self.bus.now = now;
        // The upper half says which of 16 pins are not to be changed.
        let masked = |data: &mut u32, shift: u32| {
            let mask = (!value >> 16 & 0xffff) << shift;
            *data = *data & !mask | value << shift & mask;
        };
        match offset {
            0x00 => masked(&mut self.data[0], 0),
            0x04 => masked(&mut self.data[0], 16),
            0x08 => masked(&mut self.data[1], 0),
            0x0c => masked(&mut self.data[1], 16),
            0x40 => self.data[0] = value,
            0x44 => self.data[1] = value,
            0x204 => self.direction[0] = value,
            0x208 => self.enable[0] = value,
            0x244 => self.direction[1] = value,
            0x248 => self.enable[1] = value,
            _ => {}
        }
        self.pins_changed();
    }
}

/// Which device has been addressed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Device {
    Switch,
    Expander,
    Eeprom,
    Clock,
}

/// What the addressed device does with the bits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not addressed: waits for a start.
    Idle,
    /// Takes a byte: bits so far; the first byte is the address.
    Take { bits: u32, byte: u8, address: bool },
    /// Pulls SDA low during the ninth clock.
    Acknowledge { read: bool },
    /// Gives a byte: bits given.
    Give { bits: u32, byte: u8 },
    /// Looks whether the master acknowledges.
    Listen,
}

/// The bus and its devices.
struct I2c {
    scl: bool,
    /// Level that the master lets SDA have.
    sda: bool,
    phase: Phase,
    device: Option<Device>,
    /// A device pulls SDA low.
    pulled: bool,
    switch: u8,
    expander: u8,
    eeprom: [u8; 256],
    clock: Option<Si5324>,
    now: Cycles,
    /// Address counter of EEPROM and synthesiser; the first byte written to them sets this.
    pointer: u8,
    pointed: bool,
}

impl Default for I2c {
    fn default() -> Self {
        Self {
            scl: true,
            sda: true,
            phase: Phase::Idle,
            device: None,
            pulled: false,
            switch: 0,
            expander: 0xff,
            eeprom: [0xff; 256],
            clock: None,
            now: 0,
            pointer: 0,
            pointed: false,
        }
    }
}

impl I2c {
    fn levels(&self) -> (bool, bool) {
        (self.scl, self.sda && !self.pulled)
    }

    /// The master's lines have these levels now.
    fn set(&mut self, scl: bool, sda: bool) {
        let (before, level) = (self.levels(), sda && !self.pulled);
        let clock = (self.scl, scl);
        (self.scl, self.sda) = (scl, sda);
        match clock {
            (true, true) if before.1 && !level => {
                self.phase = Phase::Take {
                    bits: 0,
                    byte: 0,
                    address: true,
                }
            }
            (true, true) if !before.1 && level => (self.phase, self.device) = (Phase::Idle, None),
            (false, true) => self.rising(level),
            (true, false) => self.falling(),
            _ => {}
        }
    }

    fn rising(&mut self, sda: bool) {
        match &mut self.phase {
            Phase::Take { bits, byte, .. } => {
                *byte = *byte << 1 | u8::from(sda);
                *bits += 1;
            }
            Phase::Listen if sda => self.phase = Phase::Idle,
            _ => {}
        }
    }

    fn falling(&mut self) {
        self.pulled = false;
        match self.phase {
            Phase::Take { bits: 8, byte, address } => {
                let read = address && byte & 1 != 0;
                let accepted = if address { self.select(byte) } else { self.take(byte) };
                self.pulled = accepted;
                self.phase = match accepted {
                    true => Phase::Acknowledge { read },
                    false => Phase::Idle,
                };
            }
            Phase::Acknowledge { read: true } | Phase::Listen => {
                let byte = self.give();
                self.phase = Phase::Give { bits: 0, byte };
                self.give_bit();
            }
            Phase::Acknowledge { read: false } => {
                self.phase = Phase::Take {
                    bits: 0,
                    byte: 0,
                    address: false,
                }
            }
            Phase::Give { bits: 8, .. } => self.phase = Phase::Listen,
            Phase::Give { .. } => self.give_bit(),
            _ => {}
        }
    }

    fn give_bit(&mut self) {
        if let Phase::Give { bits, byte } = &mut self.phase {
            self.pulled = *byte & 0x80 == 0;
            *byte <<= 1;
            *bits += 1;
        }
    }

    fn select(&mut self, byte: u8) -> bool {
        let reachable = self.switch & BEHIND != 0;
        self.pointed = false;
        self.device = match byte >> 1 {
            0x74 => Some(Device::Switch),
            0x3e if reachable => Some(Device::Expander),
            0x50 if reachable => Some(Device::Eeprom),
            0x68 if self.switch & BEHIND_CLOCK != 0 && self.clock.is_some() => Some(Device::Clock),
            _ => None,
        };
        self.device.is_some()
    }

    fn take(&mut self, byte: u8) -> bool {
        match self.device {
            Some(Device::Switch) => self.switch = byte,
            Some(Device::Expander) => self.expander = byte,
            Some(Device::Eeprom) if self.pointed => {
                self.eeprom[usize::from(self.pointer)] = byte;
                self.pointer = self.pointer.wrapping_add(1);
            }
            Some(Device::Clock) if self.pointed => {
                if let Some(chip) = &mut self.clock {
                    chip.write(self.pointer, byte, self.now);
                }
                self.pointer = self.pointer.wrapping_add(1);
            }
            Some(Device::Eeprom | Device::Clock) => (self.pointer, self.pointed) = (byte, true),
            None => return false,
        }
        true
    }

    fn give(&mut self) -> u8 {
        match self.device {
            Some(Device::Switch) => self.switch,
            Some(Device::Expander) => self.expander,
            Some(Device::Eeprom) => {
                self.pointer = self.pointer.wrapping_add(1);
                self.eeprom[usize::from(self.pointer.wrapping_sub(1))]
            }
            Some(Device::Clock) => {
                self.pointer = self.pointer.wrapping_add(1);
                let register = self.pointer.wrapping_sub(1);
                self.clock.as_ref().map_or(0xff, |chip| chip.read(register, self.now))
            }
            None => 0xff,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(gpio: &mut Gpio, scl: bool, sda: bool) -> bool {
        gpio.write(0x248, if scl { 0 } else { SCL } | if sda { 0 } else { SDA }, 0);
        gpio.read(0x64) & SDA != 0
    }

    fn start(gpio: &mut Gpio) {
        lines(gpio, false, true);
        lines(gpio, true, true);
        lines(gpio, true, false);
        lines(gpio, false, false);
    }

    fn bit(gpio: &mut Gpio, level: bool) -> bool {
        lines(gpio, false, level);
        let seen = lines(gpio, true, level);
        lines(gpio, false, level);
        seen
    }

    fn stop(gpio: &mut Gpio) {
        lines(gpio, false, false);
        lines(gpio, true, false);
        lines(gpio, true, true);
    }

    fn write(gpio: &mut Gpio, byte: u8) -> bool {
        (0..8).for_each(|n| {
            bit(gpio, byte << n & 0x80 != 0);
        });
        !bit(gpio, true)
    }

    fn read(gpio: &mut Gpio, acknowledge: bool) -> u8 {
        let byte = (0..8).fold(0, |byte, _| byte << 1 | u8::from(bit(gpio, true)));
        bit(gpio, !acknowledge);
        byte
    }

    fn bench() -> Gpio {
        let mut gpio = Gpio::default();
        gpio.write(0x244, SCL | SDA, 0);
        lines(&mut gpio, true, true);
        gpio
    }

    #[test]
    fn devices_behind_the_switch() {
        let mut g = bench();
        start(&mut g);
        assert!(!write(&mut g, 0x7c), "the switch is off");
        stop(&mut g);
        start(&mut g);
        assert!(write(&mut g, 0xe8) && write(&mut g, 4));
        stop(&mut g);
        start(&mut g);
        assert!(write(&mut g, 0x7c) && write(&mut g, 0x5a));
        start(&mut g);
        assert!(write(&mut g, 0x7d));
        assert_eq!((read(&mut g, true), read(&mut g, false)), (0x5a, 0x5a));
        stop(&mut g);
        start(&mut g);
        assert!([0xa0, 3, 1, 2].map(|byte| write(&mut g, byte)) == [true; 4]);
        stop(&mut g);
        start(&mut g);
        assert!(write(&mut g, 0xa0) && write(&mut g, 3));
        start(&mut g);
        assert!(write(&mut g, 0xa1));
        assert_eq!([true, true, false].map(|ack| read(&mut g, ack)), [1, 2, 0xff]);
        stop(&mut g);
    }

    #[test]
    fn the_synthesiser_is_behind_its_own_channel() {
        let mut g = bench();
        g.set_clock(Some(Si5324::new(0)));
        for (channel, answers) in [(1 << 2, false), (1 << 4, true)] {
            start(&mut g);
            assert!(write(&mut g, 0xe8) && write(&mut g, channel));
            stop(&mut g);
            start(&mut g);
            assert_eq!(write(&mut g, 0xd0), answers);
            assert_eq!(write(&mut g, 134), answers);
            stop(&mut g);
        }
        start(&mut g);
        assert!(write(&mut g, 0xd1));
        assert_eq!([true, false].map(|ack| read(&mut g, ack)), [0x01, 0x82]);
        stop(&mut g);
    }

    #[test]
    fn a_read_that_is_cut_off_holds_the_bus() {
        let mut g = bench();
        start(&mut g);
        assert!(write(&mut g, 0xe9));
        assert!(!lines(&mut g, true, true), "the first bit of 0 is on the bus");
        for _ in 0..9 {
            bit(&mut g, true);
        }
        assert!(lines(&mut g, true, true));
    }
}
