//! Kernel libraries: entries of the dynamic section, and bytes of the ELF header, beyond the kernel ABI.
//!
//! Generated from `src/contracts/library.toml` by `src/contracts/generate.py`: do not edit.

/// Address of a table of u32: locations of branches to stubs, which may be redirected to the firmware's functions.
pub const DT_CALLS: u32 = 0x6b61_6900;

/// Size of that table in bytes.
pub const DT_CALLS_SIZE: u32 = 0x6b61_6901;

/// Offset in the ELF header, within its padding, of the fingerprint of a library: a hash of everything that the linker
/// wrote, which identifies its line numbers. It does not change when a cached library is given other arrays, and is
/// present in memory where the library is loaded.
pub const FINGERPRINT: usize = 9;

/// Length of the fingerprint in bytes.
pub const FINGERPRINT_BYTES: usize = 7;
