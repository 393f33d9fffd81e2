//! Which cycles of the logic need not be run: the state of time skipping.

/// Cycles that are always run after an input change (synchronisers).
pub(super) const AFTER_INPUT: u64 = 8;
/// The same after an event: the logic itself is not quiet while one is in its synchroniser.
pub(super) const AFTER_EVENT: u64 = 2;
/// The same after a word of a link: the cycle of the word, and the one in which it counts as a
/// change.
pub(super) const AFTER_WORD: u64 = 2;

/// What is known about the cycles to come, and how many have been run and skipped.
///
/// While cycles are mandatory, none may be skipped. `unchanged_until` never decreases; it may be
/// beyond the next cycle, as cycles that change nothing are skipped only when an input arrives.
/// `read_until` is never beyond it.
pub(super) struct Skipping {
    enabled: bool,
    /// Cycles that must be run before any may be skipped.
    mandatory: u64,
    /// The cycles before this one are known to change nothing.
    unchanged_until: u64,
    /// The cycle after the latest read performed by the register bus alone.
    read_until: u64,
    run: u64,
    skipped: u64,
}

impl Skipping {
    /// State at power-up, which counts as an input change. `enabled`: whether to skip cycles at
    /// all.
    pub(super) fn new(enabled: bool) -> Self {
        Self {
            enabled,
            mandatory: AFTER_INPUT,
            unchanged_until: 0,
            read_until: 0,
            run: 0,
            skipped: 0,
        }
    }

    pub(super) fn enable(&mut self, enabled: bool) {
        self.enabled = enabled;
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Makes the next `cycles` cycles mandatory.
    pub(super) fn require(&mut self, cycles: u64) {
        self.mandatory = self.mandatory.max(cycles);
    }

    /// Whether no cycle is mandatory.
    pub(super) fn is_allowed(&self) -> bool {
        self.mandatory == 0
    }

    /// The number of cycles to run at once, at most `cycles`: after an input change the mandatory
    /// ones, as the rest may then be skipped.
    pub(super) fn bound(&self, cycles: u64) -> u64 {
        match self.mandatory {
            0 => cycles,
            _ if !self.enabled => cycles,
            mandatory => cycles.min(mandatory),
        }
    }

    /// Counts cycles that have been run.
    pub(super) fn ran(&mut self, cycles: u64) {
        self.run += cycles;
        self.mandatory = self.mandatory.saturating_sub(cycles);
    }

    /// Counts cycles that have been skipped.
    pub(super) fn skipped(&mut self, cycles: u64) {
        self.skipped += cycles;
    }

    /// Records that the cycles before `cycle` change nothing.
    pub(super) fn unchanged(&mut self, cycle: u64) {
        self.unchanged_until = self.unchanged_until.max(cycle);
    }

    /// The first cycle that is not known to change nothing.
    pub(super) fn unchanged_until(&self) -> u64 {
        self.unchanged_until
    }

    /// Records a read by the register bus alone, which changes nothing and ends before `cycle`.
    pub(super) fn read(&mut self, cycle: u64) {
        self.read_until = cycle;
        self.unchanged(cycle);
    }

    /// The cycle after the latest of these reads. No input reaches the logic before it.
    pub(super) fn read_until(&self) -> u64 {
        self.read_until
    }

    /// Number of cycles run, and skipped.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.run, self.skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_change_makes_cycles_mandatory() {
        let mut skipping = Skipping::new(true);
        assert_eq!((skipping.is_allowed(), skipping.bound(100)), (false, AFTER_INPUT));
        skipping.ran(AFTER_INPUT - 1);
        assert_eq!((skipping.is_allowed(), skipping.bound(100)), (false, 1));
        skipping.ran(3);
        assert_eq!((skipping.is_allowed(), skipping.bound(100)), (true, 100));
        skipping.require(AFTER_INPUT);
        skipping.require(AFTER_EVENT);
        assert_eq!(skipping.bound(100), AFTER_INPUT, "the longest of several counts");
        assert_eq!(skipping.bound(5), 5);
    }

    #[test]
    fn disabled_skipping_does_not_bound_runs() {
        let mut skipping = Skipping::new(true);
        skipping.enable(false);
        assert_eq!((skipping.is_enabled(), skipping.bound(100)), (false, 100));
    }

    #[test]
    fn unchanged_cycles_never_decrease() {
        let mut skipping = Skipping::new(true);
        skipping.unchanged(50);
        skipping.unchanged(40);
        assert_eq!((skipping.unchanged_until(), skipping.read_until()), (50, 0));
        skipping.read(60);
        assert_eq!((skipping.unchanged_until(), skipping.read_until()), (60, 60));
    }

    #[test]
    fn cycles_are_counted_as_run_or_skipped() {
        let mut skipping = Skipping::new(true);
        skipping.ran(10);
        skipping.skipped(90);
        skipping.ran(1);
        assert_eq!(skipping.counts(), (11, 90));
    }
}
