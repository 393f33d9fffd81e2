//! The host's side: firmware files, the network outside of the device, the control socket.

pub mod control;
pub mod dhcp;
pub mod forward;
pub mod image;
pub mod net;
