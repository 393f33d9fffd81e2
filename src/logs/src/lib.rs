//! The log that a device keeps until somebody takes it.
#![no_std]
#![forbid(unsafe_code)]

pub mod ring;
