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
