//! Batches of register accesses, executed by the comms core alongside a kernel: instructions, limits, outcomes.
//!
//! Generated from `src/contracts/batch.toml` by `src/contracts/generate.py`: do not edit.

/// Length of an instruction in bytes: operation u8, three bytes 0, operands a, b, c, d as u32.
pub const INSTRUCTION: usize = 20;

/// Maximum number of instructions in a batch.
pub const INSTRUCTIONS_MAX: usize = 1 << 12;

/// Maximum number of executed instructions; those in a loop count once per iteration.
pub const STEPS_MAX: u32 = 100_000;

/// Maximum number of result words of a batch.
pub const RESULTS_MAX: u32 = 1 << 14;

/// Maximum sum of its delays and timeouts in microseconds.
pub const TIME_MAX: u32 = 5_000_000;

/// Maximum number of bytes written by an I2C transaction, not counting the address.
pub const I2C_WRITTEN_MAX: usize = 8;

/// Maximum number of bytes read by an I2C transaction.
pub const I2C_READ_MAX: usize = 64;

/// Time in microseconds counted per byte on the I2C bus in the sum of times, including bytes for addresses and
/// switches.
pub const I2C_BYTE: u32 = 100;

/// Maximum nesting of loops.
pub const DEPTH_MAX: usize = 4;

/// Length of a reply before the results in bytes: outcome u8, three bytes 0, number of the instruction at which the
/// batch ended u32, number of instructions executed u32.
pub const REPLY: usize = 12;

/// Operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Operation {
    /// Read a register.
    Read = 1,
    /// Write b to a register; in a loop, incremented by c per iteration of the innermost loop, modulo 2^32.
    Write = 2,
    /// Write b to the bits of a register selected by the mask; keep the others.
    Modify = 3,
    /// Read a register until the bits selected by the mask equal those of b; the batch ends on timeout.
    Poll = 4,
    /// Wait.
    Delay = 5,
    /// Repeat the following instructions.
    Loop = 6,
    /// Transaction on the board's I2C bus: write bytes to a device, then read bytes; with neither, only check that it
    /// acknowledges. If a switch is given, it is set to the mask before and restored afterwards.
    I2c = 7,
    /// Read a probe of an RTIO channel, as the monitor does.
    Probe = 8,
    /// Set an override of an RTIO channel, as the injector does.
    Override = 9,
    /// As `poll`, without a result.
    Wait = 10,
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
        Self::Wait,
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
            10 => Self::Wait,
            other => return Err(other),
        })
    }
}

/// How a batch ended. With 1 to 4 or 6 nothing was executed, with 10 everything, otherwise everything before the
/// instruction at which it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    /// All instructions were executed.
    Done = 0,
    /// Unknown instruction, invalid operands, or a loop that extends beyond the enclosing one.
    Malformed = 1,
    /// Not a register exported by the gateware, or not a channel of this board.
    NotExported = 2,
    /// The register cannot be read or written, or is reserved for the firmware.
    NotPermitted = 3,
    /// Too many instructions, steps or results, or too much time.
    TooLong = 4,
    /// A poll timed out.
    Timeout = 5,
    /// No gateware is loaded.
    NoGateware = 6,
    /// An address or a byte was not acknowledged on the I2C bus.
    NotAcknowledged = 7,
    /// A line of the I2C bus is held low.
    BusStuck = 8,
    /// The kernel did not end its transaction on the I2C bus in time.
    BusBusy = 9,
    /// All instructions were executed, but a store in another board's memory has failed after its early
    /// acknowledgement; `remote_late_address` says where.
    StoreFailed = 10,
}

impl Outcome {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 11] = [
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
        Self::StoreFailed,
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
            10 => Self::StoreFailed,
            other => return Err(other),
        })
    }
}
