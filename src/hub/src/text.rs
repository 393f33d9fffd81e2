//! Texts of devices, plugins and clients, made safe for the log and for a terminal.

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

#[cfg(test)]
mod tests {
    use super::plain;

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
