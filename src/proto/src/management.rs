//! Management, TCP 1380: greeting, requests of the host, replies of the device (wire protocols, section 2).
//!
//! A request is a type byte and its payload; there is no synchronisation and no overall length. [`RequestDecoder`] takes the
//! bytes as they arrive, in any pieces; values and images are passed on piece by piece and never held here.
//!
//! Where the device has a key, the client asks for a nonce and sends a proof before anything else: the HMAC-SHA-256 with that
//! key over [`PROOF_CONTEXT`] and the nonce. That, and the requests from 128 on, are not part of ARTIQ's protocol.

use core::fmt;

use crate::session::GREETING_ANSWER;

/// TCP port of the service.
pub const PORT: u16 = 1380;
/// What a client sends first; a DRTIO destination follows in one byte.
pub const GREETING: &[u8; 17] = b"ARTIQ management\n";
/// The device's answer to the greeting: it is little endian.
pub const ANSWER: u8 = GREETING_ANSWER;
/// The only destination of a device without DRTIO: itself.
pub const DESTINATION_LOCAL: u8 = 0;
/// What a proof is for, in front of the nonce: a proof for another service is none here.
pub const PROOF_CONTEXT: &[u8] = b"KAIROS management\n";
/// A nonce or a proof.
pub type Digest = [u8; 32];
/// Longest key in bytes. With `.BIN` behind it, it must be a name in a FAT directory; keys in use have less than 20.
pub const KEY_MAX: usize = 128;

mod request {
    pub const GET_LOG: u8 = 1;
    pub const CLEAR_LOG: u8 = 2;
    pub const REBOOT: u8 = 5;
    pub const PULL_LOG: u8 = 7;
    pub const DEBUG_ALLOCATOR: u8 = 8;
    pub const FLASH: u8 = 9;
    pub const CONFIG_READ: u8 = 12;
    pub const CONFIG_WRITE: u8 = 13;
    pub const CONFIG_REMOVE: u8 = 14;
    pub const CONFIG_ERASE: u8 = 15;
    pub const NETBOOT: u8 = 128;
    pub const CHALLENGE: u8 = 129;
    pub const AUTHENTICATE: u8 = 130;
}

/// A configuration key: 1 to [`KEY_MAX`] bytes of ASCII.
#[derive(Clone, Copy)]
pub struct Key {
    bytes: [u8; KEY_MAX],
    length: usize,
}

impl Key {
    pub fn as_str(&self) -> &str {
        // Checked when it was received.
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or("")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

/// A complete thing in the host's stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Request<'a> {
    GetLog,
    ClearLog,
    Reboot,
    /// Restart into the loader, which then waits for the network.
    Netboot,
    /// Send a nonce. Unknown to a device without a key, as is the next one.
    Challenge,
    /// The proof for the nonce that was sent last.
    Authenticate(Digest),
    PullLog,
    DebugAllocator,
    /// An image of this many bytes follows in [`Request::Data`] pieces. Zero if the host sent a length below 1.
    Flash {
        length: u32,
    },
    ConfigRead(Key),
    /// A value of this many bytes follows in [`Request::Data`] pieces.
    ConfigWrite {
        key: Key,
        length: u32,
    },
    ConfigRemove(Key),
    ConfigErase,
    /// A piece of an image or value; the last one has `last` set (an empty one has one empty piece).
    Data {
        data: &'a [u8],
        last: bool,
    },
}

/// The host does not follow the protocol; the connection must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    UnknownType(u8),
    /// A key that is empty or longer than [`KEY_MAX`]: its length. The client is told by an Error reply.
    KeyLength(u32),
    /// A key that is not ASCII. The client is told by an Error reply.
    KeyCharacter,
}

