//! Communication between the firmware of two boards over a link: reliable, ordered messages,
//! whatever the line loses ([`reliable`]), and on top of them the identification of a satellite, and
//! byte streams ([`end`]).
//!
//! This crate depends on no hardware, tasks or clocks: times are passed in, in microseconds.
#![no_std]
#![forbid(unsafe_code)]

pub mod drtio;
pub mod end;
pub mod library_store;
pub mod message_queue;
pub mod reliable;
pub mod routing;
mod streams;

#[cfg(test)]
mod tests;
