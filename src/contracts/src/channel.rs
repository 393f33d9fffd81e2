//! Inter-core channel: its messages and states (`docs/interfaces.md`, section 2).
//!
//! Generated from `src/contracts/channel.toml` by `src/contracts/generate.py`: do not edit.

/// Bytes in a ring.
pub const CAPACITY: usize = 1 << 18;

/// Longest payload of one frame in bytes; longer messages are split.
pub const FRAME_MAX: usize = 1 << 14;

/// Bytes of a frame's header: kind u8, flags u8, reserved u16, length u32.
pub const HEADER: usize = 8;

/// Flag of a frame: the message goes on in the next one.
pub const FLAG_MORE: u8 = 1;

/// Longest reason of a fault of the kernel core, in bytes.
pub const REASON_MAX: usize = 512;

/// Software-generated interrupt to the kernel core: restart.
pub const SGI_RESTART: u8 = 0;

/// Software-generated interrupt to either core: there is something in a ring.
pub const SGI_DATA: u8 = 1;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Load a kernel library.
    Load = 1,
    /// Run the loaded kernel.
    Run = 2,
    /// The host's reply.
    RpcReply = 3,
    /// The host's function has raised an exception.
    RpcException = 4,
    /// Measure a path (`channels.toml`).
    Measure = 5,
    /// Send back what this has.
    Echo = 6,
    /// The answer to a request about subkernels.
    SubkernelAnswer = 7,
    /// Where the time cursor is when the next kernel begins.
    SetCursor = 8,
    /// The library can be run.
    LoadCompleted = 16,
    /// The library cannot be run.
    LoadFailed = 17,
    /// The kernel calls the host and waits for the reply.
    RpcSync = 18,
    /// The kernel calls the host; nothing comes back.
    RpcAsync = 19,
    /// The reply has been read; also after `RpcException`.
    RpcDone = 20,
    /// The kernel has returned.
    Finished = 21,
    /// The kernel has ended with an exception.
    Exception = 22,
    /// The answer to `Measure`.
    Measured = 24,
    /// The answer to `Echo`.
    Echoed = 25,
    /// A line for the log.
    Log = 23,
    /// Load a subkernel, and run it.
    SubkernelRun = 26,
    /// Wait until a subkernel has ended.
    SubkernelAwait = 27,
    /// Send values to another board.
    SubkernelSend = 28,
    /// Wait for values from another board.
    SubkernelReceive = 29,
    /// See to it that other boards have their parts of a DMA trace.
    TraceKeep = 30,
    /// Have other boards play their parts, and answer when all have.
    TracePlay = 31,
    /// Have other boards forget their parts; not answered.
    TraceForget = 32,
}

impl Kind {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 25] = [
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
        Self::TraceForget,
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
            32 => Self::TraceForget,
            other => return Err(other),
        })
    }
}

/// How a request about subkernels has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    /// As wanted.
    Done = 0,
    /// Values have come.
    Message = 1,
    /// The subkernel has ended with an exception.
    Exception = 2,
    /// There is no such subkernel, or its board has refused it.
    NotLoaded = 3,
    /// It has not been started.
    NotRunning = 4,
    /// The time is over.
    TimedOut = 5,
    /// The board does not answer, or has begun anew.
    Lost = 6,
    /// There is no room for the message, or for the trace.
    TooMuch = 7,
    /// The parts of a trace have been played, as far as they could be.
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

/// What the kernel core last said of itself, bits 7..0 of the state word; bits 31..8: the restart that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// Nothing yet since power-up.
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
