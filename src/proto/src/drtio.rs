//! Auxiliary packets of DRTIO, by which the firmware of a board and a card that speaks DRTIO
//! communicate (`docs/gateware/drtio.md`). Little endian.
//!
//! | Bytes | |
//! |---|---|
//! | 0 | type |
//! | 1 … | fields |
//! | | zeros up to 4 bytes beyond a multiple of 8 |
//! | last 4 | CRC-32 (IEEE) over all before it |
//!
//! All before the CRC is the **content**: the gateware's mailbox appends the CRC and checks it. The
//! packets and their fields are those of the table in `src/contracts/drtio.toml`.

use crc::{Crc, CRC_32_ISO_HDLC};
pub use kairos_contracts::drtio::AUXILIARY_MAX;

use crate::bytes::Reader;

pub mod question;

const CHECKSUM: usize = 4;
/// Longest content in bytes.
pub const CONTENT_MAX: usize = AUXILIARY_MAX - CHECKSUM;
/// Packets end at a multiple of this many bytes.
const UNIT: usize = 8;
const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// The received bytes are not a valid packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// A field is longer than its packet takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// The bytes of a packet as they are written.
struct Writer<'a> {
    out: &'a mut [u8; CONTENT_MAX],
    length: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        let end = self.length + bytes.len();
        self.out
            .get_mut(self.length..end)
            .ok_or(TooLong)?
            .copy_from_slice(bytes);
        self.length = end;
        Ok(())
    }

    /// The number of elements, then `bytes`.
    fn counted(&mut self, count: usize, most: usize, bytes: &[u8]) -> Result<(), TooLong> {
        let count = u16::try_from(count).ok().filter(|_| count <= most).ok_or(TooLong)?;
        self.put(&count.to_le_bytes())?;
        self.put(bytes)
    }
}

/// An array as the next bytes.
fn array<const N: usize>(reader: &mut Reader) -> Result<[u8; N], Malformed> {
    let bytes = reader.take(N).ok_or(Malformed)?;
    bytes.try_into().map_err(|_| Malformed)
}

/// The number of elements, at most `most`, of the field that follows.
fn count(reader: &mut Reader, most: usize) -> Result<usize, Malformed> {
    let count = usize::from(u16::from_le_bytes(array(reader)?));
    if count > most {
        return Err(Malformed);
    }
    Ok(count)
}

