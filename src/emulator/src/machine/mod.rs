//! The machine: cores, memory, time, scheduling, and the interface of peripherals. It depends on no
//! particular peripheral.

pub mod boot_rom;
pub mod bus;
pub mod cpu;
pub mod disturbance;
pub mod memory;
pub mod params;
pub mod peripheral;
pub mod schedule;
pub mod signals;
pub mod time;
