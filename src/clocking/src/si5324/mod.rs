//! The clock synthesiser Si5324 on an I2C bus: found, reset, programmed and awaited.
//!
//! Registers by their names in the Si53xx family reference manual. The chip multiplies a reference, either its crystal (free run,
//! in place of input 2) or a clock at one of its inputs, or passes an input through (bypass). Both outputs are LVDS with the same
//! frequency. The loop's bandwidth (BWSEL_REG) stays what it is after a reset.

use core::fmt;

pub mod dividers;
#[cfg(test)]
mod tests;

use dividers::Dividers;

/// Address on the bus, 7 bits, with A2 to A0 low.
pub const ADDRESS: u8 = 0x68;
/// Frequency of the crystal of all boards known, in Hz.
pub const CRYSTAL: u32 = 114_285_000;
/// Addresses of the switches behind which the chip may be, and that have eight channels.
pub const SWITCHES: [u8; 3] = [0x70, 0x71, 0x74];

/// PARTNUM_RO: Si5324.
const PART: u16 = 24;
/// The chip takes up to 10 ms for a reset.
const RESET_MS: u32 = 20;
/// How often the status is read.
const POLL_MS: u32 = 10;
/// After this the alarm of an input that has a clock is over, in ms.
const INPUT_MS: u32 = 200;
/// Longest time to lock, in ms: 1.2 s, with reserve.
const LOCK_MS: u32 = 2000;

/// Registers.
mod register {
    /// FREE_RUN bit 6, BYPASS_REG bit 1.
    pub const CONTROL: u8 = 0;
    /// CKSEL_REG bits 7, 6; SQ_ICAL bit 4.
    pub const SELECT: u8 = 3;
    /// AUTOSEL_REG bits 7, 6.
    pub const AUTOSEL: u8 = 4;
    /// SFOUT2_REG bits 5..3, SFOUT1_REG bits 2..0.
    pub const FORMAT: u8 = 6;
    /// VALTIME bits 4, 3.
    pub const ALARMS: u8 = 19;
    /// CKSEL_PIN bit 0.
    pub const PINS: u8 = 21;
    /// N1_HS bits 7..5.
    pub const N1_HS: u8 = 25;
    pub const NC1_LS: u8 = 31;
    pub const NC2_LS: u8 = 34;
    /// N2_HS bits 7..5, N2_LS from bit 3 on.
    pub const N2: u8 = 40;
    pub const N31: u8 = 43;
    pub const N32: u8 = 46;
    /// LOS2_INT bit 2, LOS1_INT bit 1, LOSX_INT bit 0.
    pub const LOS: u8 = 129;
    /// LOL_INT bit 0.
    pub const LOL: u8 = 130;
    pub const PART: u8 = 134;
    /// RST_REG bit 7, ICAL bit 6.
    pub const RESET: u8 = 136;
}

/// Values after a reset with what is always changed: inputs selected by register, not by pin and not automatically; alarms end
/// 2 ms after a clock is there; outputs LVDS, and silent until they are calibrated.
const CONTROL: u8 = 0x14;
const SELECT: u8 = 0x15;
const AUTOSEL: u8 = 0x12;
const FORMAT: u8 = 0x3f;
const ALARMS: u8 = 0x24;
const PINS: u8 = 0xfe;

const FREE_RUN: u8 = 1 << 6;
const BYPASS: u8 = 1 << 1;
const RST: u8 = 1 << 7;
const ICAL: u8 = 1 << 6;

/// What the output is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    Crystal,
    /// The external clock, of this frequency in Hz.
    External(u32),
    /// The external clock itself.
    Bypass,
}

/// Which input the board's external clock is connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    Ckin1,
    Ckin2,
}

/// Access to the bus as the driver needs it. Addresses have 7 bits.
pub trait Bus {
    /// Sends bytes; whether the device has acknowledged all of them.
    fn write(&mut self, address: u8, bytes: &[u8]) -> Result<bool, Stuck>;
    /// Sends a register's number and reads a byte; None: not acknowledged.
    fn read(&mut self, address: u8, register: u8) -> Result<Option<u8>, Stuck>;
    /// Waits.
    fn wait_ms(&mut self, milliseconds: u32);
}

/// A line of the bus is held low.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck;

