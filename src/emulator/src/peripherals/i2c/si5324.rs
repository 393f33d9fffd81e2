//! A clock synthesiser Si5324 (Si53xx family reference manual), as far as a driver can observe it:
//! registers, dividers with their limits, calibration, alarms. Its 114.285 MHz crystal replaces
//! input 2 in free run; an optional external clock is at input 1.
//!
//! After a calibration (ICAL) the chip locks if the selected input has a clock and the dividers
//! keep oscillator and phase detector within their ranges. The outputs are silent until then. When
//! the input is lost, the outputs keep their frequency (digital hold); when it returns, or another
//! input is used, the chip locks again. In bypass the input is passed to the outputs. The input is
//! selected by register, or automatically: the first one by CK_PRIOR that has a clock; in
//! non-revertive mode, the active one is kept as long as it has a clock.

use kairos_contracts::chips::si5324::{
    active, autosel, control, lol, los, n1, n2, n31, n32, nc1, pins, priority, reset, select, ACTIVE, ALL, AUTOSEL,
    CONTROL, CRYSTAL, F3_MAX, F3_MIN, HIGH_SPEED_MIN, IDENTITY, LOL, LOS, LOW_SPEED_MAX, N1, N2, N31, N32, NC1,
    OSCILLATOR_MAX, OSCILLATOR_MIN, PINS, PRIORITY, RESET, SELECT,
};
use kairos_contracts::chips::{Field, Register};

use super::{Device, Pointer};
use crate::machine::signals::{Clock, Signals};
use crate::machine::time::{from_ns, Cycles};

/// Writes to these are ignored.
const READ_ONLY: [Register; 4] = [ACTIVE, LOS, LOL, IDENTITY];

/// Time from calibration to lock.
const LOCK_NS: u64 = 50_000_000;

/// The chip.
pub struct Si5324 {
    registers: [u8; 256],
    /// Frequency at input 1 in Hz; 0: no clock.
    external: u64,
    /// Time at which the chip locks, and output frequency from then on.
    lock: Option<(Cycles, u64)>,
    /// Active input, 0 or 1.
    active: u8,
    /// Output frequency while the chip is not locked.
    held: u64,
    pointer: Pointer,
}

impl Si5324 {
    /// Creates the chip after power-up. `external`: frequency at input 1 in Hz, 0 for none.
    pub fn new(external: u64) -> Self {
        let mut registers = [0; 256];
        for (address, byte) in ALL.into_iter().flat_map(|register| register.bytes(register.reset)) {
            registers[usize::from(address)] = byte;
        }
        Self {
            registers,
            external,
            lock: None,
            active: 0,
            held: 0,
            pointer: Pointer::default(),
        }
    }

    /// Changes the clock at input 1: frequency in Hz, 0 for none.
    pub fn set_external(&mut self, frequency: u64, now: Cycles) {
        let before = (self.active, self.input(self.active));
        if self.lock.is_some_and(|(time, _)| now >= time) {
            self.held = self.output(now);
        }
        self.external = frequency;
        self.active = self.selected();
        if self.held != 0 && (self.active, self.input(self.active)) != before {
            self.lock = self.locked().map(|output| (now + from_ns(LOCK_NS), output));
        }
    }

    /// Reads the register at an address.
    pub fn read(&self, address: u8, now: Cycles) -> u8 {
        if address == LOS.address {
            let missing = |input| u32::from(self.input(input) == 0);
            los::LOS2_INT.put(los::LOS1_INT.put(0, missing(0)), missing(1)) as u8
        } else if address == ACTIVE.address {
            let used = |input: u8| u32::from(self.active == input && self.input(input) != 0);
            active::CK2_ACTV_REG.put(active::CK1_ACTV_REG.put(0, used(0)), used(1)) as u8
        } else if address == LOL.address {
            lol::LOL_INT.put(0, u32::from(self.lock.is_none_or(|(time, _)| now < time))) as u8
        } else {
            self.registers[usize::from(address)]
        }
    }

    /// Writes the register at an address.
    pub fn write(&mut self, address: u8, value: u8, now: Cycles) {
        if address == RESET.address {
            let command = u32::from(value);
            if reset::RST_REG.get(command) != 0 {
                let pointer = std::mem::take(&mut self.pointer);
                *self = Self::new(self.external);
                self.pointer = pointer;
            } else if reset::ICAL.get(command) != 0 {
                self.held = 0;
                self.active = self.selected();
                self.lock = self.locked().map(|output| (now + from_ns(LOCK_NS), output));
            }
        } else if !READ_ONLY.iter().flat_map(|r| r.bytes(0)).any(|(at, _)| at == address) {
            self.registers[usize::from(address)] = value;
        }
    }

