//! Statics of this image, whose types define who may access them.
//!
//! The image runs on core 1 alone, and its one interrupt handler ([`crate::start`]) is assembly
//! that accesses none of them. So the code here is a single thread, and a value in a cell cannot
//! change between two instructions unless the gateware writes it. A restart may end that thread at
//! any instruction: state that survives a restart must be consistent after each store.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::{read_volatile, write_volatile};

/// State of one module, used by this core only. Values are copied in and out; there are no
/// references to the contents.
#[repr(transparent)]
pub struct Owned<T>(UnsafeCell<T>);

// SAFETY: a single thread (see the module), which only receives values; references come only from
// `as_ptr`, whose users justify them.
unsafe impl<T> Sync for Owned<T> {}

impl<T> Owned<T> {
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    pub fn set(&self, value: T) {
        self.replace(value);
    }

    /// Stores `value` and returns the previous one.
    pub fn replace(&self, value: T) -> T {
        // SAFETY: there are no references to the contents while this runs: see `Sync`.
        unsafe { self.0.get().replace(value) }
    }

    /// The address of the contents, for values that stay in place.
    pub const fn as_ptr(&self) -> *mut T {
        self.0.get()
    }
}

impl<T: Copy> Owned<T> {
    pub fn get(&self) -> T {
        // SAFETY: always initialised, and unchanged by a copy.
        unsafe { self.0.get().read() }
    }
}

impl<T> Owned<Option<T>> {
    pub fn take(&self) -> Option<T> {
        self.replace(None)
    }

    /// Whether there is a value.
    pub fn is_some(&self) -> bool {
        // SAFETY: the reference ends with this expression, which calls nothing that could store
        // another value.
        unsafe { (*self.0.get()).is_some() }
    }
}

/// State of one module that is modified in place: lent to one function at a time.
///
/// A function that borrows it may sleep, be ended by a restart, or stop this core. It must not
/// leave the kernel ([`crate::enter::leave`]), as the value would stay lent for the rest of the
/// session.
pub struct BorrowCell<T> {
    value: UnsafeCell<MaybeUninit<T>>,
    access: Exposed<Access>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Access {
    Available = 0,
    Borrowed = 1,
    /// There is no value.
    Absent = 2,
}

// SAFETY: a single thread (see the module), of which one function at a time borrows the value, as
// `access` records.
unsafe impl<T> Sync for BorrowCell<T> {}

impl<T> BorrowCell<T> {
    pub const fn new(value: T) -> Self {
        Self {
            value: UnsafeCell::new(MaybeUninit::new(value)),
            access: Exposed::new(Access::Available),
        }
    }

    /// Creates it without a value, until [`put`](Self::put).
    pub const fn absent() -> Self {
        Self {
            value: UnsafeCell::new(MaybeUninit::uninit()),
            access: Exposed::new(Access::Absent),
        }
    }

    /// Stores a value where there is none.
    ///
    /// # Panics
    /// If there is one.
    pub fn put(&self, value: T) {
        assert!(self.access.get() == Access::Absent);
        // SAFETY: no function borrows it, as there was no value.
        unsafe { (*self.value.get()).write(value) };
        self.access.set(Access::Available);
    }

    /// Lends the value to `action`.
    ///
    /// # Panics
    /// If it is lent already, or absent: a bug of this image.
    #[inline(always)]
    pub fn with<R>(&self, action: impl FnOnce(&mut T) -> R) -> R {
        self.try_with(action).unwrap_or_else(|| unavailable())
    }

    /// Lends the value to `action`, unless it is lent already or absent.
    #[inline(always)]
    pub fn try_with<R>(&self, action: impl FnOnce(&mut T) -> R) -> Option<R> {
        if self.access.get() != Access::Available {
            return None;
        }
        self.access.set(Access::Borrowed);
        // SAFETY: there is a value, and this is the only reference: `access` was `Available`, and
        // is not until the action ends.
        let result = action(unsafe { (*self.value.get()).assume_init_mut() });
        self.access.set(Access::Available);
        Some(result)
    }

    /// Takes the value back in a restart. The borrower is gone, and the value is as it left it.
    pub fn reclaim(&self) {
        if self.access.get() == Access::Borrowed {
            self.access.set(Access::Available);
        }
    }

    /// Removes the value in a restart. The borrower is gone.
    pub fn remove(&self) {
        self.access.set(Access::Absent);
    }
}

#[cold]
#[inline(never)]
fn unavailable() -> ! {
    panic!("state is asked for that is in use, or not there")
}

/// A word that the gateware also accesses, or that a restart may find in an intermediate state:
/// every access is performed, in program order.
#[repr(transparent)]
pub struct Exposed<T>(UnsafeCell<T>);

// SAFETY: of the two cores only this one uses it (see the module), and accesses are volatile and of
// register size, so those of the gateware are seen before or after them.
unsafe impl<T> Sync for Exposed<T> {}

impl<T: Copy> Exposed<T> {
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    #[inline(always)]
    pub fn get(&self) -> T {
        // SAFETY: valid memory, and there are no references to the contents.
        unsafe { read_volatile(self.0.get()) }
    }

    #[inline(always)]
    pub fn set(&self, value: T) {
        // SAFETY: valid memory, without references to it. The gateware may read it between any of
        // the program's stores.
        unsafe { write_volatile(self.0.get(), value) }
    }
}
