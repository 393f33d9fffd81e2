//! Disturbances: what makes the same access take different times on a chip, as seeded distributions.
//!
//! Without them every access takes as long as the next one, but for the phases of two clocks. They
//! are off unless a seed is set (`--set disturbances=SEED`); a seed gives the same run each time. All
//! numbers are assumptions until a chip is measured; docs/emulator.md, "Time", has their reasons.

use super::time::Cycles;

/// PL cycles from one refresh of the DDR to the next (7.8 us), and for which it blocks the memory (160 ns).
const REFRESH_EVERY: u64 = 975;
const REFRESH: u64 = 20;
/// One transaction of the logic in so many meets a burst of another master, of 1 to 16 beats.
const MEETS_BURST: u64 = 8;
const BURST: u64 = 16;
/// One access of a core in so many waits for one of another master to the same slave, which takes up to
/// 72 more CPU cycles.
const MEETS_ACCESS: u64 = 16;
const ACCESS: u64 = 72;
/// Mean CPU cycles between interrupts of a core (1 ms), and those that one takes at least and at most.
const INTERRUPT_EVERY: f64 = 800_000.0;
const INTERRUPT: (u64, u64) = (800, 2400);

/// Who is disturbed: each has its own sequence of random numbers.
#[derive(Debug, Clone, Copy)]
pub enum Of {
    /// The logic's coherent port.
    Coherent = 1,
    /// The logic's high-performance port.
    Streams,
    /// Accesses of the cores.
    Accesses,
    /// Interrupts of core 0, and of core 1.
    Core0,
    Core1,
}

/// A sequence of delays; all are 0 for the seed 0.
#[derive(Debug, Clone, Default)]
pub struct Disturbance {
    state: Option<u64>,
    /// Cycles by which refreshes are shifted, the same for all of a seed.
    phase: u64,
}

impl Disturbance {
    /// The delays of `of` with this seed.
    pub fn new(seed: u64, of: Of) -> Self {
        if seed == 0 {
            return Self::default();
        }
        let mut whole = Self {
            state: Some(seed),
            phase: 0,
        };
        let phase = whole.draw(REFRESH_EVERY);
        let state = whole.next() ^ (of as u64).wrapping_mul(0xd6e8_feb8_6659_fd93);
        Self {
            state: Some(state),
            phase,
        }
    }

    /// Whether there are any.
    pub fn is_on(&self) -> bool {
        self.state.is_some()
    }

    /// The next number of the sequence (SplitMix64, which is the same in all versions).
    fn next(&mut self) -> u64 {
        let state = self.state.unwrap_or(0).wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.state = Some(state);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `limit`.
    fn draw(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    /// PL cycles by which a transaction of the logic is late whose answer would come in `cycle`.
    pub fn memory(&mut self, cycle: u64) -> u64 {
        if !self.is_on() {
            return 0;
        }
        let burst = if self.draw(MEETS_BURST) == 0 {
            1 + self.draw(BURST)
        } else {
            0
        };
        let within = (cycle + burst + self.phase) % REFRESH_EVERY;
        burst + REFRESH.saturating_sub(within)
    }

    /// CPU cycles by which an access of a core to registers or the GPIO controller is late.
    pub fn access(&mut self) -> Cycles {
        if self.is_on() && self.draw(MEETS_ACCESS) == 0 {
            1 + self.draw(ACCESS)
        } else {
            0
        }
    }

    /// CPU cycles until the next interrupt of a core, and those that it takes; `None`: there are none.
    pub fn interrupt(&mut self) -> Option<(Cycles, Cycles)> {
        self.is_on().then(|| {
            let uniform = (self.next() >> 11) as f64 * (0.5 / (1u64 << 52) as f64);
            let distance = -INTERRUPT_EVERY * (1.0 - uniform).ln();
            let (least, most) = INTERRUPT;
            (1 + distance as u64, least + self.draw(most - least))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_zero_adds_no_delay_anywhere() {
        let mut none = Disturbance::new(0, Of::Streams);
        assert!((0..2000).all(|cycle| none.memory(cycle) == 0 && none.access() == 0));
        assert_eq!(none.interrupt(), None);
    }

    #[test]
    fn same_seed_gives_the_same_delays_and_another_one_others() {
        let delays = |seed, of| {
            let mut some = Disturbance::new(seed, of);
            (0..500).map(|n| some.memory(37 * n)).collect::<Vec<_>>()
        };
        assert_eq!(delays(7, Of::Streams), delays(7, Of::Streams));
        assert_ne!(delays(7, Of::Streams), delays(8, Of::Streams));
        assert_ne!(delays(7, Of::Streams), delays(7, Of::Coherent));
    }

    #[test]
    fn delays_are_within_bounds_and_as_frequent_as_stated() {
        let mut some = Disturbance::new(3, Of::Streams);
        let delays: Vec<u64> = (0..100_000).map(|n| some.memory(41 * n)).collect();
        let longest = delays.iter().max().copied();
        assert!(
            longest > Some(REFRESH) && longest <= Some(BURST + REFRESH),
            "{longest:?}"
        );
        let late = delays.iter().filter(|delay| **delay > 0).count() as f64 / 1e5;
        let stated = 1.0 / MEETS_BURST as f64 + REFRESH as f64 / REFRESH_EVERY as f64;
        assert!((late - stated).abs() < 0.01, "{late} {stated}");
        let (mut time, mut count) = (0, 0);
        let mut core = Disturbance::new(3, Of::Core1);
        while let Some((until, takes)) = core.interrupt().filter(|_| count < 10_000) {
            assert!((INTERRUPT.0..INTERRUPT.1).contains(&takes));
            (time, count) = (time + until, count + 1);
        }
        assert!((time as f64 / 1e4 / INTERRUPT_EVERY - 1.0).abs() < 0.05);
    }
}
