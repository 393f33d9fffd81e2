//! Exceptions of kernels: the record in memory, the reply with which the host raises one, and the
//! report of uncaught ones.
//!
//! Layouts: kernel ABI section 4.2 (record), wire protocols sections 1.2 (type 8) and 1.8 (type 9).

pub mod host;
pub mod report;

pub use kairos_contracts::exceptions::{Id, NAMES};
use kairos_contracts::session::RPC_EXCEPTION_LENGTH;

use crate::bytes::{long, words};
use crate::rpc::{BadAddress, Memory, Sink, HOST_STRING};

/// A string of a record: `length` bytes at `pointer` or, if the length is [`HOST_STRING`], the
/// host's string of key `pointer`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Text {
    /// Address of the bytes, or a key.
    pub pointer: u32,
    /// Length in bytes.
    pub length: u32,
}

impl Text {
    /// The host's string with this key.
    pub const fn host(key: u32) -> Self {
        Self {
            pointer: key,
            length: HOST_STRING,
        }
    }
}

/// An exception record as kernels create and read it: 64 bytes, aligned to 8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(8))]
pub struct Record {
    /// Key of the name in the host's string table.
    pub id: u32,
    /// Source file.
    pub file: Text,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 0; all ones if unknown.
    pub column: u32,
    /// Mangled name of the function.
    pub function: Text,
    /// Message with placeholders `{0}` to `{2}` for the parameters.
    pub message: Text,
    /// Parameters of the message.
    pub param: [i64; 3],
}

/// Size of a [`Record`] in bytes.
pub const RECORD_SIZE: u32 = 64;

impl Record {
    /// Creates a record without a source location.
    pub const fn new(id: u32, message: Text, param: [i64; 3]) -> Self {
        const NONE: Text = Text { pointer: 0, length: 0 };
        Self {
            id,
            file: NONE,
            line: 0,
            column: 0,
            function: NONE,
            message,
            param,
        }
    }

    /// Reads the record at `address` of the kernel's memory.
    ///
    /// # Errors
    /// [`BadAddress`] if it is not in the kernel's memory.
    pub fn read(memory: &impl Memory, address: u32) -> Result<Self, BadAddress> {
        let bytes = memory.bytes(address, RECORD_SIZE)?;
        let Some(bytes) = bytes.first_chunk::<{ RECORD_SIZE as usize }>() else {
            let length = RECORD_SIZE;
            return Err(BadAddress { address, length });
        };
        let words: [u32; 16] = words(bytes);
        let text = |index: usize| Text {
            pointer: words[index],
            length: words[index + 1],
        };
        let param = |index: usize| long(words[index], words[index + 1]);
        Ok(Self {
            id: words[0],
            file: text(1),
            line: words[3],
            column: words[4],
            function: text(5),
            message: text(7),
            param: [param(10), param(12), param(14)],
        })
    }

    /// Creates the record from the host's answer that raises an exception.
    pub fn from_host(bytes: &[u8; RPC_EXCEPTION_LENGTH]) -> Self {
        let words: [u32; 12] = words(bytes);
        let param = |index: usize| long(words[index], words[index + 1]);
        Self {
            id: words[0],
            message: Text::host(words[1]),
            param: [param(2), param(4), param(6)],
            file: Text::host(words[8]),
            line: words[9],
            column: words[10],
            function: Text::host(words[11]),
        }
    }
}

/// An exception's part of the backtrace, in the host's format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Stack pointer of the last frame unwound.
    pub stack_pointer: u32,
    /// Index of the first entry.
    pub initial: u32,
    /// Index after the last entry.
    pub current: u32,
}

/// A frame: return address relative to the library's base, and the stack pointer there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Return address minus load base.
    pub address: u32,
    /// Stack pointer of the frame.
    pub stack_pointer: u32,
}

/// The placeholder that the device resolves in its own messages.
const CHANNEL_INFO: &[u8] = b"{rtio_channel_info:0}";

