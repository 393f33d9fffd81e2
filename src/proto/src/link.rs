//! Packets and messages between the firmware of two boards (`docs/gateware/link-messages.md`).
//! Little endian.
//!
//! A packet is a whole number of 32-bit words. It crosses one link, and may be lost:
//!
//! | Bytes | |
//! |---|---|
//! | 0–1 | session of the sender, not 0 |
//! | 2–3 | session of the other end as known to the sender; 0 if unknown |
//! | 4 | number of the message in it, or of the newest one before |
//! | 5 | number of the newest message received |
//! | 6–7 | length of the message in bytes, 0 if there is none |
//! | 8 … | message, padded with zeros to a whole word |
//! | last 4 | CRC-32 (IEEE) over all before it |
//!
//! A message consists of destination and source, a byte each, type, and payload ([`Message`]).

use crc::{Crc, CRC_32_ISO_HDLC};
use kairos_contracts::link::Message as Type;

use crate::bytes::Reader;
pub use kairos_contracts::link::{Service, DESTINATION_MASTER, PACKET_MAX, TEXT_MAX, VERSION, WINDOW};

const HEAD: usize = 8;
const CHECKSUM: usize = 4;
/// Longest message, destination and source included.
pub const MESSAGE_MAX: usize = PACKET_MAX - HEAD - CHECKSUM;
/// Destination, source, type.
const MESSAGE_HEADER: usize = 3;
/// Most bytes of a descriptor or stream in one message.
pub const PIECE_MAX: usize = MESSAGE_MAX - MESSAGE_HEADER - 4;
const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    pub mine: u16,
    pub theirs: u16,
    pub number: u8,
    pub acknowledged: u8,
    /// The message; empty if there is none.
    pub message: &'a [u8],
}

/// The received bytes are not a valid packet or message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl<'a> Packet<'a> {
    /// Writes the packet; returns its length in bytes. A message longer than [`MESSAGE_MAX`] is
    /// truncated.
    pub fn encode(&self, out: &mut [u8; PACKET_MAX]) -> usize {
        let length = self.message.len().min(MESSAGE_MAX);
        let end = HEAD + length.next_multiple_of(4);
        out[..2].copy_from_slice(&self.mine.to_le_bytes());
        out[2..4].copy_from_slice(&self.theirs.to_le_bytes());
        out[4] = self.number;
        out[5] = self.acknowledged;
        out[6..HEAD].copy_from_slice(&(length as u16).to_le_bytes());
        out[HEAD..end].fill(0);
        out[HEAD..HEAD + length].copy_from_slice(&self.message[..length]);
        let checksum = CRC.checksum(&out[..end]);
        out[end..end + CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
        end + CHECKSUM
    }

    /// Decodes received bytes.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let (content, checksum) = bytes.split_last_chunk::<CHECKSUM>().ok_or(Malformed)?;
        let (head, body) = content.split_first_chunk::<HEAD>().ok_or(Malformed)?;
        let [m0, m1, t0, t1, number, acknowledged, l0, l1] = *head;
        let length = usize::from(u16::from_le_bytes([l0, l1]));
        let whole = length.next_multiple_of(4) == body.len() && bytes.len() <= PACKET_MAX;
        if !whole || CRC.checksum(content) != u32::from_le_bytes(*checksum) || (m0, m1) == (0, 0) {
            return Err(Malformed);
        }
        Ok(Self {
            mine: u16::from_le_bytes([m0, m1]),
            theirs: u16::from_le_bytes([t0, t1]),
            number,
            acknowledged,
            message: &body[..length],
        })
    }
}

/// A message with its destination and source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    pub to: u8,
    pub from: u8,
    pub message: Message<'a>,
}

/// A message between the ends of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// `descriptor`: its length in bytes, 0 without gateware.
    Hello {
        version: u16,
        descriptor: u32,
        text: &'a str,
    },
    Welcome {
        destination: u8,
    },
    Describe {
        offset: u32,
    },
    Description {
        offset: u32,
        bytes: &'a [u8],
    },
    Ping(&'a [u8]),
    Pong(&'a [u8]),
    /// `service`: a number of [`Service`], possibly unknown to this firmware.
    Open {
        stream: u8,
        service: u8,
        destination: u8,
    },
    Refuse {
        stream: u8,
    },
    Data {
        stream: u8,
        bytes: &'a [u8],
    },
    Credit {
        stream: u8,
        bytes: u32,
    },
    Close {
        stream: u8,
    },
}

/// Appends bytes as long as there is room.
struct Writer<'a> {
    out: &'a mut [u8; MESSAGE_MAX],
    length: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let count = bytes.len().min(MESSAGE_MAX - self.length);
        self.out[self.length..self.length + count].copy_from_slice(&bytes[..count]);
        self.length += count;
    }
}

