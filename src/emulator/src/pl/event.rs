//! Recorded events of a pin.

/// A change of a pad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds since power-up.
    pub time_ns: u64,
    /// Index of the pad.
    pub pad: u16,
    /// Level, or `None` while the PL does not drive the pad.
    pub level: Option<bool>,
}

/// Level of a pad that is not driven, in a file of events.
const NOT_DRIVEN: u64 = 2;

impl Event {
    /// The event in a file: its time, then its pad, and in the upper half its level.
    pub fn words(&self) -> [u64; 2] {
        let level = self.level.map_or(NOT_DRIVEN, u64::from);
        [self.time_ns, u64::from(self.pad) | level << 32]
    }
}
