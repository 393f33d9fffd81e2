//! Messages about kernels between the firmware of two boards, carried by a stream to the kernel
//! service (`docs/gateware/link-messages.md`). Each is a head, followed by its payload.

pub use kairos_contracts::link::{Order, ORDER_HEAD};

/// The head of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub order: Order,
    /// The sender or the receiver.
    pub board: u8,
    /// Number of a subkernel or of a message.
    pub number: u32,
    /// Length of the payload in bytes.
    pub length: u32,
}

impl Head {
    /// An order without a payload.
    pub const fn new(order: Order, number: u32) -> Self {
        Self {
            order,
            board: 0,
            number,
            length: 0,
        }
    }

    pub fn encode(&self) -> [u8; ORDER_HEAD] {
        let mut bytes = [0; ORDER_HEAD];
        bytes[0] = self.order as u8;
        bytes[1] = self.board;
        bytes[4..8].copy_from_slice(&self.number.to_le_bytes());
        bytes[8..].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }

    /// Decodes a head; `None` if the order is unknown.
    pub fn decode(bytes: &[u8; ORDER_HEAD]) -> Option<Self> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Some(Self {
            order: Order::try_from(bytes[0]).ok()?,
            board: bytes[1],
            number: word(4),
            length: word(8),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_head_to_the_byte() {
        let head = Head {
            order: Order::Message,
            board: 2,
            number: 0x0403_0201,
            length: 0x1234,
        };
        let bytes = head.encode();
        assert_eq!(bytes, [32, 2, 0, 0, 1, 2, 3, 4, 0x34, 0x12, 0, 0]);
        assert_eq!(Head::decode(&bytes), Some(head));
    }

    proptest! {
        #[test]
        fn anything_can_come(bytes: [u8; ORDER_HEAD]) {
            if let Some(head) = Head::decode(&bytes) {
                prop_assert_eq!(Head::decode(&head.encode()), Some(head));
            }
        }
    }
}
