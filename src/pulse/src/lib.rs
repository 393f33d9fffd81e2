//! The pulse core in software: its words, a bit-exact model from words to samples, and the compiler
//! that makes the words.
//!
//! `docs/pulse.md` says what the core does, and by which conventions of latency the gateware is
//! compared with the model. Without the feature `alloc` there is what makes single words: formats,
//! units and splines, for processors without a heap.
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
pub mod knots;
#[cfg(feature = "alloc")]
pub mod model;
pub mod segment;
pub mod spline;
pub mod units;
pub mod word;

pub use bits::{wrap, Word};
pub use segment::Segment;
pub use spline::Spline;
