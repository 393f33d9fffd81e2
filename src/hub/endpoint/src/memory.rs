//! Registers and buffers in mapped memory: `/dev/mem`, a UIO device, a file, or a block device.
//!
//! All `unsafe` of this crate is here: a mapping lives as long as any of its [`Word`]s, and bounds
//! are checked once, at look-up. So an access is a single load or store.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;

use memmap2::{MmapOptions, MmapRaw};

/// Size of a register in bytes.
pub const WORD: usize = 4;
/// `O_SYNC`: makes the kernel map device registers in `/dev/mem` uncached.
const SYNCHRONOUS: i32 = 0o4_010_000;

/// Why memory cannot be mapped, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// A mapped part of a file or of physical memory.
#[derive(Clone, Debug)]
pub struct Window {
    path: PathBuf,
    /// Identity of the file: device and inode number.
    identity: (u64, u64),
    map: Arc<MmapRaw>,
}

impl Window {
    /// Maps `size` bytes of a file from `offset`, readable and writable.
    ///
    /// A file or block device must contain them: an access beyond its end would kill this process.
    pub fn open(path: &Path, offset: u64, size: usize) -> Result<Self, Error> {
        let shown = path.display();
        let failed = |error: std::io::Error| Error(format!("{shown} cannot be mapped: {error}"));
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(SYNCHRONOUS)
            .open(path)
            .map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let end = offset.checked_add(size as u64);
        if size == 0 || !(offset | size as u64).is_multiple_of(WORD as u64) {
            return Err(Error(format!(
                "{shown}: a mapping consists of whole words of {WORD} bytes, at least one"
            )));
        }
        // The end of a block device is found by seeking; memory and UIO have no end.
        let has = match metadata.file_type().is_char_device() {
            true => u64::MAX,
            false => file.seek(SeekFrom::End(0)).map_err(failed)?,
        };
        if end.is_none_or(|end| end > has) {
            return Err(Error(format!(
                "{shown} has {has} bytes, not {size} from {offset:#x} on"
            )));
        }
        Ok(Self {
            path: path.into(),
            identity: identity(&file).map_err(failed)?,
            map: Arc::new(
                MmapOptions::new()
                    .offset(offset)
                    .len(size)
                    .map_raw(&file)
                    .map_err(failed)?,
            ),
        })
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file still exists and is the same: an unloaded driver removes its device.
    pub fn is_there(&self) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|now| (now.dev(), now.ino()) == self.identity)
    }

    /// The register at an offset in bytes; `None` if it is unaligned or not within the window.
    pub fn word(&self, offset: usize) -> Option<Word> {
        if !offset.is_multiple_of(WORD) || offset.checked_add(WORD)? > self.len() {
            return None;
        }
        Some(Word {
            at: NonNull::new(self.at(offset)?.cast())?,
            _map: self.map.clone(),
        })
    }

    /// Copies `count` words from an offset in bytes; `None` if they are not within the window.
    pub fn words(&self, offset: usize, count: usize) -> Option<Vec<u32>> {
        let at = self.pointer(offset, count)?;
        // SAFETY: `pointer` has checked that this many words are within the mapping, which this
        // keeps. Each is one volatile load, whatever device or program changes it meanwhile.
        Some(
            (0..count)
                .map(|index| unsafe { at.add(index).read_volatile() })
                .collect(),
        )
    }

    /// Copies bytes, in little endian; `None` also if the length is not a whole number of words.
    pub fn bytes(&self, offset: usize, length: usize) -> Option<Vec<u8>> {
        self.has(offset, length).then_some(())?;
        let mut bytes = vec![0; length];
        self.read_bytes(offset, &mut bytes).then_some(bytes)
    }

    /// Copies bytes to `room`; `false`, without copying, if they are not within the window or not
    /// whole words.
    pub fn read_bytes(&self, offset: usize, room: &mut [u8]) -> bool {
        let (words, []) = room.as_chunks_mut::<WORD>() else {
            return false;
        };
        let Some(at) = self.pointer(offset, words.len()) else {
            return false;
        };
        if let (Some(pairs), (chunks, [])) = (pairs(at), room.as_chunks_mut::<{ 2 * WORD }>()) {
            for (index, chunk) in chunks.iter_mut().enumerate() {
                // SAFETY: half as many pairs as there are words, which `pointer` has checked to be
                // within the mapping; the address is aligned for pairs. Each is one volatile load.
                *chunk = unsafe { pairs.add(index).read_volatile() }.to_le_bytes();
            }
            return true;
        }
        for (index, word) in room.as_chunks_mut::<WORD>().0.iter_mut().enumerate() {
            // SAFETY: `pointer` has checked that this many words are within the mapping, which this
            // keeps; each is one volatile load.
            *word = unsafe { at.add(index).read_volatile() }.to_le_bytes();
        }
        true
    }

    /// Whether a range is within the window and consists of whole words.
    pub fn has(&self, offset: usize, length: usize) -> bool {
        length.is_multiple_of(WORD) && self.pointer(offset, length / WORD).is_some()
    }

    /// Writes bytes, in little endian, from an offset; `false`, without writing, if they are not
    /// within the window or not whole words.
    pub fn write_bytes(&self, offset: usize, bytes: &[u8]) -> bool {
        let (words, []) = bytes.as_chunks::<WORD>() else {
            return false;
        };
        let Some(at) = self.pointer(offset, words.len()) else {
            return false;
        };
        if let (Some(pairs), (chunks, [])) = (pairs(at), bytes.as_chunks::<{ 2 * WORD }>()) {
            for (index, chunk) in chunks.iter().enumerate() {
                // SAFETY: half as many pairs as there are words, which `pointer` has checked to be
                // within the mapping, which is writable; the address is aligned for pairs. Each is
                // one volatile store.
                unsafe { pairs.add(index).write_volatile(u64::from_le_bytes(*chunk)) };
            }
            return true;
        }
        for (index, word) in words.iter().enumerate() {
            // SAFETY: `pointer` has checked that this many words are within the mapping, which this
            // keeps and which is writable; each is one volatile store.
            unsafe { at.add(index).write_volatile(u32::from_le_bytes(*word)) };
        }
        true
    }

    /// Writes words from an offset; `false`, without writing, if they are not within the window.
    pub fn write(&self, offset: usize, words: impl ExactSizeIterator<Item = u32>) -> bool {
        let count = words.len();
        let Some(at) = self.pointer(offset, count) else {
            return false;
        };
        for (index, value) in words.take(count).enumerate() {
            // SAFETY: `pointer` has checked that this many words are within the mapping, which this
            // keeps and which is writable; no more are taken, and each is one volatile store.
            unsafe { at.add(index).write_volatile(value) };
        }
        true
    }

    /// The address of `count` words from an offset, if they are within the window.
    fn pointer(&self, offset: usize, count: usize) -> Option<*mut u32> {
        let end = offset.checked_add(count.checked_mul(WORD)?)?;
        (offset.is_multiple_of(WORD) && end <= self.len()).then_some(())?;
        self.at(offset).map(<*mut u8>::cast)
    }

    fn at(&self, offset: usize) -> Option<*mut u8> {
        (offset <= self.len()).then(|| self.map.as_mut_ptr().wrapping_add(offset))
    }
}

