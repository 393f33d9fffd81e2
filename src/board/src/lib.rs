//! What the firmware images share about the chip.
//!
//! Linked into both the runtime (core 0) and the kernel core's image (core 1). It compiles for the host too, where the
//! inter-core channel is tested; only [`gem`], [`gic`], [`i2c`] and [`pl`] touch hardware, and only when their functions are called.
//!
//! No code here executes `sev` (it belongs to the kernel initiator), takes a lock or allocates.
#![no_std]

#[cfg(test)]
extern crate std;

pub mod boards;
pub mod channel;
#[cfg(target_arch = "arm")]
mod copy;
pub mod ddr;
#[cfg(target_arch = "arm")]
mod divide;
pub mod gem;
pub mod gic;
pub mod i2c;
pub mod memory;
pub mod names;
pub mod phy;
pub mod pl;
pub mod ring;
#[cfg(feature = "sd")]
pub mod sd;
pub mod start;
