//! The peripherals of the processing system, one file each. They know nothing of cores or of the host.

pub mod ddrc;
pub mod devcfg;
pub mod gem;
pub mod gic;
pub mod gpio;
pub mod sd;
pub mod si5324;
pub mod slcr;
pub mod stubs;
pub mod swdt;
pub mod timers;
pub mod uart;
pub mod xadc;
