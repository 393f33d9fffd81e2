//! Memory map of the chip as the firmware uses it (`docs/interfaces.md`, section 1).
//!
//! The linker's scripts of the images are made from it (`src/layout`); `tests/firmware/test_images.py` looks at the linked
//! images. That regions do not overlap is checked where the facts are read.

pub use kairos_contracts::memory::*;

const _: () = assert!(core::mem::size_of::<crate::Shared>() <= CHANNEL.end - CHANNEL.start);
const _: () = assert!(STREAM.end == DDR_END && LOADER.end <= DDR_END);
