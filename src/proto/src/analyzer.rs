//! Head of an analyzer dump, TCP 1382 (wire protocols, section 4). The messages behind it are made by the gateware.

/// TCP port of the service. The client sends nothing.
pub const PORT: u16 = 1382;
/// Bytes of a message.
pub const MESSAGE: usize = 32;
/// Bytes of the head.
pub const HEAD: usize = 16;

/// What stands in front of the messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Bytes of messages that follow.
    pub sent_bytes: u32,
    /// Bytes recorded since the analyzer was armed.
    pub total_bytes: u64,
    /// Messages were lost, or could not be written.
    pub error: bool,
    /// RTIO channel of the log; below 128.
    pub log_channel: u8,
}

impl Head {
    /// As it is sent: little endian, for which the first byte stands.
    pub fn encode(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[0] = b'e';
        bytes[1..5].copy_from_slice(&self.sent_bytes.to_le_bytes());
        bytes[5..13].copy_from_slice(&self.total_bytes.to_le_bytes());
        bytes[13] = self.error.into();
        bytes[14] = self.log_channel;
        bytes[15] = 1;
        bytes
    }
}

/// The parts of a ring of `size` bytes to send, oldest first, after `total` bytes have been written to it.
pub fn parts(total: u64, size: usize) -> [core::ops::Range<usize>; 2] {
    if total < size as u64 {
        [0..total as usize, 0..0]
    } else {
        let next = (total % size as u64) as usize;
        [next..size, 0..next]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn vector() {
        let head = Head {
            sent_bytes: 0x0102_0304,
            total_bytes: 0x0506_0708_090a_0b0c,
            error: true,
            log_channel: 36,
        };
        assert_eq!(
            head.encode(),
            *b"e\x04\x03\x02\x01\x0c\x0b\x0a\x09\x08\x07\x06\x05\x01\x24\x01"
        );
        assert_eq!(Head::default().encode(), *b"e\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01");
    }

    proptest! {
        #[test]
        fn parts_are_the_newest_bytes_in_order(total in 0u64..5000, size in 1usize..700) {
            let mut ring = [0u16; 700];
            (0..total).for_each(|n| ring[(n % size as u64) as usize] = n as u16);
            let [a, b] = parts(total, size);
            let sent = ring[a].iter().chain(&ring[b]).copied();
            let expected = total.saturating_sub(size as u64)..total;
            prop_assert!(sent.eq(expected.map(|n| n as u16)));
        }
    }
}
