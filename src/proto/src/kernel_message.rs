//! Messages about kernels between the firmware of two boards, carried by a stream to the kernel
//! service (`docs/gateware/link-messages.md`). Each is a header, followed by its payload.

pub use kairos_contracts::link::{KernelMessage, KERNEL_MESSAGE_HEADER as HEADER_LENGTH};

use crate::bytes::words;
use crate::layout::layouts;

kairos_contracts::link_layouts!(layouts);

/// The header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub kind: KernelMessage,
    /// The sender or the receiver.
    pub board: u8,
    /// Number of a subkernel or of a message.
    pub number: u32,
    /// Length of the payload in bytes.
    pub length: u32,
}

impl Header {
    /// A message without a payload.
    pub const fn new(kind: KernelMessage, number: u32) -> Self {
        Self {
            kind,
            board: 0,
            number,
            length: 0,
        }
    }

    pub fn encode(&self) -> [u8; HEADER_LENGTH] {
        let mut bytes = [0; HEADER_LENGTH];
        bytes[0] = self.kind as u8;
        bytes[1] = self.board;
        bytes[4..8].copy_from_slice(&self.number.to_le_bytes());
        bytes[8..].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }

    /// Decodes a header; `None` if the kind is unknown.
    pub fn decode(bytes: &[u8; HEADER_LENGTH]) -> Option<Self> {
        let [_, number, length] = words(bytes);
        Some(Self {
            kind: KernelMessage::try_from(bytes[0]).ok()?,
            board: bytes[1],
            number,
            length,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn header_encodes_to_the_bytes_of_the_contract() {
        let header = Header {
            kind: KernelMessage::Message,
            board: 2,
            number: 0x0403_0201,
            length: 0x1234,
        };
        let bytes = header.encode();
        assert_eq!(bytes, [32, 2, 0, 0, 1, 2, 3, 4, 0x34, 0x12, 0, 0]);
        assert_eq!(Header::decode(&bytes), Some(header));
    }

    proptest! {
        #[test]
        fn decoded_header_encodes_to_the_same_header(bytes: [u8; HEADER_LENGTH]) {
            if let Some(header) = Header::decode(&bytes) {
                prop_assert_eq!(Header::decode(&header.encode()), Some(header));
            }
        }
    }
}
