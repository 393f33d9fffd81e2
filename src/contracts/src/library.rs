//! Kernel libraries: entries of the dynamic section beyond the kernel ABI.
//!
//! Generated from `src/contracts/library.toml` by `src/contracts/generate.py`: do not edit.

/// Address of a table of u32: places of the branches to stubs, which can go to the firmware's functions directly.
pub const DT_CALLS: u32 = 0x6b61_6900;

/// Bytes of that table.
pub const DT_CALLS_SIZE: u32 = 0x6b61_6901;
