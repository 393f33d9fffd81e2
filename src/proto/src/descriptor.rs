//! The gateware's self-description: identification, register map, RTIO channel map
//! (`docs/interfaces.md`, section 3).
//!
//! [`Descriptor`] is a view of bytes in memory; [`Descriptor::new`] checks length and checksum
//! once, the accessors iterate over the records. The writer is the gateware's `descriptor.py`.

use core::fmt;

use crate::bytes::{u16_at, u32_at, words};
use kairos_contracts::descriptor::{ChannelKind as Number, Record as Type, READABLE, WRITABLE};
pub use kairos_contracts::descriptor::{ClockSource, HEADER, MAGIC, VERSION};

const CRC: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);

/// Why bytes are not a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The magic number is missing: there is no gateware, or it is not Kairos'.
    Absent,
    /// A version that this firmware does not know.
    Version(u16),
    /// Shorter than its stated length, or than a header.
    Truncated,
    /// The checksum is wrong.
    Checksum,
    /// A record does not end correctly or is too short for its type, or a name is not UTF-8.
    Record,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Absent => write!(f, "no gateware descriptor"),
            Error::Version(version) => {
                write!(
                    f,
                    "gateware descriptor has version {version}, this firmware reads version {VERSION}"
                )
            }
            Error::Truncated => write!(f, "gateware descriptor is cut short"),
            Error::Checksum => write!(f, "gateware descriptor has a wrong checksum"),
            Error::Record => write!(f, "gateware descriptor has a malformed record"),
        }
    }
}

/// A register of the gateware. For a 64-bit one `address` is that of the high word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register<'a> {
    pub name: &'a str,
    /// Absolute physical address.
    pub address: u32,
    /// Width in bits.
    pub width: u16,
    pub readable: bool,
    pub writable: bool,
}

/// The kind of device on an RTIO channel. Unknown numbers are preserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelKind(pub u8);

impl ChannelKind {
    pub const TTL_OUT: Self = Self(Number::TtlOut as u8);
    pub const TTL_INOUT: Self = Self(Number::TtlInout as u8);
    pub const LOG: Self = Self(Number::Log as u8);
}

/// An RTIO channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel<'a> {
    pub number: u32,
    pub kind: ChannelKind,
    pub name: &'a str,
    /// Parameters that differ from their defaults.
    pub parameters: Parameters<'a>,
}

/// Parameters of a channel: names and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters<'a>(&'a [u8]);

impl<'a> Iterator for Parameters<'a> {
    type Item = (&'a str, u32);

    fn next(&mut self) -> Option<Self::Item> {
        let (&length, rest) = self.0.split_first()?;
        let (name, rest) = rest.split_at_checked(length.into())?;
        let (value, rest) = rest.split_first_chunk()?;
        self.0 = rest;
        Some((text(name)?, u32::from_le_bytes(*value)))
    }
}

/// The RTIO clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Frequency of the coarse counter in Hz.
    pub frequency: u32,
    /// Machine units per coarse cycle, log2.
    pub fine_bits: u8,
    /// The source of the clock, a [`ClockSource`] as a number.
    pub synthesiser: u8,
}

/// A checked descriptor.
#[derive(Clone, Copy)]
pub struct Descriptor<'a> {
    /// The records, up to and including the end record.
    records: &'a [u8],
}

/// Total length in bytes that the header announces, header included.
pub fn announced_length(header: &[u8; HEADER]) -> Result<usize, Error> {
    if header[..4] != *MAGIC {
        return Err(Error::Absent);
    }
    let [_, version, length, _] = words(header);
    let version = version as u16;
    if version != VERSION {
        return Err(Error::Version(version));
    }
    let length = length as usize;
    if length < HEADER {
        return Err(Error::Truncated);
    }
    Ok(length)
}

