//! Kernel session, TCP 1381: greeting, framing, requests of the host, replies of the device (wire
//! protocols, section 1).
//!
//! A message is four bytes 0x5a, a type byte and a payload whose length follows from its content:
//! there is no overall length. [`RequestDecoder`] takes the host's bytes as they arrive, in any
//! pieces, and never stores more than one fixed-size message; long payloads (the kernel library,
//! the value of an RPC reply) are passed on piece by piece. [`reply`] encodes the other direction.

pub mod host;

use core::fmt;

use kairos_contracts::session::Request as Type;
pub use kairos_contracts::session::{GREETING, LITTLE_ENDIAN as GREETING_ANSWER, PORT};
use kairos_contracts::session::{RPC_EXCEPTION_LENGTH, SYNC_BYTE, SYNC_LENGTH};

/// Precedes every message.
pub const SYNC: [u8; SYNC_LENGTH] = [SYNC_BYTE; SYNC_LENGTH];
/// Bytes of an RPCException after its type byte.
pub const RPC_EXCEPTION: usize = RPC_EXCEPTION_LENGTH;
/// Bytes of a SubkernelUpload before its library: id, destination, length.
const SUBKERNEL: usize = 9;

/// A decoded part of the host's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    SystemInfo,
    /// A kernel library of this many bytes follows in [`Request::Library`] pieces.
    LoadKernel {
        length: u32,
    },
    /// A piece of the library; `last` is set in the last one (an empty library has one empty
    /// piece).
    Library {
        data: &'a [u8],
        last: bool,
    },
    RunKernel,
    /// The reply to an RPC follows in [`Request::Value`] pieces, starting with its return tag
    /// (length, bytes), until [`RequestDecoder::end_value`] is called: only the caller knows where
    /// its value ends.
    RpcReply,
    Value(&'a [u8]),
    RpcException([u8; RPC_EXCEPTION]),
    /// A subkernel's library follows in [`Request::Library`] pieces, like a kernel's.
    SubkernelUpload {
        number: u32,
        destination: u8,
        length: u32,
    },
}

/// A violation of the protocol by the host; the connection must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    UnknownType(u8),
    /// A length of 2^31 or more, which cannot be intended.
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
    /// This many bytes 0x5a have been received.
    Sync(u8),
    Type,
    /// Collecting the fixed part after a type byte, of this many bytes.
    Fixed(Type, usize),
    /// This many bytes of the library are outstanding.
    Library(u32),
    Value,
}

/// Decoder of the host's side of a session, after the greeting.
pub struct RequestDecoder {
    state: State,
    /// The fixed part after a type byte.
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

    /// Number of bytes found between messages since the last call. The protocol requires to skip
    /// them; a correct host sends none.
    pub fn take_discarded(&mut self) -> u32 {
        core::mem::take(&mut self.discarded)
    }

    /// Whether the next byte belongs to an RPC reply, so that the caller may consume it directly.
    pub fn in_value(&self) -> bool {
        matches!(self.state, State::Value)
    }

    /// Whether the next byte belongs to a library.
    pub fn in_library(&self) -> bool {
        matches!(self.state, State::Library(_))
    }

    /// Whether a request has begun and is incomplete. (The value of a reply counts as incomplete
    /// until `end_value`.)
    pub fn in_request(&self) -> bool {
        !matches!(self.state, State::Sync(0))
    }

    /// Ends the value announced by [`Request::RpcReply`]: the next byte starts a message.
    pub fn end_value(&mut self) {
        if matches!(self.state, State::Value) {
            self.state = State::Sync(0);
        }
    }

