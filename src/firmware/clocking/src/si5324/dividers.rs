//! The dividers of the Si5324 for a pair of frequencies:
//!
//! ```text
//! input ─▶ /N3 ─▶ f3 ─▶ phase detector ─▶ oscillator ─┬─▶ /N1_HS ─▶ /NC1_LS ─▶ output
//!                          ▲                          │
//!                          └──── /N2_LS ◀── /N2_HS ◀──┘
//! ```
//!
//! Limits: Si53xx family reference manual. Each input has its own N3; if the chip switches between
//! two inputs, both must produce the same f3.

use core::ops::RangeInclusive;

use kairos_contracts::chips::si5324::{self as limits, CRYSTAL, SETTINGS};
pub use kairos_contracts::chips::si5324::{LOW_SPEED_MAX, N3_MAX};

/// Frequency of the oscillator, Hz.
pub const OSCILLATOR: RangeInclusive<u64> = limits::OSCILLATOR_MIN..=limits::OSCILLATOR_MAX;
/// Frequency at the phase detector, Hz.
pub const F3: RangeInclusive<u64> = limits::F3_MIN..=limits::F3_MAX;
/// N1_HS and N2_HS.
pub const HIGH_SPEED: RangeInclusive<u32> = limits::HIGH_SPEED_MIN..=limits::HIGH_SPEED_MAX;

/// Largest frequency error of the output, in ppm, when the crystal replaces an input: less than the
/// tolerance of crystals.
const CRYSTAL_OFF: u64 = 20;

/// Values of the dividers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dividers {
    pub n1_hs: u32,
    pub nc1_ls: u32,
    pub n2_hs: u32,
    pub n2_ls: u32,
    pub n3: u32,
    /// The number of the loop's bandwidth, of tabled ones.
    pub bandwidth: Option<u32>,
}

impl Dividers {
    /// Dividers of the table for this pair of frequencies, or computed ones. `None` if there are none.
    pub fn known(input: u32, output: u32) -> Option<Self> {
        let tabled = SETTINGS.into_iter().find(|row| row[..2] == [input, output]);
        let of_row = |[_, _, n1_hs, nc1_ls, n2_hs, n2_ls, n3, bandwidth]: [u32; 8]| Self {
            n1_hs,
            nc1_ls,
            n2_hs,
            n2_ls,
            n3,
            bandwidth: Some(bandwidth),
        };
        tabled.map(of_row).or_else(|| Self::find(input, output))
    }

    /// Finds dividers that make exactly `output` from `input` (both in Hz), with the highest
    /// frequency at the phase detector, where jitter is lowest. `None` if there are none.
    pub fn find(input: u32, output: u32) -> Option<Self> {
        Self::find_where(input, output, |_| true)
    }

    /// Finds such dividers, and an N3 of the crystal with which it makes nearly the same output
    /// from the same other dividers.
    pub fn with_crystal(input: u32, output: u32) -> Option<(Self, u32)> {
        let found = Self::find_where(input, output, |n3| crystal_n3(input, n3).is_some())?;
        crystal_n3(input, u64::from(found.n3)).map(|n3| (found, n3))
    }

    /// Like [`Self::find`], among the dividers whose N3 `accepts`.
    fn find_where(input: u32, output: u32, accepts: impl Fn(u64) -> bool) -> Option<Self> {
        let mut best: Option<Self> = None;
        for n1_hs in HIGH_SPEED.rev() {
            let most = *OSCILLATOR.end() / u64::from(output).max(1) / u64::from(n1_hs);
            for nc1_ls in (1..=most.min(u64::from(LOW_SPEED_MAX)) as u32).filter(|n| *n == 1 || n.is_multiple_of(2)) {
                let oscillator = u64::from(output) * u64::from(n1_hs) * u64::from(nc1_ls);
                if !OSCILLATOR.contains(&oscillator) {
                    continue;
                }
                let found = feedback(input, oscillator, &accepts).map(|(n2_hs, n2_ls, n3)| Self {
                    n1_hs,
                    nc1_ls,
                    n2_hs,
                    n2_ls,
                    n3,
                    bandwidth: None,
                });
                // For the same input, a smaller N3 is a higher frequency.
                if best.is_none_or(|best| found.is_some_and(|found| found.n3 < best.n3)) {
                    best = found.or(best);
                }
            }
        }
        best
    }
}

/// The N3 with which the crystal has nearly the same frequency at the phase detector as `input`
/// (Hz) with `n3`.
fn crystal_n3(input: u32, n3: u64) -> Option<u32> {
    let (input, crystal) = (u64::from(input), u64::from(CRYSTAL));
    let found = (crystal * n3 + input / 2) / input;
    let off = (crystal * n3).abs_diff(input * found);
    let fits = (1..=u64::from(N3_MAX)).contains(&found)
        && (F3.start() * found..=F3.end() * found).contains(&crystal)
        && off * 1_000_000 <= CRYSTAL_OFF * input * found;
    fits.then_some(found as u32)
}

