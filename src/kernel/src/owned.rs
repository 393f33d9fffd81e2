//! Statics of this image: who may touch each, said by its type.
//!
//! The image runs on core 1 alone, and its one interrupt handler ([`crate::start`]) is assembly that touches none of them.
//! So whatever runs here is one thread, and a value in a cell cannot change between two instructions unless the gateware
//! writes it. A restart may end that thread at any instruction: what outlives a restart must make sense after each store.

use core::cell::UnsafeCell;
use core::ptr::{read_volatile, write_volatile};

/// State of one module, which only this core uses. Values go in and out whole; nothing refers to what is inside.
#[repr(transparent)]
pub struct Owned<T>(UnsafeCell<T>);

// SAFETY: one thread (see above), which is handed values and no references, but by `as_ptr`, whose users say why they may.
unsafe impl<T> Sync for Owned<T> {}

impl<T> Owned<T> {
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    pub fn set(&self, value: T) {
        self.replace(value);
    }

    /// Puts `value` in and gives what was there.
    pub fn replace(&self, value: T) -> T {
        // SAFETY: nothing refers to the inside while this runs: see `Sync`.
        unsafe { self.0.get().replace(value) }
    }

    /// The place, for values that stay where they are.
    pub const fn as_ptr(&self) -> *mut T {
        self.0.get()
    }
}

impl<T: Copy> Owned<T> {
    pub fn get(&self) -> T {
        // SAFETY: as in `replace`.
        unsafe { self.0.get().read() }
    }
}

impl<T> Owned<Option<T>> {
    pub fn take(&self) -> Option<T> {
        self.replace(None)
    }

    /// Whether there is a value.
    pub fn is_some(&self) -> bool {
        // SAFETY: as in `replace`; the reference ends here.
        unsafe { (*self.0.get()).is_some() }
    }
}

/// A word that the gateware reads or writes as well, or that a restart may find half way: every access is made, in the
/// order of the program.
#[repr(transparent)]
pub struct Exposed<T>(UnsafeCell<T>);

// SAFETY: of the two cores only this one has it (see above), and accesses are volatile and of the size of one register, so
// what the gateware does meanwhile is seen before or after.
unsafe impl<T> Sync for Exposed<T> {}

impl<T: Copy> Exposed<T> {
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    #[inline(always)]
    pub fn get(&self) -> T {
        // SAFETY: valid memory, and no references to the inside exist.
        unsafe { read_volatile(self.0.get()) }
    }

    #[inline(always)]
    pub fn set(&self, value: T) {
        // SAFETY: as in `get`.
        unsafe { write_volatile(self.0.get(), value) }
    }
}
