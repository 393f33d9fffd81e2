//! TCP/IP of the comms core: [smoltcp], with a socket set for each connection.
//!
//! smoltcp normally iterates over all of its sockets for each frame, and again to find data to send
//! and the next deadline. Here each connection is the only socket of a set: a received frame is
//! passed to the set it belongs to, and only connections that are due are polled for sending
//! ([`stack`]). Deadlines are computed when a timer fires, not for each frame.
//!
//! The crate depends on no hardware ([`device`]), executor, or clock: the owner of the device calls
//! [`Stack::poll`] between polls of its tasks, and passes the time. Tasks use [`Socket`]s.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
mod comparison;
pub mod device;
mod frame;
mod once;
mod plain;
mod settings;
mod socket;
mod stack;

pub use device::{Receive, Transmit};
pub use settings::Keys;
pub use smoltcp::iface::SocketStorage;
pub use smoltcp::time::Instant;
#[cfg(feature = "ipv6")]
pub use smoltcp::wire::Ipv6Cidr;
pub use smoltcp::wire::{IpEndpoint, Ipv4Cidr};
pub use socket::{Error, Socket};
pub use stack::{Config, Ipv4, SocketMemory, Stack, SOCKETS};
