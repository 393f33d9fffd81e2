//! Memory map of the chip as the firmware uses it (`docs/interfaces.md`, section 1).
//!
//! The images' linker scripts are generated from it (`src/firmware/intercore`); `tests/firmware/test_images.py`
//! checks the linked images. That regions do not overlap is checked where the contract is read.

pub use kairos_contracts::memory::*;

/// End of the instructions in the runtime's region, followed by static memory, heap, stacks. Jumps
/// there fault.
pub const RUNTIME_DATA: usize = 0x0030_0000;
/// The same for the kernel core's image.
pub const KERNEL_DATA: usize = 0x0810_0000;

const _: () = assert!(core::mem::size_of::<crate::Shared>() <= INTERCORE.end - INTERCORE.start);
const _: () = assert!(STREAM.end == DDR_END && LOADER.end <= DDR_END);
