//! The image of the kernel core (core 1): it waits for libraries and runs them, one at a time.
//!
//! The comms core can kill it at any instruction and start it over (`docs/interfaces.md`, section
//! 2). So nothing here holds a lock or shares an allocator with the other core, and what a kernel
//! leaves behind is reset by [`session::restart`].
//!
//! `docs/kernel-core.md` tells the life of a kernel.
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

/// The image exists for the chip only; cargo on the host builds the library and its tests.
#[cfg(not(target_arch = "arm"))]
fn main() {}
