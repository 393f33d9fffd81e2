//! The hub: registers, batches and health of a laboratory's core devices, over gRPC.
//!
//! [`settings`] reads hub.toml; [`access`] says who may call what; a [`device::Device`] is a
//! connection to a core device that comes back by itself, or a [`board`] with Linux, whose
//! registers [`registers`] names, whose [`health`] and [`logs`] others can follow, whose [`clocks`]
//! and [`waveforms`] it shows, and of which [`job`]s ask; [`program`] makes batches of named steps,
//! the [`journal`] outlives the hub that one interrupts; [`service`] offers all that, on a
//! [`server`] with the `connections` of its clients, with [`metrics`] and the methods of
//! [`plugins`]. [`traces`] shows where a call's time goes, [`life`] tells a service manager that
//! the hub lives.
#![forbid(unsafe_code)]

pub mod access;
pub mod board;
mod body;
pub mod clocks;
mod connections;
pub mod device;
pub mod health;
pub mod job;
pub mod journal;
pub mod life;
pub mod logs;
pub mod management;
pub mod metrics;
mod names;
pub mod plugins;
pub mod program;
pub mod registers;
mod roles;
pub mod server;
pub mod service;
pub mod settings;
mod spi;
pub mod traces;
pub mod waveforms;

/// The protocol (`proto/kairos/hub/v1/hub.proto`).
pub mod v1 {
    pub use crate::board::part::ReadMemoryResponse;

    tonic::include_proto!("kairos.hub.v1");

    /// The protocol files, for reflection.
    pub const FILES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hub.bin"));
}
