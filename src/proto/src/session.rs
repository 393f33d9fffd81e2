//! Kernel session, TCP 1381: greeting, framing, requests of the host, replies of the device (wire
//! protocols, section 1).
//!
//! A message is four bytes 0x5a, a type byte and a payload whose length follows from its content:
//! there is no overall length. [`RequestDecoder`] takes the host's bytes as they arrive, in any
//! pieces, and never stores more than one fixed-size message; long payloads (the kernel library,
//! the value of an RPC reply) are passed on piece by piece. [`reply`] encodes the other direction.
//!
//! What the host may send depends on whether a kernel waits for it, and the end of a reply's value is
//! known only to the kernel core, which decodes it. So the decoder also follows the kernel's calls
//! ([`RequestDecoder::begin_call`], [`RequestDecoder::end_call`]), and nothing else records them.

pub mod host;

use kairos_contracts::session::Request as Type;
pub use kairos_contracts::session::{GREETING, LITTLE_ENDIAN as GREETING_ANSWER, PORT};
use kairos_contracts::session::{RPC_EXCEPTION_LENGTH, SYNC_BYTE, SYNC_LENGTH};

use crate::ProtocolError;

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
    /// A piece of the reply to an RPC, which starts with its return tag (length, bytes) and lasts
    /// until [`RequestDecoder::end_call`].
    Value(&'a [u8]),
    /// The reply to an RPC is an exception: [`RequestDecoder::exception`].
    RpcException,
    /// A subkernel's library follows in [`Request::Library`] pieces, like a kernel's.
    SubkernelUpload {
        number: u32,
        destination: u8,
        length: u32,
    },
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
}

/// A kernel's call of a function of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    /// No kernel waits for the host.
    None,
    /// The host is to reply.
    Sent,
    /// The stream consists of the reply's value.
    Value,
    /// The host has replied with an exception, which the kernel core has not read yet.
    Exception,
    /// The kernel has ended without reading the whole value, whose end is therefore unknown.
    Abandoned,
}

/// Decoder of the host's side of a session, after the greeting.
pub struct RequestDecoder {
    state: State,
    call: Call,
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
            call: Call::None,
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

    /// Records that the kernel has called a function of the host and waits for its reply.
    pub fn begin_call(&mut self) {
        self.call = Call::Sent;
    }

    /// Records that the kernel core has read the reply: the next byte starts a message.
    pub fn end_call(&mut self) {
        self.call = Call::None;
    }

    /// Records that the kernel has ended. Whatever the host still sends as a reply is unsolicited.
    pub fn abandon_call(&mut self) {
        self.call = match self.call {
            Call::Value | Call::Abandoned => Call::Abandoned,
            Call::None | Call::Sent | Call::Exception => Call::None,
        };
    }

    /// Whether the kernel waits for the host, or is reading its reply.
    pub fn in_call(&self) -> bool {
        matches!(self.call, Call::Sent | Call::Value | Call::Exception)
    }

    /// Whether the host has begun to reply, so that the kernel core may report the reply's end.
    pub fn in_reply(&self) -> bool {
        matches!(self.call, Call::Value | Call::Exception)
    }

    /// Whether the next byte belongs to the value of a reply, so that the caller may consume it
    /// directly.
    pub fn in_value(&self) -> bool {
        self.call == Call::Value
    }

    /// Whether the next byte belongs to a library.
    pub fn in_library(&self) -> bool {
        matches!(self.state, State::Library(_))
    }

    /// Whether a request has begun and is incomplete. (The value of a reply counts as incomplete
    /// until `end_call`.)
    pub fn in_request(&self) -> bool {
        self.in_value() || !matches!(self.state, State::Sync(0))
    }

    /// The exception of the [`Request::RpcException`] that was decoded last. Not part of that enum: it
    /// would make every request as large, and each is moved.
    pub fn exception(&self) -> &[u8; RPC_EXCEPTION] {
        &self.fixed
    }

    /// Takes bytes from the front of `input` until a request is complete or the input is used up;
    /// advances `input`.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Request<'a>>, ProtocolError> {
        match self.call {
            Call::Value => return Ok(take_value(input)),
            Call::Abandoned if !input.is_empty() => return Err(ProtocolError::UnsolicitedReply),
            _ => {}
        }
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
                        Type::RpcReply if self.call != Call::Sent => return Err(ProtocolError::UnsolicitedReply),
                        Type::SystemInfo => (State::Sync(0), Some(Request::SystemInfo)),
                        Type::RunKernel => (State::Sync(0), Some(Request::RunKernel)),
                        Type::RpcReply => {
                            (self.state, self.call) = (State::Sync(0), Call::Value);
                            return Ok(take_value(input));
                        }
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
                        if self.call != Call::Sent {
                            return Err(ProtocolError::UnsolicitedReply);
                        }
                        (self.state, self.call) = (State::Sync(0), Call::Exception);
                        return Ok(Some(Request::RpcException));
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

/// The rest of the input as a piece of a reply, if there is any.
fn take_value<'a>(input: &mut &'a [u8]) -> Option<Request<'a>> {
    (!input.is_empty()).then(|| Request::Value(core::mem::take(input)))
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

    const fn header<const N: usize>(kind: Reply) -> [u8; N] {
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
        let mut bytes = header(Reply::SystemInfo);
        bytes[5] = RUNTIME_ID[0];
        bytes[6] = RUNTIME_ID[1];
        bytes[7] = RUNTIME_ID[2];
        bytes[8] = RUNTIME_ID[3];
        bytes
    }

    pub const fn load_completed() -> [u8; 5] {
        header(Reply::LoadCompleted)
    }

    /// LoadFailed; the reason follows, `length` bytes of UTF-8.
    pub const fn load_failed(length: u32) -> [u8; 9] {
        let mut bytes = header(Reply::LoadFailed);
        let length = length.to_le_bytes();
        bytes[5] = length[0];
        bytes[6] = length[1];
        bytes[7] = length[2];
        bytes[8] = length[3];
        bytes
    }

    /// `async_errors`: bit 0 collision, bit 1 busy, bit 2 sequence error; others must be 0.
    pub const fn kernel_finished(async_errors: u8) -> [u8; 6] {
        let mut bytes = header(Reply::KernelFinished);
        bytes[5] = async_errors & 7;
        bytes
    }

    pub const fn kernel_startup_failed() -> [u8; 5] {
        header(Reply::KernelMissing)
    }

    /// The RTIO clock was lost while a kernel ran; nothing more follows on this connection.
    pub const fn clock_failure() -> [u8; 5] {
        header(Reply::ClockFailure)
    }

    /// KernelException; the report from `count` on follows, then the byte of asynchronous errors.
    pub const fn kernel_exception() -> [u8; 5] {
        header(Reply::KernelException)
    }

    /// RpcRequest; service id, arguments and return tag follow.
    pub const fn rpc_request(is_async: bool) -> [u8; 6] {
        let mut bytes = header(Reply::RpcRequest);
        bytes[5] = is_async as u8;
        bytes
    }
}

#[cfg(test)]
mod tests;
