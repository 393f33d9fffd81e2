//! Endpoints of a Linux computer, a board or one in a rack: everything that drivers and files
//! expose below `/sys` and `/dev`.
//!
//! [`memory`] maps registers and buffers, [`uio`] finds those that a driver offers to programs,
//! [`buses`] those of I2C and SPI, [`i2c`] and [`spi`] execute transfers on them, [`sensors`] reads
//! temperatures and supplies, [`clocks`] the clock frequencies. Each takes the folder that stands
//! for `/`, so that a tree of files can be examined in place of this computer.

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
