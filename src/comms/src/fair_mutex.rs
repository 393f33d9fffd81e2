//! A mutex that is fair: tasks have it in the order in which they asked for it.
//!
//! The mutex of `embassy-sync` knows one waiting task: two of them would wake each other without
//! end, and the core would never rest.

use core::cell::{RefCell, RefMut};
use core::ops::{Deref, DerefMut};

use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_sync::semaphore::{FairSemaphore, Semaphore, SemaphoreReleaser};

type Order<const N: usize> = FairSemaphore<NoopRawMutex, N>;

/// A value that up to `N` tasks share.
pub struct FairMutex<T, const N: usize> {
    order: Order<N>,
    value: RefCell<T>,
}

/// The value, while a task has it: until this is dropped.
pub struct Guard<'a, T, const N: usize> {
    // Given back before the next task is woken.
    value: RefMut<'a, T>,
    _permit: SemaphoreReleaser<'a, Order<N>>,
}

impl<T, const N: usize> FairMutex<T, N> {
    pub const fn new(value: T) -> Self {
        Self {
            order: Order::new(1),
            value: RefCell::new(value),
        }
    }

    /// Waits until the value is this task's.
    pub async fn lock(&self) -> Guard<'_, T, N> {
        let permit = self.order.acquire(1).await.expect("room in the queue for each task");
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
