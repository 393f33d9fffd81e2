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

/// A unit that holds two messages, of outputs and inputs: the lowest bit of each field, counted in the little-endian
/// number of its 32 bytes. A field ends where the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Pair {
    /// Data of the older message.
    OlderData = 0,
    /// Its timestamp minus its counter, machine units, signed.
    OlderSlack = 32,
    /// Data of the newer message.
    NewerData = 64,
    /// Its slack.
    NewerSlack = 96,
    /// The older one's counter, in coarse cycles: times 8 is machine units.
    OlderCounter = 128,
    /// Its type: 0 output, 1 input.
    OlderType = 189,
    /// The newer one's type.
    NewerType = 190,
    /// 0.
    Unused = 191,
    /// The older one's channel.
    OlderChannel = 192,
    /// Its address.
    OlderAddress = 208,
    /// The newer one's address.
    NewerAddress = 216,
    /// Low bits of its counter.
    NewerCounterLow = 224,
    /// 1 in a pair, 0 in every other unit.
    Mark = 231,
    /// The bits above them. All others are those of the older one's counter.
    NewerCounterHigh = 232,
    /// The newer one's channel.
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
