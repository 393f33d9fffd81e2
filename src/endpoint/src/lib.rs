//! Endpoints of a computer with Linux, a board or one in a rack: what drivers and files give access
//! to, found below `/sys` and `/dev`.
//!
//! [`memory`] maps registers and buffers, [`uio`] finds those that a driver offers to programs,
//! [`buses`] those of I2C and SPI, [`i2c`] and [`spi`] transfer on them, [`sensors`] reads
//! temperatures and supplies, [`clocks`] what runs how fast. Each takes the folder that stands for
//! `/`, so that a tree of files can be looked at in place of this computer.

pub mod buses;
pub mod clocks;
mod files;
pub mod i2c;
pub mod memory;
mod part;
pub mod sensors;
mod smbus;
pub mod spi;
pub mod uio;
