//! Health of the device, apart from registers, so that it is tested on the host: the chip's
//! sensors, the heartbeats that a watchdog is fed for, the text that a failing core leaves for the
//! next start, and the report of all subsystems.
#![no_std]
#![forbid(unsafe_code)]

pub mod heartbeat;
pub mod report;
pub mod sensors;
pub mod status;
