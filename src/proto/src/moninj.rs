//! Monitor and injector, TCP 1383 (wire protocols, section 3): a sequence of fixed-length messages.
//!
//! A message consists of a byte for its kind and fields of fixed size, whose order
//! `src/contracts/moninj.toml` defines for each kind; [`Message`] has room for all of them, and one
//! iteration over the fields encodes or decodes it.

pub use kairos_contracts::moninj::{Field, Report, Request, GREETING, PORT};

/// Longest message in bytes.
pub const MESSAGE_MAX: usize = 1 + 4 + 1 + 8;

/// Kinds of messages in one direction.
pub trait Kind: Copy + TryFrom<u8, Error = u8> {
    /// The byte that encodes it.
    fn byte(self) -> u8;
    /// The fields that follow it.
    fn layout(self) -> &'static [Field];
}

macro_rules! kinds {
    ($($direction:ident)*) => { $(impl Kind for $direction {
        fn byte(self) -> u8 {
            self as u8
        }

        fn layout(self) -> &'static [Field] {
            self.fields()
        }
    })* };
}

kinds!(Request Report);

/// A message. Fields that its kind does not have are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<K> {
    pub kind: K,
    /// Whether to start or stop a watch.
    pub enable: bool,
    /// Bits 23..16 DRTIO destination, bits 15..0 channel within it.
    pub channel: u32,
    /// Probe or override.
    pub number: u8,
    /// Value of an override.
    pub level: u8,
    /// Value of a probe.
    pub reading: u64,
}

/// Size of a field in bytes.
const fn width(field: Field) -> usize {
    match field {
        Field::Enable | Field::Number | Field::Level => 1,
        Field::Channel => 4,
        Field::Reading => 8,
    }
}

impl<K: Kind> Message<K> {
    /// Creates a message about a probe or override of a channel.
    pub const fn about(kind: K, channel: u32, number: u8) -> Self {
        Self {
            kind,
            enable: false,
            channel,
            number,
            level: 0,
            reading: 0,
        }
    }

    /// DRTIO destination of the message's channel.
    pub const fn destination(&self) -> u32 {
        self.channel >> 16
    }

    /// Length of a message of this kind in bytes.
    pub fn length(kind: K) -> usize {
        1 + kind.layout().iter().map(|field| width(*field)).sum::<usize>()
    }

    /// Encodes the message; returns a buffer and the length used.
    pub fn encode(&self) -> ([u8; MESSAGE_MAX], usize) {
        let mut bytes = [0; MESSAGE_MAX];
        bytes[0] = self.kind.byte();
        let mut end = 1;
        for &field in self.kind.layout() {
            let value = match field {
                Field::Enable => self.enable.into(),
                Field::Channel => self.channel.into(),
                Field::Number => self.number.into(),
                Field::Level => self.level.into(),
                Field::Reading => self.reading,
            };
            let begin = end;
            end += width(field);
            bytes[begin..end].copy_from_slice(&value.to_le_bytes()[..end - begin]);
        }
        (bytes, end)
    }

    /// Decodes the fields from [`Self::length`] bytes, less the kind.
    fn decode(kind: K, mut bytes: &[u8]) -> Self {
        let mut message = Self::about(kind, 0, 0);
        for &field in kind.layout() {
            let (own, rest) = bytes.split_at(width(field));
            bytes = rest;
            let value = own.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
            match field {
                Field::Enable => message.enable = value != 0,
                Field::Channel => message.channel = value as u32,
                Field::Number => message.number = value as u8,
                Field::Level => message.level = value as u8,
                Field::Reading => message.reading = value,
            }
        }
        message
    }
}

/// A message of an unknown kind; the connection must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownType(pub u8);

/// Decoder of one direction, after the greeting.
#[derive(Default)]
pub struct Decoder {
    bytes: [u8; MESSAGE_MAX],
    filled: usize,
}

impl Decoder {
    /// Whether a message has begun and is incomplete.
    pub fn in_message(&self) -> bool {
        self.filled > 0
    }

