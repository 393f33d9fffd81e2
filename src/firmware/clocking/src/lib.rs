//! The RTIO clock, independent of registers, so that it is tested on the host: the key
//! `rtio_clock`, the synthesisers, monitoring at run time; and the I/O expanders, which are set up
//! before it.
#![no_std]
#![forbid(unsafe_code)]

pub mod clock_watch;
pub mod expanders;
pub mod rtio_clock;
pub mod si5324;
pub mod si549;
