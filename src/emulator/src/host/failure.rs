//! Why an emulator cannot be started: a line for people, and for the program that started it the
//! kind of a failure that it can mend.

use std::fmt::{Display, Formatter};

use serde_json::{json, Value};

/// Prints a message for the user, without the control characters that names in files may contain.
pub fn report(message: impl Display) {
    eprintln!("kairos-emulator: {}", plain(&message.to_string()));
}

/// A text with control characters, and others that cannot be seen, as in Rust's source; ends of
/// lines remain.
fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' | '"' | '\'' | '\\' => shown.push(c),
            c => shown.extend(c.escape_debug()),
        }
    }
    shown
}

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

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(plain("no pin \"µ\" of C:\\größe\n"), "no pin \"µ\" of C:\\größe\n");
        assert_eq!(
            plain("a\u{1b}[2J\r\0\u{202e}\u{9b}"),
            "a\\u{1b}[2J\\r\\0\\u{202e}\\u{9b}"
        );
    }
}