/// The type of a field.
macro_rules! kind {
    (bytes($most:literal)) => { &'a [u8] };
    (longs($most:literal)) => { &'a [[u8; 8]] };
    (hops($most:literal)) => { [u8; $most] };
    ($number:ident) => { $number };
}

/// Writes a field.
macro_rules! put {
    ($out:ident, $field:ident, bytes($most:literal)) => {
        $out.counted($field.len(), $most, $field)?
    };
    ($out:ident, $field:ident, longs($most:literal)) => {
        $out.counted($field.len(), $most, $field.as_flattened())?
    };
    ($out:ident, $field:ident, hops($most:literal)) => {
        $out.put($field)?
    };
    ($out:ident, $field:ident, bool) => {
        $out.put(&[u8::from(*$field)])?
    };
    ($out:ident, $field:ident, $number:ident) => {
        $out.put(&$field.to_le_bytes())?
    };
}

/// Reads a field.
macro_rules! take {
    ($reader:ident, bytes($most:literal)) => {{
        let length = count(&mut $reader, $most)?;
        $reader.take(length).ok_or(Malformed)?
    }};
    ($reader:ident, longs($most:literal)) => {{
        let count = count(&mut $reader, $most)?;
        $reader.take(8 * count).ok_or(Malformed)?.as_chunks().0
    }};
    ($reader:ident, hops($most:literal)) => {
        array(&mut $reader)?
    };
    ($reader:ident, bool) => {
        array::<1>(&mut $reader)? != [0]
    };
    ($reader:ident, $number:ident) => {
        $number::from_le_bytes(array(&mut $reader)?)
    };
}

const fn is_within(number: u8, last: u8) -> bool {
    number <= last
}

macro_rules! packets {
    ($($(#[$doc:meta])* $name:ident = $number:literal {
        $($field:ident: $kind:ident $(($most:literal))?),*
    },)*) => {
        /// An auxiliary packet.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Packet<'a> {
            $($(#[$doc])* $name { $($field: kind!($kind $(($most))?)),* },)*
        }

        impl<'a> Packet<'a> {
            /// Writes the content, with its zeros; returns its length in bytes.
            ///
            /// # Errors
            /// [`TooLong`].
            pub fn encode(&self, out: &mut [u8; CONTENT_MAX]) -> Result<usize, TooLong> {
                self.encode_up_to::<{ u8::MAX }>(out)
            }

            /// The same for types up to `LAST`; without the code for others, which are too long.
            ///
            /// # Errors
            /// [`TooLong`].
            pub fn encode_up_to<const LAST: u8>(&self, out: &mut [u8; CONTENT_MAX]) -> Result<usize, TooLong> {
                let mut writer = Writer { out, length: 0 };
                match self {
                    $(Packet::$name { $($field),* } => {
                        if !is_within($number, LAST) {
                            return Err(TooLong);
                        }
                        writer.put(&[$number])?;
                        $(put!(writer, $field, $kind $(($most))?);)*
                    })*
                }
                let length = writer.length;
                let end = (length + CHECKSUM).next_multiple_of(UNIT) - CHECKSUM;
                writer.put(&[0; UNIT][..end - length])?;
                Ok(end)
            }

            /// Reads a content, with or without its zeros. What these bytes are is not checked.
            ///
            /// # Errors
            /// [`Malformed`], also for an unknown type.
            pub fn decode(content: &'a [u8]) -> Result<Self, Malformed> {
                Self::decode_up_to::<{ u8::MAX }>(content)
            }

            /// The same for types up to `LAST`; without the code for others, which are unknown.
            ///
            /// # Errors
            /// [`Malformed`].
            pub fn decode_up_to<const LAST: u8>(content: &'a [u8]) -> Result<Self, Malformed> {
                let mut reader = Reader(content);
                let packet = match array::<1>(&mut reader)? {
                    $([$number] if is_within($number, LAST) => {
                        Packet::$name { $($field: take!(reader, $kind $(($most))?)),* }
                    })*
                    _ => return Err(Malformed),
                };
                if reader.0.len() >= UNIT {
                    return Err(Malformed);
                }
                Ok(packet)
            }
        }
    };
}

kairos_contracts::drtio_auxiliary_packets!(packets);

/// Appends the CRC to a content; returns the length of the packet. A length that is none of a
/// content gives 0.
pub fn seal(packet: &mut [u8; AUXILIARY_MAX], length: usize) -> usize {
    let Some((content, rest)) = packet.split_at_mut_checked(length) else {
        return 0;
    };
    let Some(place) = rest.first_chunk_mut() else {
        return 0;
    };
    *place = CRC.checksum(content).to_le_bytes();
    length + CHECKSUM
}

/// The content of a received packet.
///
/// # Errors
/// [`Malformed`]: its length or its CRC is wrong.
pub fn open(packet: &[u8]) -> Result<&[u8], Malformed> {
    let (content, checksum) = packet.split_last_chunk().ok_or(Malformed)?;
    let fits = packet.len().is_multiple_of(UNIT) && packet.len() <= AUXILIARY_MAX;
    if !fits || CRC.checksum(content) != u32::from_le_bytes(*checksum) {
        return Err(Malformed);
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use kairos_contracts::drtio::AuxiliaryPacket;
    use proptest::prelude::*;

    use super::*;

    fn content(packet: &Packet) -> Vec<u8> {
        let mut out = [0xee; CONTENT_MAX];
        let length = packet.encode(&mut out).unwrap();
        out[..length].to_vec()
    }

    #[test]
    fn packets_have_the_bytes_of_the_description() {
        assert_eq!(content(&Packet::EchoRequest {}), [0, 0, 0, 0]);
        let mut hops = [0xff; 32];
        hops[..2].copy_from_slice(&[1, 0]);
        let mut path = [&[0x30, 5, 1, 0][..], &[0xff; 30], &[0; 2]].concat();
        assert_eq!(content(&Packet::RoutingSetPath { destination: 5, hops }), path);
        path[2] = 2;
        assert_ne!(
            Packet::decode(&path),
            Ok(Packet::RoutingSetPath { destination: 5, hops })
        );
        assert_eq!(
            content(&Packet::MonitorRequest {
                destination: 3,
                channel: 0x0102,
                probe: 4
            }),
            [&[0x40, 3, 2, 1, 4][..], &[0; 7]].concat()
        );
        assert_eq!(
            content(&Packet::AnalyzerData {
                last: true,
                data: &[9, 8]
            }),
            [0xa3, 1, 2, 0, 9, 8, 0, 0, 0, 0, 0, 0]
        );
    }

    #[test]
    fn longest_packets_fill_all_bytes_and_longer_ones_are_refused() {
        let data = [7; 1017];
        for (packet, longer) in [
            (
                Packet::AnalyzerData {
                    last: false,
                    data: &data[..1016],
                },
                Packet::AnalyzerData {
                    last: false,
                    data: &data,
                },
            ),
            (
                Packet::SubkernelMessage {
                    source: 0,
                    destination: 1,
                    id: 2,
                    status: 3,
                    data: &data[..1010],
                },
                Packet::SubkernelMessage {
                    source: 0,
                    destination: 1,
                    id: 2,
                    status: 3,
                    data: &data[..1011],
                },
            ),
        ] {
            assert_eq!(content(&packet).len(), CONTENT_MAX);
            assert_eq!(longer.encode(&mut [0; CONTENT_MAX]), Err(TooLong));
        }
        let pixels = [[1; 8]; 127];
        assert_eq!(content(&Packet::CxpPixelsReply { pixels: &pixels }).len(), CONTENT_MAX);
    }

    #[test]
    fn sealed_packet_is_opened_and_a_damaged_one_refused() {
        let mut packet = [0; AUXILIARY_MAX];
        let mut out = [0; CONTENT_MAX];
        let length = Packet::TimeAck {}.encode(&mut out).unwrap();
        packet[..length].copy_from_slice(&out[..length]);
        let length = seal(&mut packet, length);
        // CRC-32 of 04 00 00 00, computed with zlib
        assert_eq!(packet[..length], [4, 0, 0, 0, 0x4b, 0x48, 0x26, 0xae]);
        assert_eq!(open(&packet[..length]), Ok(&[4, 0, 0, 0][..]));
        for bit in 0..8 * length {
            let mut damaged = packet[..length].to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open(&damaged), Err(Malformed));
        }
        assert_eq!(open(&packet[..length - 1]), Err(Malformed));
        assert_eq!(seal(&mut packet, AUXILIARY_MAX - 3), 0);
    }

    proptest! {
        #[test]
        fn any_bytes_are_refused_or_encode_to_themselves(bytes: Vec<u8>, kind: prop::sample::Index) {
            let kind = AuxiliaryPacket::ALL[kind.index(AuxiliaryPacket::ALL.len())] as u8;
            for bytes in [&bytes[..], &[&[kind], &bytes[..]].concat()] {
                if let Ok(packet) = Packet::decode(bytes) {
                    let again = content(&packet);
                    prop_assert_eq!(again.len() % 8, 4);
                    prop_assert_eq!(Packet::decode(&again), Ok(packet));
                }
            }
        }

        #[test]
        fn every_kind_of_packet_is_read_from_enough_bytes(fill: u8) {
            // Lengths are 0 with zeros; others may be longer than the packet
            for kind in AuxiliaryPacket::ALL {
                let is_read = (0..CONTENT_MAX).any(|length| {
                    let mut bytes = std::vec![0; length + 1];
                    bytes[0] = kind as u8;
                    if let Some(last) = bytes.last_mut().filter(|_| length > 0) {
                        *last = fill;
                    }
                    Packet::decode(&bytes).is_ok()
                });
                prop_assert!(is_read, "{kind:?}");
            }
        }
    }
}