/// Writes the report of uncaught exceptions, oldest first, from `count` up to but excluding the
/// byte of asynchronous errors.
///
/// `channel_name` returns the name of an RTIO channel, for `{rtio_channel_info:0}` in messages.
/// Strings of a record that cannot be read (because the kernel has overwritten it) are reported as
/// `<unreadable>`.
pub fn write_report<'a, 'n>(
    sink: &mut impl Sink,
    memory: &impl Memory,
    exceptions: impl Iterator<Item = (&'a Record, Extent)> + Clone,
    backtrace: &[Frame],
    channel_name: impl Fn(u32) -> Option<&'n str>,
) {
    let word = |sink: &mut _, value: u32| Sink::write(sink, &value.to_le_bytes());
    word(sink, exceptions.clone().count() as u32);
    for (record, _) in exceptions.clone() {
        word(sink, record.id);
        write_message(sink, memory, record, &channel_name);
        record.param.iter().for_each(|param| sink.write(&param.to_le_bytes()));
        write_text(sink, memory, record.file);
        word(sink, record.line);
        word(sink, record.column);
        write_text(sink, memory, record.function);
    }
    for (_, extent) in exceptions {
        word(sink, extent.stack_pointer);
        word(sink, extent.initial);
        word(sink, extent.current);
    }
    word(sink, backtrace.len() as u32);
    for frame in backtrace {
        word(sink, frame.address);
        word(sink, frame.stack_pointer);
    }
}

/// The bytes of a device string. They must be UTF-8 on the wire: anything else counts as
/// unreadable.
fn device_text(memory: &impl Memory, text: Text) -> &[u8] {
    if text.length == 0 {
        return b"";
    }
    match memory.bytes(text.pointer, text.length) {
        Ok(bytes) if core::str::from_utf8(bytes).is_ok() => bytes,
        _ => b"<unreadable>",
    }
}

fn write_text(sink: &mut impl Sink, memory: &impl Memory, text: Text) {
    if text.length == HOST_STRING {
        sink.write(&HOST_STRING.to_le_bytes());
        sink.write(&text.pointer.to_le_bytes());
    } else {
        let bytes = device_text(memory, text);
        sink.write(&(bytes.len() as u32).to_le_bytes());
        sink.write(bytes);
    }
}

/// Writes a message, with the channel placeholder of a device string replaced by `0x<4 hex
/// digits>:<name>`. Like every message of the device, it is a template for the parameters.
fn write_message<'n>(
    sink: &mut impl Sink,
    memory: &impl Memory,
    record: &Record,
    channel_name: &impl Fn(u32) -> Option<&'n str>,
) {
    let find = |text: &[u8]| {
        text.windows(CHANNEL_INFO.len())
            .position(|window| window == CHANNEL_INFO)
    };
    if record.message.length == HOST_STRING {
        return write_text(sink, memory, record.message);
    }
    let text = device_text(memory, record.message);
    let channel = record.param[0] as u32;
    let name = channel_name(channel).unwrap_or("unknown").as_bytes();
    let mut digits = [0; 8];
    let digits = hexadecimal(channel, &mut digits);
    // The result is a template, in which braces of the name must be doubled.
    let braces = name.iter().filter(|byte| b"{}".contains(byte)).count();
    let info = 2 + digits.len() + 1 + name.len() + braces;
    let mut length = text.len();
    let mut rest = text;
    while let Some(at) = find(rest) {
        length = length - CHANNEL_INFO.len() + info;
        rest = &rest[at + CHANNEL_INFO.len()..];
    }
    sink.write(&(length as u32).to_le_bytes());
    rest = text;
    while let Some(at) = find(rest) {
        [&rest[..at], b"0x", digits, b":"]
            .iter()
            .for_each(|piece| sink.write(piece));
        for piece in name.split_inclusive(|byte| b"{}".contains(byte)) {
            sink.write(piece);
            sink.write(
                piece
                    .last()
                    .filter(|byte| b"{}".contains(byte))
                    .map_or(&[], core::slice::from_ref),
            );
        }
        rest = &rest[at + CHANNEL_INFO.len()..];
    }
    sink.write(rest);
}

