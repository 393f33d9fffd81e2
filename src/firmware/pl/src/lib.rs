//! The gateware as the firmware sees it: its descriptor and registers ([`pl`]), access rights of
//! other software to them ([`exports`]), and the names of its channels.
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
