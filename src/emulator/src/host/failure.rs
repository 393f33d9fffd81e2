//! Why an emulator cannot be started: a line for people, and for the program that started it the
//! kind of a failure that it can mend.

use std::fmt::{Display, Formatter};

use serde_json::{json, Value};

/// Why an emulator cannot be started. Its text is one line for the user.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// A port of this computer is used by another program.
    PortInUse(u16),
    /// Anything else: the text.
    Other(String),
}

impl Failure {
    /// The event printed for the program that started the emulator; `None` if the text says all.
    pub fn event(&self) -> Option<Value> {
        match self {
            Self::PortInUse(port) => Some(json!({ "event": "failed", "kind": "port_in_use", "port": port })),
            Self::Other(_) => None,
        }
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self::Other(text)
    }
}

impl From<&str> for Failure {
    fn from(text: &str) -> Self {
        Self::Other(text.into())
    }
}

impl Display for Failure {
    fn fmt(&self, to: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::PortInUse(port) => write!(
                to,
                "port {port} is in use: stop the program that uses it, or choose another with --forward (0: any)"
            ),
            Self::Other(text) => to.write_str(text),
        }
    }
}