    /// Takes bytes from the front of `input` until a request is complete or the input is used up;
    /// advances `input`.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Request<'a>>, ProtocolError> {
        loop {
            match self.state {
                State::Sync(seen) if usize::from(seen) == SYNC_LENGTH => self.state = State::Type,
                State::Sync(0) if input.starts_with(&SYNC) => {
                    *input = &input[SYNC_LENGTH..];
                    self.state = State::Type;
                }
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
                    let kind = Type::try_from(byte).map_err(ProtocolError::UnknownType)?;
                    let (state, request) = match kind {
                        Type::SystemInfo => (State::Sync(0), Some(Request::SystemInfo)),
                        Type::RunKernel => (State::Sync(0), Some(Request::RunKernel)),
                        Type::RpcReply => (State::Value, Some(Request::RpcReply)),
                        Type::LoadKernel => (State::Fixed(kind, 4), None),
                        Type::RpcException => (State::Fixed(kind, RPC_EXCEPTION), None),
                        Type::SubkernelUpload => (State::Fixed(kind, SUBKERNEL), None),
                    };
                    self.state = state;
                    if request.is_some() {
                        return Ok(request);
                    }
                }
                State::Fixed(kind, length) => {
                    if !self.collect(input, length) {
                        return Ok(None);
                    }
                    // In all of these the length is the last field.
                    let f = &self.fixed;
                    let number = u32::from_le_bytes([f[length - 4], f[length - 3], f[length - 2], f[length - 1]]);
                    if kind == Type::RpcException {
                        self.state = State::Sync(0);
                        let mut bytes = [0; RPC_EXCEPTION];
                        bytes.copy_from_slice(&self.fixed[..RPC_EXCEPTION]);
                        return Ok(Some(Request::RpcException(bytes)));
                    }
                    if number >= 1 << 31 {
                        return Err(ProtocolError::Length(number));
                    }
                    match kind {
                        Type::LoadKernel => {
                            self.state = State::Library(number);
                            return Ok(Some(Request::LoadKernel { length: number }));
                        }
                        _ => {
                            self.state = State::Library(number);
                            return Ok(Some(Request::SubkernelUpload {
                                number: u32::from_le_bytes([f[0], f[1], f[2], f[3]]),
                                destination: f[4],
                                length: number,
                            }));
                        }
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
                State::Value => {
                    if input.is_empty() {
                        return Ok(None);
                    }
                    return Ok(Some(Request::Value(core::mem::take(input))));
                }
            }
        }
    }

    /// Appends bytes to `fixed`, up to `length`; true when it is complete.
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

/// Messages of the device. Each function returns the bytes before the part that is streamed.
pub mod reply {
    use kairos_contracts::session::{Reply, RUNTIME_ID};

    use super::SYNC;

    const fn head<const N: usize>(kind: Reply) -> [u8; N] {
        let mut bytes = [0; N];
        bytes[0] = SYNC[0];
        bytes[1] = SYNC[1];
        bytes[2] = SYNC[2];
        bytes[3] = SYNC[3];
        bytes[4] = kind as u8;
        bytes
    }

    /// SystemInfo with the runtime id `ARZQ`, after which nothing follows.
    pub const fn system_info() -> [u8; 9] {
        let mut bytes = head(Reply::SystemInfo);
        bytes[5] = RUNTIME_ID[0];
        bytes[6] = RUNTIME_ID[1];
        bytes[7] = RUNTIME_ID[2];
        bytes[8] = RUNTIME_ID[3];
        bytes
    }

    pub const fn load_completed() -> [u8; 5] {
        head(Reply::LoadCompleted)
    }

    /// LoadFailed; the reason follows, `length` bytes of UTF-8.
    pub const fn load_failed(length: u32) -> [u8; 9] {
        let mut bytes = head(Reply::LoadFailed);
        let length = length.to_le_bytes();
        bytes[5] = length[0];
        bytes[6] = length[1];
        bytes[7] = length[2];
        bytes[8] = length[3];
        bytes
    }

    /// `async_errors`: bit 0 collision, bit 1 busy, bit 2 sequence error; others must be 0.
    pub const fn kernel_finished(async_errors: u8) -> [u8; 6] {
        let mut bytes = head(Reply::KernelFinished);
        bytes[5] = async_errors & 7;
        bytes
    }

    pub const fn kernel_startup_failed() -> [u8; 5] {
        head(Reply::KernelMissing)
    }

    /// The RTIO clock was lost while a kernel ran; nothing more follows on this connection.
    pub const fn clock_failure() -> [u8; 5] {
        head(Reply::ClockFailure)
    }

    /// KernelException; the report from `count` on follows, then the byte of asynchronous errors.
    pub const fn kernel_exception() -> [u8; 5] {
        head(Reply::KernelException)
    }

    /// RpcRequest; service id, arguments and return tag follow.
    pub const fn rpc_request(is_async: bool) -> [u8; 6] {
        let mut bytes = head(Reply::RpcRequest);
        bytes[5] = is_async as u8;
        bytes
    }
}

#[cfg(test)]
mod tests;
