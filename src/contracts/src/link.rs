//! Messages between the firmware of two boards (`docs/gateware/link-messages.md`).
//!
//! Generated from `src/contracts/link.toml` by `src/contracts/generate.py`: do not edit.

/// Version of the protocol.
pub const VERSION: u16 = 3;

/// Longest packet in bytes, including header and CRC: the capacity of the mailbox.
pub const PACKET_MAX: usize = 1 << 10;

/// Destination of the board with the network connection.
pub const DESTINATION_MASTER: u8 = 0;

/// Length of the header of a message of the kernel service in bytes.
pub const KERNEL_MESSAGE_HEADER: usize = 12;

/// Receive buffer of a stream in bytes.
pub const WINDOW: usize = 1 << 12;

/// Used in place of a DMA error: there is no such trace, or another one is being played.
pub const PLAYED_NOT: u32 = 256;

/// Longest text of a hello or a refusal, and longest payload of a ping, in bytes.
pub const TEXT_MAX: usize = 64;

/// Messages. Numbers are little endian. A stream is identified by one byte, chosen by the end nearer to the master.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Message {
    /// Identification; the first message of a satellite.
    Hello = 1,
    /// Answer to `Hello`: assigns the destination.
    Welcome = 2,
    /// Request the descriptor from this offset on.
    Describe = 3,
    /// Part of the gateware's descriptor.
    Description = 4,
    /// Echo request.
    Ping = 5,
    /// Echo reply, with the payload of the ping.
    Pong = 6,
    /// Open a byte stream to a board: the receiver, or a board behind it, to which the message is forwarded.
    Open = 8,
    /// Refuse a stream: no such board or service, or no resources left.
    Refuse = 9,
    /// Data of a stream, limited by the credit granted by the other end, initially `WINDOW` bytes.
    Data = 10,
    /// Grant credit for this number of further bytes.
    Credit = 11,
    /// End of data. The stream is closed once both ends have sent this.
    Close = 12,
}

impl Message {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 11] = [
        Self::Hello,
        Self::Welcome,
        Self::Describe,
        Self::Description,
        Self::Ping,
        Self::Pong,
        Self::Open,
        Self::Refuse,
        Self::Data,
        Self::Credit,
        Self::Close,
    ];
}

impl TryFrom<u8> for Message {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            1 => Self::Hello,
            2 => Self::Welcome,
            3 => Self::Describe,
            4 => Self::Description,
            5 => Self::Ping,
            6 => Self::Pong,
            8 => Self::Open,
            9 => Self::Refuse,
            10 => Self::Data,
            11 => Self::Credit,
            12 => Self::Close,
            other => return Err(other),
        })
    }
}

/// Service of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Service {
    /// Management requests, as on TCP 1380 after the destination byte (wire protocols, section 2).
    Management = 1,
    /// Control of kernels on the satellite's kernel core, by `KernelMessage`s; one client at a time.
    Kernels = 2,
    /// Record of the satellite's analyzer for its own channels, as on TCP 1382; recording then restarts.
    Analyzer = 3,
    /// Monitor and injector requests, as on TCP 1383 after the greeting; each is answered by one report.
    Monitor = 4,
}

impl Service {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 4] = [Self::Management, Self::Kernels, Self::Analyzer, Self::Monitor];
}

impl TryFrom<u8> for Service {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            1 => Self::Management,
            2 => Self::Kernels,
            3 => Self::Analyzer,
            4 => Self::Monitor,
            other => return Err(other),
        })
    }
}

/// Messages of the kernel service: header (kind u8, board u8, two bytes 0, number u32, length of the payload u32) and
/// payload. `number` identifies a subkernel or a message; `board` is the recipient of a message from the satellite, or
/// the sender of a message to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum KernelMessage {
    /// Store this library, replacing one with the same number.
    Keep = 1,
    /// Load the library.
    Load = 2,
    /// Run the library; load it first if needed.
    Run = 3,
    /// Store this DMA trace, replacing one with the same number; `board` is the receiver.
    Trace = 5,
    /// Play the trace with this number; `board` is the receiver.
    Play = 6,
    /// Delete the trace with this number.
    Erase = 7,
    /// Stop the running kernel and the playback.
    Stop = 4,
    /// The subkernel is loaded, and running if requested. This and the next three are forwarded to the satellite whose
    /// kernel started it.
    Ready = 16,
    /// The subkernel was not loaded.
    Refused = 17,
    /// The subkernel has returned.
    Finished = 18,
    /// The subkernel has ended with an exception.
    Exception = 19,
    /// The trace was received; `board` is that of the request, as in `Played`.
    Kept = 20,
    /// Playback of the trace has ended, completely or with an error.
    Played = 21,
    /// The subkernel was not loaded: the kernel core is running another one, or this one, which continues. Forwarded
    /// like `Ready`.
    Busy = 24,
    /// A kernel of the sender requests to load or run this subkernel on `board`.
    Start = 22,
    /// `board`, which runs this subkernel, was lost or is unreachable.
    Lost = 23,
    /// Values for a kernel; if the number is that of a subkernel, its arguments or its result.
    Message = 32,
}

impl KernelMessage {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 17] = [
        Self::Keep,
        Self::Load,
        Self::Run,
        Self::Trace,
        Self::Play,
        Self::Erase,
        Self::Stop,
        Self::Ready,
        Self::Refused,
        Self::Finished,
        Self::Exception,
        Self::Kept,
        Self::Played,
        Self::Busy,
        Self::Start,
        Self::Lost,
        Self::Message,
    ];
}

impl TryFrom<u8> for KernelMessage {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            1 => Self::Keep,
            2 => Self::Load,
            3 => Self::Run,
            5 => Self::Trace,
            6 => Self::Play,
            7 => Self::Erase,
            4 => Self::Stop,
            16 => Self::Ready,
            17 => Self::Refused,
            18 => Self::Finished,
            19 => Self::Exception,
            20 => Self::Kept,
            21 => Self::Played,
            24 => Self::Busy,
            22 => Self::Start,
            23 => Self::Lost,
            32 => Self::Message,
            other => return Err(other),
        })
    }
}

/// Calls a macro with all layouts: `Name = length { field: type = offset, … }`.
#[macro_export]
macro_rules! link_layouts {
    ($with:ident) => {
        $with! {
            /// A time cursor, in machine units.
            Cursor = 8 { time: i64 = 0 },
            /// Where the time cursor of a subkernel begins, and whether it is to run or only to be loaded.
            Start = 9 { cursor: i64 = 0, run: bool = 8 },
            /// Whether a trace was stored; otherwise there was no memory left.
            Kept = 1 { stored: bool = 0 },
            /// The first failed event of a playback: bits of `dma_error`, or `PLAYED_NOT`; without an error 0.
            Played = 16 { bits: u32 = 0, channel: u32 = 4, time: i64 = 8 },
        }
    };
}
