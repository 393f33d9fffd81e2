//! The machine: its cores, memory and time, and whose turn it is.

pub mod boot_rom;
pub mod bus;
pub mod cpu;
pub mod memory;
pub mod params;
pub mod schedule;
pub mod time;
