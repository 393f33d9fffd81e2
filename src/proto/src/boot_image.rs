//! The boot image that the chip's ROM reads (`BOOT.BIN`): the loader, to which the header points,
//! followed by the partitions (UG585, section 6.3.2; UG1283, "Zynq-7000 SoC"). Little endian;
//! [`encode`] writes it.

use core::fmt;

use crate::bytes::u32_at;

mod check;
mod encode;
#[cfg(test)]
mod tests;

pub use check::{check, Machine, Unbootable};
pub use encode::{encode, Named, Unfit};

/// Offset of the checksummed part of the header, and the number of its words before the checksum.
const CHECKED: usize = 0x20;
const CHECKED_WORDS: usize = 10;
/// Offset of the word with the offset of the image headers; the next word is that of the partition
/// table.
const IMAGES: usize = 0x98;
const TABLE: usize = IMAGES + 4;
/// Size in bytes of an entry of either table.
const ENTRY: usize = 64;
/// Words of a partition's header before its checksum.
const FIELDS: usize = 15;
/// Most partitions of an image; the vendor's own tools write fewer than 14.
const PARTITIONS: usize = 14;
const SIGNATURE: &[u8; 4] = b"XNLX";
/// Marks the width of a flash: the first checksummed word.
const WIDTH: u32 = 0xaa99_5566;
/// Signed or encrypted: an RSA signature, or lengths that differ.
const SIGNED: u32 = 1 << 15;

/// The checksum of a group of words: their inverted sum.
fn checksum(words: &[u32]) -> u32 {
    !words.iter().fold(0u32, |sum, word| sum.wrapping_add(*word))
}

/// Why an image cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    NotImage,
    Truncated,
    /// The header's checksum is wrong.
    Header,
    /// The boot ROM cannot load the loader that the header points to.
    Loader,
    /// The checksum of this partition's header is wrong.
    Checksum(usize),
    /// This partition is signed or encrypted.
    Secure(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotImage => write!(f, "not a boot image"),
            Error::Truncated => write!(f, "the boot image ends too early"),
            Error::Header => write!(f, "the boot image is damaged: checksum of its header"),
            Error::Loader => write!(f, "the boot image has a loader that does not fit into on-chip memory"),
            Error::Checksum(n) => write!(f, "the boot image is damaged: checksum of the header of partition {n}"),
            Error::Secure(n) => write!(
                f,
                "partition {n} of the boot image is signed or encrypted, which is not supported"
            ),
        }
    }
}

/// Destination of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Memory of the processing system.
    Memory,
    /// Configuration of the PL.
    Logic,
    /// Anything else; ignored.
    Other,
}

/// A partition of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition<'a> {
    pub destination: Destination,
    /// Address of its first byte in memory.
    pub load: u32,
    /// Entry point after everything is loaded; 0 if it is not in this partition.
    pub entry: u32,
    pub data: &'a [u8],
}

/// An image with its partition table.
#[derive(Clone, Copy, Debug)]
pub struct BootImage<'a> {
    file: &'a [u8],
    table: usize,
}

fn word(file: &[u8], at: usize) -> Result<u32, Error> {
    u32_at(file, at).ok_or(Error::Truncated)
}

impl<'a> BootImage<'a> {
    /// Recognises an image.
    pub fn parse(file: &'a [u8]) -> Result<Self, Error> {
        if file.get(CHECKED + 4..CHECKED + 8) != Some(SIGNATURE) {
            return Err(Error::NotImage);
        }
        let table = word(file, TABLE)? as usize;
        Ok(Self { file, table })
    }

    /// Partition `n`, counted from 0, the loader; `None` after the last one.
    pub fn partition(&self, n: usize) -> Result<Option<Partition<'a>>, Error> {
        if n >= PARTITIONS {
            return Ok(None);
        }
        let at = self.table.checked_add(n * ENTRY).ok_or(Error::Truncated)?;
        let field = |index: usize| word(self.file, at.saturating_add(4 * index));
        let (mut sum, mut any) = (0u32, 0);
        for index in 0..FIELDS {
            sum = sum.wrapping_add(field(index)?);
            any |= field(index)?;
        }
        if field(FIELDS)? != !sum {
            return Err(Error::Checksum(n));
        }
        if any == 0 {
            return Ok(None);
        }
        let (encrypted, length, attributes) = (field(0)?, field(1)?, field(6)?);
        if encrypted != length || attributes & SIGNED != 0 {
            return Err(Error::Secure(n));
        }
        // Offsets and lengths are in words.
        let bytes = |words: u32| (words as usize).checked_mul(4).ok_or(Error::Truncated);
        let (start, length) = (bytes(field(5)?)?, bytes(length)?);
        let end = start.checked_add(length).ok_or(Error::Truncated)?;
        Ok(Some(Partition {
            destination: match attributes >> 4 & 0xf {
                1 => Destination::Memory,
                2 => Destination::Logic,
                _ => Destination::Other,
            },
            load: field(3)?,
            entry: field(4)?,
            data: self.file.get(start..end).ok_or(Error::Truncated)?,
        }))
    }
}
