//! The image of the kernel core (core 1), which loads libraries and runs them, one at a time.
//!
//! The comms core can kill it at any instruction and restart it (`docs/interfaces.md`, section 2).
//! Therefore nothing here holds a lock or shares an allocator with the other core, and
//! [`session::restart`] resets everything that a kernel leaves behind.
//!
//! `docs/kernel-core.md` describes the life cycle of a kernel.
#![cfg_attr(target_arch = "arm", no_std, no_main)]

#[cfg(target_arch = "arm")]
mod calls;
#[cfg(target_arch = "arm")]
mod comms;
#[cfg(target_arch = "arm")]
mod enter;
#[cfg(target_arch = "arm")]
mod fault;
#[cfg(target_arch = "arm")]
mod library;
#[cfg(target_arch = "arm")]
mod measure;
#[cfg(target_arch = "arm")]
mod memory;
#[cfg(target_arch = "arm")]
mod owned;
#[cfg(target_arch = "arm")]
mod raise;
#[cfg(target_arch = "arm")]
mod rtio;
#[cfg(target_arch = "arm")]
mod session;
#[cfg(target_arch = "arm")]
mod start;
#[cfg(target_arch = "arm")]
mod symbols;
#[cfg(target_arch = "arm")]
mod timer;
#[cfg(target_arch = "arm")]
mod window;

/// The image exists for the chip only; on the host cargo builds the library and its tests.
#[cfg(not(target_arch = "arm"))]
fn main() {}
