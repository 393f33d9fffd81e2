//! What chips are for: light that they switch and tune, an ion in it, and what sees the ion.

pub mod aom;
pub mod ion;
pub mod loopback;
pub mod photomultiplier;
pub mod two_level;
