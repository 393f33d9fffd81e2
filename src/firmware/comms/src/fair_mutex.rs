//! A fair mutex: tasks lock it in the order in which they asked.
//!
//! The mutex of `embassy-sync` stores a single waker: two waiting tasks would wake each other
//! endlessly, and the core would never sleep.

use core::cell::{RefCell, RefMut};
use core::ops::{Deref, DerefMut};

use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_sync::semaphore::{FairSemaphore, Semaphore, SemaphoreReleaser};

type Turns<const N: usize> = FairSemaphore<NoopRawMutex, N>;

/// A value shared by up to `N` tasks.
pub struct FairMutex<T, const N: usize> {
    order: Turns<N>,
    value: RefCell<T>,
}

/// Exclusive access to the value until the guard is dropped.
pub struct Guard<'a, T, const N: usize> {
    // Dropped first: the borrow must end before the next task is woken.
    value: RefMut<'a, T>,
    _permit: SemaphoreReleaser<'a, Turns<N>>,
}

impl<T, const N: usize> FairMutex<T, N> {
    pub const fn new(value: T) -> Self {
        Self {
            order: Turns::new(1),
            value: RefCell::new(value),
        }
    }

    /// Waits for exclusive access to the value.
    pub async fn lock(&self) -> Guard<'_, T, N> {
        let permit = self.order.acquire(1).await.expect("space in the queue for each task");
        Guard {
            value: self.value.borrow_mut(),
            _permit: permit,
        }
    }
}

impl<T, const N: usize> Deref for Guard<'_, T, N> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T, const N: usize> DerefMut for Guard<'_, T, N> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