/// Lower-case hexadecimal, at least four digits.
fn hexadecimal(value: u32, digits: &mut [u8; 8]) -> &[u8] {
    for (place, shift) in digits.iter_mut().zip((0..8).rev()) {
        *place = b"0123456789abcdef"[(value >> (4 * shift)) as usize & 15];
    }
    let zeros = (value.leading_zeros() as usize / 4).min(4);
    &digits[zeros..]
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;

    pub struct Rom(pub &'static [u8]);

    impl Memory for Rom {
        fn bytes(&self, address: u32, length: u32) -> Result<&[u8], BadAddress> {
            let range = address as usize..address as usize + length as usize;
            self.0.get(range).ok_or(BadAddress { address, length })
        }
    }

    fn report(memory: &Rom, records: &[(Record, Extent)], backtrace: &[Frame]) -> Vec<u8> {
        let mut out = Vec::new();
        let names = |channel| (channel == 5).then_some("ttl5");
        write_report(
            &mut out,
            memory,
            records.iter().map(|(record, extent)| (record, *extent)),
            backtrace,
            names,
        );
        out
    }

    #[test]
    fn exception_record_has_64_bytes() {
        assert_eq!(core::mem::size_of::<Record>(), RECORD_SIZE as usize);
        assert_eq!(core::mem::offset_of!(Record, param), 40);
        assert_eq!(core::mem::align_of::<Record>(), 8);
    }

    #[test]
    fn report_has_message_then_parameters_and_file() {
        let memory = Rom(b"at {rtio_channel_info:0}, {1} mufile.pyrun");
        let record = Record {
            id: 0,
            message: Text { pointer: 0, length: 32 },
            file: Text { pointer: 32, length: 7 },
            function: Text { pointer: 39, length: 3 },
            line: 7,
            column: 3,
            param: [5, -2, 1],
        };
        let extent = Extent {
            stack_pointer: 0x0dff_ff00,
            initial: 0,
            current: 1,
        };
        let out = report(
            &memory,
            &[(record, extent)],
            &[Frame {
                address: 0x1234,
                stack_pointer: 0x0dff_ff00,
            }],
        );
        let mut expected = Vec::new();
        expected.extend(b"\x01\0\0\0\0\0\0\0\x16\0\0\0at 0x0005:ttl5, {1} mu");
        [5i64, -2, 1]
            .iter()
            .for_each(|param| expected.extend(param.to_le_bytes()));
        expected.extend(b"\x07\0\0\0file.py\x07\0\0\0\x03\0\0\0\x03\0\0\0run");
        expected.extend(b"\0\xff\xff\x0d\0\0\0\0\x01\0\0\0\x01\0\0\0\x34\x12\0\0\0\xff\xff\x0d");
        assert_eq!(out, expected);
    }

    #[test]
    fn braces_of_a_channel_name_are_not_placeholders() {
        let memory = Rom(b"at {rtio_channel_info:0}, {1} mu");
        let record = Record::new(0, Text { pointer: 0, length: 32 }, [5, 7, 0]);
        let mut out = Vec::new();
        let records = [(&record, Extent::default())];
        write_report(&mut out, &memory, records.into_iter(), &[], |_| Some("a{0}}b"));
        let text = b"at 0x0005:a{{0}}}}b, {1} mu";
        assert_eq!(out[8..12], (text.len() as u32).to_le_bytes());
        assert_eq!(&out[12..12 + text.len()], text);
    }

    #[test]
    fn host_strings_stay_keys_and_unknown_channels_are_reported() {
        let mut wire = [0; 48];
        wire[..8].copy_from_slice(b"\x20\0\0\0\x21\0\0\0");
        wire[32..48].copy_from_slice(b"\x22\0\0\0\x07\0\0\0\xff\xff\xff\xff\x23\0\0\0");
        let record = Record::from_host(&wire);
        assert_eq!((record.id, record.line, record.column), (0x20, 7, u32::MAX));
        let out = report(&Rom(b""), &[(record, Extent::default())], &[]);
        assert_eq!(&out[8..16], b"\xff\xff\xff\xff\x21\0\0\0");
        assert_eq!(&out[40..48], b"\xff\xff\xff\xff\x22\0\0\0");

        let memory = Rom(b"{rtio_channel_info:0}");
        let record = Record {
            message: Text { pointer: 0, length: 21 },
            param: [0x1_2345, 0, 0],
            ..Record::default()
        };
        let out = report(&memory, &[(record, Extent::default())], &[]);
        assert_eq!(&out[8..27], b"\x0f\0\0\x000x12345:unknown");
    }

    #[test]
    fn text_outside_the_memory_of_the_image_is_reported_as_unreadable() {
        let record = Record {
            file: Text {
                pointer: 0xdead_0000,
                length: 4,
            },
            ..Record::default()
        };
        let out = report(&Rom(b""), &[(record, Extent::default())], &[]);
        assert!(out.windows(12).any(|window| window == b"<unreadable>"));
    }
}
