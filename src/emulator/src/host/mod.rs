//! The host side: command line, firmware files, the network outside the device, control socket.

mod bench;
pub mod boards;
pub mod cli;
pub mod control;
mod copy;
mod description;
pub mod dhcp;
pub mod failure;
pub mod forward;
pub mod image;
pub mod net;
mod pins;
pub mod requests;
pub mod run;
pub mod system;
