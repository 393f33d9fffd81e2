//! Waveforms of core devices' channels: the hub fetches the analyzer's dumps from a device and
//! keeps the newest events for all clients ([`record`], access), which can read and follow them,
//! wait for an event (`service`, control), or get them as a file ([`vcd`]).

pub mod record;
mod service;
pub mod vcd;
