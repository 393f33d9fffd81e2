//! The pulse core in software: its words, a bit-exact model from words to samples, and the compiler
//! that generates the words.
//!
//! `docs/pulse.md` describes the core, and the latency conventions by which the gateware is
//! compared with the model. Without the feature `alloc`, only what is needed to make single words
//! is available: formats, units and splines, for processors without a heap.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod adjust;
mod bits;
#[cfg(feature = "alloc")]
pub mod compile;
pub mod course;
pub mod difference;
pub mod kernel_pulse;
pub mod knots;
#[cfg(feature = "alloc")]
pub mod model;
pub mod segment;
pub mod spline;
pub mod store;
pub mod units;
pub mod word;

pub use bits::{wrap, Word};
pub use segment::Segment;
pub use spline::Spline;
