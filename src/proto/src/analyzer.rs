//! Analyzer dumps, TCP 1382 (wire protocols, section 4). The gateware produces the messages, and
//! may pack two of them into the space of one (`docs/interfaces.md`, section 11).

use core::fmt;

use kairos_contracts::analyzer::{Exception, Message, Pair};
pub use kairos_contracts::analyzer::{HEAD, MESSAGE, PORT};
use kairos_contracts::session::LITTLE_ENDIAN;

/// The header of a dump, before the messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DumpHeader {
    /// Bytes of the messages that follow.
    pub sent_bytes: u32,
    /// Bytes recorded since the analyzer was armed.
    pub total_bytes: u64,
    /// Messages were lost or could not be written.
    pub error: bool,
    /// RTIO channel of the log; below 128.
    pub log_channel: u8,
}

impl DumpHeader {
    /// Encodes the header in little endian, which its first byte indicates.
    pub fn encode(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[0] = LITTLE_ENDIAN;
        bytes[1..5].copy_from_slice(&self.sent_bytes.to_le_bytes());
        bytes[5..13].copy_from_slice(&self.total_bytes.to_le_bytes());
        bytes[13] = self.error.into();
        bytes[14] = self.log_channel;
        bytes[15] = 1;
        bytes
    }

    /// Decodes the result of [`Self::encode`]; `None` for anything else.
    pub fn decode(bytes: &[u8; HEAD]) -> Option<Self> {
        let (mut sent, mut total) = ([0; 4], [0; 8]);
        sent.copy_from_slice(&bytes[1..5]);
        total.copy_from_slice(&bytes[5..13]);
        (bytes[0] == LITTLE_ENDIAN).then_some(Self {
            sent_bytes: u32::from_le_bytes(sent),
            total_bytes: u64::from_le_bytes(total),
            error: bytes[13] != 0,
            log_channel: bytes[14],
        })
    }
}

/// A message of a dump. Times are machine units, and 0 where a message has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub kind: Message,
    pub channel: u32,
    /// When the event was due or observed.
    pub timestamp: u64,
    /// When it was submitted or read.
    pub counter: u64,
    /// RTIO address, or the number of an exception.
    pub address: u32,
    pub data: u64,
}

impl Event {
    /// Decodes a unit of a dump, which must not be a pair. Any bytes are a valid message.
    pub fn decode(unit: &[u8; MESSAGE]) -> Self {
        let word = |at: usize| {
            let (_, rest) = unit.split_at(at);
            rest.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
        };
        let last = word(MESSAGE - 8) as u32;
        let kind = match last & 3 {
            0 => Message::Output,
            1 => Message::Input,
            2 => Message::Exception,
            _ => Message::Stopped,
        };
        Self {
            kind,
            channel: last >> 2,
            timestamp: word(20),
            counter: word(12),
            address: match kind {
                Message::Exception => u32::from(unit[11]),
                _ => (word(4) & 0xffff_ffff) as u32,
            },
            data: word(0),
        }
    }
}

/// A complete dump: its header and messages.
#[derive(Clone, Copy, Debug)]
pub struct Dump<'a> {
    pub head: DumpHeader,
    /// How a DDS event of ARTIQ's oldest hardware names its chip.
    pub is_one_hot: bool,
    messages: &'a [[u8; MESSAGE]],
}

/// Why bytes are not a complete dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidDump {
    /// They do not begin with the header of a dump.
    Header,
    /// There are `present` bytes after the header, and `announced` according to it.
    Length { present: usize, announced: u32 },
}

impl fmt::Display for InvalidDump {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Header => out.write_str("this is not an analyzer dump of a little-endian core device"),
            Self::Length { present, announced } => {
                write!(out, "the dump is truncated: {present} of {announced} bytes of messages")
            }
        }
    }
}

