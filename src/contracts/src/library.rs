//! Kernel libraries: entries of the dynamic section, and bytes of the ELF header, beyond the kernel ABI.
//!
//! Generated from `src/contracts/library.toml` by `src/contracts/generate.py`: do not edit.

/// Address of a table of u32: places of the branches to stubs, which can go to the firmware's functions directly.
pub const DT_CALLS: u32 = 0x6b61_6900;

/// Bytes of that table.
pub const DT_CALLS_SIZE: u32 = 0x6b61_6901;

/// Offset in the ELF header, where its padding is, of what tells which lines of the source a library has: a hash of all
/// that the linker wrote. A library that is kept and gets other arrays keeps it. It is in memory where the library is.
pub const FINGERPRINT: usize = 9;

/// Its bytes.
pub const FINGERPRINT_BYTES: usize = 7;