fn number(bytes: &[u8]) -> Result<(u32, &[u8]), Malformed> {
    let mut reader = Reader(bytes);
    Ok((reader.word().ok_or(Malformed)?, reader.0))
}

/// The only byte of a payload.
fn only(bytes: &[u8]) -> Result<u8, Malformed> {
    match *bytes {
        [byte] => Ok(byte),
        _ => Err(Malformed),
    }
}

impl<'a> Envelope<'a> {
    /// Writes the message; returns its length. Excess bytes are cut off: payloads have at most
    /// [`PIECE_MAX`] bytes, texts [`TEXT_MAX`].
    pub fn encode(&self, out: &mut [u8; MESSAGE_MAX]) -> usize {
        let mut out = Writer { out, length: 0 };
        let mut put = |kind: Type, head: &[u8], rest: &[u8]| {
            out.put(&[self.to, self.from, kind as u8]);
            out.put(head);
            out.put(rest);
        };
        match self.message {
            Message::Hello {
                version,
                descriptor,
                text,
            } => {
                let [v0, v1] = version.to_le_bytes();
                let [d0, d1, d2, d3] = descriptor.to_le_bytes();
                put(Type::Hello, &[v0, v1, d0, d1, d2, d3], text.as_bytes());
            }
            Message::Welcome { destination } => put(Type::Welcome, &[destination], &[]),
            Message::Describe { offset } => put(Type::Describe, &offset.to_le_bytes(), &[]),
            Message::Description { offset, bytes } => put(Type::Description, &offset.to_le_bytes(), bytes),
            Message::Ping(bytes) => put(Type::Ping, &[], bytes),
            Message::Pong(bytes) => put(Type::Pong, &[], bytes),
            Message::Open {
                stream,
                service,
                destination,
            } => put(Type::Open, &[stream, service, destination], &[]),
            Message::Refuse { stream } => put(Type::Refuse, &[stream], &[]),
            Message::Data { stream, bytes } => put(Type::Data, &[stream], bytes),
            Message::Credit { stream, bytes } => put(Type::Credit, &[stream], &bytes.to_le_bytes()),
            Message::Close { stream } => put(Type::Close, &[stream], &[]),
        }
        out.length
    }

