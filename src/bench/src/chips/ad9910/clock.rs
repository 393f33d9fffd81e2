//! The clocks of an AD9910: the system clock, and SYNC_CLK, a quarter of it, at whose edges updates
//! take effect.

use super::super::dds::SyncSignal;
use crate::signal::{Ns, Square};

/// System clock cycles per cycle of SYNC_CLK.
pub const SYNC_CLK: u64 = 4;
/// System clock cycles per cycle of SYNC_OUT.
const SYNC_OUT: u64 = 16;
/// Step of the synchronisation's delays and windows (data sheet: about 75 ps).
const STEP_PS: u64 = 75;

/// The system clock from some time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clock {
    /// 0: no clock.
    pub hz: u64,
    /// Time of its cycle 0.
    start: Ns,
    /// Edges of SYNC_CLK are at cycles with this remainder.
    phase: u64,
}

impl Clock {
    /// Starts the clock at a time, with an edge of SYNC_CLK at `edge`.
    pub fn new(hz: u64, start: Ns, edge: Ns) -> Self {
        let mut clock = Self { hz, start, phase: 0 };
        clock.align(edge as f64 * 1e3, 0);
        clock
    }

    /// Aligns SYNC_CLK: it has an edge `preset` cycles after the first edge of the system clock at
    /// or after a time in ps.
    fn align(&mut self, ps: f64, preset: u64) {
        if self.hz != 0 {
            let edge = ((ps - self.start as f64 * 1e3) / self.period_ps()).ceil() as i64;
            self.phase = (edge + preset as i64).rem_euclid(SYNC_CLK as i64) as u64;
        }
    }

    /// The cycle at a time.
    pub fn cycle(&self, at: Ns) -> u64 {
        (u128::from(at.saturating_sub(self.start)) * u128::from(self.hz) / 1_000_000_000) as u64
    }

    /// The first nanosecond in a cycle.
    pub fn time(&self, cycle: u64) -> Ns {
        match self.hz {
            0 => self.start,
            hz => self.start + (u128::from(cycle) * 1_000_000_000).div_ceil(u128::from(hz)) as Ns,
        }
    }

    /// The cycle of the first edge of SYNC_CLK at or after a time.
    pub fn edge(&self, at: Ns) -> u64 {
        let passed = u128::from(at.saturating_sub(self.start)) * u128::from(self.hz);
        let cycle = passed.div_ceil(1_000_000_000) as u64;
        cycle + (self.phase + SYNC_CLK - cycle % SYNC_CLK) % SYNC_CLK
    }

    /// The period of the system clock in ps.
    fn period_ps(&self) -> f64 {
        1e12 / self.hz as f64
    }

    /// The period of SYNC_CLK in ns.
    pub fn sync_ns(&self) -> f64 {
        self.period_ps() * SYNC_CLK as f64 / 1e3
    }

    /// Distance in ps of the edges of SYNC_IN, delayed by `delay` steps, from the edges of the
    /// system clock that sample them.
    fn distance_ps(&self, sync: &SyncSignal, delay: u64) -> f64 {
        let late = (sync.skew_ps + (delay * STEP_PS) as f64).rem_euclid(self.period_ps());
        late.min(self.period_ps() - late)
    }

    /// Whether an edge of SYNC_IN is within a window around the sampling edge.
    pub fn is_in_window(&self, sync: &SyncSignal, delay: u64, window: u64) -> bool {
        self.hz != 0 && self.distance_ps(sync, delay) <= (window * STEP_PS) as f64
    }

    /// Aligns SYNC_CLK to SYNC_IN.
    pub fn follow(&mut self, sync: &SyncSignal, delay: u64, preset: u64) {
        let late = sync.skew_ps + (delay * STEP_PS) as f64;
        self.align(sync.wave.edge as f64 * 1e3 + late, preset);
    }

