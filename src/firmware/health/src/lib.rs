//! Health of the device, independent of registers, so that it is tested on the host: the chip's
//! sensors, the heartbeats required by the watchdog, the text that a failing core leaves for the
//! next start, the report of all subsystems, and the log kept until a client reads it.
#![no_std]
#![forbid(unsafe_code)]

pub mod heartbeat;
pub mod log;
pub mod report;
pub mod sensors;
pub mod status;
