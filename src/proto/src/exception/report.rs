//! Parses a report of uncaught exceptions (wire protocols, section 1.8), to raise one of them again
//! on another board.

use super::Frame;
use crate::bytes::{words, Reader};
use crate::rpc::HOST_STRING;

/// A text of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportText<'a> {
    Device(&'a [u8]),
    /// The host's string with this key.
    Host(u32),
}

impl<'a> ReportText<'a> {
    /// The text, or `None` for a string of the host, which is not available here.
    pub fn device(self) -> Option<&'a [u8]> {
        match self {
            ReportText::Device(bytes) => Some(bytes),
            ReportText::Host(_) => None,
        }
    }
}

/// Reads a text of a report.
pub(crate) fn text<'a>(reader: &mut Reader<'a>) -> Option<ReportText<'a>> {
    match reader.word()? {
        HOST_STRING => reader.word().map(ReportText::Host),
        length => reader.take(length as usize).map(ReportText::Device),
    }
}

/// The newest exception of a report, which ended the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newest<'a> {
    pub id: u32,
    pub message: ReportText<'a>,
    pub param: [i64; 3],
    pub file: ReportText<'a>,
    pub line: u32,
    pub column: u32,
    pub function: ReportText<'a>,
    frames: &'a [u8],
}

impl<'a> Newest<'a> {
    /// Reads a report from its `count` on. `None` if it is incomplete, or has no exception.
    pub fn read(report: &'a [u8]) -> Option<Self> {
        let mut reader = Reader(report);
        let count = reader.word()?;
        let mut newest = None;
        for _ in 0..count {
            newest = Some(Self {
                id: reader.word()?,
                message: text(&mut reader)?,
                param: [reader.long()?, reader.long()?, reader.long()?],
                file: text(&mut reader)?,
                line: reader.word()?,
                column: reader.word()?,
                function: text(&mut reader)?,
                frames: &[],
            });
        }
        let (mut first, mut end) = (0, 0);
        for _ in 0..count {
            reader.word()?;
            (first, end) = (reader.word()? as usize, reader.word()? as usize);
        }
        let all = reader.word()? as usize;
        let all = reader.take(all.checked_mul(8)?)?;
        let frames = all.get(first.checked_mul(8)?..end.checked_mul(8)?).unwrap_or(&[]);
        newest.map(|newest| Self { frames, ..newest })
    }

    /// The frames that the exception has passed, innermost first.
    pub fn frames(&self) -> impl Iterator<Item = Frame> + 'a {
        self.frames.as_chunks::<8>().0.iter().map(|bytes| {
            let [address, stack_pointer] = words(bytes);
            Frame { address, stack_pointer }
        })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::exception::tests::Rom;
    use crate::exception::{write_report, Extent, Record, Text};

    #[test]
    fn written_report_is_read_back() {
        let old = Record::new(18, Text { pointer: 0, length: 5 }, [1, 2, 3]);
        let new = Record {
            id: 30,
            message: Text::host(7),
            file: Text { pointer: 5, length: 4 },
            line: 8,
            column: 9,
            function: Text { pointer: 9, length: 3 },
            param: [-1, 0, 5],
        };
        let extent = |initial, current| Extent {
            stack_pointer: 0,
            initial,
            current,
        };
        let frames = [4, 8, 12].map(|address| Frame {
            address,
            stack_pointer: 100 - address,
        });
        let mut out = Vec::new();
        let records = [(&old, extent(0, 1)), (&new, extent(1, 3))];
        let rom = Rom(b"wrongfilerun");
        write_report(&mut out, &rom, records.into_iter(), &frames, |_| None);
        let read = Newest::read(&out).unwrap();
        assert_eq!((read.id, read.line, read.column, read.param), (30, 8, 9, [-1, 0, 5]));
        assert_eq!(
            (read.message, read.file),
            (ReportText::Host(7), ReportText::Device(b"file"))
        );
        assert_eq!(read.function, ReportText::Device(b"run"));
        assert_eq!(read.frames().collect::<Vec<_>>(), frames[1..]);
        for length in 0..out.len() {
            assert_eq!(Newest::read(&out[..length]), None);
        }
    }

    proptest! {
        #[test]
        fn arbitrary_report_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Newest::read(&bytes).map(|newest| newest.frames().count());
        }
    }
}