    /// The generator's signal at SYNC_OUT, delayed by `delay` steps; `falling`: derived from the
    /// falling edges of the system clock.
    ///
    /// The generator's divider starts with the clock and is never reset.
    pub fn sync_out(&self, delay: u64, falling: bool) -> Option<SyncSignal> {
        let half = if falling { 0.5 } else { 0.0 };
        (self.hz != 0).then(|| SyncSignal {
            wave: Square {
                hz: self.hz as f64 / SYNC_OUT as f64,
                edge: self.start,
            },
            skew_ps: (delay * STEP_PS) as f64 + half * self.period_ps(),
        })
    }

    /// Why SYNC_CLK cannot follow SYNC_IN, if it cannot.
    pub fn refuses(&self, sync: &SyncSignal) -> Option<String> {
        if self.hz == 0 {
            return None;
        }
        let period = 1e9 / sync.wave.hz;
        let periods = period / self.sync_ns();
        ((periods - periods.round()).abs() > 1e-6).then(|| {
            let period = (period * 1e3).round() / 1e3;
            format!(
                "SYNC_IN has a period of {period} ns, which is not a multiple of that of SYNC_CLK, {} ns",
                self.sync_ns()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cycle_and_edge_enclose_their_time(hz in 400_000_000u64..1_000_000_000, start in 0u64..1000, at in 0u64..1_000_000_000, aligned in 0u64..2000) {
            let clock = Clock::new(hz, start, aligned);
            let cycle = clock.cycle(start + at);
            prop_assert!(clock.time(cycle) <= start + at);
            prop_assert!(clock.time(cycle + 1) > start + at);
            let edge = clock.edge(start + at);
            prop_assert_eq!(edge % SYNC_CLK, clock.phase);
            prop_assert!(clock.time(edge) >= start + at && edge <= cycle + SYNC_CLK);
        }
    }

    #[test]
    fn sync_clk_follows_the_synchronisation_signal() {
        let wave = Square { hz: 62.5e6, edge: 13 };
        let sync = SyncSignal { wave, skew_ps: 300.0 };
        for start in [0, 2, 13, 14, 100] {
            let mut clock = Clock::new(1_000_000_000, start, 0);
            clock.follow(&sync, 0, 0);
            assert_eq!(clock.time(clock.edge(113)), 114, "started at {start}");
        }
    }

    #[test]
    fn synchronisation_generator_sets_the_phase_of_another_chip() {
        let leader = Clock::new(1_000_000_000, 101, 0);
        let sync = leader.sync_out(2, false).expect("it has a clock");
        assert_eq!((sync.wave, sync.skew_ps), (Square { hz: 62.5e6, edge: 101 }, 150.0));
        assert_eq!(leader.sync_out(0, true).map(|late| late.skew_ps), Some(500.0));
        assert_eq!(Clock::default().sync_out(0, false), None);
        // Chips synchronise to it whenever their clocks started.
        for start in [0, 7, 1002] {
            let mut follower = Clock::new(1_000_000_000, start, 0);
            follower.follow(&sync.later(300.0), 0, 0);
            assert_eq!(follower.time(follower.edge(2003)), 2006, "started at {start}");
            assert_eq!(follower.refuses(&sync), None);
        }
    }

    #[test]
    fn synchronisation_window_without_edges_is_accepted() {
        let clock = Clock::new(1_000_000_000, 0, 0);
        let wave = Square { hz: 62.5e6, edge: 0 };
        let sync = SyncSignal { wave, skew_ps: 300.0 };
        let widest = |delay| {
            (0..16)
                .filter(|window| !clock.is_in_window(&sync, delay, *window))
                .max()
        };
        // 300 ps and two steps are 450 ps: a window of 5 steps is narrower, one of 6 touches.
        assert_eq!(widest(2), Some(5));
        assert_eq!(widest(3), Some(6));
        assert_eq!(clock.refuses(&sync), None);
        let slow = Clock::new(800_000_000, 0, 0);
        assert!(slow
            .refuses(&sync)
            .is_some_and(|text| text.starts_with("SYNC_IN has a period of 16 ns")));
    }
}
