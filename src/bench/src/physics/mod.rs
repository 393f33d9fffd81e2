//! The experiment: light that chips switch and tune, ions in it, and detectors that observe them.

pub mod aom;
pub mod camera;
pub mod comb;
pub mod crystal;
pub mod cxp;
pub mod four_levels;
pub mod ion;
pub mod level;
pub mod line;
pub mod loopback;
pub mod photodiode;
pub mod photomultiplier;
pub mod recorded;
pub mod sensor;
pub mod source;
pub mod two_level;

#[cfg(test)]
mod reference;
