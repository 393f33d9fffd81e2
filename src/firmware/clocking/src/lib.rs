//! The RTIO clock, independent of registers, so that it is tested on the host: the key
//! `rtio_clock`, the synthesiser, and monitoring at run time.
#![no_std]
#![forbid(unsafe_code)]

pub mod clock_watch;
pub mod rtio_clock;
pub mod si5324;
