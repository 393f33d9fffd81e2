//! Compile errors, with their location.

use crate::course::CourseError;
use crate::units::UnitError;
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;
use kairos_contracts::pulse::{self as facts, Parameter};

/// An error and its location.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// Name of the gate, if any.
    pub gate: Option<String>,
    /// The channel.
    pub channel: Option<u8>,
    /// The parameter.
    pub parameter: Option<Parameter>,
    /// The kind of error.
    pub kind: Kind,
}

/// Kinds of errors.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A number that the core cannot represent.
    Unit(UnitError),
    /// A segment of a parameter's course is too short.
    TooShort { cycles: u64 },
    /// A pulse is too long for the word's field.
    TooLong { cycles: u64 },
    /// A list without entries, or a spline with fewer than two knots.
    Empty,
    /// A mixed course inside a mixed course.
    Nested,
    /// An amplitude's spline exceeds full scale between its knots.
    Overshoot { reaches: f64 },
    /// A coefficient that fits with no shift.
    Coefficient,
    /// Samples that cannot be followed to within the tolerance.
    Fit { error: f64, tolerance: f64 },
    /// The board has no such channel.
    NoChannel { channels: usize },
    /// The gate is not defined.
    UnknownGate,
    /// Two gates have the same name.
    Twice,
    /// Two gates that run in parallel use the same channel.
    Overlap,
    /// Branches contain more gates than results can select.
    Branches { gates: usize },
    /// More cases than there are results.
    Cases { cases: usize },
    /// A gate selected by a branch does not fit into the tables.
    NotInTables,
}

impl Error {
    /// Creates an error without a location.
    pub fn new(kind: Kind) -> Self {
        Self {
            gate: None,
            channel: None,
            parameter: None,
            kind,
        }
    }

    /// Sets the gate.
    #[must_use]
    pub fn of_gate(mut self, name: &str) -> Self {
        self.gate = Some(name.into());
        self
    }

    /// Sets the channel.
    #[must_use]
    pub fn on_channel(mut self, channel: u8) -> Self {
        self.channel = Some(channel);
        self
    }

    /// Sets the parameter.
    #[must_use]
    pub fn of_parameter(mut self, parameter: Parameter) -> Self {
        self.parameter = Some(parameter);
        self
    }
}

impl From<UnitError> for Kind {
    fn from(error: UnitError) -> Self {
        Self::Unit(error)
    }
}

impl From<CourseError> for Kind {
    fn from(error: CourseError) -> Self {
        match error {
            CourseError::Unit(error) => Self::Unit(error),
            CourseError::Overshoot { reaches } => Self::Overshoot { reaches },
            CourseError::TooSteep => Self::Coefficient,
            CourseError::TooShort { cycles } => Self::TooShort { cycles },
            CourseError::Room => Self::Empty,
        }
    }
}

/// Name of a parameter in messages.
const fn name(parameter: Parameter) -> &'static str {
    match parameter {
        Parameter::F0 => "frequency of tone 0",
        Parameter::A0 => "amplitude of tone 0",
        Parameter::P0 => "phase of tone 0",
        Parameter::F1 => "frequency of tone 1",
        Parameter::A1 => "amplitude of tone 1",
        Parameter::P1 => "phase of tone 1",
        Parameter::Z0 => "rotation of frame 0",
        Parameter::Z1 => "rotation of frame 1",
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let gate = self.gate.as_ref().map(|gate| format!("gate {gate}"));
        let channel = self.channel.map(|channel| format!("channel {channel}"));
        let parameter = self.parameter.map(|parameter| name(parameter).into());
        let places: Vec<String> = [gate, channel, parameter].into_iter().flatten().collect();
        if !places.is_empty() {
            write!(f, "{}: ", places.join(", "))?;
        }
        f.write_str(&self.kind.text())
    }
}

impl Kind {
    /// The message without the location.
    fn text(&self) -> String {
        match self {
            Self::Unit(error) => error.to_string(),
            Self::TooShort { cycles } => {
                format!(
                    "a piece of {cycles} cycles; {} are the fewest",
                    facts::SEGMENT_CYCLES_MIN
                )
            }
            Self::TooLong { cycles } => format!("{cycles} cycles are too many: below 2^{}", facts::TAU_MAX_BITS),
            Self::Empty => "a list has no entries, or a spline fewer than two knots".into(),
            Self::Nested => "a mixed course has a mixed course within".into(),
            Self::Overshoot { reaches } => {
                format!("between its knots the spline reaches {reaches:.1}, beyond full scale")
            }
            Self::Coefficient => "the spline is too steep for the coefficients' 40 bits".into(),
            Self::Fit { error, tolerance } => format!(
                "segments of {} cycles come no closer to the samples than {error:.3e}; {tolerance:.3e} is asked for",
                facts::SEGMENT_CYCLES_MIN
            ),
            Self::NoChannel { channels } => format!("there are channels 0 to {}", channels.saturating_sub(1)),
            Self::UnknownGate => "there is no such gate".into(),
            Self::Twice => "there are two of this name".into(),
            Self::Overlap => "two gates that run beside each other use this channel".into(),
            Self::Branches { gates } => {
                format!(
                    "{gates} gates in branches; results can choose from {}",
                    facts::BRANCH_GATES
                )
            }
            Self::Cases { cases } => format!("{cases} cases; a result has {} values", 1 << facts::BRANCH_STATE_BITS),
            Self::NotInTables => "a branch chooses it, and there is no room for it in the tables".into(),
        }
    }
}
