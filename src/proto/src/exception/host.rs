//! Reading reports of uncaught exceptions, on the host. [`super::write_report`] writes them.

use super::{Extent, Frame, HOST_STRING};
use crate::rpc::Source;

/// An exception of a report. Texts are of the [`Reader`]'s type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exception<T> {
    /// Key of the name in the host's string table.
    pub id: u32,
    pub message: T,
    pub param: [i64; 3],
    pub file: T,
    pub line: i32,
    /// From 0; -1 if unknown.
    pub column: i32,
    pub function: T,
}

/// Receives the contents of a report, in order.
pub trait Reader<S: Source> {
    type Text;
    type Error: From<S::Error>;

    /// Reads a text of the device: the next `length` bytes.
    fn text(&mut self, length: u32, source: &mut S) -> Result<Self::Text, Self::Error>;

    /// Resolves a text of the host by its key.
    fn host_text(&mut self, key: u32) -> Result<Self::Text, Self::Error>;

    /// Receives an exception; the oldest comes first.
    fn exception(&mut self, exception: Exception<Self::Text>) -> Result<(), Self::Error>;

    /// Receives the extent of an exception's part of the backtrace, in the order of the exceptions.
    fn extent(&mut self, extent: Extent) -> Result<(), Self::Error>;

    /// Receives a frame of the backtrace.
    fn frame(&mut self, frame: Frame) -> Result<(), Self::Error>;

    /// The error for a report that announces more of something than a device can have.
    fn too_many(&mut self, count: u32, what: &str) -> Self::Error;
}

/// Maximum number of exceptions in flight.
const EXCEPTIONS_MAX: u32 = 1024;
/// Maximum number of frames of a backtrace.
const FRAMES_MAX: u32 = 1 << 16;

fn text<S: Source, R: Reader<S>>(source: &mut S, reader: &mut R) -> Result<R::Text, R::Error> {
    match source.read_word()? {
        HOST_STRING => reader.host_text(source.read_word()?),
        length => reader.text(length, source),
    }
}

/// Reads a report after the head of a KernelException. Returns the bits of asynchronous errors that
/// follow it.
///
/// # Errors
/// Errors of the source or reader.
pub fn read_report<S: Source, R: Reader<S>>(source: &mut S, reader: &mut R) -> Result<u8, R::Error> {
    let count = source.read_word()?;
    if count > EXCEPTIONS_MAX {
        return Err(reader.too_many(count, "exceptions"));
    }
    for _ in 0..count {
        let id = source.read_word()?;
        let message = text(source, reader)?;
        let mut param = [0; 3];
        for value in &mut param {
            let mut bytes = [0; 8];
            source.read(&mut bytes)?;
            *value = i64::from_le_bytes(bytes);
        }
        let exception = Exception {
            id,
            message,
            param,
            file: text(source, reader)?,
            line: source.read_word()? as i32,
            column: source.read_word()? as i32,
            function: text(source, reader)?,
        };
        reader.exception(exception)?;
    }
    for _ in 0..count {
        reader.extent(Extent {
            stack_pointer: source.read_word()?,
            initial: source.read_word()?,
            current: source.read_word()?,
        })?;
    }
    let count = source.read_word()?;
    if count > FRAMES_MAX {
        return Err(reader.too_many(count, "frames"));
    }
    for _ in 0..count {
        reader.frame(Frame {
            address: source.read_word()?,
            stack_pointer: source.read_word()?,
        })?;
    }
    let mut errors = [0];
    source.read(&mut errors)?;
    Ok(errors[0])
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::String;
    use std::vec::Vec;

    use super::super::{write_report, Record, Text};
    use super::*;
    use crate::rpc::{BadAddress, Memory};

    struct Bytes<'a>(&'a [u8]);

    impl Source for Bytes<'_> {
        type Error = ();

        fn read(&mut self, buffer: &mut [u8]) -> Result<(), ()> {
            let (taken, rest) = self.0.split_at_checked(buffer.len()).ok_or(())?;
            buffer.copy_from_slice(taken);
            self.0 = rest;
            Ok(())
        }
    }

    #[derive(Default)]
    struct Kept {
        exceptions: Vec<Exception<String>>,
        extents: Vec<Extent>,
        frames: Vec<Frame>,
    }

    impl Reader<Bytes<'_>> for Kept {
        type Text = String;
        type Error = ();

        fn text(&mut self, length: u32, source: &mut Bytes) -> Result<String, ()> {
            let mut bytes = std::vec![0; length as usize];
            source.read(&mut bytes)?;
            String::from_utf8(bytes).map_err(|_| ())
        }

        fn host_text(&mut self, key: u32) -> Result<String, ()> {
            Ok(std::format!("text {key}"))
        }

        fn exception(&mut self, exception: Exception<String>) -> Result<(), ()> {
            self.exceptions.push(exception);
            Ok(())
        }

        fn extent(&mut self, extent: Extent) -> Result<(), ()> {
            self.extents.push(extent);
            Ok(())
        }

        fn frame(&mut self, frame: Frame) -> Result<(), ()> {
            self.frames.push(frame);
            Ok(())
        }

        fn too_many(&mut self, _: u32, _: &str) {}
    }

    struct Rom(&'static [u8]);

    impl Memory for Rom {
        fn bytes(&self, address: u32, length: u32) -> Result<&[u8], BadAddress> {
            let range = address as usize..address as usize + length as usize;
            self.0.get(range).ok_or(BadAddress { address, length })
        }
    }

    #[test]
    fn exception_of_a_device_round_trips() {
        let record = Record {
            id: 30,
            message: Text::host(7),
            file: Text { pointer: 0, length: 4 },
            function: Text { pointer: 4, length: 3 },
            line: 7,
            column: u32::MAX,
            param: [1, -2, 3],
        };
        let extent = Extent {
            stack_pointer: 9,
            initial: 0,
            current: 1,
        };
        let frame = Frame {
            address: 0x1234,
            stack_pointer: 8,
        };
        let mut bytes = Vec::new();
        let both = [(&record, extent), (&record, extent)];
        write_report(&mut bytes, &Rom(b"a.pyrun"), both.into_iter(), &[frame], |_| None);
        bytes.push(5);
        let mut kept = Kept::default();
        assert_eq!(read_report(&mut Bytes(&bytes), &mut kept), Ok(5));
        let expected = Exception {
            id: 30,
            message: String::from("text 7"),
            param: [1, -2, 3],
            file: String::from("a.py"),
            line: 7,
            column: -1,
            function: String::from("run"),
        };
        assert_eq!(kept.exceptions, [expected.clone(), expected]);
        assert_eq!((kept.extents, kept.frames), (std::vec![extent; 2], std::vec![frame]));
        for cut in 0..bytes.len() {
            assert_eq!(read_report(&mut Bytes(&bytes[..cut]), &mut Kept::default()), Err(()));
        }
    }
}
