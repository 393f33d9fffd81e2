//! The hub: registers, batches and health of a laboratory's core devices, over gRPC.
//!
//! [`settings`] reads hub.toml; [`access`] controls who may call what. A [`device::Device`] is a
//! connection to a core device that is re-established automatically, or a [`board`] with Linux,
//! with its [`registers`], [`health`], [`logs`], [`clocks`] and [`waveforms`]; requests to it are
//! [`job`]s. [`program`] builds batches from named steps; the [`journal`] survives a hub that is
//! interrupted during a batch. [`service`] offers all this on a [`server`], with the `connections`
//! of its clients, [`metrics`], the methods of [`plugins`] and of the [`laboratory`], and the
//! [`page`] in the browser. [`command`] is its command line. [`traces`] shows where the time of a call goes; [`life`] reports liveness
//! to a service manager; `text` makes what others wrote safe for the log.
#![forbid(unsafe_code)]

pub mod access;
pub mod board;
mod body;
pub mod clocks;
pub mod command;
mod connections;
pub mod device;
pub mod health;
pub mod job;
pub mod journal;
pub mod laboratory;
pub mod life;
pub mod logs;
pub mod management;
pub mod metrics;
mod names;
pub mod page;
pub mod plugins;
pub mod program;
pub mod registers;
mod roles;
pub mod server;
pub mod service;
mod serving;
pub mod settings;
mod spi;
mod text;
pub mod traces;
mod upstream;
pub mod waveforms;

/// The protocol (`proto/kairos/hub/v1/hub.proto`).
pub mod v1 {
    pub use crate::board::part::ReadMemoryResponse;

    tonic::include_proto!("kairos.hub.v1");

    /// The protocol files, for reflection.
    pub const FILES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hub.bin"));
}

/// What the hub itself calls of the laboratory (`proto/kairos/lab/v1/runs.proto`).
pub mod lab_v1 {
    tonic::include_proto!("kairos.lab.v1");
}
