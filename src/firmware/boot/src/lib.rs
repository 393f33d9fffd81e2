//! The hardware-independent part of the loader's second stage, so that it can be tested on the
//! host.
#![no_std]
#![forbid(unsafe_code)]

pub mod netboot;
