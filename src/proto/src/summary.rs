//! Summary of an uncaught exception for the log: the first one of a report (wire protocols, section
//! 1.8), in one line.

use core::fmt;

use crate::bytes::Reader;
use crate::exception::report::text as text_of;
use crate::exception::NAMES;

/// A report's first exception, which was raised first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary<'a> {
    id: u32,
    /// `None` for a string of the host, which is not available here.
    message: Option<&'a [u8]>,
    param: [i64; 3],
    file: Option<&'a [u8]>,
    line: u32,
}

impl<'a> Summary<'a> {
    /// Reads the start of a report, from its `count` on. `None` if it ends before the line number.
    pub fn read(report: &'a [u8]) -> Option<Self> {
        let mut reader = Reader(report);
        reader.word()?;
        Some(Self {
            id: reader.word()?,
            message: text_of(&mut reader)?.device(),
            param: [reader.long()?, reader.long()?, reader.long()?],
            file: text_of(&mut reader)?.device(),
            line: reader.word()?,
        })
    }
}

/// Writes the bytes that are valid text.
fn text(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.utf8_chunks().try_for_each(|chunk| f.write_str(chunk.valid()))
}

/// Writes a message with its parameters filled in. Doubled braces stand for one.
fn filled(f: &mut fmt::Formatter<'_>, mut message: &[u8], param: &[i64; 3]) -> fmt::Result {
    while let Some(at) = message.iter().position(|byte| b"{}".contains(byte)) {
        text(f, &message[..at])?;
        let length = match message[at..] {
            [first, second, ..] if first == second => 2,
            [b'{', b'0'..=b'2', b'}', ..] => 3,
            _ => 1,
        };
        match length {
            3 => write!(f, "{}", param[usize::from(message[at + 1] - b'0')])?,
            _ => text(f, &message[at..at + 1])?,
        }
        message = &message[at + length..];
    }
    text(f, message)
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.get(self.id as usize) {
            Some(name) => f.write_str(name)?,
            None => write!(f, "exception {} of the program", self.id)?,
        }
        match self.message {
            Some([]) | None => {}
            Some(message) => {
                f.write_str(": ")?;
                filled(f, message, &self.param)?;
            }
        }
        if let Some(file) = self.file {
            f.write_str(", in ")?;
            text(f, file)?;
            write!(f, ", line {}", self.line)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;
    use std::vec::Vec;

    fn report(id: u32, message: Option<&str>, param: [i64; 3], file: &str, line: u32) -> Vec<u8> {
        let mut bytes = Vec::from(1u32.to_le_bytes());
        bytes.extend(id.to_le_bytes());
        let text = |bytes: &mut Vec<u8>, text: Option<&str>| match text {
            Some(text) => {
                bytes.extend((text.len() as u32).to_le_bytes());
                bytes.extend(text.as_bytes());
            }
            None => bytes.extend([0xff, 0xff, 0xff, 0xff, 9, 0, 0, 0]),
        };
        text(&mut bytes, message);
        bytes.extend(param.iter().flat_map(|param| param.to_le_bytes()));
        text(&mut bytes, Some(file));
        bytes.extend(line.to_le_bytes());
        bytes
    }

    #[test]
    fn exception_is_summarised_in_one_line() {
        let bytes = report(0, Some("at {1} mu, {0}{2}{3}"), [4, -5, 6], "a.py", 7);
        let summary = Summary::read(&bytes).unwrap();
        assert_eq!(summary.to_string(), "RTIOUnderflow: at -5 mu, 46{3}, in a.py, line 7");
        let bytes = report(0, Some("run_{{0}}.h5 }} {{{1}}} {"), [4, -5, 6], "a.py", 7);
        let summary = Summary::read(&bytes).unwrap();
        assert_eq!(
            summary.to_string(),
            "RTIOUnderflow: run_{0}.h5 } {-5} {, in a.py, line 7"
        );
        let bytes = report(30, None, [0; 3], "a.py", 7);
        let summary = Summary::read(&bytes).unwrap();
        assert_eq!(summary.to_string(), "exception 30 of the program, in a.py, line 7");
        for length in 0..bytes.len() {
            assert_eq!(Summary::read(&bytes[..length]), None);
        }
    }

    proptest! {
        #[test]
        fn arbitrary_report_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Summary::read(&bytes).map(|summary| summary.to_string());
        }
    }
}
