//! Boot image: the loader's table of boards (`docs/interfaces.md`, section 1).
//!
//! Generated from `src/contracts/boot.toml` by `src/contracts/generate.py`: do not edit.

/// In front of the table, and nowhere else in the loader.
pub const MARKER: &[u8; 16] = b"KAIROS BOARDS 1\x00";

/// Bytes of a board's name, with at least one zero behind it.
pub const NAME: usize = 16;

/// Bytes of what no public source confirms of a board, with at least one zero behind it.
pub const ASSUMED: usize = 112;
