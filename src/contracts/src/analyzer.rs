//! Analyzer, TCP 1382: header and message types of the dump.
//!
//! Generated from `src/contracts/analyzer.toml` by `src/contracts/generate.py`: do not edit.

/// TCP port of the service. The client sends nothing.
pub const PORT: u16 = 1_382;

/// Length of a message in bytes.
pub const MESSAGE: usize = 32;

/// Length of the header in bytes.
pub const HEAD: usize = 16;

/// Message type, bits 1..0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Message {
    /// An output event was submitted.
    Output = 0,
    /// An input event was read.
    Input = 1,
    /// An exception; the address field holds `Exception`.
    Exception = 2,
    /// The analyzer was disabled.
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

/// Type of an exception, in the address field of an exception message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exception {
    /// An output was submitted too late.
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

/// A unit that holds two messages of outputs or inputs. The values are the lowest bits of its fields in the 32-byte
/// little-endian number; a field ends where the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Pair {
    /// Data of the older message.
    OlderData = 0,
    /// Slack of the older message: timestamp minus counter in machine units, signed.
    OlderSlack = 32,
    /// Data of the newer message.
    NewerData = 64,
    /// Slack of the newer message.
    NewerSlack = 96,
    /// Counter of the older message in coarse cycles (8 machine units).
    OlderCounter = 128,
    /// Type of the older message: 0 output, 1 input.
    OlderType = 189,
    /// Type of the newer message.
    NewerType = 190,
    /// Reserved, 0.
    Unused = 191,
    /// Channel of the older message.
    OlderChannel = 192,
    /// Address of the older message.
    OlderAddress = 208,
    /// Address of the newer message.
    NewerAddress = 216,
    /// Low bits of the newer message's counter.
    NewerCounterLow = 224,
    /// 1 in a pair, 0 in every other unit.
    Mark = 231,
    /// Next higher bits of the newer message's counter. The remaining bits equal those of the older one.
    NewerCounterHigh = 232,
    /// Channel of the newer message.
    NewerChannel = 240,
}

impl Pair {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 15] = [
        Self::OlderData,
        Self::OlderSlack,
        Self::NewerData,
        Self::NewerSlack,
        Self::OlderCounter,
        Self::OlderType,
        Self::NewerType,
        Self::Unused,
        Self::OlderChannel,
        Self::OlderAddress,
        Self::NewerAddress,
        Self::NewerCounterLow,
        Self::Mark,
        Self::NewerCounterHigh,
        Self::NewerChannel,
    ];
}

impl TryFrom<u8> for Pair {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            0 => Self::OlderData,
            32 => Self::OlderSlack,
            64 => Self::NewerData,
            96 => Self::NewerSlack,
            128 => Self::OlderCounter,
            189 => Self::OlderType,
            190 => Self::NewerType,
            191 => Self::Unused,
            192 => Self::OlderChannel,
            208 => Self::OlderAddress,
            216 => Self::NewerAddress,
            224 => Self::NewerCounterLow,
            231 => Self::Mark,
            232 => Self::NewerCounterHigh,
            240 => Self::NewerChannel,
            other => return Err(other),
        })
    }
}
