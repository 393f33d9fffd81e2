//! Inter-core memory: its messages and states (`docs/interfaces.md`, section 2).
//!
//! Generated from `src/contracts/intercore.toml` by `src/contracts/generate.py`: do not edit.

/// Bytes in a ring.
pub const CAPACITY: usize = 1 << 18;

/// Longest payload of one frame in bytes; longer messages are split.
pub const FRAME_MAX: usize = 1 << 14;

/// Length of a frame's header in bytes: kind u8, flags u8, reserved u16, length u32.
pub const HEADER: usize = 8;

/// Flag of a frame: the message continues in the next one.
pub const FLAG_MORE: u8 = 1;

/// Longest reason of a fault of the kernel core, in bytes.
pub const REASON_MAX: usize = 512;

/// Offset in the inter-core memory of the word that is `AWAITING` while the kernel core waits for other boards.
pub const AWAITS_BOARDS: usize = 224;

/// The kernel core waits for other boards, by way of the comms core, and for nothing that the host does. Otherwise 0.
pub const AWAITING: u32 = 0x7761_6974;

/// Software-generated interrupt to the kernel core: restart.
pub const SGI_RESTART: u8 = 0;

/// Software-generated interrupt to either core: a ring contains data.
pub const SGI_DATA: u8 = 1;

/// Type of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Load a kernel library.
    Load = 1,
    /// Run the loaded kernel.
    Run = 2,
    /// The host's reply.
    RpcReply = 3,
    /// The host function raised an exception.
    RpcException = 4,
    /// Measure a path (`paths.toml`).
    Measure = 5,
    /// Echo request.
    Echo = 6,
    /// Response to a subkernel request.
    SubkernelAnswer = 7,
    /// Time cursor at the start of the next kernel.
    SetCursor = 8,
    /// The library is ready to run.
    LoadCompleted = 16,
    /// The library cannot be run.
    LoadFailed = 17,
    /// The kernel calls the host and waits for the reply.
    RpcSync = 18,
    /// The kernel calls the host without waiting for a reply.
    RpcAsync = 19,
    /// The reply has been read; also after `RpcException`.
    RpcDone = 20,
    /// As `RpcDone`, but the host sent more than the type of the value allows.
    RpcSurplus = 34,
    /// The kernel has returned.
    Finished = 21,
    /// The kernel has ended with an exception.
    Exception = 22,
    /// Response to `Measure`.
    Measured = 24,
    /// Response to `Echo`.
    Echoed = 25,
    /// A line for the log.
    Log = 23,
    /// Load and run a subkernel.
    SubkernelRun = 26,
    /// Wait until a subkernel has ended.
    SubkernelAwait = 27,
    /// Send values to another board.
    SubkernelSend = 28,
    /// Wait for values from another board.
    SubkernelReceive = 29,
    /// Distribute the parts of a DMA trace to other boards.
    TraceKeep = 30,
    /// Play the parts on other boards; answered when all have finished.
    TracePlay = 31,
    /// Delete the parts on other boards; not answered.
    TraceErase = 32,
    /// I2C on a card that speaks DRTIO; answered as a request for a subkernel.
    BusTransfer = 33,
}

impl Kind {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 27] = [
        Self::Load,
        Self::Run,
        Self::RpcReply,
        Self::RpcException,
        Self::Measure,
        Self::Echo,
        Self::SubkernelAnswer,
        Self::SetCursor,
        Self::LoadCompleted,
        Self::LoadFailed,
        Self::RpcSync,
        Self::RpcAsync,
        Self::RpcDone,
        Self::RpcSurplus,
        Self::Finished,
        Self::Exception,
        Self::Measured,
        Self::Echoed,
        Self::Log,
        Self::SubkernelRun,
        Self::SubkernelAwait,
        Self::SubkernelSend,
        Self::SubkernelReceive,
        Self::TraceKeep,
        Self::TracePlay,
        Self::TraceErase,
        Self::BusTransfer,
    ];
}

impl TryFrom<u8> for Kind {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            1 => Self::Load,
            2 => Self::Run,
            3 => Self::RpcReply,
            4 => Self::RpcException,
            5 => Self::Measure,
            6 => Self::Echo,
            7 => Self::SubkernelAnswer,
            8 => Self::SetCursor,
            16 => Self::LoadCompleted,
            17 => Self::LoadFailed,
            18 => Self::RpcSync,
            19 => Self::RpcAsync,
            20 => Self::RpcDone,
            34 => Self::RpcSurplus,
            21 => Self::Finished,
            22 => Self::Exception,
            24 => Self::Measured,
            25 => Self::Echoed,
            23 => Self::Log,
            26 => Self::SubkernelRun,
            27 => Self::SubkernelAwait,
            28 => Self::SubkernelSend,
            29 => Self::SubkernelReceive,
            30 => Self::TraceKeep,
            31 => Self::TracePlay,
            32 => Self::TraceErase,
            33 => Self::BusTransfer,
            other => return Err(other),
        })
    }
}

