//! Units of virtual time. The machine counts CPU clock cycles from power-up; everything else is derived.

/// CPU clock in Hz: 33.333 MHz crystal, ARM PLL x48, divided by 2 (docs/emulator.md, "Time").
pub const CPU_HZ: u64 = 800_000_000;
/// Clock of the private and global timers (PERIPHCLK, CPU_3x2x) in CPU cycles.
pub const CYCLES_PER_TIMER_TICK: u64 = 2;
/// Nanoseconds in one cycle of the PL clock (125 MHz).
pub const NS_PER_PL_CYCLE: u64 = 8;

/// A point in time or a duration in CPU cycles.
pub type Cycles = u64;

/// CPU cycles to nanoseconds, rounded down.
pub fn to_ns(t: Cycles) -> u64 {
    (t as u128 * 5 / 4) as u64
}

/// Nanoseconds to CPU cycles, rounded down.
pub fn from_ns(ns: u64) -> Cycles {
    (ns as u128 * 4 / 5) as u64
}

/// Number of PL clock cycles that have begun before time `t`: 800 MHz / 125 MHz = 32 / 5.
pub fn to_pl(t: Cycles) -> u64 {
    (t as u128 * 5 / 32) as u64
}

/// The first CPU cycle at or after the start of PL cycle `c`. Saturates.
pub fn from_pl(c: u64) -> Cycles {
    u64::try_from((c as u128 * 32).div_ceil(5)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converted_times_round_trip() {
        for c in [0, 1, 4, 5, 123_456_789] {
            assert_eq!(to_pl(from_pl(c)), c);
            assert_eq!(to_ns(from_pl(c * 5)), c * 5 * NS_PER_PL_CYCLE);
        }
        assert_eq!(to_pl(6), 0);
        assert_eq!(to_pl(7), 1);
        assert_eq!(from_pl(u64::MAX), u64::MAX);
    }
}
