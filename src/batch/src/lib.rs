//! Batches of register accesses: what they may do, and their execution step by step. Without hardware: whoever executes one
//! gives it the registers and the time (`docs/batch.md`).
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod check;
mod permission;
mod run;
#[cfg(test)]
mod tests;

pub use check::Batch;
pub use permission::Permission;
pub use run::{Registers, Run, Step};
