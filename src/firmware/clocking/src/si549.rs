//! The oscillator Si549 on an I2C bus of its own, with which Kasli-SoCs without a Si5324 make the RTIO clock.
//!
//! It makes a frequency from its own crystal and follows no other clock: for that, the logic would have to compare
//! the two, and adjust it all the time.

use core::fmt;

use kairos_contracts::chips::si549::{
    calibration, dividers, output, BUS_ADDRESS, CALIBRATION, DIVIDER, DIVIDERS, FEEDBACK, OUTPUT, OVERRIDING, PAGE,
    SETTINGS,
};
use kairos_contracts::chips::Register;

use crate::si5324::{Bus, Reference, Stuck};

/// Bytes of the feedback divider.
const FEEDBACK_BYTES: usize = 6;
/// Times until it has calibrated, and until its output is stable, in ms.
const CALIBRATION_MS: u32 = 30;
const OUTPUT_MS: u32 = 40;
/// Values with which its presence is tested.
const TESTS: [u8; 2] = [0x55, 0xaa];

/// Why there is no clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Something holds the bus low.
    Held,
    /// Nothing answers, or does not keep what is written.
    Absent,
    /// The setting has another source than the crystal.
    Follows,
    /// There are no dividers for this output (Hz).
    Frequency(u32),
}

impl From<Stuck> for Error {
    fn from(_: Stuck) -> Self {
        Self::Held
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held => write!(f, "no Si5324 answers, and the I2C bus of a Si549 is held low"),
            Self::Absent => write!(f, "no Si5324 answers, and no Si549"),
            Self::Follows => write!(
                f,
                "the Si549 of this board follows no other clock: use int_125 or int_100"
            ),
            Self::Frequency(output) => write!(f, "there are no settings of the Si549 for {output} Hz"),
        }
    }
}

/// Programs the chip, and waits until its output has `frequency` Hz.
pub fn program(bus: &mut impl Bus, reference: Reference, frequency: u32) -> Result<(), Error> {
    set(bus, PAGE, 0)?;
    set(bus, OVERRIDING, 0)?;
    set(bus, OUTPUT, 0)?;
    for test in TESTS {
        set(bus, DIVIDER, test.into())?;
        if bus.read(BUS_ADDRESS, DIVIDER.address)? != Some(test) {
            return Err(Error::Absent);
        }
    }
    if reference != Reference::Crystal {
        return Err(Error::Follows);
    }
    let found = SETTINGS.iter().find(|[output, ..]| *output == frequency);
    let [_, divider, whole, fraction] = *found.ok_or(Error::Frequency(frequency))?;
    set(bus, DIVIDER, divider & 0xff)?;
    set(bus, DIVIDERS, dividers::HIGH.put(0, divider >> 8))?;
    let feedback = (u64::from(whole) << 32 | u64::from(fraction)).to_le_bytes();
    for (register, byte) in (FEEDBACK..).zip(&feedback[..FEEDBACK_BYTES]) {
        write(bus, register, *byte)?;
    }
    set(bus, CALIBRATION, calibration::START.put(0, 1))?;
    bus.wait_ms(CALIBRATION_MS);
    set(bus, OUTPUT, output::ENABLE.put(0, 1))?;
    bus.wait_ms(OUTPUT_MS);
    Ok(())
}

fn set(bus: &mut impl Bus, register: Register, word: u32) -> Result<(), Error> {
    write(bus, register.address, word as u8)
}

fn write(bus: &mut impl Bus, register: u8, byte: u8) -> Result<(), Error> {
    match bus.write(BUS_ADDRESS, &[register, byte])? {
        true => Ok(()),
        false => Err(Error::Absent),
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    /// A bus with a chip that keeps these bits of what is written.
    struct Chip {
        kept: u8,
        last: u8,
        log: Vec<(u8, u8)>,
        waited: u32,
    }

    impl Bus for Chip {
        fn write(&mut self, address: u8, bytes: &[u8]) -> Result<bool, Stuck> {
            self.log.push((bytes[0], bytes[1]));
            self.last = bytes[1] & self.kept;
            Ok(address == 0x67)
        }

        fn read(&mut self, _: u8, _: u8) -> Result<Option<u8>, Stuck> {
            Ok(Some(self.last))
        }

        fn wait_ms(&mut self, milliseconds: u32) {
            self.waited += milliseconds;
        }
    }

    fn programmed(kept: u8, reference: Reference, frequency: u32) -> (Result<(), Error>, Chip) {
        let mut chip = Chip {
            kept,
            last: 0,
            log: Vec::new(),
            waited: 0,
        };
        let done = program(&mut chip, reference, frequency);
        (done, chip)
    }

    #[test]
    fn registers_are_written_in_the_order_of_the_chip() {
        let (done, chip) = programmed(0xff, Reference::Crystal, 125_000_000);
        assert_eq!((done, chip.waited), (Ok(()), 70));
        let dividers = [
            (23, 0x58),
            (24, 0),
            (26, 0x25),
            (27, 0x1f),
            (28, 0x79),
            (29, 0x15),
            (30, 0x48),
            (31, 0),
        ];
        assert_eq!(chip.log[..3], [(255, 0), (69, 0), (17, 0)]);
        assert_eq!(chip.log[5..13], dividers);
        assert_eq!(chip.log[13..], [(7, 8), (17, 1)]);
        let (_, chip) = programmed(0xff, Reference::Crystal, 100_000_000);
        let dividers = [
            (23, 0x6c),
            (24, 0),
            (26, 0x97),
            (27, 0x97),
            (28, 0xf4),
            (29, 0xc5),
            (30, 0x46),
            (31, 0),
        ];
        assert_eq!(chip.log[5..13], dividers);
    }

    #[test]
    fn missing_chip_and_impossible_settings_are_refused() {
        assert_eq!(programmed(0xf0, Reference::Crystal, 125_000_000).0, Err(Error::Absent));
        let (done, chip) = programmed(0xff, Reference::External(10_000_000), 125_000_000);
        assert!(done.unwrap_err().to_string().contains("follows no other clock"));
        assert!(!chip.log.contains(&(17, 1)), "the output stays off");
        assert_eq!(
            programmed(0xff, Reference::Crystal, 150_000_000).0,
            Err(Error::Frequency(150_000_000))
        );
    }
}
