//! The clock of RTIO, apart from registers, so that it is tested on the host: what the key
//! `rtio_clock` asks for, the synthesiser that makes it, and a watch over it while the device runs.
#![no_std]
#![forbid(unsafe_code)]

pub mod clock_watch;
pub mod rtio_clock;
pub mod si5324;
