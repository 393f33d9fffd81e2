//! What the services of core 0 do, apart from sockets and registers, so that it is tested on the host: the ring of the log,
//! the configuration on the SD card, and what its values mean, the receiving end of network boot, who may use it, texts that
//! outlive a reset, signs of life, the chip's sensors, the clock synthesiser, and a look at the clocks.
#![no_std]
#![forbid(unsafe_code)]

pub mod auth;
pub mod card;
pub mod clock_watch;
pub mod netboot;
pub mod report;
pub mod ring;
pub mod rtio_clock;
pub mod sensors;
pub mod settings;
pub mod si5324;
pub mod sign;
pub mod store;