    /// Decodes the message of a packet.
    ///
    /// # Errors
    /// [`Malformed`], also for more than [`MESSAGE_MAX`] bytes, and for an unknown type.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        if bytes.len() > MESSAGE_MAX {
            return Err(Malformed);
        }
        let ([to, from, kind], rest) = bytes.split_first_chunk::<MESSAGE_HEADER>().ok_or(Malformed)?;
        let stream = || rest.split_first().ok_or(Malformed);
        let message = match Type::try_from(*kind).map_err(|_| Malformed)? {
            Type::Hello => {
                let ([v0, v1], rest) = rest.split_first_chunk::<2>().ok_or(Malformed)?;
                let (descriptor, text) = number(rest)?;
                if text.len() > TEXT_MAX {
                    return Err(Malformed);
                }
                Message::Hello {
                    version: u16::from_le_bytes([*v0, *v1]),
                    descriptor,
                    text: core::str::from_utf8(text).map_err(|_| Malformed)?,
                }
            }
            Type::Welcome => Message::Welcome {
                destination: only(rest)?,
            },
            Type::Describe => match number(rest)? {
                (offset, []) => Message::Describe { offset },
                _ => return Err(Malformed),
            },
            Type::Description => {
                let (offset, bytes) = number(rest)?;
                Message::Description { offset, bytes }
            }
            Type::Ping if rest.len() <= TEXT_MAX => Message::Ping(rest),
            Type::Ping => return Err(Malformed),
            Type::Pong => Message::Pong(rest),
            Type::Open => match *rest {
                [stream, service, destination] => Message::Open {
                    stream,
                    service,
                    destination,
                },
                _ => return Err(Malformed),
            },
            Type::Refuse => Message::Refuse { stream: only(rest)? },
            Type::Data => {
                let (stream, bytes) = stream()?;
                Message::Data { stream: *stream, bytes }
            }
            Type::Credit => {
                let (stream, rest) = stream()?;
                match number(rest)? {
                    (bytes, []) => Message::Credit { stream: *stream, bytes },
                    _ => return Err(Malformed),
                }
            }
            Type::Close => Message::Close { stream: only(rest)? },
        };
        Ok(Self {
            to: *to,
            from: *from,
            message,
        })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::String;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    fn messages(bytes: &[u8], text: &str, n: u32, m: u8) -> Vec<Message<'static>> {
        let bytes: &'static [u8] = Vec::from(bytes).leak();
        let short = &bytes[..bytes.len().min(TEXT_MAX)];
        let text: &'static str = String::from(text).leak();
        [
            Message::Hello {
                version: n as u16,
                descriptor: n,
                text,
            },
            Message::Welcome { destination: m },
            Message::Describe { offset: n },
            Message::Description { offset: n, bytes },
            Message::Ping(short),
            Message::Pong(short),
            Message::Open {
                stream: m,
                service: n as u8,
                destination: m ^ 1,
            },
            Message::Refuse { stream: m },
            Message::Data { stream: m, bytes },
            Message::Credit { stream: m, bytes: n },
            Message::Close { stream: m },
        ]
        .into()
    }

    proptest! {
        #[test]
        fn encoded_messages_decode_and_damage_is_detected(
            bytes in prop::collection::vec(any::<u8>(), 0..PIECE_MAX), text in "[ -~]{0,60}", n: u32, m: u8, mine in 1u16.., theirs: u16,
        ) {
            for message in messages(&bytes, &text, n, m) {
                let envelope = Envelope { to: m, from: n as u8, message };
                let mut content = [0; MESSAGE_MAX];
                let length = envelope.encode(&mut content);
                prop_assert_eq!(Envelope::decode(&content[..length]), Ok(envelope));
                let packet = Packet { mine, theirs, number: m, acknowledged: n as u8, message: &content[..length] };
                let mut out = [0; PACKET_MAX];
                let length = packet.encode(&mut out);
                prop_assert_eq!(length % 4, 0);
                prop_assert_eq!(Packet::decode(&out[..length]), Ok(packet));
                for wrong in [0, length / 2, length - 1] {
                    out[wrong] ^= 1 << (n % 8);
                    prop_assert_eq!(Packet::decode(&out[..length]), Err(Malformed));
                    out[wrong] ^= 1 << (n % 8);
                }
                prop_assert_eq!(Packet::decode(&out[..length - 4]), Err(Malformed));
            }
        }

        #[test]
        fn arbitrary_packet_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..PACKET_MAX)) {
            let _ = Packet::decode(&bytes);
            if let Ok(envelope) = Envelope::decode(&bytes) {
                let mut out = [0; MESSAGE_MAX];
                let length = envelope.encode(&mut out);
                prop_assert_eq!(&out[..length], &bytes[..]);
            }
        }
    }

    /// The padding of a packet could hold a message that is longer than the limit.
    #[test]
    fn message_beyond_maximum_length_is_rejected() {
        let mut bytes = [0; MESSAGE_MAX + 1];
        bytes[2] = Type::Data as u8;
        assert!(Envelope::decode(&bytes[..MESSAGE_MAX]).is_ok());
        assert_eq!(Envelope::decode(&bytes), Err(Malformed));
    }

    #[test]
    fn packet_encodes_to_reference_bytes() {
        let mut content = [0; MESSAGE_MAX];
        let message = Message::Credit {
            stream: 3,
            bytes: 0x1234,
        };
        let length = Envelope {
            to: 1,
            from: 0,
            message,
        }
        .encode(&mut content);
        let packet = Packet {
            mine: 0x201,
            theirs: 0x403,
            number: 5,
            acknowledged: 6,
            message: &content[..length],
        };
        let mut out = [0; PACKET_MAX];
        let length = packet.encode(&mut out);
        assert_eq!(out[..16], [1, 2, 3, 4, 5, 6, 8, 0, 1, 0, 11, 3, 0x34, 0x12, 0, 0]);
        assert_eq!(length, 20);
    }
}
