//! Facts that more than one part of Kairos relies on: a module for each file of facts.
//!
//! Generated from `src/contracts/*.toml` by `src/contracts/generate.py`: do not edit.
#![no_std]
#![forbid(unsafe_code)]

pub mod analyzer;
pub mod batch;
pub mod boot;
pub mod cards;
pub mod chips;
pub mod configuration;
pub mod descriptor;
pub mod drtio;
pub mod exceptions;
pub mod hub;
pub mod initiator;
pub mod intercore;
pub mod kernel_symbols;
pub mod library;
pub mod link;
pub mod management;
pub mod mathematics;
pub mod memory;
pub mod moninj;
pub mod netboot;
pub mod notes;
pub mod paths;
pub mod pulse;
pub mod registers;
pub mod remote;
pub mod rpc;
pub mod rtio;
pub mod servo;
pub mod session;
pub mod spi;
