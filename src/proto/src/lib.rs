//! Every wire format of Kairos, defined once: encoders and decoders without allocation, for
//! firmware and host programs.
//!
//! This crate does not depend on sockets, cores or files.
#![no_std]
#![forbid(unsafe_code)]

pub mod analyzer;
pub mod archive;
pub mod batch;
pub mod bitstream;
pub mod boards;
pub mod boot_image;
pub mod bytes;
pub mod descriptor;
pub mod device_map;
pub mod dma;
pub mod drtio;
pub mod exception;
pub mod firmware;
pub mod intercore;
pub mod kernel_message;
pub mod layout;
pub mod link;
pub mod management;
pub mod moninj;
pub mod netboot;
pub mod paths;
mod protocol_error;
pub mod rpc;
pub mod session;
pub mod summary;

pub use protocol_error::ProtocolError;
