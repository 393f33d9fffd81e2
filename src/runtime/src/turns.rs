//! What several tasks use in turn, first come, first served.
//!
//! The mutex of `embassy-sync` knows one waiting task: two of them would wake each other without end, and the core would never
//! rest.

use core::cell::{RefCell, RefMut};
use core::ops::{Deref, DerefMut};

use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_sync::semaphore::{FairSemaphore, Semaphore, SemaphoreReleaser};

type Order<const N: usize> = FairSemaphore<NoopRawMutex, N>;

/// A value that up to `N` tasks use in turn.
pub struct Turns<T, const N: usize> {
    order: Order<N>,
    value: RefCell<T>,
}

/// One task's turn. Ends when it is dropped.
pub struct Turn<'a, T, const N: usize> {
    // Given back before the next task is woken.
    value: RefMut<'a, T>,
    _permit: SemaphoreReleaser<'a, Order<N>>,
}

impl<T, const N: usize> Turns<T, N> {
    pub const fn new(value: T) -> Self {
        Self {
            order: Order::new(1),
            value: RefCell::new(value),
        }
    }

    /// Waits for this task's turn.
    pub async fn next(&self) -> Turn<'_, T, N> {
        let permit = self.order.acquire(1).await.expect("room in the queue for each task");
        Turn {
            value: self.value.borrow_mut(),
            _permit: permit,
        }
    }
}

impl<T, const N: usize> Deref for Turn<'_, T, N> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T, const N: usize> DerefMut for Turn<'_, T, N> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
