//! The clock synthesiser Si5324 on an I2C bus: detection, reset, programming, and waiting for lock.
//!
//! Registers and fields are named as in the Si53xx family reference manual. The chip multiplies a
//! reference, either its crystal (free run, in place of input 2) or a clock at one of its inputs,
//! or passes an input through (bypass). Both outputs are LVDS with the same frequency. The clock of
//! a link appears late, and disappears with the link; meanwhile the crystal replaces it, and the
//! chip switches between them by itself, without a gap at its outputs (free run with automatic,
//! revertive selection). Dividers and the loop's bandwidth are those of a table where it has the pair of
//! frequencies; others are computed, and the bandwidth keeps its reset value.

use core::fmt;

use kairos_contracts::chips::si5324::{
    alarms, autosel, bandwidth, control, fast, format, identity, lol, los, n1, n2, n31, n32, nc1, nc2, pins, priority,
    reset, select, ALARMS, AUTOSEL, BANDWIDTH, BUS_ADDRESS, CONTROL, FAST, FORMAT, HIGH_SPEED_MIN, IDENTITY, LOL, LOS,
    N1, N2, N31, N32, NC1, NC2, PART, PINS, PRIORITY, RESET, SELECT,
};
use kairos_contracts::chips::{Field, Register};

pub mod dividers;
#[cfg(test)]
mod tests;

use dividers::Dividers;

pub use kairos_contracts::chips::si5324::{BUS_ADDRESS as ADDRESS, CRYSTAL};

/// Addresses of eight-channel switches behind which the chip may be.
pub const SWITCHES: [u8; 3] = [0x70, 0x71, 0x74];

/// The chip takes up to 10 ms to reset.
const RESET_MS: u32 = 20;
/// Interval between reads of the status.
const POLL_MS: u32 = 10;
/// Time within which the alarm of an input with a clock clears, in ms.
const INPUT_MS: u32 = 200;
/// Longest time to lock, in ms: some seconds with a narrow loop, with margin.
const LOCK_MS: u32 = 20_000;

/// Registers that are always changed after a reset: the input is not selected by pin; the outputs
/// are LVDS; alarms clear as soon as possible when a clock is present.
const SETTINGS: [(Register, u32); 3] = [
    (
        FORMAT,
        format::SFOUT2_REG.put(
            format::SFOUT1_REG.put(FORMAT.reset, format::SFOUT1_REG_LVDS),
            format::SFOUT2_REG_LVDS,
        ),
    ),
    (ALARMS, alarms::VALTIME.put(ALARMS.reset, alarms::VALTIME_MS_2)),
    (PINS, pins::CKSEL_PIN.put(PINS.reset, 0)),
];

/// The source of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    Crystal,
    /// The external clock, of this frequency in Hz.
    External(u32),
    /// The clock at the external input, of this frequency in Hz, while present, else the crystal.
    Link(u32),
    /// The external clock, passed through.
    Bypass,
}

impl Reference {
    fn is_link(self) -> bool {
        matches!(self, Self::Link(_))
    }
}

/// The input to which the board's external clock is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    Ckin1,
    Ckin2,
}

/// The bus operations that the driver needs. Addresses have 7 bits.
pub trait Bus {
    /// Sends bytes; returns whether the device has acknowledged all of them.
    fn write(&mut self, address: u8, bytes: &[u8]) -> Result<bool, Stuck>;
    /// Sends a register's number and reads a byte; `None` if it is not acknowledged.
    fn read(&mut self, address: u8, register: u8) -> Result<Option<u8>, Stuck>;
    /// Waits for a number of milliseconds.
    fn wait_ms(&mut self, milliseconds: u32);
}

/// A line of the bus is held low.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck;

/// Why there is no clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    Stuck,
    /// Nothing answers, or another chip (its part number).
    Absent(Option<u32>),
    /// The chip was found, but does not answer any more.
    Silent,
    /// No dividers make this output from this input (Hz).
    Dividers(u32, u32),
    /// The crystal does not oscillate.
    NoCrystal,
    /// There is no clock at the external input.
    NoInput,
    /// The crystal cannot replace the clock at input 2, whose place it takes.
    CrystalInstead,
    /// A reference is present, but the chip does not lock.
    NoLock,
}

