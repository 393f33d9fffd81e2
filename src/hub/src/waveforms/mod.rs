//! What channels of core devices did: the hub takes the analyzer's dumps from a device and keeps
//! the newest events for all clients ([`record`], access), who read and follow them, wait for one
//! of them (`service`, control), or have them as a file ([`vcd`]).

pub mod record;
mod service;
pub mod vcd;
