//! Texts of devices, plugins and clients, made safe for the log and for a terminal.

use std::io::{self, Write};

/// Whether a character moves the cursor, begins a line, or reverses text.
fn is_control(c: char) -> bool {
    let directions = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\t') || directions || matches!(c, '\u{61c}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// The text on one line, with control characters as in Rust's source.
pub fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match is_control(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown
}

/// Writes records of the log, each with one call and one line, without control characters but for
/// those that begin a colour, which the log itself writes: it escapes others.
pub struct PlainLines<W>(pub W);

impl<W: Write> Write for PlainLines<W> {
    fn write(&mut self, record: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(record);
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let pieces: Vec<String> = line.split('\u{1b}').map(plain).collect();
        self.0.write_all(format!("{}\n", pieces.join("\u{1b}")).as_bytes())?;
        Ok(record.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::{plain, PlainLines};

    #[test]
    fn record_of_the_log_stays_on_its_line() {
        let mut written = vec![];
        let record = "\u{1b}[32mINFO\u{1b}[0m lost: a\r\nERROR forged\0\u{202e}\n";
        PlainLines(&mut written).write_all(record.as_bytes()).unwrap();
        let shown = "\u{1b}[32mINFO\u{1b}[0m lost: a\\r\\nERROR forged\\u{0}\\u{202e}\n";
        assert_eq!(String::from_utf8(written).unwrap(), shown);
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(plain("a\tµ größe"), "a\tµ größe");
        assert_eq!(
            plain("\u{1b}[2J\r\0INFO\nx\u{202e}\u{9b}1m\u{7f}"),
            "\\u{1b}[2J\\r\\u{0}INFO\\nx\\u{202e}\\u{9b}1m\\u{7f}"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_stays_on_one_line(text: String) {
            let shown = plain(&text);
            proptest::prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\t'));
        }
    }
}
