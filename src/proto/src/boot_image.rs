//! The boot image that the chip's ROM reads (`BOOT.BIN`), and the partitions behind its loader (UG585, section 6.3.2; UG1283,
//! "Zynq-7000 SoC"). The Python side, which writes it, is `src/kairos/boot/image.py`.

use core::fmt;

/// Offset of the word with the offset of the partition table.
const TABLE: usize = 0x9c;
/// Bytes of an entry of the table.
const ENTRY: usize = 64;
/// Partitions that an image may have; the ROM's own tools write fewer than 14.
const PARTITIONS: usize = 14;
const SIGNATURE: &[u8] = b"XNLX";
/// Signed or encrypted: an RSA signature, or lengths that differ.
const SIGNED: u32 = 1 << 15;

/// What an image cannot be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    NotImage,
    Truncated,
    /// Header of this partition: its checksum is wrong.
    Checksum(usize),
    /// This partition is signed or encrypted.
    Secure(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotImage => write!(f, "not a boot image"),
            Error::Truncated => write!(f, "the boot image ends too early"),
            Error::Checksum(n) => write!(f, "the boot image is damaged: checksum of the header of partition {n}"),
            Error::Secure(n) => write!(
                f,
                "partition {n} of the boot image is signed or encrypted, which is not supported"
            ),
        }
    }
}

/// Where a partition goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Memory of the processing system.
    Memory,
    /// Configuration of the PL.
    Logic,
    /// Anything else; left alone.
    Other,
}

/// A partition of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition<'a> {
    pub destination: Destination,
    /// Address of its first byte in memory.
    pub load: u32,
    /// Address to start at when everything is loaded; 0: not here.
    pub entry: u32,
    pub data: &'a [u8],
}

/// An image with its table of partitions.
#[derive(Clone, Copy, Debug)]
pub struct BootImage<'a> {
    file: &'a [u8],
    table: usize,
}

fn word(file: &[u8], at: usize) -> Result<u32, Error> {
    let bytes = at
        .checked_add(4)
        .and_then(|end| file.get(at..end))
        .ok_or(Error::Truncated)?;
    Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

impl<'a> BootImage<'a> {
    /// Recognises an image.
    pub fn parse(file: &'a [u8]) -> Result<Self, Error> {
        if file.get(0x24..0x28) != Some(SIGNATURE) {
            return Err(Error::NotImage);
        }
        let table = word(file, TABLE)? as usize;
        Ok(Self { file, table })
    }

    /// Partition `n`, counted from 0, which is the loader; None behind the last one.
    pub fn partition(&self, n: usize) -> Result<Option<Partition<'a>>, Error> {
        if n >= PARTITIONS {
            return Ok(None);
        }
        let at = self.table.checked_add(n * ENTRY).ok_or(Error::Truncated)?;
        let field = |index: usize| word(self.file, at.saturating_add(4 * index));
        let (mut sum, mut any) = (0u32, 0);
        for index in 0..15 {
            sum = sum.wrapping_add(field(index)?);
            any |= field(index)?;
        }
        if field(15)? != !sum {
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

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn image(partitions: &[[u32; 15]]) -> Vec<u8> {
        let mut file = std::vec![0; 0xc0];
        file[0x24..0x28].copy_from_slice(SIGNATURE);
        file[TABLE..TABLE + 4].copy_from_slice(&0xc0u32.to_le_bytes());
        for fields in partitions.iter().chain([&[0; 15]]) {
            let sum = fields.iter().fold(0u32, |sum, word| sum.wrapping_add(*word));
            file.extend(fields.iter().chain([&!sum]).flat_map(|word| word.to_le_bytes()));
        }
        file
    }

    #[test]
    fn partitions_up_to_the_empty_one() {
        let mut logic = [0; 15];
        [logic[0], logic[1], logic[2], logic[5], logic[6]] = [2, 2, 2, 9, 0x20];
        let mut program = logic;
        [program[3], program[4], program[6]] = [0x10_0000, 0x10_0040, 0x10];
        let file = image(&[logic, program]);
        let parsed = BootImage::parse(&file).unwrap();
        assert_eq!(parsed.partition(0).unwrap().unwrap().destination, Destination::Logic);
        let program = parsed.partition(1).unwrap().unwrap();
        assert_eq!(
            (program.load, program.entry, program.data),
            (0x10_0000, 0x10_0040, &file[36..44])
        );
        assert_eq!(parsed.partition(2), Ok(None));
    }

    #[test]
    fn damage_is_seen() {
        let mut entry = [0; 15];
        [entry[0], entry[1], entry[5]] = [2, 2, 1 << 20];
        let first = |file: &[u8]| BootImage::parse(file)?.partition(0).map(|_| ());
        assert_eq!(first(&image(&[entry])), Err(Error::Truncated));
        let mut file = image(&[entry]);
        file[0xc4] ^= 1;
        assert_eq!(first(&file), Err(Error::Checksum(0)));
        entry[0] = 1;
        assert_eq!(first(&image(&[entry])), Err(Error::Secure(0)));
        assert_eq!(first(&[0; 100]), Err(Error::NotImage));
    }

    proptest! {
        #[test]
        fn any_fields(fields in any::<[u32; 15]>(), cut in 0usize..400) {
            let file = image(&[fields]);
            if let Ok(image) = BootImage::parse(&file[..cut.min(file.len())]) {
                let _ = image.partition(0);
            }
        }
    }
}
