//! Batches of register accesses: their permissions, and their execution in stretches of steps.
//! Independent of hardware: the caller supplies the device, the lines of the I2C bus and the time
//! (`docs/batch.md`).
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod check;
pub mod i2c;
mod permission;
mod run;
#[cfg(test)]
mod tests;

pub use check::Batch;
pub use permission::{Exported, Permission};
pub use run::{Device, Pause, Run};
