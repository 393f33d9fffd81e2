//! A firmware image: an ELF file for 32-bit ARM, to the extent that a loader needs (System V ABI,
//! chapter 4).

use core::fmt;
use core::ops::Range;

use crate::bytes::{u16_at, u32_at};

const HEADER: usize = 52;
const SEGMENT: usize = 32;
const ARM: u16 = 40;
const EXECUTABLE: u16 = 2;
const LOAD: u32 = 1;

/// Why a file cannot be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Not an ELF file.
    NotElf,
    /// An ELF file of another kind: for another processor, or not an executable.
    NotArm,
    /// The file ends before something that it refers to.
    Truncated,
    /// Nothing to load.
    Empty,
    /// A segment's address is not available.
    Occupied(u32),
    /// The entry point is in no segment.
    Entry(u32),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotElf => write!(f, "not a firmware: this is no ELF file"),
            Error::NotArm => write!(f, "not a firmware: this ELF file is no program for 32-bit ARM"),
            Error::Truncated => write!(f, "this firmware is damaged: it ends too early"),
            Error::Empty => write!(f, "this firmware has nothing to load"),
            Error::Occupied(at) => write!(f, "this firmware wants memory at {at:#010x}, which is not for it"),
            Error::Entry(at) => write!(f, "this firmware begins at {at:#010x}, where nothing is loaded"),
        }
    }
}

/// A segment of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Physical address.
    pub address: u32,
    pub data: &'a [u8],
    /// Size in memory; bytes beyond the data are zero.
    pub size: u32,
}

/// A checked file: every segment lies in the file and in its permitted region.
#[derive(Clone, Copy, Debug)]
pub struct Firmware<'a> {
    file: &'a [u8],
    /// Address of the first instruction.
    pub entry: u32,
    table: usize,
    step: usize,
    count: usize,
}

impl<'a> Firmware<'a> {
    /// Checks a file whose segments may use the addresses of `region`.
    pub fn parse(file: &'a [u8], region: Range<usize>) -> Result<Self, Error> {
        if !file.starts_with(b"\x7fELF") {
            return Err(Error::NotElf);
        }
        if file.len() < HEADER {
            return Err(Error::Truncated);
        }
        // 32 bits, little endian.
        let kind = (file[4], file[5], u16_at(file, 16), u16_at(file, 18));
        if kind != (1, 1, Some(EXECUTABLE), Some(ARM)) {
            return Err(Error::NotArm);
        }
        let word = |at| u32_at(file, at).ok_or(Error::Truncated);
        let half = |at| u16_at(file, at).ok_or(Error::Truncated);
        let this = Self {
            file,
            entry: word(24)?,
            table: word(28)? as usize,
            step: half(42)?.into(),
            count: half(44)?.into(),
        };
        if this.step < SEGMENT {
            return Err(Error::Truncated);
        }
        let mut holds_entry = false;
        let mut any = false;
        for n in 0..this.count {
            let Some(segment) = this.segment(n).ok_or(Error::Truncated)? else {
                continue;
            };
            let start = segment.address as usize;
            let fits = segment.size as usize >= segment.data.len()
                && start
                    .checked_add(segment.size as usize)
                    .is_some_and(|end| end <= region.end);
            if start < region.start || !fits {
                return Err(Error::Occupied(segment.address));
            }
            any = true;
            holds_entry |= (this.entry.wrapping_sub(segment.address) as usize) < segment.data.len();
        }
        match (any, holds_entry) {
            (false, _) => Err(Error::Empty),
            (true, false) => Err(Error::Entry(this.entry)),
            (true, true) => Ok(this),
        }
    }

    /// Entry `n` of the table, if it is to be loaded. The outer `None` means that it is damaged.
    fn segment(&self, n: usize) -> Option<Option<Segment<'a>>> {
        let at = self.table.checked_add(n.checked_mul(self.step)?)?;
        let field = |offset: usize| u32_at(self.file, at.checked_add(offset)?);
        let (kind, offset, address, length, size) = (field(0)?, field(4)?, field(12)?, field(16)?, field(20)?);
        if kind != LOAD || size == 0 {
            return Some(None);
        }
        let offset = offset as usize;
        let data = self.file.get(offset..offset.checked_add(length as usize)?)?;
        Some(Some(Segment { address, data, size }))
    }

    /// The segments to be loaded, in the order of the file.
    pub fn segments(&self) -> impl Iterator<Item = Segment<'a>> + '_ {
        (0..self.count).filter_map(|n| self.segment(n).flatten())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    const REGION: Range<usize> = 0x10_0000..0x20_0000;

    fn elf(address: u32, size: u32) -> Vec<u8> {
        let mut file = std::vec![0; HEADER + SEGMENT];
        file[..7].copy_from_slice(b"\x7fELF\x01\x01\x01");
        for (at, value) in [(16, EXECUTABLE), (18, ARM), (42, SEGMENT as u16), (44, 1)] {
            file[at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
        let words = [
            (24, address),
            (28, HEADER as u32),
            (HEADER, LOAD),
            (HEADER + 4, (HEADER + SEGMENT) as u32),
            (HEADER + 12, address),
            (HEADER + 16, 4),
            (HEADER + 20, size),
        ];
        for (at, value) in words {
            file[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        file.extend([1, 2, 3, 4]);
        file
    }

    #[test]
    fn program_for_arm_is_accepted() {
        let file = elf(0x10_0000, 8);
        let firmware = Firmware::parse(&file, REGION).unwrap();
        assert_eq!(firmware.entry, 0x10_0000);
        let segments: Vec<_> = firmware.segments().collect();
        let expected = Segment {
            address: 0x10_0000,
            data: &[1, 2, 3, 4],
            size: 8,
        };
        assert_eq!(segments, [expected]);
    }

    #[test]
    fn bytes_without_arm_program_are_refused() {
        let error = |file: &[u8]| Firmware::parse(file, REGION).unwrap_err();
        assert_eq!(error(b"#!/bin/sh"), Error::NotElf);
        let mut other = elf(0x10_0000, 8);
        other[18] = 62;
        assert_eq!(error(&other), Error::NotArm);
        assert_eq!(error(&elf(0x0f_fffc, 8)), Error::Occupied(0x0f_fffc));
        assert_eq!(error(&elf(0x1f_fffc, 8)), Error::Occupied(0x1f_fffc));
        assert_eq!(error(&elf(0xffff_fffc, 8)), Error::Occupied(0xffff_fffc));
        let mut lost = elf(0x10_0000, 8);
        lost[24] = 4;
        assert_eq!(error(&lost), Error::Entry(0x10_0004));
        let whole = elf(0x10_0000, 8);
        for length in 4..whole.len() {
            assert_eq!(error(&whole[..length]), Error::Truncated, "{length}");
        }
        let mut none = whole.clone();
        none[44] = 0;
        assert_eq!(error(&none), Error::Empty);
    }

    proptest! {
        #[test]
        fn arbitrary_firmware_never_panics(mut file in proptest::collection::vec(any::<u8>(), 0..200), elf in any::<bool>()) {
            if elf && file.len() > 20 {
                file[..7].copy_from_slice(b"\x7fELF\x01\x01\x01");
                file[16..20].copy_from_slice(&[2, 0, 40, 0]);
            }
            if let Ok(firmware) = Firmware::parse(&file, REGION) {
                prop_assert!(firmware.segments().count() > 0);
            }
        }
    }
}