impl<'a> Dump<'a> {
    /// Checks the header and the length.
    ///
    /// # Errors
    /// [`InvalidDump`].
    pub fn new(bytes: &'a [u8]) -> Result<Self, InvalidDump> {
        let (first, rest) = bytes.split_first_chunk().ok_or(InvalidDump::Header)?;
        let head = DumpHeader::decode(first).ok_or(InvalidDump::Header)?;
        let (messages, incomplete) = rest.as_chunks();
        if rest.len() != head.sent_bytes as usize || !incomplete.is_empty() {
            return Err(InvalidDump::Length {
                present: rest.len(),
                announced: head.sent_bytes,
            });
        }
        Ok(Self {
            head,
            is_one_hot: first[HEAD - 1] != 0,
            messages,
        })
    }

    /// The messages in the order of the dump.
    pub fn events(&self) -> impl ExactSizeIterator<Item = Event> + 'a {
        self.messages.iter().map(Event::decode)
    }
}

/// Number of boards that may send dumps: bits of a mask.
pub const BOARDS: u32 = u32::BITS;

/// Whether the dump of board `own` includes a unit of its recording, if the boards in `reporting`
/// send their recordings, too. An event submitted to another board's channel is in the recordings
/// of both boards and of those between. It is included by the channel's board or, if that sends
/// none, by the board that the host asks. A refused event is recorded only by the board that
/// refused it.
pub fn is_included(unit: &[u8; MESSAGE], own: u8, reporting: u32) -> bool {
    // A pair's channels belong to the board with the network.
    let last = match is_pair(unit) {
        true => 0,
        false => u32::from_be_bytes([unit[28], unit[29], unit[30], unit[31]]),
    };
    let board = last >> 18 & 0xff;
    let is_late = last & 3 == Message::Exception as u32 && unit[11] == Exception::Underflow as u8;
    board == u32::from(own) || is_late || board >= BOARDS || reporting >> board & 1 == 0
}

/// The parts of a ring of `size` bytes to be sent, oldest first, after `total` bytes have been
/// written to it.
pub fn parts(total: u64, size: usize) -> [core::ops::Range<usize>; 2] {
    if total < size as u64 {
        [0..total as usize, 0..0]
    } else {
        let next = (total % size as u64) as usize;
        [next..size, 0..next]
    }
}

/// Whether a unit of the ring holds two messages.
pub fn is_pair(unit: &[u8; MESSAGE]) -> bool {
    field(unit, Pair::Mark, Pair::NewerCounterHigh) != 0
}

/// A field of a pair, which ends at the start of the `next` one. No field crosses a 64-bit
/// boundary.
fn field(unit: &[u8; MESSAGE], field: Pair, next: Pair) -> u64 {
    let (_, rest) = unit.split_at(field as usize / 64 * 8);
    let word = rest.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    word >> (field as u32 % 64) & ((1 << (next as u32 - field as u32)) - 1)
}

/// The messages of a unit in the format of a dump, older first.
pub fn expand(unit: &[u8; MESSAGE]) -> ([u8; MESSAGE], Option<[u8; MESSAGE]>) {
    use Pair::*;
    if !is_pair(unit) {
        return (*unit, None);
    }
    let field = |at, next| field(unit, at, next);
    let low = field(NewerCounterLow, Mark);
    let high = field(NewerCounterHigh, NewerChannel);
    const LOW: u32 = Mark as u32 - NewerCounterLow as u32;
    const BITS: u32 = LOW + NewerChannel as u32 - NewerCounterHigh as u32;
    let older = field(OlderCounter, OlderType);
    let newer = older >> BITS << BITS | high << LOW | low;
    let newer_channel = u64::from(u16::from_le_bytes([unit[MESSAGE - 2], unit[MESSAGE - 1]]));
    (
        message(
            field(OlderType, NewerType),
            field(OlderChannel, OlderAddress),
            older,
            field(OlderSlack, NewerData),
            field(OlderAddress, NewerAddress),
            field(OlderData, OlderSlack),
        ),
        Some(message(
            field(NewerType, Unused),
            newer_channel,
            newer,
            field(NewerSlack, OlderCounter),
            field(NewerAddress, NewerCounterLow),
            field(NewerData, NewerSlack),
        )),
    )
}

