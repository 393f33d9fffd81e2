//! What the firmware of two boards says to each other over a link: messages that arrive once and in
//! order, whatever the line loses ([`courier`]), and on them what a satellite is, and streams of
//! bytes ([`end`]).
//!
//! Nothing here knows of hardware, of tasks or of clocks: time is given, in microseconds.
#![no_std]
#![forbid(unsafe_code)]

pub mod courier;
pub mod end;
pub mod libraries;
pub mod mail;
pub mod routing;
mod streams;

#[cfg(test)]
mod tests;
