//! Management, TCP 1380: greeting, requests of the host, replies of the device (wire protocols, section 2).
//!
//! A request is a type byte and its payload; there is no synchronisation and no overall length.
//! [`RequestDecoder`] takes the bytes as they arrive, in any pieces; values and images are passed
//! on piece by piece and never stored here.
//!
//! If the device has a key, the client first asks for a nonce and sends a proof: the HMAC-SHA-256
//! with that key over [`PROOF_CONTEXT`] and the nonce. This, and the requests from 128 on, are not
//! part of ARTIQ's protocol.

use core::fmt;

pub use kairos_contracts::management::{
    Payload, Reply, Request as Kind, DESTINATION_LOCAL, GREETING, IMAGE_REFUSED, KEY_MAX, PORT, PROOF_CONTEXT,
};
use kairos_contracts::management::{DIGEST_LENGTH, IMAGE_CHECKSUM_LENGTH};

use crate::paths::{self, Measurement};
use crate::rpc::Sink;
use crate::session::GREETING_ANSWER;
use crate::ProtocolError;

/// The device's answer to the greeting, which denotes little endian.
pub const ANSWER: u8 = GREETING_ANSWER;
/// A nonce or a proof.
pub type Digest = [u8; DIGEST_LENGTH];

/// A configuration key: 1 to [`KEY_MAX`] bytes of ASCII.
#[derive(Clone, Copy)]
pub struct Key {
    bytes: [u8; KEY_MAX],
    length: usize,
}

impl Key {
    pub fn as_str(&self) -> &str {
        // Checked on reception.
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

/// A request, without the data that follow it.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub kind: Kind,
    /// The key it refers to, if its [`Payload`] has one; else empty.
    pub key: Key,
    /// Bytes of data that follow in [`Item::Data`] pieces, if its payload has data. Zero if the
    /// host sent a length below 1.
    pub length: u32,
    /// The proof, in a request to authenticate.
    pub proof: Digest,
    /// The measurement, in a request to measure.
    pub measurement: Measurement,
}

impl Request {
    /// Writes a whole request. Parts of `key` and `data` that its [`Payload`] does not have are
    /// ignored; a proof and a measurement are passed as data.
    pub fn encode(sink: &mut impl Sink, kind: Kind, key: &[u8], data: &[u8]) {
        sink.write(&[kind as u8]);
        let (has_key, has_data) = match kind.payload() {
            Payload::None => (false, false),
            Payload::Key => (true, false),
            Payload::KeyAndData => (true, true),
            Payload::Data => (false, true),
            Payload::Digest | Payload::Measurement => return sink.write(data),
        };
        for (_, bytes) in [(has_key, key), (has_data, data)].into_iter().filter(|(has, _)| *has) {
            sink.write(&(bytes.len() as u32).to_le_bytes());
            sink.write(bytes);
        }
    }