/// Encodes a message of a dump. `coarse`: its counter in coarse cycles; `slack`: 32 bits, signed.
fn message(kind: u64, channel: u64, coarse: u64, slack: u64, address: u64, data: u64) -> [u8; MESSAGE] {
    let counter = coarse.wrapping_mul(8);
    let timestamp = counter.wrapping_add_signed((slack as u32 as i32).into());
    let mut bytes = [0; MESSAGE];
    bytes[4..8].copy_from_slice(&(data as u32).to_be_bytes());
    bytes[11] = address as u8;
    bytes[12..20].copy_from_slice(&counter.to_be_bytes());
    bytes[20..28].copy_from_slice(&timestamp.to_be_bytes());
    bytes[28..].copy_from_slice(&((channel << 2 | kind) as u32).to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dump_header_has_the_documented_bytes() {
        let head = DumpHeader {
            sent_bytes: 0x0102_0304,
            total_bytes: 0x0506_0708_090a_0b0c,
            error: true,
            log_channel: 36,
        };
        assert_eq!(
            head.encode(),
            *b"e\x04\x03\x02\x01\x0c\x0b\x0a\x09\x08\x07\x06\x05\x01\x24\x01"
        );
        assert_eq!(DumpHeader::decode(&head.encode()), Some(head));
        assert_eq!(DumpHeader::decode(&[0; HEAD]), None);
        assert_eq!(DumpHeader::default().encode(), *b"e\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01");
    }

    /// The table of wire protocols, section 4.3, from the highest bit down.
    #[test]
    fn message_fields_are_decoded_as_documented() {
        let (data, address, counter, timestamp) = (0x0102_0304_0506_0708u64, 0x1121u32, 0x55u64 << 40, 0x66u64 << 40);
        let unit = |channel: u32, kind: Message| {
            let mut unit = [0; MESSAGE];
            unit[..8].copy_from_slice(&data.to_be_bytes());
            unit[8..12].copy_from_slice(&address.to_be_bytes());
            unit[12..20].copy_from_slice(&counter.to_be_bytes());
            unit[20..28].copy_from_slice(&timestamp.to_be_bytes());
            unit[28..].copy_from_slice(&(channel << 2 | kind as u32).to_be_bytes());
            unit
        };
        for kind in [Message::Output, Message::Input, Message::Exception, Message::Stopped] {
            let channel = 0x03ff_0102;
            let address = if kind == Message::Exception {
                Exception::Overflow as u32
            } else {
                address
            };
            let expected = Event {
                kind,
                channel,
                timestamp,
                counter,
                address,
                data,
            };
            assert_eq!(Event::decode(&unit(channel, kind)), expected);
        }
    }

    #[test]
    fn dump_of_another_length_is_rejected() {
        let head = DumpHeader {
            sent_bytes: 64,
            ..DumpHeader::default()
        };
        let mut bytes = [1; HEAD + 64];
        bytes[..HEAD].copy_from_slice(&head.encode());
        let dump = Dump::new(&bytes).unwrap();
        assert_eq!((dump.head, dump.is_one_hot, dump.events().len()), (head, true, 2));
        assert!(dump.events().all(|event| event == Event::decode(&[1; MESSAGE])));
        for length in 0..bytes.len() {
            let expected = match length {
                0..HEAD => InvalidDump::Header,
                _ => InvalidDump::Length {
                    present: length - HEAD,
                    announced: 64,
                },
            };
            assert_eq!(Dump::new(&bytes[..length]).err(), Some(expected));
        }
    }

    #[test]
    fn single_message_is_expanded_unchanged() {
        let mut unit = [7; MESSAGE];
        unit[28] = 0x7f;
        assert_eq!(expand(&unit), (unit, None));
    }

    #[test]
    fn event_of_several_boards_is_included_once() {
        let unit = |kind: Message, channel: u32, address: u8| {
            let mut unit = [0; MESSAGE];
            unit[11] = address;
            unit[28..].copy_from_slice(&(channel << 2 | kind as u32).to_be_bytes());
            unit
        };
        let far = unit(Message::Output, 2 << 16 | 4, 0);
        // Submitted by board 0, relayed by board 1, executed by board 2.
        let included =
            |reporting: u32| [0, 1, 2].map(|own| is_included(&far, own, if own == 0 { reporting } else { u32::MAX }));
        assert_eq!(included(0b110), [false, false, true]);
        // Board 2 does not answer.
        assert_eq!(included(0b010)[..2], [true, false]);
        let late = unit(Message::Exception, 2 << 16 | 4, Exception::Underflow as u8);
        assert!(is_included(&late, 0, 0b110) && is_included(&late, 1, u32::MAX));
        let full = unit(Message::Exception, 2 << 16 | 4, Exception::Overflow as u8);
        assert!(!is_included(&full, 0, 0b110) && is_included(&full, 2, u32::MAX));
        let stopped = unit(Message::Stopped, 0, 0);
        assert!(is_included(&stopped, 0, 0b110) && !is_included(&stopped, 1, u32::MAX));
        assert!(is_included(&unit(Message::Output, 200 << 16, 0), 0, 0b110));
    }

    proptest! {
        /// Packs messages by the table of `docs/interfaces.md`, section 11.
        #[test]
        fn packed_pair_of_messages_is_expanded(
            (a, b) in (any::<(u32, i32, u16, u8, bool)>(), any::<(u32, i32, u16, u8, bool)>()),
            older in 0u64..1 << 61, later in 0u64..1 << 15,
        ) {
            let newer = older >> 15 << 15 | later;
            let words = [
                u64::from(a.1 as u32) << 32 | u64::from(a.0),
                u64::from(b.1 as u32) << 32 | u64::from(b.0),
                u64::from(b.4) << 62 | u64::from(a.4) << 61 | older,
                u64::from(b.2) << 48 | (later >> 7) << 40 | 1 << 39 | (later & 0x7f) << 32
                    | u64::from(b.3) << 24 | u64::from(a.3) << 16 | u64::from(a.2),
            ];
            let mut unit = [0; MESSAGE];
            for (to, word) in unit.chunks_mut(8).zip(words) {
                to.copy_from_slice(&word.to_le_bytes());
            }
            let message = |(data, slack, channel, address, input): (u32, i32, u16, u8, bool), coarse: u64| {
                let counter = coarse * 8;
                let timestamp = counter.wrapping_add_signed(slack.into());
                let mut bytes = [0; MESSAGE];
                bytes[4..8].copy_from_slice(&data.to_be_bytes());
                bytes[11] = address;
                bytes[12..20].copy_from_slice(&counter.to_be_bytes());
                bytes[20..28].copy_from_slice(&timestamp.to_be_bytes());
                bytes[28..].copy_from_slice(&(u32::from(channel) << 2 | u32::from(input)).to_be_bytes());
                bytes
            };
            prop_assert_eq!(expand(&unit), (message(a, older), Some(message(b, newer))));
        }

        #[test]
        fn dump_parts_hold_the_newest_bytes_in_order(total in 0u64..5000, size in 1usize..700) {
            let mut ring = [0u16; 700];
            (0..total).for_each(|n| ring[(n % size as u64) as usize] = n as u16);
            let [a, b] = parts(total, size);
            let sent = ring[a].iter().chain(&ring[b]).copied();
            let expected = total.saturating_sub(size as u64)..total;
            prop_assert!(sent.eq(expected.map(|n| n as u16)));
        }
    }
}