/// The address as one of pairs of words, if aligned for them.
fn pairs(at: *mut u32) -> Option<*mut u64> {
    let pairs = at.cast::<u64>();
    (pairs.is_aligned() && cfg!(target_endian = "little")).then_some(pairs)
}

fn identity(file: &File) -> std::io::Result<(u64, u64)> {
    let metadata = file.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

/// A register of 32 bits, looked up once.
#[derive(Clone, Debug)]
pub struct Word {
    at: NonNull<u32>,
    /// Keeps the mapping.
    _map: Arc<MmapRaw>,
}

// SAFETY: an address in memory that stays mapped while this lives; loads and stores of an aligned
// word may come from any thread.
unsafe impl Send for Word {}
// SAFETY: sharing it permits only volatile loads and stores of that word.
unsafe impl Sync for Word {}

impl Word {
    #[inline(always)]
    pub fn read(&self) -> u32 {
        // SAFETY: `Window::word` has checked that it is whole, aligned and within the mapping,
        // which `_map` keeps.
        unsafe { self.at.as_ptr().read_volatile() }
    }

    #[inline(always)]
    pub fn write(&self, value: u32) {
        // SAFETY: `Window::word` has checked that it is whole, aligned and within the mapping,
        // which `_map` keeps and which is writable.
        unsafe { self.at.as_ptr().write_volatile(value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn word_access_uses_its_offset() {
        let file = file(&[0; 8192]);
        let window = Window::open(file.path(), 4096, 4096).unwrap();
        let word = window.word(8).unwrap();
        word.write(0x0102_0304);
        assert_eq!((word.read(), window.word(12).unwrap().read()), (0x0102_0304, 0));
        drop(window);
        assert_eq!(word.read(), 0x0102_0304);
        assert_eq!(std::fs::read(file.path()).unwrap()[4104..4108], [4, 3, 2, 1]);
    }

    #[test]
    fn window_at_unaligned_address_is_mapped() {
        let bytes: Vec<u8> = (0..64).collect();
        let window = Window::open(file(&bytes).path(), 20, 16).unwrap();
        assert_eq!(window.word(4).unwrap().read(), u32::from_le_bytes([24, 25, 26, 27]));
        let words: Vec<_> = bytes[20..36]
            .chunks(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(window.words(0, 4), Some(words));
        for (offset, length) in [(0, 16), (4, 8), (8, 8), (4, 12), (0, 4), (16, 0)] {
            assert_eq!(
                window.bytes(offset, length).unwrap(),
                bytes[20 + offset..20 + offset + length]
            );
        }
        assert!(window.bytes(4, 7).is_none() && window.bytes(12, 8).is_none());
        for (offset, length) in [(0, 16), (4, 8), (8, 8), (4, 12), (0, 4), (16, 0)] {
            let written: Vec<u8> = (100..100 + length as u8).collect();
            assert!(window.write_bytes(offset, &written));
            assert_eq!(window.bytes(offset, length).unwrap(), written);
        }
        let before = window.bytes(0, 16);
        assert!(!window.write_bytes(12, &[1; 8]) && !window.write_bytes(4, &[1; 7]) && !window.write_bytes(2, &[1; 4]));
        assert_eq!(window.bytes(0, 16), before);
        assert!(window.write(12, [7].into_iter()) && window.word(12).unwrap().read() == 7);
    }

    #[test]
    fn access_outside_mapping_is_refused() {
        let file = file(&[0; 4096]);
        let window = Window::open(file.path(), 0, 64).unwrap();
        for offset in [1, 2, 61, 64, 68, 4096, usize::MAX - 3, usize::MAX] {
            assert!(window.word(offset).is_none(), "{offset}");
            assert!(
                window.words(offset, 1).is_none() && !window.write(offset, [1].into_iter()),
                "{offset}"
            );
        }
        assert!(
            window.words(60, 2).is_none() && !window.write(0, [0; 17].into_iter()) && window.words(64, 0).is_some()
        );
        assert!(window.words(0, usize::MAX).is_none() && window.bytes(0, usize::MAX - 3).is_none());
        let wrong = [
            (0, 0),
            (0, 3),
            (2, 4),
            (4096, 4),
            (0, 4100),
            (u64::MAX - 3, 4),
            (4, usize::MAX - 3),
        ];
        for (offset, size) in wrong {
            assert!(Window::open(file.path(), offset, size).is_err(), "{offset} {size}");
        }
        assert!(Window::open(Path::new("/nowhere"), 0, 4)
            .unwrap_err()
            .to_string()
            .contains("/nowhere"));
    }

    #[test]
    fn removed_or_replaced_file_is_detected() {
        let file = file(&[0; 64]);
        let window = Window::open(file.path(), 0, 64).unwrap();
        assert!(window.is_there());
        let path = file.path().to_path_buf();
        std::fs::remove_file(&path).unwrap();
        assert!(!window.is_there());
        std::fs::write(&path, [0; 64]).unwrap();
        std::fs::write(path.with_extension("other"), [0; 64]).unwrap();
        std::fs::rename(path.with_extension("other"), &path).unwrap();
        assert!(!window.is_there());
        assert_eq!(window.word(0).unwrap().read(), 0);
    }
}
