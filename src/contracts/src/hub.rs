//! The hub.
//!
//! Generated from `src/contracts/hub.toml` by `src/contracts/generate.py`: do not edit.

/// TCP port on which a hub listens unless hub.toml sets another.
pub const PORT: u16 = 1_390;