/// N2_HS, N2_LS and the smallest N3 that `accepts`, for this frequency of the oscillator.
fn feedback(input: u32, oscillator: u64, accepts: impl Fn(u64) -> bool) -> Option<(u32, u32, u32)> {
    let common = gcd(oscillator, u64::from(input));
    let (n2, n3) = (oscillator / common, u64::from(input) / common);
    let least = u64::from(input).div_ceil(*F3.end()).div_ceil(n3.max(1));
    let most = (u64::from(input) / *F3.start()).min(u64::from(N3_MAX)) / n3.max(1);
    // One of 22 consecutive values makes N2 a multiple of the largest N2_HS and of 2.
    const IN_A_ROW: usize = 22;
    let multiples = (least..=most).filter(|k| accepts(n3 * k));
    multiples.take(IN_A_ROW + 1).find_map(|k| {
        let n2 = n2 * k;
        HIGH_SPEED.rev().map(u64::from).find_map(|n2_hs| {
            let n2_ls = n2 / n2_hs;
            let fits =
                n2.is_multiple_of(n2_hs) && n2_ls.is_multiple_of(2) && (2..=u64::from(LOW_SPEED_MAX)).contains(&n2_ls);
            fits.then_some((n2_hs as u32, n2_ls as u32, (n3 * k) as u32))
        })
    })
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(input: u32, output: u32, d: Dividers) {
        assert!(HIGH_SPEED.contains(&d.n1_hs) && HIGH_SPEED.contains(&d.n2_hs), "{d:?}");
        assert!(
            d.nc1_ls == 1 || d.nc1_ls.is_multiple_of(2) && (2..=LOW_SPEED_MAX).contains(&d.nc1_ls),
            "{d:?}"
        );
        assert!(
            d.n2_ls.is_multiple_of(2) && (2..=LOW_SPEED_MAX).contains(&d.n2_ls),
            "{d:?}"
        );
        assert!((1..=N3_MAX).contains(&d.n3), "{d:?}");
        let n1 = u64::from(d.n1_hs) * u64::from(d.nc1_ls);
        let n2 = u64::from(d.n2_hs) * u64::from(d.n2_ls);
        assert!(OSCILLATOR.contains(&(u64::from(output) * n1)), "{d:?}");
        let (input, n3) = (u64::from(input), u64::from(d.n3));
        assert!(input >= F3.start() * n3 && input <= F3.end() * n3, "{d:?}");
        assert_eq!(
            u128::from(input * n2),
            u128::from(output) * u128::from(n1 * n3),
            "{d:?}"
        );
    }

    #[test]
    fn dividers_of_every_setting_are_found() {
        for (input, output, n3) in [
            (114_285_000, 125_000_000, 7_619),
            (114_285_000, 100_000_000, 7_619),
            (114_285_000, 150_000_000, 7_619),
            (10_000_000, 125_000_000, 5),
            (80_000_000, 125_000_000, 40),
            (100_000_000, 125_000_000, 50),
            (125_000_000, 125_000_000, 63),
        ] {
            let d = Dividers::find(input, output).unwrap();
            check(input, output, d);
            assert_eq!(d.n3, n3, "{d:?}");
        }
    }

    #[test]
    fn tabled_dividers_are_within_the_limits_and_near_the_output() {
        for [input, output, ..] in SETTINGS {
            let d = Dividers::known(input, output).unwrap();
            let n1 = u64::from(d.n1_hs) * u64::from(d.nc1_ls);
            let n2 = u64::from(d.n2_hs) * u64::from(d.n2_ls);
            let oscillator = f64::from(input) * n2 as f64 / f64::from(d.n3);
            assert!(OSCILLATOR.contains(&(oscillator as u64)), "{d:?}");
            let (input, n3) = (u64::from(input), u64::from(d.n3));
            assert!(input >= F3.start() * n3 && input <= F3.end() * n3, "{d:?}");
            let made = oscillator / n1 as f64;
            assert!((made / f64::from(output) - 1.0).abs() < 0.5e-6, "{made}");
        }
        assert_eq!(
            Dividers::known(25_000_000, 125_000_000),
            Dividers::find(25_000_000, 125_000_000)
        );
    }

    #[test]
    fn crystal_dividers_match_those_of_the_input() {
        for (input, n3, crystal_n3, off) in [(125_000_000, 70, 64, 6.3), (100_000_000, 56, 64, 6.3)] {
            let (d, n) = Dividers::with_crystal(input, 125_000_000).unwrap();
            check(input, 125_000_000, d);
            assert_eq!((d.n3, n), (n3, crystal_n3));
            let ratio = f64::from(CRYSTAL) / f64::from(n) / (f64::from(input) / f64::from(d.n3));
            assert!((ratio - 1.0).abs() < off * 1e-6, "{ratio}");
        }
        assert_eq!(Dividers::with_crystal(114_285_001, 125_000_000), None, "coprime");
    }

    #[test]
    fn impossible_frequency_pairs_are_rejected() {
        assert_eq!(Dividers::find(0, 125_000_000), None);
        assert_eq!(Dividers::find(125_000_000, 0), None);
        assert_eq!(
            Dividers::find(1_000, 125_000_000),
            None,
            "below the phase detector's lowest frequency"
        );
        assert_eq!(
            Dividers::find(10_000_000, 1_800_000_000),
            None,
            "above the oscillator / 4"
        );
        assert_eq!(Dividers::find(114_285_001, 125_000_000), None, "coprime");
    }

    proptest! {
        #[test]
        fn found_dividers_are_within_the_limits(input in 1u32..7100, output in 1u32..9450, unit in prop_oneof![Just(1_000u32), Just(25_000), Just(100_000)]) {
            let (input, output) = (input * unit, output * unit);
            if let Some(d) = Dividers::find(input, output) {
                check(input, output, d);
            }
        }

        #[test]
        fn integer_megahertz_from_10_megahertz_are_found(output in 2u32..=400) {
            let found = Dividers::find(10_000_000, output * 1_000_000);
            // Above 400 MHz there are gaps in the oscillator's range, divided down to the output.
            prop_assert!(found.is_some());
        }
    }
}
