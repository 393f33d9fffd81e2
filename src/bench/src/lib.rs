//! The virtual bench: models, with exact times, of the hardware wired to a device's pins.
//!
//! | modules | contents |
//! |---|---|
//! | [`signal`], [`model`] | signals between models, and the trait of a model |
//! | [`engine`] | models, wires, and the event queue |
//! | [`pad`], [`cards`] | the pins of a device, and detection of its cards |
//! | [`chips`] | chips on cards |
//! | [`physics`] | light, ions, detectors, cables |
//! | [`random`] | random numbers of each part |
//! | [`python`] | user-defined models in Python |
//! | [`file`], [`numbers`], [`section`], [`assemble`] | the file `bench.toml`, and assembly of a bench from it |
//!
//! The crate depends on neither the emulator nor its gateware: anything with pins can have a bench.
#![forbid(unsafe_code)]

pub mod assemble;
pub mod cards;
pub mod chips;
pub mod engine;
pub mod file;
pub mod model;
pub mod numbers;
pub mod pad;
pub mod physics;
pub mod python;
pub mod random;
pub mod section;
pub mod signal;
#[cfg(test)]
mod vectors;