impl<'a> Descriptor<'a> {
    /// Checks header, checksum and all records. Bytes after the announced length are ignored.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let Some(header) = bytes.first_chunk::<HEADER>() else {
            return Err(Error::Truncated);
        };
        let length = announced_length(header)?;
        let records = bytes.get(HEADER..length).ok_or(Error::Truncated)?;
        let [.., checksum] = words::<HEADER, 4>(header);
        if CRC.checksum(records) != checksum {
            return Err(Error::Checksum);
        }
        let descriptor = Self { records };
        let mut ended = false;
        for record in descriptor.records() {
            match record? {
                Record::End => ended = true,
                _ if ended => return Err(Error::Record),
                _ => {}
            }
        }
        if ended {
            Ok(descriptor)
        } else {
            Err(Error::Record)
        }
    }

    /// The identification, `variant;version`, or an empty string.
    pub fn identification(&self) -> &'a str {
        self.text(Type::Identification)
    }

    /// The build id, or an empty string.
    pub fn build_id(&self) -> &'a str {
        self.text(Type::BuildId)
    }

    /// The board for which the gateware was made, `name;hardware revision`, or an empty string.
    pub fn board(&self) -> &'a str {
        self.text(Type::Board)
    }

    fn text(&self, wanted: Type) -> &'a str {
        self.find(|record| match record {
            Record::Text(kind, text) if kind == wanted => Some(text),
            _ => None,
        })
        .unwrap_or("")
    }

    /// The RTIO clock.
    pub fn clock(&self) -> Option<Clock> {
        self.find(|record| {
            if let Record::Clock(clock) = record {
                Some(clock)
            } else {
                None
            }
        })
    }

    /// The register `name`.
    pub fn register(&self, name: &str) -> Option<Register<'a>> {
        self.registers().find(|register| register.name == name)
    }

    /// All registers.
    pub fn registers(&self) -> impl Iterator<Item = Register<'a>> + 'a {
        self.records().filter_map(|record| {
            if let Ok(Record::Register(r)) = record {
                Some(r)
            } else {
                None
            }
        })
    }

    /// The RTIO channel with this number.
    pub fn channel(&self, number: u32) -> Option<Channel<'a>> {
        self.channels().find(|channel| channel.number == number)
    }

    /// All RTIO channels.
    pub fn channels(&self) -> impl Iterator<Item = Channel<'a>> + 'a {
        self.records().filter_map(|record| {
            if let Ok(Record::Channel(c)) = record {
                Some(c)
            } else {
                None
            }
        })
    }

    fn find<T>(&self, want: impl Fn(Record<'a>) -> Option<T>) -> Option<T> {
        self.records().find_map(|record| record.ok().and_then(&want))
    }

    fn records(&self) -> Records<'a> {
        Records { rest: self.records }
    }
}

enum Record<'a> {
    End,
    Text(Type, &'a str),
    Register(Register<'a>),
    Channel(Channel<'a>),
    Clock(Clock),
    /// A type that a later writer may add.
    Other,
}

struct Records<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let record = self.take();
        if record.is_none() {
            self.rest = &[];
        }
        Some(record.ok_or(Error::Record))
    }
}

impl<'a> Records<'a> {
    fn take(&mut self) -> Option<Record<'a>> {
        let head = self.rest.get(..4)?;
        let (kind, length) = (u16_at(head, 0)?, usize::from(u16_at(head, 2)?));
        let payload = self.rest.get(4..4 + length)?;
        self.rest = self.rest.get(4 + length.next_multiple_of(4)..)?;
        let Ok(kind) = Type::try_from(kind) else {
            return Some(Record::Other);
        };
        Some(match kind {
            Type::End => Record::End,
            Type::Identification | Type::BuildId | Type::Board => Record::Text(kind, text(payload)?),
            Type::Register => {
                let head = payload.get(..8)?;
                let flags = u16_at(head, 6)?;
                Record::Register(Register {
                    name: text(&payload[8..])?,
                    address: u32_at(head, 0)?,
                    width: u16_at(head, 4)?,
                    readable: flags & READABLE != 0,
                    writable: flags & WRITABLE != 0,
                })
            }
            Type::Channel => {
                let head = payload.get(..10)?;
                let parameters = &payload[10..];
                let mut rest = parameters;
                for _ in 0..u16_at(head, 8)? {
                    let key = usize::from(*rest.first()?);
                    rest = rest.get(1 + key + 4..)?;
                }
                Record::Channel(Channel {
                    number: u32_at(head, 0)?,
                    kind: ChannelKind(head[4]),
                    name: text(rest)?,
                    parameters: Parameters(&parameters[..parameters.len() - rest.len()]),
                })
            }
            Type::Clock => {
                let head = payload.get(..8)?;
                Record::Clock(Clock {
                    frequency: u32_at(head, 0)?,
                    fine_bits: head[4],
                    synthesiser: head[5],
                })
            }
        })
    }
}

