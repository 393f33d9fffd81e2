//! GPIO controller, as far as its pins are used: banks 0 and 1, with the board's I2C bus on two
//! pins (SCL on MIO 50, SDA on MIO 51, with pull-ups); banks 2 and 3, whose EMIO lines connect to
//! the PL, which on a Kasli-SoC leads some of them to the I2C bus of an oscillator. No interrupts. Registers: chapter
//! 14 and appendix B.19 of UG585.

use kairos_contracts::chips::kasli_soc::{CLOCK_SCL, CLOCK_SDA};

use super::i2c::{Device, I2c};
use crate::machine::peripheral::{Access, Context, Peripheral, Reset};
use crate::machine::signals::Signals;
use crate::machine::time::Cycles;

const SCL: u32 = 1 << (50 - 32);
const SDA: u32 = 1 << (51 - 32);

/// Offsets of the windows: inputs from the PL (`DATA_RO` of banks 2 and 3) have a window of their
/// own.
pub const WINDOWS: [u32; 3] = [0, 0x68, 0x70];

/// The controller.
pub struct Gpio {
    /// Output, direction and output enable of the banks. Lines to the PL carry the output
    /// regardless of direction and enable.
    data: [u32; 4],
    direction: [u32; 4],
    enable: [u32; 4],
    bus: I2c,
    /// The bus of the oscillator.
    clock: Option<I2c>,
    /// Cycles per access.
    access: Cycles,
}

impl Gpio {
    /// Creates the controller after power-up, with this bus on its pins, and that of the oscillator behind the PL.
    pub fn new(bus: I2c, clock: Option<I2c>, access: Cycles) -> Self {
        Self {
            data: [0; 4],
            direction: [0; 4],
            enable: [0; 4],
            bus,
            clock,
            access,
        }
    }

    /// Returns the device of this type on one of the I2C buses, if fitted.
    pub fn device<D: Device>(&mut self) -> Option<&mut D> {
        let found = self.bus.device();
        found.or_else(|| self.clock.as_mut()?.device())
    }

    /// Drives the outputs of the devices on both buses.
    pub fn drive(&self, signals: &mut Signals) {
        self.bus.drive(signals);
        if let Some(bus) = &self.clock {
            bus.drive(signals);
        }
    }

    /// Whether the chip drives a pin of bank 1 low.
    fn low(&self, pin: u32) -> bool {
        self.direction[1] & self.enable[1] & pin != 0 && self.data[1] & pin == 0
    }

    fn pins_changed(&mut self, now: Cycles) {
        self.bus.set(!self.low(SCL), !self.low(SDA), now);
        let pulls = |line: u32| self.data[3] & line != 0;
        let (scl, sda) = (!pulls(CLOCK_SCL), !pulls(CLOCK_SDA));
        if let Some(bus) = &mut self.clock {
            bus.set(scl, sda, now);
        }
    }

    /// Levels of the oscillator's bus as the logic passes them on.
    fn clock_lines(&self) -> u32 {
        let levels = self.clock.as_ref().map(I2c::levels);
        let (scl, sda) = levels.unwrap_or_default();
        let (scl, sda) = (if scl { CLOCK_SCL } else { 0 }, if sda { CLOCK_SDA } else { 0 });
        scl | sda
    }

    /// Reads the register at `offset`; `lines`: the inputs from the PL.
    fn read(&self, offset: u32, lines: u64) -> u32 {
        let bank = (offset >> 6 & 3) as usize;
        match offset {
            0x40..=0x4c => self.data[(offset as usize - 0x40) / 4],
            0x60 => self.data[0] & self.direction[0] & self.enable[0],
            0x64 => {
                let driven = self.data[1] & self.direction[1] & self.enable[1] & !(SCL | SDA);
                let (scl, sda) = self.bus.levels();
                driven | if scl { SCL } else { 0 } | if sda { SDA } else { 0 }
            }
            0x68 => lines as u32 | self.clock_lines(),
            0x6c => (lines >> 32) as u32,
            0x204 | 0x244 | 0x284 | 0x2c4 => self.direction[bank],
            0x208 | 0x248 | 0x288 | 0x2c8 => self.enable[bank],
            _ => 0,
        }
    }

    /// Writes the register at `offset`.
    fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        let bank = (offset >> 6 & 3) as usize;
        // The upper half masks the 16 pins: set bits are left unchanged.
        let masked = |data: &mut u32, shift: u32| {
            let mask = (!value >> 16 & 0xffff) << shift;
            *data = *data & !mask | value << shift & mask;
        };
        match offset {
            0x00..=0x1c => masked(&mut self.data[offset as usize / 8], 4 * (offset & 4)),
            0x40..=0x4c => self.data[(offset as usize - 0x40) / 4] = value,
            0x204 | 0x244 | 0x284 | 0x2c4 => self.direction[bank] = value,
            0x208 | 0x248 | 0x288 | 0x2c8 => self.enable[bank] = value,
            _ => {}
        }
        self.pins_changed(now);
    }
}

