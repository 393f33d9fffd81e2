//! The virtual bench: what is wired to a device's pins, as models with exact times.
//!
//! | room | what |
//! |---|---|
//! | [`signal`], [`model`] | what passes between models, and what a model is |
//! | [`engine`] | models, wires, and the order in which things happen |
//! | [`pad`], [`cards`] | the pins of a device, and which cards it has |
//! | [`chips`] | chips on cards |
//! | [`physics`] | light, ions, detectors, cables |
//! | [`python`] | models in Python, of the user's own |
//! | [`file`], [`numbers`], [`assemble`] | the file `bench.toml`, and how a bench is made of it |
//!
//! It knows neither the emulator nor its gateware: whoever has pins can have a bench.
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
pub mod signal;
