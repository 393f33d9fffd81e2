//! Statics of this image: who may touch each, said by its type.
//!
//! The image runs on core 1 alone, and its one interrupt handler ([`crate::start`]) is assembly
//! that touches none of them. So whatever runs here is one thread, and a value in a cell cannot
//! change between two instructions unless the gateware writes it. A restart may end that thread at
//! any instruction: what outlives a restart must make sense after each store.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::{read_volatile, write_volatile};

/// State of one module, which only this core uses. Values go in and out whole; nothing refers to
/// what is inside.
#[repr(transparent)]
pub struct Owned<T>(UnsafeCell<T>);

// SAFETY: one thread (see the module), which is handed values and no references, but by `as_ptr`,
// whose users say why they may.
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
        // SAFETY: initialised at every instruction, and a copy leaves it so.
        unsafe { self.0.get().read() }
    }
}

impl<T> Owned<Option<T>> {
    pub fn take(&self) -> Option<T> {
        self.replace(None)
    }

    /// Whether there is a value.
    pub fn is_some(&self) -> bool {
        // SAFETY: the reference ends with this expression, which calls nobody who could put another value in.
        unsafe { (*self.0.get()).is_some() }
    }
}

/// State of one module that is changed where it stands: lent to one function at a time.
///
/// A function that has it may sleep, be ended by a restart, or stop this core; it does not leave
/// the kernel ([`crate::enter::leave`]), which would keep it lent for the rest of the session.
pub struct Lent<T> {
    value: UnsafeCell<MaybeUninit<T>>,
    whereabouts: Exposed<Whereabouts>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Whereabouts {
    Here = 0,
    Lent = 1,
    /// There is no value.
    Nowhere = 2,
}

// SAFETY: one thread (see the module), and of that one function at a time: `whereabouts` says
// whether there is one.
unsafe impl<T> Sync for Lent<T> {}

impl<T> Lent<T> {
    pub const fn new(value: T) -> Self {
        Self {
            value: UnsafeCell::new(MaybeUninit::new(value)),
            whereabouts: Exposed::new(Whereabouts::Here),
        }
    }

    /// Without a value, until [`put`](Self::put).
    pub const fn absent() -> Self {
        Self {
            value: UnsafeCell::new(MaybeUninit::uninit()),
            whereabouts: Exposed::new(Whereabouts::Nowhere),
        }
    }

    /// Puts a value where none is.
    ///
    /// # Panics
    /// If there is one.
    pub fn put(&self, value: T) {
        assert!(self.whereabouts.get() == Whereabouts::Nowhere);
        // SAFETY: it is lent to nobody, as it was not there.
        unsafe { (*self.value.get()).write(value) };
        self.whereabouts.set(Whereabouts::Here);
    }

    /// Lends the value to `action`.
    ///
    /// # Panics
    /// If it is lent already, or not there: a mistake of this image.
    #[inline(always)]
    pub fn with<R>(&self, action: impl FnOnce(&mut T) -> R) -> R {
        self.try_with(action).unwrap_or_else(|| unavailable())
    }

    /// Lends the value to `action`, unless it is lent already, or not there.
    #[inline(always)]
    pub fn try_with<R>(&self, action: impl FnOnce(&mut T) -> R) -> Option<R> {
        if self.whereabouts.get() != Whereabouts::Here {
            return None;
        }
        self.whereabouts.set(Whereabouts::Lent);
        // SAFETY: there is one, and this is the only reference: `whereabouts` said so, and says
        // otherwise until it ends.
        let result = action(unsafe { (*self.value.get()).assume_init_mut() });
        self.whereabouts.set(Whereabouts::Here);
        Some(result)
    }

    /// In a restart: whoever had it is gone, and the value is as that one left it.
    pub fn reclaim(&self) {
        if self.whereabouts.get() == Whereabouts::Lent {
            self.whereabouts.set(Whereabouts::Here);
        }
    }

    /// In a restart: whoever had it is gone, and so is the value.
    pub fn forget(&self) {
        self.whereabouts.set(Whereabouts::Nowhere);
    }
}

#[cold]
#[inline(never)]
fn unavailable() -> ! {
    panic!("state is asked for that is in use, or not there")
}

/// A word that the gateware reads or writes as well, or that a restart may find half way: every
/// access is made, in the order of the program.
#[repr(transparent)]
pub struct Exposed<T>(UnsafeCell<T>);

// SAFETY: of the two cores only this one has it (see the module), and accesses are volatile and of
// the size of one register, so what the gateware does meanwhile is seen before or after.
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
        // SAFETY: valid memory, which the gateware may read half way through the program's stores,
        // and no references to it.
        unsafe { write_volatile(self.0.get(), value) }
    }
}
