//! Health of the device, independent of registers, so that it is tested on the host: the chip's
//! sensors, the heartbeats required by the watchdog, the text that a failing core leaves for the
//! next start, and the report of all subsystems.
#![no_std]
#![forbid(unsafe_code)]

pub mod heartbeat;
pub mod report;
pub mod sensors;
pub mod status;
