//! FIFOs of a depth that the core is made with.

use alloc::collections::VecDeque;

/// A FIFO; it is never given more than it has room for.
#[derive(Clone, Debug)]
pub struct Queue<T> {
    items: VecDeque<T>,
    depth: usize,
}

impl<T> Queue<T> {
    /// An empty one.
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

    /// Items in it.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The next one to come out.
    pub fn head(&self) -> Option<&T> {
        self.items.front()
    }

    /// Puts one in. Panics where there is no room, which is the caller's mistake.
    pub fn push(&mut self, item: T) {
        assert!(self.has_room(), "a FIFO of {} is full", self.depth);
        self.items.push_back(item);
    }

    /// Takes the head out.
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.items.clear();
    }
}
