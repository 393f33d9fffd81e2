//! The hardware-independent parts of the kernel core: loading libraries, unwinding exceptions,
//! formatting log text, the cache. The image itself is `main.rs` and the modules it includes.
#![cfg_attr(not(test), no_std)]

pub mod cache;
pub mod elf;
pub mod exceptions;
pub mod format;
pub mod index;
pub mod linalg;
pub mod lsda;
pub mod mathematics;
pub mod streams;
mod stubs;
pub mod traces;

pub use kairos_unwind as unwind;

#[cfg(test)]
mod relocation_tests;
#[cfg(test)]
mod tests;