impl From<Stuck> for Error {
    fn from(_: Stuck) -> Self {
        Self::Stuck
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stuck => write!(f, "the I2C bus is held low"),
            Self::Absent(None) => write!(f, "no Si5324 answers on the I2C bus"),
            Self::Absent(Some(part)) => {
                write!(f, "the chip at the Si5324's address has part number {part}, not {PART}")
            }
            Self::Silent => write!(f, "the Si5324 has stopped answering"),
            Self::Dividers(input, output) => write!(f, "the Si5324 cannot make {output} Hz from {input} Hz"),
            Self::NoCrystal => write!(f, "the crystal of the Si5324 does not oscillate"),
            Self::NoInput => write!(f, "there is no clock at the external input: is it connected, and on?"),
            Self::CrystalInstead => write!(
                f,
                "free run connects the Si5324's crystal to input 2, which has the link's clock"
            ),
            Self::NoLock => write!(
                f,
                "the Si5324 does not lock within {} s: does the external clock have the configured frequency?",
                LOCK_MS / 1000
            ),
        }
    }
}

/// The chip, on a bus whose switches lead to it.
pub struct Si5324<B> {
    bus: B,
    switch: Option<u8>,
}

impl<B: Bus> Si5324<B> {
    /// Searches for the chip: on the bus itself, then behind the channels of the switches.
    pub fn find(mut bus: B) -> Result<Self, Error> {
        for switch in SWITCHES {
            bus.write(switch, &[0])?;
        }
        let mut other = None;
        let channels = SWITCHES
            .into_iter()
            .flat_map(|switch| (0..8).map(move |n| Some((switch, 1 << n))));
        for place in core::iter::once(None).chain(channels) {
            if let Some((switch, mask)) = place {
                if !bus.write(switch, &[mask])? {
                    continue;
                }
            }
            match part(&mut bus)? {
                Some(PART) => {
                    let switch = place.map(|(switch, _)| switch);
                    return Ok(Self { bus, switch });
                }
                found => other = other.or(found),
            }
            if let Some((switch, _)) = place {
                bus.write(switch, &[0])?;
            }
        }
        Err(Error::Absent(other))
    }

    /// Programs the chip, and waits until the outputs have `output` Hz (ignored for a bypass).
    /// `input` is that of the external clock.
    pub fn program(&mut self, reference: Reference, input: Input, output: u32) -> Result<(), Error> {
        self.set(RESET, reset::RST_REG.put(0, 1))?;
        self.bus.wait_ms(RESET_MS);
        self.set(RESET, 0)?;
        self.bus.wait_ms(RESET_MS);
        if reference.is_link() && input == Input::Ckin2 {
            return Err(Error::CrystalInstead);
        }
        let (selected, alarm) = match (reference, input) {
            (Reference::Crystal, _) | (_, Input::Ckin2) => (select::CKSEL_REG_CKIN2, los::LOS2_INT),
            (_, Input::Ckin1) => (select::CKSEL_REG_CKIN1, los::LOS1_INT),
        };
        let made_from = match reference {
            Reference::Crystal | Reference::Link(_) => const { control::FREE_RUN.put(CONTROL.reset, 1) },
            Reference::External(_) => CONTROL.reset,
            Reference::Bypass => const { control::BYPASS_REG.put(CONTROL.reset, 1) },
        };
        self.set(CONTROL, made_from)?;
        let silent = const { select::SQ_ICAL.put(SELECT.reset, 1) };
        self.set(SELECT, select::CKSEL_REG.put(silent, selected))?;
        // Input 1 has priority over the crystal
        self.set(
            PRIORITY,
            const { priority::CK_PRIOR2.put(priority::CK_PRIOR1.put(PRIORITY.reset, 0), 1) },
        )?;
        let selection = match reference.is_link() {
            true => autosel::AUTOSEL_REG_AUTOMATIC_REVERTIVE,
            false => autosel::AUTOSEL_REG_MANUAL,
        };
        self.set(AUTOSEL, autosel::AUTOSEL_REG.put(AUTOSEL.reset, selection))?;
        for (register, word) in SETTINGS {
            self.set(register, word)?;
        }
        let (frequency, dividers) = match reference {
            Reference::Crystal => (CRYSTAL, Dividers::known(CRYSTAL, output).map(|d| (d, d.n3))),
            Reference::External(frequency) => (frequency, Dividers::known(frequency, output).map(|d| (d, d.n3))),
            Reference::Link(frequency) => (frequency, Dividers::with_crystal(frequency, output)),
            Reference::Bypass => return self.wait(reference, alarm),
        };
        let (dividers, n3_of_input_2) = dividers.ok_or(Error::Dividers(frequency, output))?;
        let bandwidth = dividers.bandwidth.map_or(BANDWIDTH.reset, |number| {
            bandwidth::BWSEL_REG.put(BANDWIDTH.reset, number)
        });
        self.set(BANDWIDTH, bandwidth)?;
        self.divide(&dividers, n3_of_input_2)?;
        self.set(FAST, const { fast::FASTLOCK.put(FAST.reset, 1) })?;
        self.set(RESET, reset::ICAL.put(0, 1))?;
        self.wait(reference, alarm)
    }