fn text(bytes: &[u8]) -> Option<&str> {
    core::str::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn record(kind: u16, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(kind.to_le_bytes());
        out.extend((payload.len() as u16).to_le_bytes());
        out.extend(payload);
        out.resize(out.len().next_multiple_of(4), 0);
        out
    }

    fn wrap(records: &[u8]) -> Vec<u8> {
        let mut out = Vec::from(*b"KAIR\x01\0\0\0");
        out.extend((16 + records.len() as u32).to_le_bytes());
        out.extend(CRC.checksum(records).to_le_bytes());
        out.extend(records);
        out
    }

    fn sample() -> Vec<u8> {
        let mut records = record(1, b"demo;0.1.0");
        records.extend(record(2, b"abc"));
        records.extend(record(5, &[0x40, 0x59, 0x73, 0x07, 3, 1, 0, 0]));
        records.extend(record(3, b"\x04\0\x01\x40\x01\0\x02\0rtio_reset"));
        records.extend(record(3, b"\x10\0\x01\x40\x40\0\x01\0rtio_counter"));
        records.extend(record(4, b"\x05\0\0\0\x02\0\0\0\x01\0\x03pad\x07\0\0\0ttl5"));
        records.extend(record(6, b"kasli_soc;v1.2"));
        records.extend(record(77, b"from the future"));
        records.extend(record(0, b""));
        wrap(&records)
    }

    #[test]
    fn descriptor_of_the_gateware_is_read() {
        let mut bytes = sample();
        bytes.extend([0xff; 8]);
        let d = Descriptor::new(&bytes).ok().unwrap();
        assert_eq!((d.identification(), d.build_id()), ("demo;0.1.0", "abc"));
        assert_eq!(d.board(), "kasli_soc;v1.2");
        assert_eq!(
            d.clock(),
            Some(Clock {
                frequency: 125_000_000,
                fine_bits: 3,
                synthesiser: ClockSource::Si5324Ckin1 as u8,
            })
        );
        let counter = Register {
            name: "rtio_counter",
            address: 0x4001_0010,
            width: 64,
            readable: true,
            writable: false,
        };
        assert_eq!(d.register("rtio_counter"), Some(counter));
        assert!(d.register("rtio_reset").is_some_and(|r| r.writable && !r.readable));
        assert_eq!(d.register("nothing"), None);
        assert_eq!(
            d.channel(5),
            Some(Channel {
                number: 5,
                kind: ChannelKind::TTL_INOUT,
                name: "ttl5",
                parameters: Parameters(b"\x03pad\x07\0\0\0"),
            })
        );
        let parameters: Vec<_> = d.channel(5).unwrap().parameters.collect();
        assert_eq!(parameters, [("pad", 7)]);
        assert_eq!(d.channel(6), None);
        assert_eq!(d.channels().count(), 1);
    }

    #[test]
    fn damaged_descriptor_is_refused_with_its_reason() {
        let good = sample();
        assert_eq!(Descriptor::new(&[0; 64]).err(), Some(Error::Absent));
        assert_eq!(Descriptor::new(&good[..8]).err(), Some(Error::Truncated));
        assert_eq!(Descriptor::new(&good[..good.len() - 1]).err(), Some(Error::Truncated));
        let mut bad = good.clone();
        bad[20] ^= 1;
        assert_eq!(Descriptor::new(&bad).err(), Some(Error::Checksum));
        bad[4] = 2;
        assert_eq!(Descriptor::new(&bad).err(), Some(Error::Version(2)));
        // Correct checksum, wrong contents: no end record, a record longer than the rest, a
        // register without a name field.
        for records in [
            record(1, b"x"),
            Vec::from(*b"\x01\0\xff\0abcd"),
            [record(3, b"1234"), record(0, b"")].concat(),
        ] {
            assert_eq!(Descriptor::new(&wrap(&records)).err(), Some(Error::Record));
        }
    }

    proptest! {
        /// For any bytes, the reader returns an error or a descriptor whose accessors do not panic.
        #[test]
        fn arbitrary_descriptor_never_panics(records in prop::collection::vec(any::<u8>(), 0..200), raw: bool) {
            let bytes = if raw { records } else { wrap(&records) };
            if let Ok(d) = Descriptor::new(&bytes) {
                let _ = (d.identification(), d.build_id(), d.clock(), d.registers().count());
                d.channels().for_each(|channel| assert!(channel.parameters.count() < 200));
            }
        }

        /// Registers and channels survive encoding and decoding.
        #[test]
        fn encoded_registers_and_channels_round_trip(list in prop::collection::vec(("[a-z_0-9]{1,20}", any::<u32>(), 1u16..65), 0..20)) {
            let mut records = Vec::new();
            for (name, address, width) in &list {
                let mut payload = Vec::from(address.to_le_bytes());
                payload.extend(width.to_le_bytes());
                payload.extend(3u16.to_le_bytes());
                payload.extend(name.as_bytes());
                records.extend(record(3, &payload));
            }
            records.extend(record(0, b""));
            let bytes = wrap(&records);
            let d = Descriptor::new(&bytes).ok().unwrap();
            let got: Vec<_> = d.registers().map(|r| (std::string::String::from(r.name), r.address, r.width)).collect();
            prop_assert_eq!(got, list);
        }
    }
}
