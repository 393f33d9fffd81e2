//! TCP/IP of the comms core: [smoltcp], run connection by connection.
//!
//! smoltcp's own way is to go over all of its sockets for each frame, and again for what is to be
//! sent, and for when something is due next. Here each connection is the only socket of a set: a
//! received frame is shown to the set it belongs to, and only connections that have something to
//! say are asked for it ([`stack`]). When something is due is computed when a timer fires, not for
//! each frame.
//!
//! The crate knows no hardware ([`device`]), no executor, and no clock: whoever owns the device calls
//! [`Stack::poll`] between the turns of its tasks, and tells it the time. Tasks use [`Socket`]s.
#![no_std]
#![forbid(unsafe_code)]

pub mod device;
mod frame;
mod once;
mod plain;
mod settings;
mod socket;
mod stack;
#[cfg(test)]
mod twins;

pub use device::{Receive, Transmit};
pub use settings::Keys;
pub use smoltcp::iface::SocketStorage;
pub use smoltcp::time::Instant;
#[cfg(feature = "ipv6")]
pub use smoltcp::wire::Ipv6Cidr;
pub use smoltcp::wire::{IpEndpoint, Ipv4Cidr};
pub use socket::{Error, Socket};
pub use stack::{Config, Ipv4, Place, Stack, SOCKETS};
