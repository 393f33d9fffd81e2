//! Evaluates the gateware's measurements of the RTIO clock and of the external clock at run time.

use core::fmt;

/// A measurement counts every fourth period of a clock during 2^20 periods of the processing
/// system's 125 MHz (`clock_synthesiser`, `clock_reference`).
const UNITS_HZ: u64 = 4 * 125_000_000;
const WINDOW: u64 = 1 << 20;
/// Largest relative difference is 1/this: more than the tolerance of crystals and the error of a
/// measurement (0.05 ‰ at 10 MHz).
const TOLERANCE: u32 = 1000;
/// Number of consecutive good measurements before a clock is used again.
const STEADY: u32 = 3;

/// A measured frequency in Hz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured(pub u32);

impl Measured {
    /// Converts the value of a register.
    pub fn new(count: u32) -> Self {
        Self((u64::from(count) * UNITS_HZ).div_ceil(WINDOW) as u32)
    }

    /// Whether the frequency matches the nominal one, in Hz.
    pub fn is(self, frequency: u32) -> bool {
        self.0.abs_diff(frequency) <= frequency / TOLERANCE
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => write!(f, "no clock"),
            hz => {
                let hundredths = hz.saturating_add(5_000) / 10_000;
                write!(f, "{}.{:02} MHz", hundredths / 100, hundredths % 100)
            }
        }
    }
}

/// The result of one poll.
#[derive(Clone, Copy)]
pub struct Observation {
    /// The gateware has switched back to the processing system's clock.
    pub lost: bool,
    pub synthesiser: Measured,
    pub reference: Measured,
}

/// A change of the clocks' state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockChange {
    /// The synthesiser's clock was lost: RTIO has stopped.
    Lost,
    /// The clock has returned and can be switched to; [`Watch::back`] is to be called if that
    /// succeeds.
    Back,
    /// The external clock has failed. The synthesiser continues without it.
    ReferenceLost(Measured),
    /// The external clock has recovered.
    ReferenceBack,
    /// The clock of a link is present: the synthesiser switches to it.
    LinkPresent,
    /// The clock of the link is gone or has another frequency: the synthesiser's crystal replaces
    /// it.
    LinkGone,
}

/// The clock at the synthesiser's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// None that is used.
    None,
    /// An external clock of this frequency in Hz.
    External(u32),
    /// The clock of a link, likewise; initially absent.
    Link(u32),
}

/// The state of both clocks.
pub struct Watch {
    output: u32,
    source: Source,
    lost: bool,
    steady: u32,
    reference_lost: bool,
}

impl Watch {
    /// `output`: the nominal frequency in Hz.
    pub fn new(output: u32, source: Source) -> Self {
        Self {
            output,
            source,
            lost: false,
            steady: 0,
            reference_lost: matches!(source, Source::Link(_)),
        }
    }

    /// Evaluates one poll; reports at most one change.
    pub fn observe(&mut self, seen: Observation) -> Option<ClockChange> {
        if seen.lost && !self.lost {
            (self.lost, self.steady) = (true, 0);
            return Some(ClockChange::Lost);
        }
        if self.lost {
            self.steady = match seen.synthesiser.is(self.output) {
                true => self.steady + 1,
                false => 0,
            };
            return (self.steady >= STEADY).then(|| {
                self.steady = 0;
                ClockChange::Back
            });
        }
        let wrong = match self.source {
            Source::None => false,
            Source::External(frequency) | Source::Link(frequency) => !seen.reference.is(frequency),
        };
        if wrong == self.reference_lost {
            return None;
        }
        self.reference_lost = wrong;
        Some(match (self.source, wrong) {
            (Source::Link(_), true) => ClockChange::LinkGone,
            (Source::Link(_), false) => ClockChange::LinkPresent,
            (_, true) => ClockChange::ReferenceLost(seen.reference),
            (_, false) => ClockChange::ReferenceBack,
        })
    }

    /// Records that the synthesiser's clock is used again.
    pub fn back(&mut self) {
        self.lost = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::string::ToString;

    const GOOD: Observation = Observation {
        lost: false,
        synthesiser: Measured(125_000_000),
        reference: Measured(10_000_000),
    };
    const NONE: Measured = Measured(0);

    #[test]
    fn measured_frequency_is_compared_and_printed() {
        assert_eq!(Measured::new(262_144), Measured(125_000_000));
        assert!(Measured::new(20_971).is(10_000_000));
        assert!(Measured::new(262_144 + 200).is(125_000_000) && !Measured::new(262_144 - 300).is(125_000_000));
        assert!(!NONE.is(10_000_000));
        assert_eq!(
            (Measured::new(209_715).to_string(), NONE.to_string()),
            ("100.00 MHz".to_string(), "no clock".to_string())
        );
    }

    #[test]
    fn lost_clock_that_returns_is_reported() {
        let mut watch = Watch::new(125_000_000, Source::None);
        assert_eq!(watch.observe(GOOD), None);
        let gone = Observation {
            lost: true,
            synthesiser: NONE,
            ..GOOD
        };
        let there = Observation { lost: true, ..GOOD };
        assert_eq!(watch.observe(gone), Some(ClockChange::Lost));
        assert_eq!(watch.observe(gone), None);
        let changes = [there, there, gone, there, there, there].map(|seen| watch.observe(seen));
        assert_eq!(
            changes,
            [None, None, None, None, None, Some(ClockChange::Back)],
            "steady, then once"
        );
        assert_eq!(watch.observe(there), None, "the switch did not succeed");
        watch.back();
        assert_eq!(watch.observe(GOOD), None);
    }

    #[test]
    fn lost_reference_is_reported_only_if_used() {
        let mut watch = Watch::new(125_000_000, Source::External(10_000_000));
        let other = Observation {
            reference: Measured(100_000_000),
            ..GOOD
        };
        let changes = [GOOD, other, other, GOOD, GOOD].map(|seen| watch.observe(seen));
        let lost = Some(ClockChange::ReferenceLost(Measured(100_000_000)));
        assert_eq!(changes, [None, lost, None, Some(ClockChange::ReferenceBack), None]);
        let mut watch = Watch::new(125_000_000, Source::None);
        assert_eq!(
            watch.observe(Observation {
                reference: NONE,
                ..GOOD
            }),
            None,
            "not used"
        );
    }

    #[test]
    fn link_clock_is_lost_and_recovered() {
        let mut watch = Watch::new(125_000_000, Source::Link(10_000_000));
        let without = Observation {
            reference: NONE,
            ..GOOD
        };
        let changes = [without, GOOD, GOOD, without, without].map(|seen| watch.observe(seen));
        assert_eq!(
            changes,
            [
                None,
                Some(ClockChange::LinkPresent),
                None,
                Some(ClockChange::LinkGone),
                None
            ]
        );
    }
}
