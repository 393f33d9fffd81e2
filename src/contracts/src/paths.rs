//! Measurement of the paths between processors, memory and logic.
//!
//! Generated from `src/contracts/paths.toml` by `src/contracts/generate.py`: do not edit.

/// Maximum number of trials in a measurement.
pub const TRIALS_MAX: u32 = 1_000;

/// Maximum number of bytes moved by a trial.
pub const SIZE_MAX: u32 = 1 << 20;

/// Maximum number of bytes moved by all trials of a measurement, so that it ends within a second.
pub const TOTAL_MAX: u32 = 1 << 25;

/// Longest measured message in bytes.
pub const MESSAGE_MAX: u32 = 1 << 12;

/// Shortest measured message in bytes.
pub const MESSAGE_MIN: u32 = 8;

/// Transfers of the logic are multiples of this size, a beat.
pub const STREAM_UNIT: u32 = 8;

/// Bytes of a `Sample`.
pub const SAMPLE_BYTES: usize = 12;

/// Measured path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Path {
    /// Write to a register of the logic over port GP0, until completion.
    RegisterWrite = 1,
    /// Read of a register over port GP0.
    RegisterRead = 2,
    /// Write to a register, followed by reads until they return the value written.
    RegisterHandshake = 3,
    /// Request to the kernel initiator and its answer: event line, ACP, RTIO core, ACP.
    Request = 4,
    /// The logic reads memory through an HP port.
    StreamFromMemory = 5,
    /// The logic writes memory through an HP port.
    StreamToMemory = 6,
    /// The logic reads memory through the ACP, coherent with the caches.
    CoherentFromMemory = 7,
    /// The logic writes memory through the ACP, coherent with the caches.
    CoherentToMemory = 8,
    /// A message from the comms core to the kernel core.
    MessageToKernel = 9,
    /// A message from the kernel core to the comms core.
    MessageToComms = 10,
    /// The kernel core copies memory to memory.
    Copy = 11,
    /// The kernel core cleans its caches to memory, as needed before an HP port reads data that it wrote.
    Clean = 12,
    /// Write of 32 EMIO lines to the logic, until completion.
    LinesWrite = 13,
    /// Read of 32 EMIO lines from the logic.
    LinesRead = 14,
    /// A write of 32 EMIO lines, and reads of those that the logic gives back until they show it.
    LinesHandshake = 15,
}

impl Path {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 15] = [
        Self::RegisterWrite,
        Self::RegisterRead,
        Self::RegisterHandshake,
        Self::Request,
        Self::StreamFromMemory,
        Self::StreamToMemory,
        Self::CoherentFromMemory,
        Self::CoherentToMemory,
        Self::MessageToKernel,
        Self::MessageToComms,
        Self::Copy,
        Self::Clean,
        Self::LinesWrite,
        Self::LinesRead,
        Self::LinesHandshake,
    ];
}

impl TryFrom<u8> for Path {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            1 => Self::RegisterWrite,
            2 => Self::RegisterRead,
            3 => Self::RegisterHandshake,
            4 => Self::Request,
            5 => Self::StreamFromMemory,
            6 => Self::StreamToMemory,
            7 => Self::CoherentFromMemory,
            8 => Self::CoherentToMemory,
            9 => Self::MessageToKernel,
            10 => Self::MessageToComms,
            11 => Self::Copy,
            12 => Self::Clean,
            13 => Self::LinesWrite,
            14 => Self::LinesRead,
            15 => Self::LinesHandshake,
            other => return Err(other),
        })
    }
}

/// Why nothing was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Refusal {
    /// This gateware cannot do it.
    Absent = 1,
    /// A kernel runs, or may begin to.
    Busy = 2,
    /// No such path, or a size or number of trials that it does not have.
    Invalid = 3,
    /// It did not end, or data were not what was sent.
    Failed = 4,
}

impl Refusal {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 4] = [Self::Absent, Self::Busy, Self::Invalid, Self::Failed];
}

impl TryFrom<u8> for Refusal {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            1 => Self::Absent,
            2 => Self::Busy,
            3 => Self::Invalid,
            4 => Self::Failed,
            other => return Err(other),
        })
    }
}

/// Calls a macro with all layouts: `Name = length { field: type = offset, … }`.
#[macro_export]
macro_rules! paths_layouts {
    ($with:ident) => {
        $with! {
            /// Clocks of the processor and of the logic in Hz.
            Frequencies = 8 { processor: u32 = 0, logic: u32 = 4 },
            /// Time in processor cycles; then, on paths measured by the logic, its cycles until the first beat of a
            /// read or the first response to a write, and until the last one, otherwise 0.
            Sample = 12 { time: u32 = 0, first: u32 = 4, last: u32 = 8 },
        }
    };
}