    /// Reads a field of a register.
    fn get(&self, register: Register, field: Field) -> u32 {
        let bytes = register.bytes(0).map(|(at, _)| self.registers[usize::from(at)]);
        field.get(bytes.fold(0, |word, byte| word << 8 | u32::from(byte)))
    }

    /// The output clock.
    pub fn clock(&self) -> Clock {
        if self.get(CONTROL, control::BYPASS_REG) != 0 {
            return Clock::steady(self.input(self.selected()));
        }
        Clock {
            frequency: self.held,
            change: self.lock,
        }
    }

    /// Output frequency in Hz, 0 if the outputs are silent.
    fn output(&self, now: Cycles) -> u64 {
        self.clock().at(now)
    }

    /// Frequency in Hz at input 0 or 1.
    fn input(&self, input: u8) -> u64 {
        match input {
            0 => self.external,
            _ if self.get(CONTROL, control::FREE_RUN) != 0 => u64::from(CRYSTAL),
            _ => 0,
        }
    }

    /// The input to be used. While selection is by pin, it is input 1: the pin is low.
    fn selected(&self) -> u8 {
        let automatic = self.get(AUTOSEL, autosel::AUTOSEL_REG);
        if automatic == autosel::AUTOSEL_REG_MANUAL {
            let by_register = self.get(PINS, pins::CKSEL_PIN) == 0;
            return u8::from(by_register && self.get(SELECT, select::CKSEL_REG) == select::CKSEL_REG_CKIN2);
        }
        let has_clock = |input: &u8| self.input(*input) != 0;
        let stays = automatic != autosel::AUTOSEL_REG_AUTOMATIC_REVERTIVE && has_clock(&self.active);
        let by_priority = [priority::CK_PRIOR1, priority::CK_PRIOR2].map(|field| self.get(PRIORITY, field) as u8);
        match by_priority.into_iter().find(has_clock) {
            Some(first) if !stays => first,
            _ => self.active,
        }
    }

    /// Output frequency after a calibration with the current settings, or `None` if it cannot lock.
    fn locked(&self) -> Option<u64> {
        let high_speed = |register, field| u64::from(self.get(register, field) + HIGH_SPEED_MIN);
        let low_speed = |register, field| u64::from(self.get(register, field)) + 1;
        let allowed = |n: u64| n.is_multiple_of(2) && n <= u64::from(LOW_SPEED_MAX);
        let nc1_ls = low_speed(NC1, nc1::NC1_LS);
        let n1 = high_speed(N1, n1::N1_HS) * nc1_ls;
        let n2_ls = low_speed(N2, n2::N2_LS);
        let n2 = high_speed(N2, n2::N2_HS) * n2_ls;
        let n3 = match self.active {
            0 => low_speed(N31, n31::N31),
            _ => low_speed(N32, n32::N32),
        };
        let input = self.input(self.active);
        // Multiplied out instead of divided, so that the comparison is exact.
        let oscillates = (OSCILLATOR_MIN * n3..=OSCILLATOR_MAX * n3).contains(&(input * n2));
        let compares = (F3_MIN * n3..=F3_MAX * n3).contains(&input);
        (input != 0 && oscillates && compares && (nc1_ls == 1 || allowed(nc1_ls)) && allowed(n2_ls))
            .then(|| input * n2 / (n1 * n3))
    }
}

impl Device for Si5324 {
    fn addressed(&mut self) {
        self.pointer.addressed();
    }

    fn take(&mut self, byte: u8, now: Cycles) {
        if let Some(register) = self.pointer.take(byte) {
            self.write(register, byte, now);
        }
    }

    fn give(&mut self, now: Cycles) -> u8 {
        let register = self.pointer.advance();
        self.read(register, now)
    }

    fn drive(&self, signals: &mut Signals) {
        signals.synthesiser = self.clock();
        signals.reference = Clock::steady(self.external);
    }
}

#[cfg(test)]
mod tests {
    use kairos_clocking::si5324::{self as driver, Bus, Input, Reference, Stuck, ADDRESS};

    use super::*;

    const RESET: u8 = 1 << 7;
    const ICAL: u8 = 1 << 6;

    /// 10 MHz to 125 MHz: oscillator 5 GHz, phase detector 2 MHz.
    fn programmed(external: u64, changes: &[(u8, u8)]) -> Si5324 {
        let mut chip = Si5324::new(external);
        // N1 = 10 x 4, N2 = 10 x 250, N3 = 5.
        let dividers = [(25, 6 << 5), (33, 3), (40, 6 << 5), (42, 249), (45, 4), (48, 4)];
        for (register, value) in [(21, 0xfe), (4, 0x12)].iter().chain(&dividers).chain(changes) {
            chip.write(*register, *value, 0);
        }
        chip.write(136, ICAL, 0);
        chip
    }

    const LATER: Cycles = 1_000_000_000;

