//! The gateware as the firmware sees it: what it says of itself and its registers ([`pl`]), and the names of its channels.
#![no_std]

#[cfg(test)]
extern crate std;

pub mod names;
mod pl;

pub use pl::*;
