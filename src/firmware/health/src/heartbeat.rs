//! Heartbeats, which are required for feeding a watchdog.

use core::sync::atomic::{AtomicBool, Ordering};

/// The heartbeat of a task that must beat in each round while it is expected to.
pub struct Heartbeat {
    expected: AtomicBool,
    seen: AtomicBool,
}

impl Heartbeat {
    /// `expected`: whether it is expected from the beginning.
    pub const fn new(expected: bool) -> Self {
        Self {
            expected: AtomicBool::new(expected),
            seen: AtomicBool::new(true),
        }
    }

    /// Records that the task is alive.
    pub fn beat(&self) {
        self.seen.store(true, Ordering::Relaxed);
    }

    /// Expects the heartbeat until the returned value is dropped.
    pub fn expect(&self) -> Expected<'_> {
        self.beat();
        self.expected.store(true, Ordering::Relaxed);
        Expected(self)
    }

    /// Ends a round; returns whether the task has beaten or was not expected to.
    pub fn take(&self) -> bool {
        let seen = self.seen.swap(false, Ordering::Relaxed);
        seen || !self.expected.load(Ordering::Relaxed)
    }
}

/// Guard returned by [`Heartbeat::expect`].
pub struct Expected<'a>(&'a Heartbeat);

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        self.0.expected.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heartbeat_covers_one_round() {
        let heart = Heartbeat::new(true);
        assert!(heart.take() && !heart.take());
        heart.beat();
        assert!(heart.take() && !heart.take());
    }

    #[test]
    fn new_task_has_one_round_until_its_heartbeat() {
        let heart = Heartbeat::new(false);
        assert!(heart.take() && heart.take());
        let expected = heart.expect();
        assert!(heart.take() && !heart.take());
        drop(expected);
        assert!(heart.take());
    }
}
