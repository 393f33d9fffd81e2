//! Archives of a kernel and the subkernels that satellites run for it, as values of the keys of
//! startup and idle kernels (wire protocols, section 1.12): uncompressed tar files of `main.elf`
//! and `<number> <destination>.elf`.

use core::fmt;
use core::ops::Range;

/// Size of a file's header, and the unit to which its contents are padded.
const BLOCK: usize = 512;
const NAME: Range<usize> = 0..100;
const SIZE: Range<usize> = 124..136;
const TYPE: usize = 156;
const MAGIC: Range<usize> = 257..262;
const MAIN: &[u8] = b"main.elf";

/// Why an archive is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It ends in the middle of a file.
    CutOff,
    /// A file has an unexpected name.
    Name,
    NoMain,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wrong::CutOff => "the archive ends in the middle of a file",
            Wrong::Name => "the archive has a file that is called neither 'main.elf' nor '<number> <destination>.elf'",
            Wrong::NoMain => "the archive has no 'main.elf'",
        })
    }
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Number and destination of a subkernel; `None` for the kernel itself.
    pub subkernel: Option<(u32, u8)>,
    /// Its position in the archive.
    pub place: Range<usize>,
}

/// Whether this is an archive.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.get(MAGIC).is_some_and(|magic| magic == b"ustar")
}

/// The files of an archive. Iteration ends after an error.
pub fn parts(bytes: &[u8]) -> impl Iterator<Item = Result<Part, Wrong>> + '_ {
    let mut next = Some(0);
    core::iter::from_fn(move || loop {
        let start = next.take()? + BLOCK;
        let head = bytes.get(start - BLOCK..start)?;
        if head[0] == 0 {
            return None;
        }
        let Some(place) = octal(&head[SIZE]).and_then(|size| place(bytes, start, size)) else {
            return Some(Err(Wrong::CutOff));
        };
        next = Some(place.end.next_multiple_of(BLOCK));
        // Other entries hold attributes only.
        if matches!(head[TYPE], b'0' | 0) {
            let part = named(&head[NAME]).map(|subkernel| Part { subkernel, place });
            if part.is_none() {
                next = None;
            }
            return Some(part.ok_or(Wrong::Name));
        }
    })
}

fn place(bytes: &[u8], start: usize, size: u32) -> Option<Range<usize>> {
    let end = start.checked_add(size as usize)?;
    (end <= bytes.len()).then_some(start..end)
}

/// Identifies a file by its name.
fn named(name: &[u8]) -> Option<Option<(u32, u8)>> {
    let name = name.split(|byte| *byte == 0).next()?;
    if name == MAIN {
        return Some(None);
    }
    let (number, destination) = core::str::from_utf8(name).ok()?.strip_suffix(".elf")?.split_once(' ')?;
    Some(Some((number.parse().ok()?, destination.parse().ok()?)))
}

/// Parses octal digits, up to a zero byte or a space.
fn octal(text: &[u8]) -> Option<u32> {
    let end = text.iter().position(|byte| matches!(byte, 0 | b' '));
    let digits = core::str::from_utf8(&text[..end.unwrap_or(text.len())]).ok()?;
    u32::from_str_radix(digits, 8).ok()
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    fn file(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::from([0; BLOCK]);
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        bytes[SIZE][..11].copy_from_slice(std::format!("{:011o}", content.len()).as_bytes());
        bytes[TYPE] = kind;
        bytes[MAGIC].copy_from_slice(b"ustar");
        bytes.extend(content);
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        bytes
    }

    fn read(bytes: &[u8]) -> Vec<Result<Part, Wrong>> {
        parts(bytes).collect()
    }

    #[test]
    fn archive_of_kernel_and_two_subkernels_decodes() {
        let mut archive = file("main.elf", b'0', b"main");
        archive.extend(file("pax", b'x', b"11 path=abc"));
        archive.extend(file("1 2.elf", 0, &[7; 600]));
        archive.extend(file("12 255.elf", b'0', b""));
        archive.extend([0; 1024]);
        assert!(is_archive(&archive) && !is_archive(b"\x7fELF"));
        let part = |subkernel, start, length| {
            Ok(Part {
                subkernel,
                place: start..start + length,
            })
        };
        assert_eq!(
            read(&archive),
            [
                part(None, 512, 4),
                part(Some((1, 2)), 2560, 600),
                part(Some((12, 255)), 4096, 0)
            ]
        );
        assert_eq!(read(&archive[..3000]), [part(None, 512, 4), Err(Wrong::CutOff)]);
    }

    #[test]
    fn forbidden_file_names_are_rejected() {
        for name in [
            "other.elf",
            "1 256.elf",
            "1.elf",
            "a 1.elf",
            "1 2.so",
            "1  2.elf",
            "-1 2.elf",
            "99999999999 1.elf",
        ] {
            assert_eq!(read(&file(name, b'0', b"x")), [Err(Wrong::Name)], "{name}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_archive_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..3000), names in any::<bool>()) {
            let mut bytes = bytes;
            if names && bytes.len() > 600 {
                bytes[SIZE].copy_from_slice(b"00000000001\0");
            }
            for part in parts(&bytes).flatten() {
                prop_assert!(part.place.end <= bytes.len());
            }
        }
    }
}
