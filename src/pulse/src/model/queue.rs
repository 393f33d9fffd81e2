//! FIFOs of configurable depth.

use alloc::collections::VecDeque;

/// A FIFO; callers check for room before pushing.
#[derive(Clone, Debug)]
pub struct Queue<T> {
    items: VecDeque<T>,
    depth: usize,
}

impl<T> Queue<T> {
    /// Creates an empty FIFO.
    pub fn new(depth: usize) -> Self {
        Self {
            items: VecDeque::with_capacity(depth),
            depth,
        }
    }

    /// Whether another item fits.
    pub fn has_room(&self) -> bool {
        self.items.len() < self.depth
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item at the head.
    pub fn head(&self) -> Option<&T> {
        self.items.front()
    }

    /// Appends an item. Panics if there is no room.
    pub fn push(&mut self, item: T) {
        assert!(self.has_room(), "a FIFO of {} is full", self.depth);
        self.items.push_back(item);
    }

    /// Removes the head.
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    /// Removes all items.
    pub fn clear(&mut self) {
        self.items.clear();
    }
}
