//! The text of a bench file, positions in it, and the messages of its parser.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use serde::de::DeserializeOwned;

use super::File;

/// Maximum size of a bench file in bytes.
const FILE_MAX: u64 = 4 << 20;

/// Reads a file of at most `most` bytes, which need not have an end.
pub fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    fs::File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(io::Error::other(format!("it has more than {most} bytes"))),
        false => Ok(bytes),
    }
}

/// Reads a bench file, whose owner calls it `name`. The error is a line.
pub fn load(name: &str, path: &Path) -> Result<String, String> {
    let bytes = read_at_most(path, FILE_MAX).map_err(|error| format!("bench {name}: {error}"))?;
    text_of(name, bytes)
}

/// Rewrites a message of the parser without names of Rust types.
fn in_words(text: &str) -> String {
    let Some((before, kind)) = text.rsplit_once("expected ") else {
        return text.into();
    };
    let kind = match kind {
        "f64" => "a number",
        "a map" => "a table",
        kind if kind.starts_with("struct ") => "a table",
        "a sequence" => "a list",
        "i32" | "i64" => "a whole number",
        "u32" | "u64" | "usize" => "a whole number, 0 or more, that is not too large",
        other => other,
    };
    format!("{}expected {kind}", before.replace(" as i128", ""))
}

/// Decodes the text of a file. The error is a line with its location.
fn text_of(name: &str, bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let whole = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..whole].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("{name}:{line}: this is not UTF-8 text")
    })
}

/// The text of a file and its name, for messages with a location.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The name that the owner uses.
    pub name: &'a str,
    /// All of it.
    pub text: &'a str,
}

impl Source<'_> {
    /// Where the lines begin.
    pub fn lines(&self) -> Vec<usize> {
        let ends = self.text.match_indices('\n').map(|(at, _)| at + 1);
        std::iter::once(0).chain(ends).collect()
    }

    /// `NAME:LINE`, or the name alone if the text is empty.
    pub fn location(&self, at: usize) -> String {
        if self.text.is_empty() {
            return self.name.into();
        }
        let line = self.text.get(..at).map_or(1, |before| before.matches('\n').count() + 1);
        format!("{}:{line}", self.name)
    }

    /// `NAME:LINE: text`, in one line whatever names are in the text.
    pub fn error(&self, at: usize, text: &str) -> String {
        format!("{}: {}", self.location(at), text.replace('\n', "\\n"))
    }

    /// The header of the table that contains a position, and the header's position, if it is one of
    /// an array of tables.
    fn list_at(&self, at: usize) -> Option<(usize, &str)> {
        let end = self
            .text
            .get(at..)?
            .find('\n')
            .map_or(self.text.len(), |line| at + line);
        let mut lines = self.text[..end].split_inclusive('\n').rev();
        let mut start = end;
        let head = lines.find(|line| {
            start -= line.len();
            line.trim_start().starts_with('[')
        })?;
        head.trim_start().starts_with("[[").then(|| (start, head.trim()))
    }

    /// Parses the text as a bench file.
    pub fn parse(&self) -> Result<File, String> {
        toml::from_str(self.text).map_err(|error| {
            let at = error.span().unwrap_or_default().start;
            let Some((at, head)) = self.list_at(at) else {
                return self.mistake(&error);
            };
            let table = head.trim_matches(['[', ']']);
            self.error(at, &format!("a part is one table: [{table}], not {head}"))
        })
    }

    /// Parses a file of another kind with the same messages.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, String> {
        toml::from_str(self.text).map_err(|error| self.mistake(&error))
    }

    /// Formats an error of the parser.
    fn mistake(&self, error: &toml::de::Error) -> String {
        let span = error.span().unwrap_or_default();
        let text = match (error.message(), self.text.get(span.clone())) {
            ("duplicate key", Some(key)) => {
                format!("{} is given twice", key.trim_matches(['"', '\'']))
            }
            (text, _) => in_words(&text.replace('\n', ", ")),
        };
        self.error(span.start, &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_without_end_is_refused() {
        let refused = Err("bench a.toml: it has more than 4194304 bytes".into());
        assert_eq!(load("a.toml", Path::new("/dev/zero")), refused);
    }

    #[test]
    fn invalid_utf8_is_reported_with_its_line() {
        let text = "seed = 1\n# Grüße\n".to_string();
        assert_eq!(text_of("a.toml", text.clone().into_bytes()), Ok(text));
        let latin = b"seed = 1\n# Gr\xfc\xdfe\n".to_vec();
        assert_eq!(text_of("a.toml", latin), Err("a.toml:2: this is not UTF-8 text".into()));
    }
}
