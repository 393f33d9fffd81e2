//! The chip's boot ROM: finds a boot image on the SD card or in the QSPI flash, checks its header
//! and copies the loader to on-chip memory (UG585, section 6.3). Encrypted and signed images are
//! not supported.

use std::fs::File;
use std::os::unix::fs::FileExt;

use axfatfs::{FileSystem, FsOptions, IoBase, IoError, Read, Seek, SeekFrom, Write};
use kairos_proto::bytes::u32_at;

use crate::machine::memory::{Memory, OCM_LOW};

/// Size of the part of an image that holds the header, in bytes.
const HEADER: usize = 0x8c0;
const WIDTH: u32 = 0xaa99_5566;
const SIGNATURE: u32 = u32::from_le_bytes(*b"XNLX");
/// Distance in bytes between the flash addresses at which the ROM looks for an image.
const STEP: usize = 32 * 1024;

/// Copies the loader of an image to memory and returns its entry point. The error is the end of a
/// sentence.
pub fn load(image: &[u8], memory: &Memory) -> Result<u32, String> {
    let header = image.get(..HEADER).ok_or("is too short for a boot image")?;
    let word = |at| u32_at(header, at).unwrap_or(0);
    if word(0x20) != WIDTH || word(0x24) != SIGNATURE {
        return Err("is not a boot image (no 0xAA995566, XNLX at 0x20)".into());
    }
    let sum = (0x20..0x48).step_by(4).fold(0u32, |sum, at| sum.wrapping_add(word(at)));
    if word(0x48) != !sum {
        return Err(format!(
            "has a header with checksum {:#010x}, not {:#010x}",
            word(0x48),
            !sum
        ));
    }
    if word(0x28) != 0 {
        return Err("is encrypted, which the emulator does not support".into());
    }
    let (offset, length, load, entry) = (word(0x30) as usize, word(0x34) as usize, word(0x38), word(0x3c));
    if offset % 64 != 0 || length == 0 || load as usize + length > OCM_LOW || entry as usize >= OCM_LOW {
        return Err(format!(
            "has a loader that the boot ROM cannot load: {length} bytes at {offset:#x} to {load:#x}, entry {entry:#x}; \
             there are {OCM_LOW} bytes"
        ));
    }
    let loader = image.get(offset..offset + length).ok_or("ends within the loader")?;
    memory.write(load, loader);
    Ok(entry)
}

/// Loads the first image with a valid header at a multiple of 32 KiB in a flash. Returns its entry
/// point, and that multiple.
pub fn search(flash: &[u8], memory: &Memory) -> Result<(u32, u32), String> {
    let mut first = None;
    for (n, at) in (0..flash.len()).step_by(STEP).enumerate() {
        match load(&flash[at..], memory) {
            Ok(entry) => return Ok((entry, n as u32)),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or_else(|| "is empty".into()))
}

/// Reads `/BOOT.BIN` of the first partition of a card. The ROM does not replay the journal that the
/// firmware keeps.
pub fn read_card(card: &File) -> Result<Vec<u8>, String> {
    let mut sector = [0; 512];
    card.read_exact_at(&mut sector, 0)
        .map_err(|e| format!("cannot be read: {e}"))?;
    let at = |n| u32_at(&sector, n).unwrap_or(0);
    if sector[510..] != [0x55, 0xaa] {
        return Err("has no partition table".into());
    }
    let partition = Partition {
        card,
        start: u64::from(at(446 + 8)) * 512,
        length: u64::from(at(446 + 12)) * 512,
        position: 0,
    };
    let system = FileSystem::new(partition, FsOptions::new().strict(false))
        .map_err(|_| "has no FAT file system in its first partition")?;
    let mut file = system
        .root_dir()
        .open_file("BOOT.BIN")
        .map_err(|_| "has no file BOOT.BIN in its first partition")?;
    let mut image = Vec::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(image),
            Ok(count) => image.extend_from_slice(&piece[..count]),
            Err(_) => return Err("has a BOOT.BIN that cannot be read".into()),
        }
    }
}

/// A read-only partition.
struct Partition<'a> {
    card: &'a File,
    start: u64,
    length: u64,
    position: u64,
}

#[derive(Debug)]
struct Failed;

impl IoError for Failed {
    fn is_interrupted(&self) -> bool {
        false
    }
    fn new_unexpected_eof_error() -> Self {
        Self
    }
    fn new_write_zero_error() -> Self {
        Self
    }
}

impl IoBase for Partition<'_> {
    type Error = Failed;
}

impl Read for Partition<'_> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize, Failed> {
        let length = (out.len() as u64).min(self.length.saturating_sub(self.position)) as usize;
        let at = self.start + self.position;
        self.card.read_exact_at(&mut out[..length], at).map_err(|_| Failed)?;
        self.position += length as u64;
        Ok(length)
    }
}

impl Write for Partition<'_> {
    fn write(&mut self, _: &[u8]) -> Result<usize, Failed> {
        Err(Failed)
    }
    fn flush(&mut self) -> Result<(), Failed> {
        Ok(())
    }
}

impl Seek for Partition<'_> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64, Failed> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.length.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(Failed)?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(loader: &[u8]) -> Vec<u8> {
        let mut image = vec![0; 0x1000];
        let fields = [(0x20, WIDTH), (0x24, SIGNATURE), (0x2c, 0x0101_0000), (0x30, 0x1000)];
        let rest = [
            (0x34, loader.len() as u32),
            (0x3c, 4),
            (0x40, loader.len() as u32),
            (0x44, 1),
        ];
        let mut sum = 0u32;
        for (at, value) in fields.into_iter().chain(rest) {
            image[at..at + 4].copy_from_slice(&value.to_le_bytes());
            sum = sum.wrapping_add(value);
        }
        image[0x48..0x4c].copy_from_slice(&(!sum).to_le_bytes());
        image.extend_from_slice(loader);
        image
    }

    #[test]
    fn valid_image_is_loaded_and_others_refused() {
        let memory = Memory::after_reset(1);
        assert_eq!(load(&image(&[1, 2, 3, 4]), &memory), Ok(4));
        assert_eq!(memory.word(0), 0x0403_0201);
        assert!(load(&image(&vec![0; OCM_LOW + 1]), &memory)
            .unwrap_err()
            .contains("cannot load"));
        let mut wrong = image(&[1; 8]);
        assert!(load(&wrong[..0x1004], &memory).unwrap_err().contains("ends within"));
        wrong[0x31] ^= 1;
        assert!(load(&wrong, &memory).unwrap_err().contains("checksum"));
        assert!(load(&[0; 4096], &memory).unwrap_err().contains("not a boot image"));
    }

    #[test]
    fn image_is_found_at_any_step_of_flash() {
        let memory = Memory::after_reset(1);
        let mut flash = vec![0xff; 3 * STEP];
        flash.extend(image(&[9; 4]));
        assert_eq!(search(&flash, &memory), Ok((4, 3)));
        assert!(search(&[0xff; 100], &memory).is_err());
    }
}
