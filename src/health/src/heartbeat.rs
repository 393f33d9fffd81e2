//! Signs of life: what a watchdog is fed for.

use core::sync::atomic::{AtomicBool, Ordering};

/// One who has to give a sign of life in each round, while it is expected to.
pub struct Sign {
    expected: AtomicBool,
    seen: AtomicBool,
}

impl Sign {
    /// `expected`: from the beginning.
    pub const fn new(expected: bool) -> Self {
        Self {
            expected: AtomicBool::new(expected),
            seen: AtomicBool::new(true),
        }
    }

    /// Gives the sign.
    pub fn give(&self) {
        self.seen.store(true, Ordering::Relaxed);
    }

    /// It is expected until what is returned is dropped.
    pub fn expect(&self) -> Expected<'_> {
        self.give();
        self.expected.store(true, Ordering::Relaxed);
        Expected(self)
    }

    /// Ends a round: whether the sign has been given, or is not expected.
    pub fn take(&self) -> bool {
        let seen = self.seen.swap(false, Ordering::Relaxed);
        seen || !self.expected.load(Ordering::Relaxed)
    }
}

/// See [`Sign::expect`].
pub struct Expected<'a>(&'a Sign);

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        self.0.expected.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_is_good_for_one_round() {
        let sign = Sign::new(true);
        assert!(sign.take() && !sign.take());
        sign.give();
        assert!(sign.take() && !sign.take());
    }

    #[test]
    fn who_has_just_begun_has_a_round() {
        let sign = Sign::new(false);
        assert!(sign.take() && sign.take());
        let expected = sign.expect();
        assert!(sign.take() && !sign.take());
        drop(expected);
        assert!(sign.take());
    }
}