/// Why there is no clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    Stuck,
    /// Nothing answers, or another chip does (its part number).
    Absent(Option<u16>),
    /// The chip was there, and no longer answers.
    Silent,
    /// No dividers make this output from this input (Hz).
    Dividers(u32, u32),
    /// The crystal does not oscillate.
    NoCrystal,
    /// There is no clock at the external input.
    NoInput,
    /// A reference is there, but the chip does not lock.
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
            Self::NoLock => write!(
                f,
                "the Si5324 does not lock within {} s: has the external clock the frequency that is configured?",
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
    /// Looks for the chip: on the bus itself, then behind the channels of the switches.
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

    /// Programs the chip, and waits until the outputs have `output` Hz (not for a bypass). `input`: of the external clock.
    pub fn program(&mut self, reference: Reference, input: Input, output: u32) -> Result<(), Error> {
        self.set(register::RESET, &[RST])?;
        self.bus.wait_ms(RESET_MS);
        self.set(register::RESET, &[0])?;
        self.bus.wait_ms(RESET_MS);
        let select = match (reference, input) {
            (Reference::Crystal, _) | (_, Input::Ckin2) => 1,
            (_, Input::Ckin1) => 0,
        };
        let control = match reference {
            Reference::Crystal => CONTROL | FREE_RUN,
            Reference::External(_) => CONTROL,
            Reference::Bypass => CONTROL | BYPASS,
        };
        self.set(register::CONTROL, &[control])?;
        self.set(register::SELECT, &[SELECT | select << 6])?;
        self.set(register::AUTOSEL, &[AUTOSEL])?;
        self.set(register::FORMAT, &[FORMAT])?;
        self.set(register::ALARMS, &[ALARMS])?;
        self.set(register::PINS, &[PINS])?;
        let frequency = match reference {
            Reference::Crystal => Some(CRYSTAL),
            Reference::External(frequency) => Some(frequency),
            Reference::Bypass => None,
        };
        if let Some(frequency) = frequency {
            let dividers = Dividers::find(frequency, output).ok_or(Error::Dividers(frequency, output))?;
            self.divide(&dividers)?;
            self.set(register::RESET, &[ICAL])?;
        }
        self.wait(reference, 1 << (1 + select), frequency.is_some())
    }

    /// Closes the switch in front of the chip.
    pub fn release(mut self) -> Result<(), Error> {
        if let Some(switch) = self.switch {
            self.bus.write(switch, &[0])?;
        }
        Ok(())
    }

    fn divide(&mut self, d: &Dividers) -> Result<(), Error> {
        let bytes = |value: u32| [(value >> 16) as u8, (value >> 8) as u8, value as u8];
        let high_speed = |n: u32| (n - dividers::HIGH_SPEED.start()) << 5;
        self.set(register::N1_HS, &[high_speed(d.n1_hs) as u8])?;
        self.set(register::NC1_LS, &bytes(d.nc1_ls - 1))?;
        self.set(register::NC2_LS, &bytes(d.nc1_ls - 1))?;
        self.set(register::N2, &bytes(high_speed(d.n2_hs) << 16 | (d.n2_ls - 1)))?;
        self.set(register::N31, &bytes(d.n3 - 1))?;
        self.set(register::N32, &bytes(d.n3 - 1))
    }

    /// Waits for the reference, and for the lock if there is one to come. `alarm`: bit of the external input.
    fn wait(&mut self, reference: Reference, alarm: u8, locks: bool) -> Result<(), Error> {
        let mut waited = 0;
        loop {
            let los = self.get(register::LOS)?;
            let error = match reference {
                _ if los & 1 != 0 => Some(Error::NoCrystal),
                Reference::External(_) | Reference::Bypass if los & alarm != 0 => Some(Error::NoInput),
                _ => None,
            };
            match error {
                Some(error) if waited >= INPUT_MS => return Err(error),
                Some(_) => {}
                None if !locks || self.get(register::LOL)? & 1 == 0 => return Ok(()),
                None if waited >= LOCK_MS => return Err(Error::NoLock),
                None => {}
            }
            self.bus.wait_ms(POLL_MS);
            waited += POLL_MS;
        }
    }

    /// Writes registers from `first` on, one by one.
    fn set(&mut self, first: u8, values: &[u8]) -> Result<(), Error> {
        for (register, value) in (first..).zip(values) {
            if !self.bus.write(ADDRESS, &[register, *value])? {
                return Err(Error::Silent);
            }
        }
        Ok(())
    }

    fn get(&mut self, register: u8) -> Result<u8, Error> {
        self.bus.read(ADDRESS, register)?.ok_or(Error::Silent)
    }
}

/// Part number of what answers at the chip's address.
fn part(bus: &mut impl Bus) -> Result<Option<u16>, Stuck> {
    let Some(high) = bus.read(ADDRESS, register::PART)? else {
        return Ok(None);
    };
    let low = bus.read(ADDRESS, register::PART + 1)?;
    Ok(low.map(|low| u16::from(high) << 4 | u16::from(low) >> 4))
}
