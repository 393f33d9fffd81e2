//! Firmware images: ELF files for 32-bit ARM, loaded as by a boot loader.

use std::fs::File;
use std::path::Path;

use object::elf::{FileHeader32, EM_ARM, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader};
use object::read::{ReadCache, ReadRef};
use object::LittleEndian;

use crate::machine::memory::Memory;

/// Segments and entry point.
#[derive(Debug, Clone)]
pub struct Image {
    /// (physical address, bytes, size in memory)
    segments: Vec<(u32, Vec<u8>, u32)>,
    /// Address of the first instruction.
    entry: u32,
}

impl Image {
    /// Reads an ELF file. The error is a one-line message for the user.
    pub fn load(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let file = File::open(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => {
                format!("firmware file {shown} does not exist; build it with `make firmware`")
            }
            _ => format!("firmware file {shown} cannot be read: {e}"),
        })?;
        if file.metadata().is_ok_and(|found| found.is_dir()) {
            return Err(format!(
                "firmware file {shown} is a folder; give an ELF file, such as runtime.elf"
            ));
        }
        // Most of a file describes it for debuggers, and is not read.
        Self::parse(&ReadCache::new(file)).map_err(|e| format!("firmware file {shown} {e}"))
    }

    fn parse<'d>(data: impl ReadRef<'d>) -> Result<Self, String> {
        let wrong = |_| "is not a 32-bit little-endian ARM ELF file".to_string();
        let header = FileHeader32::<LittleEndian>::parse(data).map_err(wrong)?;
        let endian = header.endian().map_err(wrong)?;
        if header.e_machine.get(endian) != EM_ARM {
            return Err("is an ELF file, but not for ARM".into());
        }
        let mut segments = Vec::new();
        for p in header
            .program_headers(endian, data)
            .map_err(|e| format!("is damaged: {e}"))?
        {
            if p.p_type(endian) == PT_LOAD && p.p_memsz(endian) != 0 {
                let bytes = p
                    .data(endian, data)
                    .map_err(|()| "is damaged: a segment lies outside of the file")?;
                segments.push((p.p_paddr(endian), bytes.to_vec(), p.p_memsz(endian)));
            }
        }
        if segments.is_empty() {
            return Err("has nothing to load".into());
        }
        Ok(Self {
            segments,
            entry: header.e_entry.get(endian),
        })
    }

    /// Copies the segments to memory and zeroes the rest of each. Returns the entry point.
    pub fn copy_to(&self, memory: &Memory) -> Result<u32, String> {
        for (address, bytes, size) in &self.segments {
            let rest = (*size as usize).saturating_sub(bytes.len());
            if !memory.write(*address, bytes) || !memory.clear(address.wrapping_add(bytes.len() as u32), rest) {
                return Err(format!(
                    "the firmware wants {size} bytes at {address:#010x}, which is not memory; give the machine more with \
                     --memory"
                ));
            }
        }
        Ok(self.entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_without_arm_program_is_rejected() {
        assert!(Image::parse(&b"hello"[..]).unwrap_err().contains("not a 32-bit"));
        assert!(Image::load(Path::new("/nonexistent/x.elf"))
            .unwrap_err()
            .contains("does not exist"));
        let folder = Image::load(&std::env::temp_dir()).unwrap_err();
        assert!(
            folder.ends_with("is a folder; give an ELF file, such as runtime.elf"),
            "{folder}"
        );
        let mut elf = vec![0; 52];
        elf[..7].copy_from_slice(b"\x7fELF\x01\x01\x01");
        elf[18] = 3;
        assert!(Image::parse(&*elf).unwrap_err().contains("not for ARM"));
    }
}
