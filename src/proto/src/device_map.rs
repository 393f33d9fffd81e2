//! The configuration key `device_map` (wire protocols, section 6): names of RTIO channels from the
//! lab's device database.

use core::fmt;

use crate::bytes::words;
use crate::rpc::Sink;

/// Length of an entry's header: channel and length of the name.
const HEAD: usize = 8;

/// A map whose format has been checked.
#[derive(Clone, Copy, Debug)]
pub struct DeviceMap<'a>(&'a [u8]);

/// An entry does not end correctly, a name is not UTF-8, or there are bytes after the last entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("it is not in the format of a device map")
    }
}

/// Writes a map of channels (destination << 16 | channel) and their names.
pub fn encode<'a>(sink: &mut impl Sink, entries: impl ExactSizeIterator<Item = (u32, &'a str)>) {
    sink.write(&(entries.len() as u32).to_le_bytes());
    for (channel, name) in entries {
        sink.write(&channel.to_le_bytes());
        sink.write(&(name.len() as u32).to_le_bytes());
        sink.write(name.as_bytes());
    }
}

/// Splits off the first entry: channel, name, and the rest.
fn split(entries: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let (head, rest) = entries.split_first_chunk::<HEAD>()?;
    let [channel, length] = words(head);
    let (name, rest) = rest.split_at_checked(length as usize)?;
    Some((channel, name, rest))
}

impl<'a> DeviceMap<'a> {
    /// A map without names.
    pub const EMPTY: Self = Self(&[]);

    /// Checks the value of the key.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn new(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let (count, entries) = bytes.split_first_chunk::<4>().ok_or(Malformed)?;
        let mut rest = entries;
        for _ in 0..u32::from_le_bytes(*count) {
            let (_, name, behind) = split(rest).ok_or(Malformed)?;
            core::str::from_utf8(name).map_err(|_| Malformed)?;
            rest = behind;
        }
        rest.is_empty().then_some(Self(entries)).ok_or(Malformed)
    }

    /// Channels (destination << 16 | channel) and their names, in the order of the file.
    pub fn entries(self) -> impl Iterator<Item = (u32, &'a str)> {
        let mut rest = self.0;
        core::iter::from_fn(move || {
            let (channel, name, behind) = split(rest)?;
            rest = behind;
            Some((channel, core::str::from_utf8(name).unwrap_or("")))
        })
    }

    /// The name of a channel; the last one if it has several.
    pub fn name(self, channel: u32) -> Option<&'a str> {
        self.entries()
            .filter(|(number, _)| *number == channel)
            .last()
            .map(|(_, name)| name)
    }

    /// A channel that has more than one name.
    pub fn duplicate(self) -> Option<u32> {
        self.entries()
            .enumerate()
            .find(|(index, (channel, _))| self.entries().take(*index).any(|(other, _)| other == *channel))
            .map(|(_, (channel, _))| channel)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::string::String;
    use std::vec::Vec;

    fn encoded(entries: &[(u32, String)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(
            &mut bytes,
            entries.iter().map(|(channel, name)| (*channel, name.as_str())),
        );
        bytes
    }

    #[test]
    fn encoded_map_has_count_channels_and_names() {
        let entries = [(4, String::from("ttl4")), (0x2_0001, String::from("é"))];
        let expected = b"\x02\0\0\0\x04\0\0\0\x04\0\0\0ttl4\x01\0\x02\0\x02\0\0\0\xc3\xa9";
        assert_eq!(encoded(&entries), expected);
    }

    #[test]
    fn last_name_of_a_channel_is_used() {
        let bytes = b"\x03\0\0\0\x04\0\0\0\x04\0\0\0ttl4\x01\0\x02\0\x02\0\0\0\xc3\xa9\x04\0\0\0\x03\0\0\0led";
        let map = DeviceMap::new(bytes).unwrap();
        assert_eq!(
            (map.name(4), map.name(0x2_0001), map.name(5)),
            (Some("led"), Some("é"), None)
        );
        assert_eq!(map.duplicate(), Some(4));
        assert_eq!(DeviceMap::new(&[0; 4]).unwrap().name(0), None);
        for cut in 0..bytes.len() {
            assert_eq!(DeviceMap::new(&bytes[..cut]).err(), Some(Malformed));
        }
        assert!(DeviceMap::new(&[&bytes[..], b"\0"].concat()).is_err());
        assert!(DeviceMap::new(b"\x01\0\0\0\0\0\0\0\x01\0\0\0\xff").is_err());
        assert!(DeviceMap::new(b"\x01\0\0\0\0\0\0\0\xff\xff\xff\xff").is_err());
    }

    proptest! {
        #[test]
        fn entries_of_a_map_round_trip(entries in proptest::collection::vec((0u32..20, ".{0,12}"), 0..20)) {
            let bytes = encoded(&entries);
            let map = DeviceMap::new(&bytes).unwrap();
            let again: Vec<_> = map.entries().map(|(channel, name)| (channel, String::from(name))).collect();
            for channel in 0..20 {
                let last = entries.iter().rev().find(|entry| entry.0 == channel).map(|entry| entry.1.as_str());
                prop_assert_eq!(map.name(channel), last);
            }
            prop_assert_eq!(again, entries);
        }
    }
}
