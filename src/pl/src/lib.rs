//! The gateware as the firmware sees it: what it says of itself and its registers ([`pl`]), what
//! others may do with those ([`exports`]), and the names of its channels.
#![no_std]

#[cfg(test)]
extern crate std;

#[cfg(test)]
mod described;
pub mod exports;
pub mod names;
mod pl;
pub mod player;

pub use pl::*;
