//! How far a board's logic may be run without missing anything from other boards.

use super::lockstep::Lockstep;

/// The board's own view of time in a system of several boards.
///
/// Nothing arrives from others before `safe_until`, provided that this board does nothing that
/// affects them: once it does, the horizon is void and must be found again. A single board has no
/// horizon.
#[derive(Default)]
pub(super) struct Horizon {
    /// The other boards; `None` for a single one.
    lockstep: Option<Lockstep>,
    safe_until: u64,
    /// Whether this board has done anything in this run that may affect others.
    affects_others: bool,
    /// Cycles run ahead of this board's cores because another board needed them.
    ahead: u64,
}

impl Horizon {
    /// Puts the board into lockstep with others.
    pub(super) fn join(&mut self, lockstep: Lockstep) {
        self.lockstep = Some(lockstep);
    }

    /// The other boards, if there are any.
    pub(super) fn lockstep(&self) -> Option<Lockstep> {
        self.lockstep.clone()
    }

    /// Begins a run: others may have done anything since the last one.
    pub(super) fn begin(&mut self) {
        (self.safe_until, self.affects_others) = (0, false);
    }

    /// Records that this board may have affected others.
    pub(super) fn affect_others(&mut self) {
        (self.safe_until, self.affects_others) = (0, true);
    }

    /// Whether it has in this run.
    pub(super) fn affects_others(&self) -> bool {
        self.affects_others
    }

    /// The horizon, if it is known to be beyond `cycle`.
    pub(super) fn beyond(&self, cycle: u64) -> Option<u64> {
        Some(self.safe_until).filter(|until| *until > cycle)
    }

    /// Records that nothing arrives before `cycle`.
    pub(super) fn extend(&mut self, cycle: u64) {
        self.safe_until = cycle;
    }

    /// Counts cycles that were run ahead of the cores.
    pub(super) fn ran_ahead(&mut self, cycles: u64) {
        self.ahead += cycles;
    }

    /// The number of these cycles.
    pub(super) fn ahead(&self) -> u64 {
        self.ahead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn horizon_is_void_once_others_are_affected() {
        let mut horizon = Horizon::default();
        assert_eq!(horizon.beyond(0), None);
        horizon.extend(100);
        assert_eq!((horizon.beyond(99), horizon.beyond(100)), (Some(100), None));
        horizon.affect_others();
        assert_eq!((horizon.beyond(50), horizon.affects_others()), (None, true));
    }

    #[test]
    fn new_run_begins_without_a_horizon() {
        let mut horizon = Horizon::default();
        horizon.affect_others();
        horizon.extend(100);
        horizon.begin();
        assert_eq!((horizon.beyond(50), horizon.affects_others()), (None, false));
    }
}
