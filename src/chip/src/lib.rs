//! The Zynq-7000 and the boards that carry it, for all images of the firmware.
//!
//! It compiles for the host too, where what computes is tested; registers are touched only when a
//! function that does is called.
//!
//! No code here executes `sev` (it belongs to the kernel initiator), takes a lock or allocates.
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
