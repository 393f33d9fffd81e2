//! Kernel session, TCP 1381: greeting, framing, requests of the host, replies of the device (wire protocols, section 1).
//!
//! A message is four bytes 0x5a, a type byte and a payload whose length follows from its content: there is no overall length.
//! [`RequestDecoder`] takes the host's bytes as they arrive, in any pieces, and never holds more than one fixed-size
//! message; long payloads (the kernel library, the value of an RPC reply) are passed on piece by piece. [`reply`] writes
//! what goes the other way.

use core::fmt;

/// TCP port of the service.
pub const PORT: u16 = 1381;
/// What a client sends first.
pub const GREETING: &[u8; 14] = b"ARTIQ coredev\n";
/// The device's answer: it is little endian.
pub const GREETING_ANSWER: u8 = b'e';
/// In front of every message.
pub const SYNC: [u8; 4] = [0x5a; 4];
/// Bytes of an RPCException behind its type byte.
pub const RPC_EXCEPTION: usize = 48;

/// Types of the host's requests.
mod request {
    pub const SYSTEM_INFO: u8 = 3;
    pub const LOAD_KERNEL: u8 = 5;
    pub const RUN_KERNEL: u8 = 6;
    pub const RPC_REPLY: u8 = 7;
    pub const RPC_EXCEPTION: u8 = 8;
    pub const SUBKERNEL_UPLOAD: u8 = 9;
}

/// A complete thing in the host's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    SystemInfo,
    /// A kernel library of this many bytes follows in [`Request::Library`] pieces.
    LoadKernel {
        length: u32,
    },
    /// A piece of the library; the last one has `last` set (an empty library has one empty piece).
    Library {
        data: &'a [u8],
        last: bool,
    },
    RunKernel,
    /// The reply to an RPC follows in [`Request::Value`] pieces, from its return tag (length, bytes) on, until
    /// [`RequestDecoder::end_value`] is called: only the caller knows where its value ends.
    RpcReply,
    Value(&'a [u8]),
    RpcException([u8; RPC_EXCEPTION]),
    /// A subkernel has been received, and dropped: there is no DRTIO.
    SubkernelUpload,
}

/// The host does not follow the protocol; the connection must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    UnknownType(u8),
    /// A length of 2^31 or more, which no host means.
    Length(u32),
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownType(number) => write!(f, "request of unknown type {number}"),
            Self::Length(length) => write!(f, "length {length:#x} in a request"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// So many bytes 0x5a have been seen.
    Sync(u8),
    Type,
    /// Collecting the fixed part behind a type byte: how many bytes it has.
    Fixed(u8, usize),
    /// So many bytes of the library are still to come.
    Library(u32),
    /// So many bytes of a subkernel to drop.
    Skip(u32),
    Value,
}

/// Decoder of the host's side of a session, behind the greeting.
pub struct RequestDecoder {
    state: State,
    /// The fixed part behind a type byte.
    fixed: [u8; RPC_EXCEPTION],
    filled: usize,
    /// Bytes that were not part of any message.
    discarded: u32,
}

impl Default for RequestDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl RequestDecoder {
    pub const fn new() -> Self {
        Self {
            state: State::Sync(0),
            fixed: [0; RPC_EXCEPTION],
            filled: 0,
            discarded: 0,
        }
    }

    /// Number of bytes found between messages since the last call. The protocol says to skip them; a correct host sends
    /// none.
    pub fn take_discarded(&mut self) -> u32 {
        core::mem::take(&mut self.discarded)
    }

    /// Whether the next byte belongs to the reply to an RPC, so that the caller may take it itself.
    pub fn in_value(&self) -> bool {
        matches!(self.state, State::Value)
    }

    /// Whether the next byte belongs to a library.
    pub fn in_library(&self) -> bool {
        matches!(self.state, State::Library(_))
    }

    /// Whether a request has begun and is not complete. (The value of a reply counts as one until its end is told.)
    pub fn in_request(&self) -> bool {
        !matches!(self.state, State::Sync(0))
    }

    /// The value announced by [`Request::RpcReply`] is complete: the next byte starts a message.
    pub fn end_value(&mut self) {
        if matches!(self.state, State::Value) {
            self.state = State::Sync(0);
        }
    }