    /// Disconnects the switch in front of the chip.
    pub fn release(mut self) -> Result<(), Error> {
        if let Some(switch) = self.switch {
            self.bus.write(switch, &[0])?;
        }
        Ok(())
    }

    fn divide(&mut self, d: &Dividers, n3_of_input_2: u32) -> Result<(), Error> {
        let high_speed = |n: u32| n - HIGH_SPEED_MIN;
        self.set(N1, n1::N1_HS.put(N1.reset, high_speed(d.n1_hs)))?;
        self.set(NC1, nc1::NC1_LS.put(NC1.reset, d.nc1_ls - 1))?;
        self.set(NC2, nc2::NC2_LS.put(NC2.reset, d.nc1_ls - 1))?;
        self.set(
            N2,
            n2::N2_HS.put(n2::N2_LS.put(N2.reset, d.n2_ls - 1), high_speed(d.n2_hs)),
        )?;
        self.set(N31, n31::N31.put(N31.reset, d.n3 - 1))?;
        self.set(N32, n32::N32.put(N32.reset, n3_of_input_2 - 1))
    }

    /// Waits for the reference and, unless bypassed, for lock. `alarm`: of the external input.
    fn wait(&mut self, reference: Reference, alarm: Field) -> Result<(), Error> {
        let mut waited = 0;
        loop {
            let lost = self.get(LOS)?;
            let error = match reference {
                _ if los::LOSX_INT.get(lost) != 0 => Some(Error::NoCrystal),
                Reference::External(_) | Reference::Bypass if alarm.get(lost) != 0 => Some(Error::NoInput),
                _ => None,
            };
            match error {
                Some(error) if waited >= INPUT_MS => return Err(error),
                Some(_) => {}
                None if reference == Reference::Bypass || lol::LOL_INT.get(self.get(LOL)?) == 0 => return Ok(()),
                None if waited >= LOCK_MS => return Err(Error::NoLock),
                None => {}
            }
            self.bus.wait_ms(POLL_MS);
            waited += POLL_MS;
        }
    }

    /// Writes a register.
    fn set(&mut self, register: Register, word: u32) -> Result<(), Error> {
        for (address, byte) in register.bytes(word) {
            if !self.bus.write(BUS_ADDRESS, &[address, byte])? {
                return Err(Error::Silent);
            }
        }
        Ok(())
    }

    /// Reads a one-byte register.
    fn get(&mut self, register: Register) -> Result<u32, Error> {
        let byte = self.bus.read(BUS_ADDRESS, register.address)?;
        byte.map(u32::from).ok_or(Error::Silent)
    }
}

/// Part number of the chip that answers at the address.
fn part(bus: &mut impl Bus) -> Result<Option<u32>, Stuck> {
    let Some(high) = bus.read(BUS_ADDRESS, IDENTITY.address)? else {
        return Ok(None);
    };
    let low = bus.read(BUS_ADDRESS, IDENTITY.address + 1)?;
    Ok(low.map(|low| identity::PARTNUM_RO.get(u32::from(high) << 8 | u32::from(low))))
}
