//! Memory map of the chip as the firmware uses it (`docs/interfaces.md`, section 1).
//!
//! The linker's scripts of the images are made from it (`src/layout`);
//! `tests/firmware/test_images.py` looks at the linked images. That regions do not overlap is
//! checked where the facts are read.

pub use kairos_contracts::memory::*;

/// In the runtime's region no instructions are from here on: static memory, heap, stacks. A jump
/// there faults.
pub const RUNTIME_DATA: usize = 0x0030_0000;
/// The same of the kernel core's image.
pub const KERNEL_DATA: usize = 0x0810_0000;

const _: () = assert!(core::mem::size_of::<crate::Shared>() <= CHANNEL.end - CHANNEL.start);
const _: () = assert!(STREAM.end == DDR_END && LOADER.end <= DDR_END);
