//! Checks whether a boot image may replace the one that a device boots from, so that errors are
//! found before anything is written, rather than when the device fails to start.

use core::fmt;

use super::{checksum, word, BootImage, Destination, Error, CHECKED, CHECKED_WORDS, WIDTH};
use crate::bitstream::{self, Bitstream};
use crate::boards::{Board, Boards};

/// Size of the on-chip memory into which the ROM loads the loader.
const LOADER_MAX: usize = 192 << 10;
/// Indices of words in the checksummed part of the header: encryption; then the loader's offset,
/// length, load address and entry point.
const ENCRYPTION: usize = 2;
const LOADER: usize = 4;

/// The device that is to boot an image, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine<'a> {
    /// IDCODE of the chip.
    pub idcode: Option<u32>,
    /// Name of the board.
    pub board: Option<&'a str>,
}

/// Why a device could not boot from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unbootable<'a> {
    Image(Error),
    /// An error in its bitstream.
    Gateware(bitstream::Error),
    /// The image's board, and the device's.
    OtherBoard(&'a str, &'a str),
}

impl fmt::Display for Unbootable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unbootable::Image(error) => write!(f, "{error}"),
            Unbootable::Gateware(error) => write!(f, "the gateware in it: {error}"),
            Unbootable::OtherBoard(image, board) => write!(f, "it is for the board {image}, this is a {board}"),
        }
    }
}

impl From<Error> for Unbootable<'_> {
    fn from(error: Error) -> Self {
        Unbootable::Image(error)
    }
}

/// Checks the header as the boot ROM does, and finds the loader.
fn loader(file: &[u8]) -> Result<&[u8], Error> {
    let mut words = [0; CHECKED_WORDS];
    for (n, value) in words.iter_mut().enumerate() {
        *value = word(file, CHECKED + 4 * n).map_err(|_| Error::NotImage)?;
    }
    if words[0] != WIDTH {
        return Err(Error::NotImage);
    }
    BootImage::parse(file)?;
    if word(file, CHECKED + 4 * CHECKED_WORDS)? != checksum(&words) {
        return Err(Error::Header);
    }
    if words[ENCRYPTION] != 0 {
        return Err(Error::Secure(0));
    }
    let [offset, length, load, entry] = [0, 1, 2, 3].map(|n| words[LOADER + n] as usize);
    let fits = load.checked_add(length).is_some_and(|end| end <= LOADER_MAX);
    if offset % 64 != 0 || length == 0 || !fits || entry >= LOADER_MAX {
        return Err(Error::Loader);
    }
    let end = offset.checked_add(length).ok_or(Error::Truncated)?;
    file.get(offset..end).ok_or(Error::Truncated)
}

/// The board that a loader is for, if it has a table of boards.
fn board(loader: &[u8]) -> Option<Board<'_>> {
    let known = Boards::find(loader)?;
    known.iter().nth(known.chosen())
}

