//! What the second stage of the loader does apart from sockets and registers, so that it is tested
//! on the host.
#![no_std]
#![forbid(unsafe_code)]

pub mod netboot;