    /// Takes bytes from the front of `input` until a message is complete or the input is used up;
    /// advances `input`.
    pub fn next<K: Kind>(&mut self, input: &mut &[u8]) -> Result<Option<Message<K>>, UnknownType> {
        while let [byte, rest @ ..] = *input {
            self.bytes[self.filled] = *byte;
            self.filled += 1;
            *input = rest;
            let kind = K::try_from(self.bytes[0]).map_err(UnknownType)?;
            let length = Message::length(kind);
            if self.filled == length {
                self.filled = 0;
                return Ok(Some(Message::decode(kind, &self.bytes[1..length])));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// A message with values in the fields of its kind.
    fn any_message<K: Kind + core::fmt::Debug>(kinds: &'static [K]) -> impl Strategy<Value = Message<K>> {
        (
            0..kinds.len(),
            any::<bool>(),
            any::<u32>(),
            any::<[u8; 2]>(),
            any::<u64>(),
        )
            .prop_map(|(index, enable, channel, [number, level], reading)| {
                let has = |field| kinds[index].layout().contains(&field);
                Message {
                    kind: kinds[index],
                    enable: enable && has(Field::Enable),
                    channel,
                    number,
                    level: if has(Field::Level) { level } else { 0 },
                    reading: if has(Field::Reading) { reading } else { 0 },
                }
            })
    }

    fn come_back<K: Kind + core::fmt::Debug + PartialEq>(messages: &[Message<K>], size: usize) {
        let encoded = messages.iter().map(|message| message.encode());
        let stream: Vec<u8> = encoded
            .flat_map(|(bytes, length)| bytes.into_iter().take(length))
            .collect();
        let mut decoder = Decoder::default();
        let mut got = Vec::new();
        for mut piece in stream.chunks(size) {
            while let Some(message) = decoder.next(&mut piece).unwrap() {
                got.push(message);
            }
        }
        assert!(!decoder.in_message());
        assert_eq!(got, messages);
    }

    proptest! {
        #[test]
        fn requests_in_any_pieces_are_decoded(
            messages in proptest::collection::vec(any_message(&Request::ALL), 0..20), size in 1usize..20,
        ) {
            come_back(&messages, size);
        }

        #[test]
        fn reports_in_any_pieces_are_decoded(
            messages in proptest::collection::vec(any_message(&Report::ALL), 0..20), size in 1usize..20,
        ) {
            come_back(&messages, size);
        }

        #[test]
        fn unknown_message_type_is_an_error(kind in 4u8..) {
            prop_assert_eq!(Decoder::default().next::<Request>(&mut &[kind][..]), Err(UnknownType(kind)));
        }
    }

    #[test]
    fn messages_have_the_documented_bytes() {
        let about = |kind| Message::about(kind, 0x0102_0304, 5);
        let probe = Message {
            reading: 0x0607,
            ..about(Report::Probe)
        };
        assert_eq!(probe.encode(), ([0, 4, 3, 2, 1, 5, 7, 6, 0, 0, 0, 0, 0, 0], 14));
        let value = Message {
            level: 6,
            ..about(Report::Override)
        };
        assert_eq!(value.encode().0[..7], [1, 4, 3, 2, 1, 5, 6]);
        let request = |bytes: &[u8]| Decoder::default().next::<Request>(&mut &bytes[..]).unwrap().unwrap();
        let watch = Message {
            enable: true,
            ..Message::about(Request::WatchProbe, 0x0102_0304, 5)
        };
        assert_eq!(request(&[0, 9, 4, 3, 2, 1, 5]), watch);
        let watch = Message {
            enable: true,
            ..Message::about(Request::WatchOverride, 0x0102_0304, 5)
        };
        assert_eq!(request(&[3, 1, 4, 3, 2, 1, 5]), watch);
        let inject = Message {
            level: 6,
            ..Message::about(Request::Inject, 0x0102_0304, 5)
        };
        assert_eq!(request(&[1, 4, 3, 2, 1, 5, 6]), inject);
        assert_eq!(
            request(&[2, 4, 3, 2, 1, 5]),
            Message::about(Request::GetOverride, 0x0102_0304, 5)
        );
    }
}
