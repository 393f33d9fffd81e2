//! Analyzer, TCP 1382: the dump's head and the kinds of its messages.
//!
//! Generated from `src/contracts/analyzer.toml` by `src/contracts/generate.py`: do not edit.

/// TCP port of the service. The client sends nothing.
pub const PORT: u16 = 1_382;

/// Bytes of a message.
pub const MESSAGE: usize = 32;

/// Bytes of the head.
pub const HEAD: usize = 16;

/// Types of messages, bits 1..0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Message {
    /// An event was submitted.
    Output = 0,
    /// An event was read.
    Input = 1,
    /// Something went wrong: `Exception` in the place of the address.
    Exception = 2,
    /// The analyzer was switched off.
    Stopped = 3,
}

impl Message {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 4] = [Self::Output, Self::Input, Self::Exception, Self::Stopped];
}

impl TryFrom<u8> for Message {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            0 => Self::Output,
            1 => Self::Input,
            2 => Self::Exception,
            3 => Self::Stopped,
            other => return Err(other),
        })
    }
}

/// What an exception message tells of, in the place of the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exception {
    /// An output came too late.
    Underflow = 20,
    /// An input FIFO was full.
    Overflow = 33,
}

impl Exception {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 2] = [Self::Underflow, Self::Overflow];
}

impl TryFrom<u8> for Exception {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            20 => Self::Underflow,
            33 => Self::Overflow,
            other => return Err(other),
        })
    }
}