impl Peripheral for Gpio {
    fn read(&mut self, at: Access, context: &mut Context) -> u32 {
        context.stall = self.access;
        Gpio::read(self, WINDOWS[at.window] + at.offset, context.signals.lines_in)
    }

    fn write(&mut self, at: Access, value: u32, context: &mut Context) {
        self.write(WINDOWS[at.window] + at.offset, value, at.now);
        self.drive(context.signals);
        let lines = u64::from(self.data[2]) | u64::from(self.data[3]) << 32;
        context.signals.changed |= lines != context.signals.lines_out;
        context.signals.lines_out = lines;
        context.ends_turn = false;
        context.stall = self.access;
    }

    /// Devices on the bus keep their state.
    fn reset(&mut self, what: Reset, _: &mut Context) {
        if let Reset::System(_) = what {
            (self.data, self.direction, self.enable) = Default::default();
            self.pins_changed(0);
        }
    }

    fn update(&mut self, _: Cycles, context: &mut Context) -> bool {
        self.drive(context.signals);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::i2c::{Fitted, Si5324};
    use super::*;
    use crate::machine::params::Params;

    fn lines(gpio: &mut Gpio, scl: bool, sda: bool) -> bool {
        gpio.write(0x248, if scl { 0 } else { SCL } | if sda { 0 } else { SDA }, 0);
        Gpio::read(gpio, 0x64, 0) & SDA != 0
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
        let synthesiser = Some(Si5324::new(Params::default().clock_input));
        let mut fitted = Fitted {
            synthesiser,
            ..Fitted::default()
        };
        let mut gpio = Gpio::new(I2c::new(&mut fitted), None, 1);
        gpio.write(0x244, SCL | SDA, 0);
        lines(&mut gpio, true, true);
        gpio
    }

    #[test]
    fn devices_behind_the_i2c_switch_answer_if_selected() {
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
    fn synthesiser_answers_only_on_its_switch_channel() {
        let mut g = bench();
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
    fn each_card_of_a_kasli_has_its_own_eeprom() {
        let mut g = bench();
        let channels = [0xe0, 0xe2].map(|switch| (0..8).map(move |channel| (switch, channel)));
        let mut answered = 0;
        for (switch, channel) in channels.into_iter().flatten() {
            for (address, channels) in [(0xe0, 0), (0xe2, 0), (switch, 1 << channel)] {
                start(&mut g);
                assert!(write(&mut g, address) && write(&mut g, channels));
                stop(&mut g);
            }
            start(&mut g);
            let there = write(&mut g, 0xa0);
            stop(&mut g);
            assert_eq!(there, switch == 0xe0 || channel >= 4);
            if there {
                start(&mut g);
                assert!(write(&mut g, 0xa0) && write(&mut g, 7));
                start(&mut g);
                assert!(write(&mut g, 0xa1));
                assert_eq!(read(&mut g, false), 0xff);
                stop(&mut g);
                start(&mut g);
                assert!([0xa0, 7, channel].map(|byte| write(&mut g, byte)) == [true; 3]);
                stop(&mut g);
                answered += 1;
                // The EUI-48 is write-protected
                start(&mut g);
                assert!([0xa0, 0xff, 0].map(|byte| write(&mut g, byte)) == [true; 3]);
                stop(&mut g);
                start(&mut g);
                assert!(write(&mut g, 0xa0) && write(&mut g, 0xfa));
                start(&mut g);
                assert!(write(&mut g, 0xa1));
                let last = [true, true, true, true, true, false];
                let identity = last.map(|ack| read(&mut g, ack));
                assert_eq!(identity, [0x00, 0x04, 0xa3, 0, 0, answered]);
                stop(&mut g);
            }
        }
        assert_eq!(answered, 12);
    }

    #[test]
    fn interrupted_i2c_read_holds_the_data_line() {
        let mut g = bench();
        start(&mut g);
        assert!(write(&mut g, 0xe9));
        assert!(!lines(&mut g, true, true), "the first bit of 0 is on the bus");
        for _ in 0..9 {
            bit(&mut g, true);
        }
        assert!(lines(&mut g, true, true));
    }
    #[test]
    fn lines_of_the_logic_are_masked_and_read() {
        let mut g = bench();
        g.write(0x48, 0x1234_5678, 0);
        // The upper half masks the bits that are kept.
        g.write(0x14, 0x00ff_abcd, 0);
        assert_eq!(Gpio::read(&g, 0x48, 0), 0xab34_5678);
        g.write(0x18, 0xfff0_000f, 0);
        g.write(0x284, !0, 0);
        g.write(0x2c8, 5, 0);
        assert_eq!(
            [0x4c, 0x284, 0x288, 0x2c4, 0x2c8].map(|offset| Gpio::read(&g, offset, 0)),
            [0xf, !0, 0, 0, 5]
        );
        assert_eq!([0x68, 0x6c].map(|offset| Gpio::read(&g, offset, 3 << 32 | 7)), [7, 3]);
    }
}
