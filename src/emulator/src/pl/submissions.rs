//! The events sent to the logic by `sev`, with which kernels submit RTIO requests, and whether the
//! answer to the latest is still expected.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use super::buses::Progress;

/// The logic must begin to read within this many cycles after a `sev`; otherwise no answer is
/// expected.
const RESPONSE_WINDOW: u64 = 64;
/// Number of `sev` whose cycles are recorded.
const RECORDED: usize = 4096;

/// Cycles of the latest `sev`, and the expected answer.
///
/// Several requests may be in progress: the latest has been answered once the logic has written and
/// is idle.
#[derive(Default)]
pub(super) struct Submissions {
    /// Number of all `sev`, of which the latest are in `cycles`.
    count: u64,
    cycles: VecDeque<u64>,
    /// Cycle of the latest; 0 before the first.
    latest: u64,
    awaiting: bool,
    /// Of the bus at that time.
    progress: Progress,
}

impl Submissions {
    /// Records a `sev`.
    pub(super) fn submit(&mut self, cycle: u64, progress: Progress) {
        if self.cycles.len() == RECORDED {
            self.cycles.pop_front();
        }
        self.cycles.push_back(cycle);
        self.count += 1;
        (self.latest, self.awaiting, self.progress) = (cycle, true, progress);
    }

    /// The logic has been reconfigured and answers no earlier request.
    pub(super) fn reset(&mut self) {
        (self.awaiting, self.progress) = (false, Progress::default());
    }

    /// Whether an answer is expected.
    pub(super) fn are_awaiting(&self) -> bool {
        self.awaiting
    }

    /// Determines whether one still is at `cycle`. `idle`: whether the logic and its buses are.
    pub(super) fn update(&mut self, cycle: u64, progress: Progress, idle: bool) {
        let answered = progress.written > self.progress.written && idle;
        let ignored = progress.accepted == self.progress.accepted && cycle > self.latest + RESPONSE_WINDOW;
        self.awaiting &= !answered && !ignored;
    }

    /// Cycle of the latest `sev`; 0 before the first.
    pub(super) fn latest(&self) -> u64 {
        self.latest
    }

    /// Number of the first `sev` returned and of the next one, and the cycles of the recorded ones
    /// from number `from` on.
    pub(super) fn since(&self, from: u64) -> (u64, u64, impl Iterator<Item = u64> + '_) {
        let oldest = self.count - self.cycles.len() as u64;
        let first = from.clamp(oldest, self.count);
        let kept = self.cycles.iter().skip((first - oldest) as usize);
        (first, self.count, kept.copied())
    }
}

impl Hash for Submissions {
    /// Of the recorded cycles and their number.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.count, &self.cycles).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(accepted: u64, written: u64) -> Progress {
        Progress { accepted, written }
    }

    #[test]
    fn request_is_answered_when_logic_has_written_and_is_idle() {
        let mut submissions = Submissions::default();
        submissions.submit(100, progress(4, 4));
        for (now, idle, awaiting) in [
            (progress(4, 4), false, true),
            (progress(5, 4), true, true),
            (progress(5, 5), false, true),
            (progress(5, 5), true, false),
        ] {
            submissions.update(150, now, idle);
            assert_eq!(submissions.are_awaiting(), awaiting, "{now:?} {idle}");
        }
        submissions.update(151, progress(5, 4), false);
        assert!(!submissions.are_awaiting(), "not again without another request");
    }

    #[test]
    fn request_that_is_not_read_is_ignored_after_the_window() {
        let mut submissions = Submissions::default();
        submissions.submit(100, progress(0, 0));
        submissions.update(100 + RESPONSE_WINDOW, progress(0, 0), true);
        assert!(submissions.are_awaiting());
        submissions.update(101 + RESPONSE_WINDOW, progress(0, 0), true);
        assert!(!submissions.are_awaiting());
        submissions.submit(1000, progress(0, 0));
        submissions.update(5000, progress(1, 0), false);
        assert!(submissions.are_awaiting(), "it has been read");
    }

    #[test]
    fn latest_cycles_are_recorded_under_their_numbers() {
        let mut submissions = Submissions::default();
        let count = RECORDED as u64 + 10;
        (0..count).for_each(|number| submissions.submit(number * 7, Progress::default()));
        let (first, next, cycles) = submissions.since(0);
        assert_eq!((first, next, cycles.count()), (10, count, RECORDED));
        let (first, next, cycles) = submissions.since(count - 2);
        assert_eq!((first, next), (count - 2, count));
        assert_eq!(cycles.collect::<Vec<_>>(), [(count - 2) * 7, (count - 1) * 7]);
        let (first, _, cycles) = submissions.since(u64::MAX);
        assert_eq!((first, cycles.count()), (count, 0));
    }
}
