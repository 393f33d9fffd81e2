//! A bitstream for the PL: the position of its words in a file, their byte order, and the chip it
//! is for.
//!
//! Vivado writes `.bit` files (with a header) and `.bin` files, both with the most significant byte
//! of each word first; boot images hold words in the processor's byte order. The packets are
//! described in UG470, chapter 5.

use core::fmt;

use crate::bytes::u32_at;

/// The sync word of the configuration logic.
pub const SYNC: u32 = 0xaa99_5566;
/// Range of the search for the sync word; a `.bit` header has some 150 bytes.
const SEARCHED: usize = 4096;
/// Words between the first dummy words and the sync word: bus width detection and padding (UG470,
/// table 5-19).
const LEAD: usize = 8;
/// The bits of an IDCODE except the silicon revision.
const IDCODE_MASK: u32 = 0x0fff_ffff;
const IDCODE_REGISTER: u32 = 12;
/// Most packets searched for the IDCODE.
const PACKETS: usize = 200;

/// Why a file does not fit this chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    NoSync,
    /// The first packets contain no IDCODE.
    NoIdcode,
    /// IDCODE in the file, IDCODE of the chip.
    OtherChip(u32, u32),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoSync => write!(f, "not a bitstream: it has no sync word"),
            Error::NoIdcode => write!(f, "this bitstream is damaged: it does not say for which chip it is"),
            Error::OtherChip(file, chip) => {
                write!(
                    f,
                    "this bitstream is for the {}, this chip is the {}",
                    Chip(*file),
                    Chip(*chip)
                )
            }
        }
    }
}

/// A chip, given by its IDCODE and displayed by its name.
pub struct Chip(pub u32);

impl fmt::Display for Chip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0 & IDCODE_MASK {
            0x0372_2093 => "XC7Z010",
            0x0373_b093 => "XC7Z015",
            0x0372_7093 => "XC7Z020",
            0x0372_c093 => "XC7Z030",
            0x0373_2093 => "XC7Z035",
            0x0373_1093 => "XC7Z045",
            0x0373_6093 => "XC7Z100",
            _ => return write!(f, "chip with IDCODE {:#010x}", self.0),
        };
        f.write_str(name)
    }
}

/// The position of a bitstream in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bitstream {
    /// Offset of its first word, dummy words included.
    pub start: usize,
    /// Length in bytes, a multiple of 4.
    pub length: usize,
    /// The bytes of each word have to be reversed for the processor.
    pub reversed: bool,
}

impl Bitstream {
    /// Finds the bitstream, and checks that it is for the chip with this IDCODE.
    pub fn find(file: &[u8], idcode: u32) -> Result<Self, Error> {
        let (this, found) = Self::read(file)?;
        if (found ^ idcode) & IDCODE_MASK != 0 {
            return Err(Error::OtherChip(found, idcode));
        }
        Ok(this)
    }

    /// Finds the bitstream, and the IDCODE of the chip it is for.
    pub fn read(file: &[u8]) -> Result<(Self, u32), Error> {
        let head = &file[..file.len().min(SEARCHED)];
        let find = |word: [u8; 4]| head.windows(4).position(|bytes| bytes == word);
        let (sync, reversed) = match (find(SYNC.to_be_bytes()), find(SYNC.to_le_bytes())) {
            (Some(big), Some(little)) => (big.min(little), big < little),
            (Some(big), None) => (big, true),
            (None, Some(little)) => (little, false),
            (None, None) => return Err(Error::NoSync),
        };
        let mut start = sync;
        for _ in 0..2 * LEAD {
            match start.checked_sub(4).map(|at| word(file, at, reversed)) {
                Some(Some(0xffff_ffff | 0x0000_00bb | 0x1122_0044)) => start -= 4,
                _ => break,
            }
        }
        let this = Self {
            start,
            length: (file.len() - start) & !3,
            reversed,
        };
        let idcode = this.idcode(file, sync + 4).ok_or(Error::NoIdcode)?;
        Ok((this, idcode))
    }

    /// The IDCODE written by the packets from `at` on.
    fn idcode(&self, file: &[u8], mut at: usize) -> Option<u32> {
        for _ in 0..PACKETS {
            let header = word(file, at, self.reversed)?;
            // Type 1: bits 28..27 operation, 17..13 register, 10..0 number of words.
            if header >> 29 != 1 {
                return None;
            }
            let (is_write, register, count) = (header >> 27 & 3 == 2, header >> 13 & 0x1f, (header & 0x7ff) as usize);
            if is_write && register == IDCODE_REGISTER {
                return word(file, at + 4, self.reversed);
            }
            at += 4 + 4 * if is_write { count } else { 0 };
        }
        None
    }
}

fn word(file: &[u8], at: usize, reversed: bool) -> Option<u32> {
    let word = u32_at(file, at)?;
    Some(if reversed { word.swap_bytes() } else { word })
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::format;
    use std::vec::Vec;

    const Z045: u32 = 0x0373_1093;
    const WORDS: [u32; 8] = [!0, 0xbb, 0x1122_0044, !0, SYNC, 0x2000_0000, 0x3001_8001, 0x1372_c093];

    fn file(header: &[u8], reversed: bool) -> Vec<u8> {
        let bytes = WORDS.iter().flat_map(|word| {
            if reversed {
                word.to_be_bytes()
            } else {
                word.to_le_bytes()
            }
        });
        header.iter().copied().chain(bytes).chain([0; 3]).collect()
    }

    #[test]
    fn bitstream_after_header_is_found_in_either_byte_order() {
        for (header, reversed) in [(&b""[..], true), (b"", false), (b"\0\x09design", true)] {
            let found = Bitstream::find(&file(header, reversed), 0x0372_c093).unwrap();
            let expected = Bitstream {
                start: header.len(),
                length: 32,
                reversed,
            };
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn bytes_without_matching_bitstream_are_refused() {
        let error = Bitstream::find(&file(b"", true), Z045).unwrap_err();
        assert_eq!(
            format!("{error}"),
            "this bitstream is for the XC7Z030, this chip is the XC7Z045"
        );
        assert_eq!(Bitstream::find(b"\x7fELF", Z045), Err(Error::NoSync));
        assert_eq!(Bitstream::find(&file(b"", true)[..28], Z045), Err(Error::NoIdcode));
    }

    proptest! {
        #[test]
        fn arbitrary_bitstream_never_panics(mut bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0usize..300) {
            if at + 4 <= bytes.len() {
                bytes[at..at + 4].copy_from_slice(&SYNC.to_be_bytes());
            }
            if let Ok(found) = Bitstream::find(&bytes, Z045) {
                prop_assert!(found.start + found.length <= bytes.len());
            }
        }
    }
}
