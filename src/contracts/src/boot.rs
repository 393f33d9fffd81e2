//! Boot image: the loader's table of boards (`docs/interfaces.md`, section 1).
//!
//! Generated from `src/contracts/boot.toml` by `src/contracts/generate.py`: do not edit.

/// Marker before the table; occurs nowhere else in the loader.
pub const MARKER: &[u8; 16] = b"KAIROS BOARDS 1\x00";

/// Bytes of a board's name, zero-terminated.
pub const NAME: usize = 16;

/// Bytes of the text listing the assumptions about a board without public confirmation, zero-terminated.
pub const ASSUMED: usize = 112;
