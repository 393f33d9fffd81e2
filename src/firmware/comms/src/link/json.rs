//! Texts in the JSON that describes links.

use core::fmt::{self, Write};

/// A JSON string.
pub(super) struct Json<'a>(pub(super) &'a str);

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' | '\\' => write!(f, "\\{character}")?,
                ' '.. => f.write_char(character)?,
                control => write!(f, "\\u{:04x}", control as u32)?,
            }
        }
        f.write_char('"')
    }
}
