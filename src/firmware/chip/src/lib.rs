//! The Zynq-7000 and its boards, for all images of the firmware.
//!
//! It also compiles for the host, where its computations are tested; registers are accessed only by
//! functions that are documented to do so.
//!
//! No code here executes `sev` (which is reserved for the kernel initiator), takes a lock or
//! allocates.
#![no_std]

#[cfg(test)]
extern crate std;

pub mod boards;
pub mod cache;
#[cfg(target_arch = "arm")]
mod copy;
pub mod ddr;
pub mod devcfg;
#[cfg(target_arch = "arm")]
mod divide;
pub mod emio;
#[cfg(feature = "drivers")]
pub mod ethernet;
pub mod gem;
pub mod gic;
pub mod i2c;
pub mod phy;
pub mod private_timer;
#[cfg(feature = "drivers")]
pub mod reset;
#[cfg(feature = "drivers")]
pub mod sd;
#[cfg(feature = "drivers")]
pub mod setup;
pub mod start;