impl ProtocolError {
    /// Whether an Error reply comes before the connection is closed.
    pub fn is_answered(self) -> bool {
        !matches!(self, Self::UnknownType(_))
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownType(number) => write!(f, "request of unknown type {number}"),
            Self::KeyLength(length) => write!(f, "configuration key of {length} bytes"),
            Self::KeyCharacter => write!(f, "configuration key that is not ASCII"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum State {
    Type,
    /// Collecting a length for this type.
    Length(u8),
    /// Collecting a key of so many bytes for this type.
    Key(u8, usize),
    /// Collecting the length of the value of a ConfigWrite.
    ValueLength,
    /// So many bytes of an image or value are still to come.
    Data(u32),
    /// Collecting a proof.
    Proof,
}

/// Decoder of the host's side of a connection, behind the greeting and the destination.
pub struct RequestDecoder {
    state: State,
    key: Key,
    number: [u8; 4],
    proof: Digest,
    filled: usize,
    authentication: bool,
}

impl Default for RequestDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl RequestDecoder {
    pub const fn new() -> Self {
        Self {
            state: State::Type,
            key: Key {
                bytes: [0; KEY_MAX],
                length: 0,
            },
            number: [0; 4],
            proof: [0; 32],
            filled: 0,
            authentication: false,
        }
    }

    /// The same for a device that has a key.
    pub const fn with_authentication() -> Self {
        Self {
            authentication: true,
            ..Self::new()
        }
    }

    /// Takes bytes from the front of `input` until a request is complete or the input is used up; advances `input`.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Request<'a>>, ProtocolError> {
        loop {
            match self.state {
                State::Type => {
                    let Some(kind) = take(input, 1).first().copied() else {
                        return Ok(None);
                    };
                    match kind {
                        request::GET_LOG => return Ok(Some(Request::GetLog)),
                        request::CLEAR_LOG => return Ok(Some(Request::ClearLog)),
                        request::REBOOT => return Ok(Some(Request::Reboot)),
                        request::NETBOOT => return Ok(Some(Request::Netboot)),
                        request::PULL_LOG => return Ok(Some(Request::PullLog)),
                        request::DEBUG_ALLOCATOR => return Ok(Some(Request::DebugAllocator)),
                        request::CHALLENGE if self.authentication => return Ok(Some(Request::Challenge)),
                        request::AUTHENTICATE if self.authentication => self.state = State::Proof,
                        request::CONFIG_ERASE => return Ok(Some(Request::ConfigErase)),
                        request::FLASH | request::CONFIG_READ | request::CONFIG_WRITE | request::CONFIG_REMOVE => {
                            self.state = State::Length(kind)
                        }
                        _ => return Err(ProtocolError::UnknownType(kind)),
                    }
                }
                State::Length(kind) => {
                    let Some(length) = self.number(input) else {
                        return Ok(None);
                    };
                    if kind == request::FLASH {
                        let length = positive(length);
                        self.state = State::Data(length);
                        return Ok(Some(Request::Flash { length }));
                    }
                    if length == 0 || length as usize > KEY_MAX {
                        return Err(ProtocolError::KeyLength(length));
                    }
                    self.key.length = 0;
                    self.state = State::Key(kind, length as usize);
                }
                State::Key(kind, length) => {
                    let have = self.key.length;
                    let taken = take(input, length - have);
                    self.key.bytes[have..have + taken.len()].copy_from_slice(taken);
                    self.key.length += taken.len();
                    if self.key.length < length {
                        return Ok(None);
                    }
                    if !self.key.bytes[..length].is_ascii() {
                        return Err(ProtocolError::KeyCharacter);
                    }
                    self.state = State::Type;
                    match kind {
                        request::CONFIG_READ => return Ok(Some(Request::ConfigRead(self.key))),
                        request::CONFIG_REMOVE => return Ok(Some(Request::ConfigRemove(self.key))),
                        _ => self.state = State::ValueLength,
                    }
                }
                State::ValueLength => {
                    let Some(length) = self.number(input) else {
                        return Ok(None);
                    };
                    let length = positive(length);
                    self.state = State::Data(length);
                    return Ok(Some(Request::ConfigWrite { key: self.key, length }));
                }
                State::Proof => {
                    let taken = take(input, self.proof.len() - self.filled);
                    self.proof[self.filled..self.filled + taken.len()].copy_from_slice(taken);
                    self.filled += taken.len();
                    if self.filled < self.proof.len() {
                        return Ok(None);
                    }
                    self.filled = 0;
                    self.state = State::Type;
                    return Ok(Some(Request::Authenticate(self.proof)));
                }
                State::Data(rest) => {
                    if rest > 0 && input.is_empty() {
                        return Ok(None);
                    }
                    let data = take(input, rest as usize);
                    let rest = rest - data.len() as u32;
                    self.state = if rest == 0 { State::Type } else { State::Data(rest) };
                    return Ok(Some(Request::Data { data, last: rest == 0 }));
                }
            }
        }
    }

    /// Whether a request has begun and is not complete.
    pub fn in_request(&self) -> bool {
        !matches!(self.state, State::Type)
    }

    /// A 32-bit number, collected over calls.
    fn number(&mut self, input: &mut &[u8]) -> Option<u32> {
        let taken = take(input, 4 - self.filled);
        self.number[self.filled..self.filled + taken.len()].copy_from_slice(taken);
        self.filled += taken.len();
        (self.filled == 4).then(|| {
            self.filled = 0;
            u32::from_le_bytes(self.number)
        })
    }
}

/// The host's lengths are signed; below 0 counts as 0.
fn positive(length: u32) -> u32 {
    if length >= 1 << 31 {
        0
    } else {
        length
    }
}

fn take<'a>(input: &mut &'a [u8], at_most: usize) -> &'a [u8] {
    let (taken, rest) = input.split_at(at_most.min(input.len()));
    *input = rest;
    taken
}

/// Replies of the device. Text and values are streamed behind their head.
pub mod reply {
    pub const SUCCESS: [u8; 1] = [1];
    pub const REBOOT_IMMINENT: [u8; 1] = [3];
    pub const ERROR: [u8; 1] = [6];

    /// The nonce that a [`Request::Challenge`](super::Request::Challenge) asks for.
    pub fn challenge(nonce: &super::Digest) -> [u8; 33] {
        let mut reply = [128; 33];
        reply[1..].copy_from_slice(nonce);
        reply
    }

    /// LogContent; `length` bytes of UTF-8 follow.
    pub const fn log_content(length: u32) -> [u8; 5] {
        head(2, length)
    }

    /// ConfigData; `length` bytes follow.
    pub const fn config_data(length: u32) -> [u8; 5] {
        head(7, length)
    }

    const fn head(kind: u8, length: u32) -> [u8; 5] {
        let l = length.to_le_bytes();
        [kind, l[0], l[1], l[2], l[3]]
    }
}

#[cfg(test)]
mod tests;
