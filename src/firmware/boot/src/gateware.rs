//! Gateware: finds the bitstream in a file, and configures the PL with it.

use core::fmt::{Display, Formatter, Result as Written};

use kairos_chip::devcfg;
use kairos_proto::bitstream::{self, Bitstream};

use crate::chip;

/// Why the PL is not configured.
pub enum Error {
    File(bitstream::Error),
    Chip(devcfg::Error),
}

impl Display for Error {
    fn fmt(&self, out: &mut Formatter) -> Written {
        let reason: &dyn Display = match self {
            Error::File(reason) => reason,
            Error::Chip(reason) => reason,
        };
        reason.fmt(out)
    }
}

/// Configures the PL with the bitstream in a file. The file is modified: its words are converted to
/// the PL's byte order and moved to its start, which must be aligned to 64 bytes.
pub fn configure(file: &mut [u8]) -> Result<(), Error> {
    let found = Bitstream::find(file, chip::idcode()).map_err(Error::File)?;
    file.copy_within(found.start..found.start + found.length, 0);
    let words = &mut file[..found.length];
    if found.reversed {
        for word in words.chunks_exact_mut(4) {
            word.reverse();
        }
    }
    // SAFETY: nothing uses the PL while the loader runs.
    unsafe { devcfg::configure(words) }.map_err(Error::Chip)
}
