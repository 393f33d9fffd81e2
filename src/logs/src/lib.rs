//! The log that a device keeps until a client reads it.
#![no_std]
#![forbid(unsafe_code)]

pub mod ring;
