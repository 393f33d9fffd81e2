//! A part of a buffer sent to a client: mapped memory is copied once, directly into the outgoing
//! message.
//!
//! Replaces the generated `ReadMemoryResponse` of the protocol, which would copy bytes to separate
//! memory before encoding: a copy of uncached memory costs as much as all other steps together.

use bytes::{Buf, BufMut, Bytes};
use kairos_endpoint::memory::Window;
use prost::encoding::{encode_key, encode_varint, encoded_len_varint, key_len, skip_field, DecodeContext, WireType};
use prost::{DecodeError, Message};

/// Field numbers in `buses.proto`.
const BYTES: u32 = 1;
const WORDS: u32 = 2;
/// Bytes copied at a time, through the processor's L1 cache.
const PIECE: usize = 4096;

/// A part of a stream.
#[derive(Clone, Debug, Default)]
pub struct ReadMemoryResponse {
    pub bytes: Contents,
    pub words: Vec<u32>,
}

/// Contents of a bytes field.
#[derive(Clone, Debug)]
pub enum Contents {
    /// Owned bytes.
    Inline(Bytes),
    /// Bytes of a buffer, read when the message is encoded.
    Mapped(Mapped),
}

impl Contents {
    pub fn len(&self) -> usize {
        match self {
            Self::Inline(bytes) => bytes.len(),
            Self::Mapped(mapped) => mapped.length,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Default for Contents {
    fn default() -> Self {
        Self::Inline(Bytes::new())
    }
}

impl From<Vec<u8>> for Contents {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Inline(bytes.into())
    }
}

/// A range of a buffer.
#[derive(Clone, Debug)]
pub struct Mapped {
    window: Window,
    at: usize,
    length: usize,
}

impl Mapped {
    /// `None` if the range is outside the window, or not whole words.
    pub fn new(window: &Window, at: usize, length: usize) -> Option<Self> {
        window.has(at, length).then(|| Self {
            window: window.clone(),
            at,
            length,
        })
    }
}

/// Reads a range piece by piece.
struct Reading<'a> {
    of: &'a Mapped,
    /// Bytes after the current piece.
    left: usize,
    piece: [u8; PIECE],
    begin: usize,
    end: usize,
}

impl<'a> Reading<'a> {
    fn new(of: &'a Mapped) -> Self {
        let mut reading = Self {
            of,
            left: of.length,
            piece: [0; PIECE],
            begin: 0,
            end: 0,
        };
        reading.fetch();
        reading
    }

    fn fetch(&mut self) {
        let Mapped { window, at, length } = self.of;
        (self.begin, self.end) = (0, self.left.min(PIECE));
        // The range was within the window at construction, and windows do not change.
        window.read_bytes(at + length - self.left, &mut self.piece[..self.end]);
        self.left -= self.end;
    }
}

impl Buf for Reading<'_> {
    fn remaining(&self) -> usize {
        self.end - self.begin + self.left
    }

    fn chunk(&self) -> &[u8] {
        &self.piece[self.begin..self.end]
    }

    fn advance(&mut self, mut count: usize) {
        while count > 0 {
            let here = count.min(self.end - self.begin);
            self.begin += here;
            count -= here;
            if self.begin == self.end {
                assert!(count == 0 || self.left > 0, "there are not so many bytes");
                self.fetch();
            }
        }
    }
}

impl Message for ReadMemoryResponse {
    fn encode_raw(&self, out: &mut impl BufMut) {
        match &self.bytes {
            Contents::Inline(bytes) if bytes.is_empty() => {}
            Contents::Inline(bytes) => prost::encoding::bytes::encode(BYTES, bytes, out),
            Contents::Mapped(mapped) => {
                encode_key(BYTES, WireType::LengthDelimited, out);
                encode_varint(mapped.length as u64, out);
                out.put(Reading::new(mapped));
            }
        }
        prost::encoding::fixed32::encode_packed(WORDS, &self.words, out);
    }

    fn encoded_len(&self) -> usize {
        let bytes = match self.bytes.len() {
            0 if matches!(self.bytes, Contents::Inline(_)) => 0,
            length => key_len(BYTES) + encoded_len_varint(length as u64) + length,
        };
        bytes + prost::encoding::fixed32::encoded_len_packed(WORDS, &self.words)
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire: WireType,
        from: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        match tag {
            BYTES => {
                let mut bytes = Bytes::new();
                prost::encoding::bytes::merge(wire, &mut bytes, from, context)?;
                self.bytes = Contents::Inline(bytes);
                Ok(())
            }
            WORDS => prost::encoding::fixed32::merge_repeated(wire, &mut self.words, from, context),
            _ => skip_field(wire, tag, from, context),
        }
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    /// As generated by the protocol compiler.
    #[derive(Clone, PartialEq, Message)]
    struct Plain {
        #[prost(bytes = "bytes", tag = "1")]
        bytes: Bytes,
        #[prost(fixed32, repeated, tag = "2")]
        words: Vec<u32>,
    }

    fn window(bytes: &[u8]) -> Window {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        Window::open(file.path(), 0, bytes.len()).unwrap()
    }

    proptest! {
        #[test]
        fn encoded_part_equals_the_generated_encoding(bytes: Vec<u8>, words: Vec<u32>) {
            let plain = Plain { bytes: bytes.clone().into(), words: words.clone() };
            let ours = ReadMemoryResponse { bytes: bytes.into(), words };
            prop_assert_eq!(ours.encode_to_vec(), plain.encode_to_vec());
            let decoded = ReadMemoryResponse::decode(&*plain.encode_to_vec()).unwrap();
            prop_assert_eq!(decoded.encode_to_vec(), plain.encode_to_vec());
        }

        #[test]
        fn mapped_memory_is_sent_without_a_copy(at in 0..5000_usize, length in 1..5000_usize) {
            let memory: Vec<u8> = (0..40_000_u32).map(|n| (n ^ n >> 8) as u8).collect();
            let (at, length) = (4 * at, 4 * length);
            let mapped = Mapped::new(&window(&memory), at, length).unwrap();
            let ours = ReadMemoryResponse { bytes: Contents::Mapped(mapped), ..Default::default() };
            let sent = Plain::decode(&*ours.encode_to_vec()).unwrap();
            prop_assert_eq!(&*sent.bytes, &memory[at..at + length]);
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes: Vec<u8>) {
            let (ours, plain) = (ReadMemoryResponse::decode(&*bytes), Plain::decode(&*bytes));
            prop_assert_eq!(ours.map(|part| part.encode_to_vec()).ok(), plain.map(|part| part.encode_to_vec()).ok());
        }
    }

    #[test]
    fn access_outside_its_window_is_refused() {
        let window = window(&[0; 64]);
        assert!(Mapped::new(&window, 60, 4).is_some());
        assert!(Mapped::new(&window, 60, 8).is_none() && Mapped::new(&window, 0, 6).is_none());
    }
}
