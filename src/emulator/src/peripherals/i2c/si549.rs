//! An oscillator Si549 (data sheet), as far as a driver can observe it: registers, calibration, output.
//!
//! After a calibration it makes the frequency of its dividers while its output is on. On a Kasli-SoC an I/O expander
//! selects it as the clock of the logic.

use kairos_contracts::chips::si549::{
    calibration, dividers, output, CALIBRATION, CRYSTAL, DIVIDER, DIVIDERS, FEEDBACK, FEEDBACK_BITS, OUTPUT,
};
use kairos_contracts::chips::{Field, Register};

use super::{Device, Pointer};
use crate::machine::signals::{Clock, Signals};
use crate::machine::time::{from_ns, Cycles};

/// Time of a calibration.
const CALIBRATION_NS: u64 = 20_000_000;
const FEEDBACK_BYTES: usize = 6;

/// The chip.
pub struct Si549 {
    registers: [u8; 256],
    pointer: Pointer,
    /// Frequency before the last calibration, and the time at which that ends with its result.
    before: u64,
    calibrated: Option<(Cycles, u64)>,
    /// Frequency of the board's external clock in Hz, which does not reach this chip; 0: none.
    pub external: u64,
}

impl Si549 {
    /// The state after power-up: not calibrated, with its output off.
    pub fn new(external: u64) -> Self {
        Self {
            registers: [0; 256],
            pointer: Pointer::default(),
            before: 0,
            calibrated: None,
            external,
        }
    }

    fn get(&self, register: Register, field: Field) -> u64 {
        field.get(self.registers[usize::from(register.address)].into()).into()
    }

    /// Frequency of the dividers in Hz.
    fn frequency(&self) -> u64 {
        let divider = self.get(DIVIDERS, dividers::HIGH) << 8 | u64::from(self.registers[usize::from(DIVIDER.address)]);
        let first = usize::from(FEEDBACK);
        let bytes = self.registers[first..first + FEEDBACK_BYTES].iter().rev();
        let feedback = bytes.fold(0, |word, byte| word << 8 | u128::from(*byte));
        let divided = u128::from(divider << self.get(DIVIDERS, dividers::LSDIV)) << FEEDBACK_BITS;
        match divided {
            0 => 0,
            _ => ((u128::from(CRYSTAL) * feedback + divided / 2) / divided) as u64,
        }
    }

    fn write(&mut self, address: u8, byte: u8, now: Cycles) {
        self.registers[usize::from(address)] = byte;
        if address == CALIBRATION.address && calibration::START.get(byte.into()) != 0 {
            self.before = Clock {
                frequency: self.before,
                change: self.calibrated,
            }
            .at(now);
            self.calibrated = Some((now + from_ns(CALIBRATION_NS), self.frequency()));
        }
    }

    /// Its output.
    pub fn clock(&self) -> Clock {
        match self.get(OUTPUT, output::ENABLE) {
            0 => Clock::steady(0),
            _ => Clock {
                frequency: self.before,
                change: self.calibrated,
            },
        }
    }
}

impl Device for Si549 {
    fn addressed(&mut self) {
        self.pointer.addressed();
    }

    fn take(&mut self, byte: u8, now: Cycles) {
        if let Some(register) = self.pointer.take(byte) {
            self.write(register, byte, now);
        }
    }

    fn give(&mut self, _: Cycles) -> u8 {
        self.registers[usize::from(self.pointer.advance())]
    }

    fn drive(&self, signals: &mut Signals) {
        signals.synthesiser = if signals.own_clock {
            self.clock()
        } else {
            Clock::steady(0)
        };
        signals.reference = Clock::steady(self.external);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kairos_clocking::si5324::{Bus, Reference, Stuck};
    use kairos_clocking::si549 as driver;

    /// The driver's bus, with this chip only.
    struct Alone(Si549, Cycles);

    impl Bus for Alone {
        fn write(&mut self, _: u8, bytes: &[u8]) -> Result<bool, Stuck> {
            self.0.write(bytes[0], bytes[1], self.1);
            Ok(true)
        }

        fn read(&mut self, _: u8, register: u8) -> Result<Option<u8>, Stuck> {
            Ok(Some(self.0.registers[usize::from(register)]))
        }

        fn wait_ms(&mut self, milliseconds: u32) {
            self.1 += from_ns(u64::from(milliseconds) * 1_000_000);
        }
    }

    #[test]
    fn oscillator_makes_the_frequencies_of_the_driver() {
        for hz in [125_000_000, 100_000_000] {
            let mut bus = Alone(Si549::new(0), 0);
            driver::program(&mut bus, Reference::Crystal, hz).unwrap();
            assert_eq!(bus.0.clock().at(bus.1), u64::from(hz));
        }
    }

    #[test]
    fn clock_needs_a_calibration_and_its_output() {
        let mut chip = Si549::new(0);
        chip.write(OUTPUT.address, 1, 0);
        assert_eq!(chip.clock().at(1 << 40), 0);
        let mut bus = Alone(Si549::new(0), 0);
        driver::program(&mut bus, Reference::Crystal, 125_000_000).unwrap();
        let mut signals = Signals::default();
        bus.0.drive(&mut signals);
        assert_eq!(signals.synthesiser.at(bus.1), 0, "the expander has not selected it");
        signals.own_clock = true;
        bus.0.drive(&mut signals);
        assert_eq!(signals.synthesiser.at(bus.1), 125_000_000);
        bus.0.write(OUTPUT.address, 0, bus.1);
        assert_eq!(bus.0.clock().at(bus.1), 0);
    }
}
