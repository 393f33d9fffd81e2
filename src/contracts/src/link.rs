//! Between the firmware of two boards: numbers of the messages (`docs/gateware/link-messages.md`).
//!
//! Generated from `src/contracts/link.toml` by `src/contracts/generate.py`: do not edit.

/// Version of the protocol.
pub const VERSION: u16 = 3;

/// Longest packet in bytes, head and CRC included: what the mailbox takes.
pub const PACKET_MAX: usize = 1 << 10;

/// Destination of the board with the network.
pub const DESTINATION_MASTER: u8 = 0;

/// Bytes of the head of an order.
pub const ORDER_HEAD: usize = 12;

/// Bytes of a stream that an end has room for.
pub const WINDOW: usize = 1 << 12;

/// In place of an error of the DMA: there is no such trace, or something else is played.
pub const PLAYED_NOT: u32 = 256;

/// Longest text of a hello or a refusal, and longest payload of a ping, in bytes.
pub const TEXT_MAX: usize = 64;

/// Messages. Numbers are little endian; a stream is named by one byte, which the end nearer to the master chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Message {
    /// Who I am; the first message of a satellite.
    Hello = 1,
    /// Answer to a hello: what you are called.
    Welcome = 2,
    /// Send your descriptor from here on.
    Describe = 3,
    /// A piece of the gateware's descriptor.
    Description = 4,
    /// Send this back.
    Ping = 5,
    /// What a ping had.
    Pong = 6,
    /// Begin a stream of bytes to a board: the receiver or one behind it, to which it is passed on.
    Open = 8,
    /// There is no such board or service, or no room.
    Refuse = 9,
    /// Bytes of a stream: no more than the other end has said it has room for, and at the beginning `WINDOW`.
    Data = 10,
    /// There is room for so many more bytes.
    Credit = 11,
    /// No more bytes come. A stream ends when both have said so.
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

/// What a stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Service {
    /// Requests of management, as on TCP 1380 behind the destination (wire protocols, section 2).
    Management = 1,
    /// Kernels of the satellite's kernel core, in messages of their own (`Order`); one client at a time.
    Kernels = 2,
    /// What the satellite's analyzer has recorded of its own channels, as on TCP 1382; its record begins anew.
    Analyzer = 3,
    /// Requests of the monitor and injector, as on TCP 1383 behind the greeting; each is answered by a report, once.
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

/// What goes over a stream to the service of kernels: head (kind u8, board u8, two bytes 0, number u32, bytes of the
/// payload u32) and payload. `number` is a subkernel's or a message's, `board` whom a message is for (from the
/// satellite) or from (to it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Order {
    /// Keep this library, in place of one with this number.
    Keep = 1,
    /// Load it.
    Load = 2,
    /// Run it, after loading it if it is not loaded.
    Run = 3,
    /// Keep this DMA trace, in place of one with this number; `board` names the receiver.
    Trace = 5,
    /// Play the trace of this number; `board` names the receiver.
    Play = 6,
    /// Forget the trace of this number.
    Forget = 7,
    /// End what runs, and what is played.
    Stop = 4,
    /// It has been loaded, and runs if that was wanted. This and the next three are passed on to the satellite whose
    /// kernel has started it.
    Ready = 16,
    /// It has not.
    Refused = 17,
    /// It has returned.
    Finished = 18,
    /// It has ended with an exception.
    Exception = 19,
    /// The trace has come; `board` is that of the order, as in the next one.
    Kept = 20,
    /// The trace has been played, as far as it could be.
    Played = 21,
    /// It is not loaded: the kernel core runs another one, or this one, which goes on. Passed on as `ready` is.
    Busy = 24,
    /// A kernel of the sender wants this subkernel of `board` to be loaded or run.
    Start = 22,
    /// `board`, which had this subkernel, is lost, or cannot be reached.
    Lost = 23,
    /// Values for a kernel: by the number of a subkernel its arguments or its result.
    Message = 32,
}

impl Order {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 17] = [
        Self::Keep,
        Self::Load,
        Self::Run,
        Self::Trace,
        Self::Play,
        Self::Forget,
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

impl TryFrom<u8> for Order {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            1 => Self::Keep,
            2 => Self::Load,
            3 => Self::Run,
            5 => Self::Trace,
            6 => Self::Play,
            7 => Self::Forget,
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
