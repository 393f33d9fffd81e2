//! The coarse counter of the logic, as it follows from the number of the cycle.

/// The difference between cycle number and coarse counter.
///
/// It is unknown until the first cycle has been run and constant from then on, except where the
/// counter takes over the time of an upstream board. Any other change is a defect of the logic or of
/// time skipping: it is reported once and counted.
pub(super) struct Counter {
    /// The cycle in which the counter was 0.
    origin: Option<u64>,
    /// Whether it takes over the time of an upstream board.
    follows: bool,
    slips: u64,
}

impl Counter {
    /// A counter that has not been seen yet. `follows`: whether it takes over the time of an
    /// upstream board.
    pub(super) fn new(follows: bool) -> Self {
        Self {
            origin: None,
            follows,
            slips: 0,
        }
    }

    /// The logic has been reconfigured.
    pub(super) fn reset(&mut self) {
        self.origin = None;
    }

    /// The cycle in which the counter was 0, modulo 2^64; `None` before the first cycle.
    pub(super) fn origin(&self) -> Option<u64> {
        self.origin
    }

    /// Whether the counter is known.
    pub(super) fn is_known(&self) -> bool {
        self.origin.is_some()
    }

    /// The value in a cycle.
    pub(super) fn value(&self, cycle: u64) -> Option<u64> {
        self.origin.map(|origin| cycle.wrapping_sub(origin))
    }

    /// The cycle in which the counter reaches a value; `u64::MAX` if never or unknown.
    pub(super) fn cycle_of(&self, value: u64) -> u64 {
        match (value, self.origin) {
            (u64::MAX, _) | (_, None) => u64::MAX,
            (value, Some(origin)) => value.saturating_add(origin),
        }
    }

    /// Compares the value seen in a cycle with the expected one.
    pub(super) fn check(&mut self, cycle: u64, value: u64) {
        match self.value(cycle) {
            Some(expected) if expected == value => return,
            Some(expected) if !self.follows => {
                if self.slips == 0 {
                    log::error!(
                        "pl: in cycle {cycle} the coarse counter is {value}, not {expected}: it was changed by the \
                         logic itself"
                    );
                }
                self.slips += 1;
            }
            _ => {}
        }
        self.origin = Some(cycle.wrapping_sub(value));
    }

    /// How often it differed from the expected value.
    pub(super) fn slips(&self) -> u64 {
        self.slips
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_value_defines_the_origin() {
        let mut counter = Counter::new(false);
        assert_eq!((counter.value(10), counter.cycle_of(5)), (None, u64::MAX));
        counter.check(10, 3);
        assert_eq!((counter.origin(), counter.value(20)), (Some(7), Some(13)));
        assert_eq!((counter.cycle_of(13), counter.cycle_of(u64::MAX)), (20, u64::MAX));
        counter.reset();
        assert!(!counter.is_known());
    }

    #[test]
    fn origin_before_power_up_wraps() {
        let mut counter = Counter::new(false);
        counter.check(2, 5);
        assert_eq!(counter.value(3), Some(6));
    }

    #[test]
    fn unexpected_value_is_a_slip() {
        let mut counter = Counter::new(false);
        counter.check(0, 0);
        counter.check(100, 100);
        assert_eq!(counter.slips(), 0);
        counter.check(101, 150);
        counter.check(102, 151);
        assert_eq!((counter.slips(), counter.value(103)), (1, Some(152)));
    }

    #[test]
    fn counter_that_follows_another_board_has_no_slips() {
        let mut counter = Counter::new(true);
        counter.check(0, 0);
        counter.check(10, 1_000);
        assert_eq!((counter.slips(), counter.value(11)), (0, Some(1_001)));
    }
}
