//! The machine: its cores, memory and time, whose turn it is, and what a peripheral is to it. It names none.

pub mod boot_rom;
pub mod bus;
pub mod cpu;
pub mod memory;
pub mod params;
pub mod peripheral;
pub mod schedule;
pub mod signals;
pub mod time;