    /// Writes a request to replace the boot image; `checksum` is the CRC-32 of the image.
    pub fn encode_flash(sink: &mut impl Sink, image: &[u8], checksum: u32) {
        sink.write(&[Kind::Flash as u8]);
        sink.write(&((image.len() + IMAGE_CHECKSUM_LENGTH) as u32).to_le_bytes());
        sink.write(image);
        sink.write(&checksum.to_le_bytes());
    }
}

/// A decoded part of the host's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// A request, available as [`RequestDecoder::request`]. Its data, if any, follow as
    /// [`Item::Data`].
    Request(Kind),
    /// A piece of an image or value; `last` is set in the last one (there is one empty piece if it
    /// is empty).
    Data { data: &'a [u8], last: bool },
}

/// Whether a client that has violated the protocol is sent an Error reply before its connection is
/// closed.
pub fn is_answered(error: ProtocolError) -> bool {
    !matches!(error, ProtocolError::UnknownType(_))
}

#[derive(Clone, Copy, Debug)]
enum State {
    Type,
    /// Collecting the length of a key.
    KeyLength,
    /// Collecting a key of this many bytes.
    Key(usize),
    /// Collecting the length of the data.
    DataLength,
    /// This many bytes of an image or value are outstanding.
    Data(u32),
    /// Collecting a proof.
    Proof,
    /// Collecting a measurement.
    Measurement,
}

/// Decoder of the host's side of a connection, after the greeting and the destination.
pub struct RequestDecoder {
    state: State,
    /// The request as far as it has been received.
    request: Request,
    number: [u8; 4],
    measurement: [u8; paths::LENGTH],
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
            request: Request {
                kind: Kind::GetLog,
                key: Key {
                    bytes: [0; KEY_MAX],
                    length: 0,
                },
                length: 0,
                proof: [0; DIGEST_LENGTH],
                measurement: Measurement {
                    kind: 0,
                    size: 0,
                    trials: 0,
                },
            },
            number: [0; 4],
            measurement: [0; paths::LENGTH],
            filled: 0,
            authentication: false,
        }
    }

    /// Creates a decoder for a device that has a key.
    pub const fn with_authentication() -> Self {
        Self {
            authentication: true,
            ..Self::new()
        }
    }

    /// Whether this device supports a kind of request.
    fn knows(&self, kind: Kind) -> bool {
        self.authentication || !matches!(kind, Kind::Challenge | Kind::Authenticate)
    }

    /// Takes bytes from the front of `input` until a request is complete or the input is used up;
    /// advances `input`.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Item<'a>>, ProtocolError> {
        loop {
            let request = &mut self.request;
            match self.state {
                State::Type => {
                    let Some(byte) = take(input, 1).first().copied() else {
                        return Ok(None);
                    };
                    let kind = Kind::try_from(byte).map_err(ProtocolError::UnknownType)?;
                    if !self.knows(kind) {
                        return Err(ProtocolError::UnknownType(byte));
                    }
                    (self.request.kind, self.request.key.length, self.request.length) = (kind, 0, 0);
                    self.state = match kind.payload() {
                        Payload::None => return Ok(Some(self.complete(State::Type))),
                        Payload::Key | Payload::KeyAndData => State::KeyLength,
                        Payload::Data => State::DataLength,
                        Payload::Digest => State::Proof,
                        Payload::Measurement => State::Measurement,
                    };
                }
                State::KeyLength => {
                    let Some(length) = self.number(input) else {
                        return Ok(None);
                    };
                    if length == 0 || length as usize > KEY_MAX {
                        return Err(ProtocolError::KeyLength(length));
                    }
                    self.state = State::Key(length as usize);
                }
                State::Key(length) => {
                    if !collect(&mut request.key.bytes[..length], &mut request.key.length, input) {
                        return Ok(None);
                    }
                    if !request.key.bytes[..length].is_ascii() {
                        return Err(ProtocolError::KeyCharacter);
                    }
                    if request.kind.payload() == Payload::Key {
                        return Ok(Some(self.complete(State::Type)));
                    }
                    self.state = State::DataLength;
                }
                State::DataLength => {
                    let Some(length) = self.number(input) else {
                        return Ok(None);
                    };
                    self.request.length = positive(length);
                    return Ok(Some(self.complete(State::Data(self.request.length))));
                }
                State::Proof => {
                    if !collect(&mut request.proof, &mut self.filled, input) {
                        return Ok(None);
                    }
                    self.filled = 0;
                    return Ok(Some(self.complete(State::Type)));
                }
                State::Measurement => {
                    if !collect(&mut self.measurement, &mut self.filled, input) {
                        return Ok(None);
                    }
                    self.filled = 0;
                    request.measurement = Measurement::from_bytes(&self.measurement);
                    return Ok(Some(self.complete(State::Type)));
                }
                State::Data(rest) => {
                    if rest > 0 && input.is_empty() {
                        return Ok(None);
                    }
                    let data = take(input, rest as usize);
                    let rest = rest - data.len() as u32;
                    self.state = if rest == 0 { State::Type } else { State::Data(rest) };
                    return Ok(Some(Item::Data { data, last: rest == 0 }));
                }
            }
        }
    }

    /// Completes the request; `state` is that of its data, or of the next request.
    fn complete(&mut self, state: State) -> Item<'static> {
        self.state = state;
        Item::Request(self.request.kind)
    }

    /// The newest request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Whether a request has begun and is incomplete.
    pub fn in_request(&self) -> bool {
        !matches!(self.state, State::Type)
    }

    /// Collects a 32-bit number over several calls.
    fn number(&mut self, input: &mut &[u8]) -> Option<u32> {
        collect(&mut self.number, &mut self.filled, input).then(|| {
            self.filled = 0;
            u32::from_le_bytes(self.number)
        })
    }
}

/// Appends bytes to those already in `place`; true when it is full.
fn collect(place: &mut [u8], filled: &mut usize, input: &mut &[u8]) -> bool {
    let rest = &mut place[*filled..];
    let taken = take(input, rest.len());
    rest[..taken.len()].copy_from_slice(taken);
    *filled += taken.len();
    *filled == place.len()
}

/// The host's lengths are signed; negative ones count as 0.
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

/// Replies of the device. Texts and values are streamed after their head.
pub mod reply {
    use super::{Digest, Payload, Reply, DIGEST_LENGTH};

    pub const SUCCESS: [u8; 1] = [Reply::Success as u8];
    pub const REBOOT_IMMINENT: [u8; 1] = [Reply::RebootImminent as u8];
    pub const ERROR: [u8; 1] = [Reply::Error as u8];
    const CHALLENGE: usize = 1 + DIGEST_LENGTH;

    /// The nonce requested by a client.
    pub fn challenge(nonce: &Digest) -> [u8; CHALLENGE] {
        let mut reply = [Reply::Challenge as u8; CHALLENGE];
        reply[1..].copy_from_slice(nonce);
        reply
    }

    /// LogContent; `length` bytes of UTF-8 follow.
    pub const fn log_content(length: u32) -> [u8; 5] {
        head(Reply::LogContent, length)
    }

    /// ConfigData; `length` bytes follow.
    pub const fn config_data(length: u32) -> [u8; 5] {
        head(Reply::ConfigData, length)
    }

    /// Measured; `length` bytes follow.
    pub const fn measured(length: u32) -> [u8; 5] {
        head(Reply::Measured, length)
    }

    /// Batch; `length` bytes follow.
    pub const fn batch(length: u32) -> [u8; 5] {
        head(Reply::Batch, length)
    }

    /// Refused; `length` bytes follow, the first of which is the reason.
    pub const fn refused(length: u32) -> [u8; 5] {
        head(Reply::Refused, length)
    }

    const fn head(kind: Reply, length: u32) -> [u8; 5] {
        let l = length.to_le_bytes();
        [kind as u8, l[0], l[1], l[2], l[3]]
    }

    /// The contents of a reply after its type.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Behind {
        /// A fixed number of bytes.
        Bytes(usize),
        /// A length u32, and as many bytes.
        Counted,
    }

    /// The contents of a reply after its type byte.
    pub const fn behind(kind: Reply) -> Behind {
        match kind.payload() {
            Payload::None => Behind::Bytes(0),
            Payload::Digest => Behind::Bytes(DIGEST_LENGTH),
            Payload::Measurement => Behind::Bytes(super::paths::LENGTH),
            Payload::Data | Payload::Key | Payload::KeyAndData => Behind::Counted,
        }
    }
}

#[cfg(test)]
mod tests;
