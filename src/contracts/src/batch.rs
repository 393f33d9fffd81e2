//! Batches of register accesses, which the comms core runs beside a kernel: instructions, bounds, outcomes.
//!
//! Generated from `src/contracts/batch.toml` by `src/contracts/generate.py`: do not edit.

/// Bytes of an instruction: number of the operation u8, three bytes 0, operands a, b, c, d as u32.
pub const INSTRUCTION: usize = 20;

/// Instructions in a batch.
pub const INSTRUCTIONS_MAX: usize = 1 << 12;

/// Instructions that a batch executes at most: those in a loop count for each round.
pub const STEPS_MAX: u32 = 100_000;

/// Words that a batch gives back at most.
pub const RESULTS_MAX: u32 = 1 << 14;

/// Longest sum of its delays and timeouts in microseconds.
pub const TIME_MAX: u32 = 5_000_000;

/// Bytes that a transaction of I2C writes at most, behind the address.
pub const I2C_WRITTEN_MAX: usize = 8;

/// Bytes that a transaction of I2C reads at most.
pub const I2C_READ_MAX: usize = 64;

/// Microseconds that a byte on the I2C bus counts, where times are added up; addresses and switches are bytes too.
pub const I2C_BYTE: u32 = 100;

/// Loops within loops.
pub const DEPTH_MAX: usize = 4;

/// Bytes of a reply in front of the results: outcome u8, three bytes 0, number of the instruction that it ended at u32,
/// instructions that were executed u32.
pub const REPLY: usize = 12;

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Operation {
    /// Read a register.
    Read = 1,
    /// Write a register: b, and in a loop c more each round of the innermost one, modulo 2^32.
    Write = 2,
    /// Write b to those bits of a register that are set in the mask, leave the others.
    Modify = 3,
    /// Read a register until the bits of the mask are as in b; the batch ends if they are not in time.
    Poll = 4,
    /// Wait.
    Delay = 5,
    /// Repeat the instructions that follow.
    Loop = 6,
    /// A transaction on the board's I2C bus: writes bytes to a device, then reads some from it; neither: only asks
    /// whether it is there. A switch, if one is named, is set to the mask before, and back to what it was after.
    I2c = 7,
    /// Read a probe of an RTIO channel, as the monitor does.
    Probe = 8,
    /// Set an override of an RTIO channel, as the injector does.
    Override = 9,
    /// As `poll`, with nothing for a result.
    Settle = 10,
}

impl Operation {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 10] = [
        Self::Read,
        Self::Write,
        Self::Modify,
        Self::Poll,
        Self::Delay,
        Self::Loop,
        Self::I2c,
        Self::Probe,
        Self::Override,
        Self::Settle,
    ];
}

impl TryFrom<u8> for Operation {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            1 => Self::Read,
            2 => Self::Write,
            3 => Self::Modify,
            4 => Self::Poll,
            5 => Self::Delay,
            6 => Self::Loop,
            7 => Self::I2c,
            8 => Self::Probe,
            9 => Self::Override,
            10 => Self::Settle,
            other => return Err(other),
        })
    }
}

/// How a batch ended. Of one that ended by 1 to 4 or 6 nothing was executed, of others what stands before the
/// instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    /// All was executed.
    Done = 0,
    /// An instruction that does not exist, operands that it does not have, or a loop that ends outside of the one
    /// around it.
    Malformed = 1,
    /// No register that the gateware exports, or no channel of this board.
    NotExported = 2,
    /// A register that cannot be read or written, or that is the firmware's own.
    NotPermitted = 3,
    /// More instructions, steps, results or time than a batch may have.
    TooLong = 4,
    /// A poll did not find what it waits for.
    Timeout = 5,
    /// There is no gateware.
    NoGateware = 6,
    /// No device on the I2C bus has acknowledged its address, or the device not a byte.
    NotAcknowledged = 7,
    /// A line of the I2C bus is held low.
    BusStuck = 8,
    /// The kernel has not ended its transaction on the I2C bus in time.
    BusBusy = 9,
}

impl Outcome {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 10] = [
        Self::Done,
        Self::Malformed,
        Self::NotExported,
        Self::NotPermitted,
        Self::TooLong,
        Self::Timeout,
        Self::NoGateware,
        Self::NotAcknowledged,
        Self::BusStuck,
        Self::BusBusy,
    ];
}

impl TryFrom<u8> for Outcome {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            0 => Self::Done,
            1 => Self::Malformed,
            2 => Self::NotExported,
            3 => Self::NotPermitted,
            4 => Self::TooLong,
            5 => Self::Timeout,
            6 => Self::NoGateware,
            7 => Self::NotAcknowledged,
            8 => Self::BusStuck,
            9 => Self::BusBusy,
            other => return Err(other),
        })
    }
}