    #[test]
    fn synthesiser_locks_to_a_present_clock_after_calibration() {
        let chip = programmed(10_000_000, &[]);
        assert_eq!((chip.read(130, 0), chip.output(0)), (1, 0));
        assert_eq!((chip.read(130, LATER), chip.output(LATER)), (0, 125_000_000));
        assert_eq!(chip.read(129, LATER), 4, "nothing at input 2");
        let chip = programmed(0, &[]);
        assert_eq!((chip.read(130, LATER), chip.read(129, LATER)), (1, 6));
        let mut chip = Si5324::new(10_000_000);
        assert_eq!(chip.read(130, LATER), 1, "never calibrated");
        chip.write(0, 0x16, 0);
        assert_eq!(chip.output(0), 10_000_000, "bypass");
    }

    #[test]
    fn settings_beyond_the_limits_give_no_output() {
        for (external, change) in [
            (9_600_000, (25, 6 << 5)),  // oscillator at 4.8 GHz
            (11_400_000, (25, 6 << 5)), // 5.7 GHz
            (10_000_000, (45, 3)),      // phase detector at 2.5 MHz
            (10_000_000, (42, 248)),    // odd
            (10_000_000, (33, 4)),      // odd
            (10_000_000, (3, 0x55)),    // input 2, without free run
        ] {
            assert_eq!(
                programmed(external, &[change]).output(LATER),
                0,
                "{external} {change:?}"
            );
        }
    }

    #[test]
    fn lost_input_holds_the_output_and_loses_lock() {
        let mut chip = programmed(10_000_000, &[]);
        chip.set_external(0, LATER);
        assert_eq!((chip.read(129, LATER), chip.read(130, LATER)), (6, 1));
        assert_eq!(chip.output(2 * LATER), 125_000_000, "held");
        chip.set_external(10_000_000, 2 * LATER);
        assert_eq!((chip.read(129, 2 * LATER), chip.read(130, 2 * LATER)), (4, 1));
        assert_eq!((chip.read(130, 3 * LATER), chip.output(3 * LATER)), (0, 125_000_000));
        chip.set_external(100_000_000, 3 * LATER);
        assert_eq!((chip.read(130, 4 * LATER), chip.output(4 * LATER)), (1, 125_000_000));
        chip.write(0, 0x16, 0);
        chip.set_external(0, 4 * LATER);
        assert_eq!(chip.output(4 * LATER), 0, "bypass");
    }

    /// The driver's bus, with this chip only.
    struct Alone<'a>(&'a mut Si5324, Cycles);

    impl Bus for &mut Alone<'_> {
        fn write(&mut self, address: u8, bytes: &[u8]) -> Result<bool, Stuck> {
            let [register, value] = *bytes else { return Ok(false) };
            self.0.write(register, value, self.1);
            Ok(address == ADDRESS)
        }

        fn read(&mut self, address: u8, register: u8) -> Result<Option<u8>, Stuck> {
            Ok((address == ADDRESS).then(|| self.0.read(register, self.1)))
        }

        fn wait_ms(&mut self, milliseconds: u32) {
            self.1 += from_ns(u64::from(milliseconds) * 1_000_000);
        }
    }

    /// Programmed as by a satellite's firmware: 125 MHz from the recovered clock of a link, which
    /// appears later and is lost again.
    #[test]
    fn crystal_replaces_lost_link_clock_without_a_gap() {
        let mut chip = Si5324::new(0);
        let mut bus = Alone(&mut chip, 0);
        let mut driver = driver::Si5324::find(&mut bus).unwrap();
        driver
            .program(Reference::Link(125_000_000), Input::Ckin1, 125_000_000)
            .unwrap();
        let mut now = bus.1;
        let free = chip.output(now);
        assert!((124_999_200..124_999_250).contains(&free), "{free}");
        assert_eq!(chip.read(128, now), 2, "input 2");
        for _ in 0..2 {
            chip.set_external(125_000_000, now);
            assert_eq!(
                (chip.read(128, now), chip.read(130, now), chip.output(now)),
                (1, 1, free)
            );
            now += LATER;
            assert_eq!((chip.read(130, now), chip.output(now)), (0, 125_000_000));
            chip.set_external(0, now);
            assert_eq!((chip.read(128, now), chip.output(now)), (2, 125_000_000));
            now += LATER;
            assert_eq!((chip.read(130, now), chip.output(now)), (0, free));
        }
        // In non-revertive mode the active input is kept until it is lost
        chip.write(4, 0x52, now);
        chip.set_external(125_000_000, now);
        assert_eq!(chip.read(128, now), 2);
    }

    #[test]
    fn reset_restores_the_power_up_registers() {
        let mut chip = programmed(10_000_000, &[]);
        chip.write(136, RESET, LATER);
        assert_eq!(
            (chip.read(130, LATER), chip.read(21, LATER), chip.read(134, 0)),
            (1, 0xff, 1)
        );
    }
}