    /// Takes bytes from the front of `input` until a request is complete or the input is used up; advances `input`.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Request<'a>>, ProtocolError> {
        loop {
            match self.state {
                State::Sync(4) => self.state = State::Type,
                State::Sync(seen) => {
                    let Some(byte) = take_byte(input) else { return Ok(None) };
                    self.state = if byte == SYNC[0] {
                        State::Sync(seen + 1)
                    } else {
                        self.discarded = self.discarded.saturating_add(u32::from(seen) + 1);
                        State::Sync(0)
                    };
                }
                State::Type => {
                    let Some(byte) = take_byte(input) else { return Ok(None) };
                    self.filled = 0;
                    self.state = match byte {
                        request::SYSTEM_INFO | request::RUN_KERNEL => State::Sync(0),
                        request::RPC_REPLY => State::Value,
                        request::LOAD_KERNEL => State::Fixed(byte, 4),
                        request::RPC_EXCEPTION => State::Fixed(byte, RPC_EXCEPTION),
                        request::SUBKERNEL_UPLOAD => State::Fixed(byte, 9),
                        _ => return Err(ProtocolError::UnknownType(byte)),
                    };
                    match byte {
                        request::SYSTEM_INFO => return Ok(Some(Request::SystemInfo)),
                        request::RUN_KERNEL => return Ok(Some(Request::RunKernel)),
                        request::RPC_REPLY => return Ok(Some(Request::RpcReply)),
                        _ => {}
                    }
                }
                State::Fixed(kind, length) => {
                    if !self.collect(input, length) {
                        return Ok(None);
                    }
                    // Of all these the length is the last field.
                    let f = &self.fixed;
                    let number = u32::from_le_bytes([f[length - 4], f[length - 3], f[length - 2], f[length - 1]]);
                    if kind == request::RPC_EXCEPTION {
                        self.state = State::Sync(0);
                        let mut bytes = [0; RPC_EXCEPTION];
                        bytes.copy_from_slice(&self.fixed[..RPC_EXCEPTION]);
                        return Ok(Some(Request::RpcException(bytes)));
                    }
                    if number >= 1 << 31 {
                        return Err(ProtocolError::Length(number));
                    }
                    match kind {
                        request::LOAD_KERNEL => {
                            self.state = State::Library(number);
                            return Ok(Some(Request::LoadKernel { length: number }));
                        }
                        _ => self.state = State::Skip(number),
                    }
                }
                State::Library(rest) => {
                    if rest > 0 && input.is_empty() {
                        return Ok(None);
                    }
                    let data = take(input, rest as usize);
                    let rest = rest - data.len() as u32;
                    self.state = if rest == 0 {
                        State::Sync(0)
                    } else {
                        State::Library(rest)
                    };
                    return Ok(Some(Request::Library { data, last: rest == 0 }));
                }
                State::Skip(rest) => {
                    let rest = rest - take(input, rest as usize).len() as u32;
                    if rest > 0 {
                        self.state = State::Skip(rest);
                        return Ok(None);
                    }
                    self.state = State::Sync(0);
                    return Ok(Some(Request::SubkernelUpload));
                }
                State::Value => {
                    if input.is_empty() {
                        return Ok(None);
                    }
                    return Ok(Some(Request::Value(core::mem::take(input))));
                }
            }
        }
    }

    /// Puts bytes behind those that `fixed` has, up to `length`; true when it has them.
    fn collect(&mut self, input: &mut &[u8], length: usize) -> bool {
        let taken = take(input, length - self.filled);
        self.fixed[self.filled..self.filled + taken.len()].copy_from_slice(taken);
        self.filled += taken.len();
        self.filled == length
    }
}

fn take_byte(input: &mut &[u8]) -> Option<u8> {
    take(input, 1).first().copied()
}

fn take<'a>(input: &mut &'a [u8], at_most: usize) -> &'a [u8] {
    let (taken, rest) = input.split_at(at_most.min(input.len()));
    *input = rest;
    taken
}

/// Messages of the device. Each function gives the bytes up to the part that is streamed behind them.
pub mod reply {
    use super::SYNC;

    pub const SYSTEM_INFO: u8 = 2;
    pub const LOAD_COMPLETED: u8 = 5;
    pub const LOAD_FAILED: u8 = 6;
    pub const KERNEL_FINISHED: u8 = 7;
    pub const KERNEL_STARTUP_FAILED: u8 = 8;
    pub const KERNEL_EXCEPTION: u8 = 9;
    pub const RPC_REQUEST: u8 = 10;
    pub const CLOCK_FAILURE: u8 = 15;

    const fn head<const N: usize>(kind: u8) -> [u8; N] {
        let mut bytes = [0; N];
        bytes[0] = SYNC[0];
        bytes[1] = SYNC[1];
        bytes[2] = SYNC[2];
        bytes[3] = SYNC[3];
        bytes[4] = kind;
        bytes
    }

    /// Runtime id `ARZQ`, after which nothing follows.
    pub const fn system_info() -> [u8; 9] {
        let mut bytes = head(SYSTEM_INFO);
        bytes[5] = b'A';
        bytes[6] = b'R';
        bytes[7] = b'Z';
        bytes[8] = b'Q';
        bytes
    }

    pub const fn load_completed() -> [u8; 5] {
        head(LOAD_COMPLETED)
    }

    /// The reason follows: `length` bytes of UTF-8.
    pub const fn load_failed(length: u32) -> [u8; 9] {
        let mut bytes = head(LOAD_FAILED);
        let length = length.to_le_bytes();
        bytes[5] = length[0];
        bytes[6] = length[1];
        bytes[7] = length[2];
        bytes[8] = length[3];
        bytes
    }

    /// `async_errors`: bit 0 collision, bit 1 busy, bit 2 sequence error; others must be 0.
    pub const fn kernel_finished(async_errors: u8) -> [u8; 6] {
        let mut bytes = head(KERNEL_FINISHED);
        bytes[5] = async_errors & 7;
        bytes
    }

    pub const fn kernel_startup_failed() -> [u8; 5] {
        head(KERNEL_STARTUP_FAILED)
    }

    /// The RTIO clock was lost while a kernel ran; nothing more follows on this connection.
    pub const fn clock_failure() -> [u8; 5] {
        head(CLOCK_FAILURE)
    }

    /// The report from `count` on follows, then the byte of asynchronous errors.
    pub const fn kernel_exception() -> [u8; 5] {
        head(KERNEL_EXCEPTION)
    }

    /// Service id, arguments and return tag follow.
    pub const fn rpc_request(is_async: bool) -> [u8; 6] {
        let mut bytes = head(RPC_REQUEST);
        bytes[5] = is_async as u8;
        bytes
    }
}

#[cfg(test)]
mod tests;
