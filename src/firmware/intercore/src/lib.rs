//! Memory shared by both cores: the map of the chip's memory ([`memory`]), the rings in it
//! ([`ring`]), and on top of them the frames of messages between the comms core and the kernel core.
//!
//! Linked into the runtime (core 0) and the kernel core's image (core 1), and tested on the host.
//! No code here executes `sev`, takes a lock or allocates.
#![no_std]

#[cfg(any(test, feature = "linker"))]
#[macro_use]
extern crate std;

mod frames;
#[cfg(feature = "linker")]
pub mod linker;
pub mod memory;
pub mod ring;

pub use frames::*;