/// Checks that this machine's ROM would load the image's loader, and that the partitions are
/// complete and for this chip and board. Images of other makers do not specify their board.
/// # Errors
/// The first error found.
pub fn check<'a>(file: &'a [u8], machine: Machine<'a>) -> Result<(), Unbootable<'a>> {
    let first = board(loader(file)?);
    if let (Some(image), Some(device)) = (first, machine.board) {
        if image.name != device {
            return Err(Unbootable::OtherBoard(image.name, device));
        }
    }
    let image = BootImage::parse(file)?;
    let mut n = 0;
    while let Some(partition) = image.partition(n)? {
        if partition.destination == Destination::Logic {
            let found = match machine.idcode {
                Some(idcode) => Bitstream::find(partition.data, idcode),
                None => Bitstream::read(partition.data).map(|(found, _)| found),
            };
            found.map_err(Unbootable::Gateware)?;
        }
        n += 1;
    }
    if n == 0 {
        return Err(Error::NotImage.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::super::{encode, Named, Partition};
    use super::*;
    use crate::boards::{ASSUMED, MARKER, NAME};
    use proptest::prelude::*;
    use std::format;
    use std::vec::Vec;

    const Z030: u32 = 0x1372_c093;
    const Z045: u32 = 0x0373_1093;
    const MACHINE: Machine = Machine {
        idcode: Some(Z030),
        board: Some("two"),
    };

    /// A loader with a table of three boards, for the second one.
    fn known() -> Vec<u8> {
        let mut bytes = std::vec![3; 100];
        bytes.extend(MARKER);
        bytes.extend([1, 3].map(u32::to_le_bytes).concat());
        for name in ["one", "two", "three"] {
            let at = bytes.len();
            bytes.extend(name.as_bytes());
            bytes.resize(at + NAME + ASSUMED, 0);
        }
        bytes
    }

    fn image(loader: &[u8], logic: &[u8]) -> Vec<u8> {
        let part = |name, destination, data| {
            let partition = Partition {
                destination,
                load: 0,
                entry: 0,
                data,
            };
            Named { name, partition }
        };
        let parts = [
            part("boot.elf", Destination::Memory, loader),
            part("kairos.bit", Destination::Logic, logic),
            part("runtime.0", Destination::Memory, &[7; 40]),
        ];
        let mut file = Vec::new();
        encode(&mut file, &parts).unwrap();
        file
    }

    fn bitstream() -> Vec<u8> {
        let words = [!0, bitstream::SYNC, 0x2000_0000, 0x3001_8001, Z030, 0x2000_0000];
        words.map(u32::to_le_bytes).concat()
    }

    fn good() -> Vec<u8> {
        image(&known(), &bitstream())
    }

    #[test]
    fn bootable_images_for_this_board_are_accepted() {
        let file = good();
        assert_eq!(check(&file, MACHINE), Ok(()));
        assert_eq!(check(&file, Machine::default()), Ok(()));
        // A loader of another maker, without a table of boards
        assert_eq!(check(&image(b"loader", &bitstream()), MACHINE), Ok(()));
    }

    #[test]
    fn image_of_another_board_is_refused_by_name() {
        let file = good();
        let elsewhere = Machine {
            board: Some("one"),
            ..MACHINE
        };
        let refused = check(&file, elsewhere).unwrap_err();
        assert_eq!(format!("{refused}"), "it is for the board two, this is a one");
        let other = Machine {
            idcode: Some(Z045),
            ..MACHINE
        };
        assert_eq!(
            format!("{}", check(&file, other).unwrap_err()),
            "the gateware in it: this bitstream is for the XC7Z030, this chip is the XC7Z045"
        );
        let text = image(&known(), b"no bitstream");
        assert_eq!(
            check(&text, Machine::default()),
            Err(Unbootable::Gateware(bitstream::Error::NoSync))
        );
    }

    #[test]
    fn invalid_header_is_refused_by_boot_rom() {
        let refused = |at: usize, value: u32, mend: bool| {
            let mut file = good();
            file[at..at + 4].copy_from_slice(&value.to_le_bytes());
            if mend {
                let sum: u32 = (0x20..0x48)
                    .step_by(4)
                    .fold(0, |sum, at| sum.wrapping_add(word(&file, at).unwrap()));
                file[0x48..0x4c].copy_from_slice(&(!sum).to_le_bytes());
            }
            match check(&file, MACHINE) {
                Err(Unbootable::Image(error)) => error,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(refused(0x20, 0, true), Error::NotImage);
        assert_eq!(refused(0x24, 0, true), Error::NotImage);
        assert_eq!(refused(0x3c, 4, false), Error::Header);
        assert_eq!(refused(0x28, 0xa5c3_c5a3, true), Error::Secure(0));
        assert_eq!(refused(0x34, 0, true), Error::Loader);
        assert_eq!(refused(0x34, 1 << 20, true), Error::Loader);
        assert_eq!(refused(0x30, 1 << 20, true), Error::Truncated);
        assert_eq!(check(b"image", MACHINE), Err(Unbootable::Image(Error::NotImage)));
    }

    proptest! {
        /// A truncated or damaged file is handled without a panic; a truncated one is rejected.
        #[test]
        fn damaged_image_never_panics(at in 0usize..6000, value in any::<u8>()) {
            let mut file = good();
            let at = at % file.len();
            prop_assert!(check(&file[..at], MACHINE).is_err());
            file[at] ^= value;
            let _ = check(&file, MACHINE);
        }
    }
}