/// Outcome of a subkernel request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    /// Success.
    Done = 0,
    /// Values were received.
    Message = 1,
    /// The subkernel has ended with an exception.
    Exception = 2,
    /// The subkernel does not exist, or its board refused it.
    NotLoaded = 3,
    /// The subkernel has not been started.
    NotRunning = 4,
    /// Timeout.
    TimedOut = 5,
    /// The board does not answer, or has restarted.
    Lost = 6,
    /// Not enough memory for the message or trace.
    TooMuch = 7,
    /// Playback of the parts of a trace has ended, completely or with an error.
    Played = 8,
}

impl Outcome {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 9] = [
        Self::Done,
        Self::Message,
        Self::Exception,
        Self::NotLoaded,
        Self::NotRunning,
        Self::TimedOut,
        Self::Lost,
        Self::TooMuch,
        Self::Played,
    ];
}

impl TryFrom<u8> for Outcome {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            0 => Self::Done,
            1 => Self::Message,
            2 => Self::Exception,
            3 => Self::NotLoaded,
            4 => Self::NotRunning,
            5 => Self::TimedOut,
            6 => Self::Lost,
            7 => Self::TooMuch,
            8 => Self::Played,
            other => return Err(other),
        })
    }
}

/// State last reported by the kernel core, bits 7..0 of the state word; bits 31..8: number of the restart to which it
/// belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// No report since power-up.
    Silent = 0,
    /// In the restart handshake, waiting to be granted the rings.
    Restarted = 1,
    /// Serving messages.
    Running = 2,
    /// Hit an abort or panic; needs a restart.
    Faulted = 3,
}

impl State {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 4] = [Self::Silent, Self::Restarted, Self::Running, Self::Faulted];
}

impl TryFrom<u8> for State {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            0 => Self::Silent,
            1 => Self::Restarted,
            2 => Self::Running,
            3 => Self::Faulted,
            other => return Err(other),
        })
    }
}

/// Calls a macro with all layouts: `Name = length { field: type = offset, … }`.
#[macro_export]
macro_rules! intercore_layouts {
    ($with:ident) => {
        $with! {
            /// Where a library is.
            Library = 8 { address: u32 = 0, length: u32 = 4 },
            /// Bytes of a reply after its value.
            Surplus = 4 { bytes: u32 = 0 },
            /// Why nothing was measured, a `Refusal`; otherwise 0.
            Status = 4 { refusal: u32 = 0 },
            /// Times of the global timer at which an echo request arrived and its answer departed.
            Echoed = 8 { arrived: u32 = 0, departed: u32 = 4 },
            /// The subkernel, its board, whether it is to run, and where its time cursor begins.
            SubkernelRun = 16 { number: u32 = 0, destination: u8 = 4, run: bool = 5, cursor: i64 = 8 },
            /// The subkernel or the message that is waited for, and for how long.
            SubkernelWait = 16 { number: u32 = 0, milliseconds: i64 = 8 },
            /// The message, the board it is for, whether it is the result of this kernel, and how many values in how
            /// many bytes follow.
            SubkernelSend = 12 { number: u32 = 0, destination: u8 = 4, is_result: bool = 5, count: u8 = 6, length: u32 = 8 },
            /// Number of a DMA trace.
            Trace = 4 { number: u32 = 0 },
            /// A part of a trace in the kernel core's memory, and the board that plays it.
            TracePart = 12 { destination: u32 = 0, address: u32 = 4, bytes: u32 = 8 },
            /// A trace, a bit for the destination of each board that plays a part, and what is added to its timestamps.
            TracePlay = 16 { number: u32 = 0, boards: u32 = 4, time: i64 = 8 },
            /// I2C on a card: an `AuxiliaryPacket` and its fields.
            BusTransfer = 5 { packet: u8 = 0, destination: u8 = 1, bus: u8 = 2, first: u8 = 3, second: u8 = 4 },
            /// The byte or acknowledge bit that I2C has read.
            BusValue = 1 { value: u8 = 0 },
            /// How many values in how many bytes follow.
            Values = 5 { count: u8 = 0, length: u32 = 1 },
            /// The subkernel that has ended with an exception, and how many bytes the report has that follows.
            Report = 8 { number: u32 = 0, length: u32 = 4 },
            /// Destination of the board concerned.
            Concerned = 1 { board: u8 = 0 },
        }
    };
}
