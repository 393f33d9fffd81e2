//! Remote procedure calls between a kernel and the host: the tag grammar and both directions of
//! value encoding.
//!
//! A *tag string* describes the types of a call. From the device to the host every value carries
//! its tag, so the encoder ([`encode_request`]) walks tag and memory together. From the host to the
//! device values are untagged, so the decoder ([`Decoder`]) walks the return tag the device sent,
//! and asks the kernel for memory as it goes.
//!
//! Memory is accessed through [`Memory`] and [`MemoryMut`] by 32-bit address, so that the same code
//! runs on the chip and in a test on a 64-bit host, and an address outside of the kernel's memory
//! is an error rather than a fault.

mod decode;
mod discard;
mod encode;
pub mod host;
mod tag;
#[cfg(test)]
mod tests;

use core::fmt;

use crate::bytes::u32_at;

pub use decode::{DecodeError, Decoder, Source, Step};
pub use encode::{encode_request, encode_values, Sink};
pub use tag::{split_value, values, Kind, Layout, Signature, TagError, Value, MAX_DEPTH};

/// The address used for an empty string, which needs no memory, but whose pointer must not be null.
pub const EMPTY: u32 = 4;

/// Length of a string that is stored on the host. Its pointer word is a key and must never be
/// followed.
pub use kairos_contracts::session::HOST_STRING;

/// An address range outside of the kernel's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadAddress {
    /// First address of the range.
    pub address: u32,
    /// Its length in bytes.
    pub length: u32,
}

/// Read access to the kernel's memory.
pub trait Memory {
    /// The `length` bytes at `address`.
    ///
    /// # Errors
    /// [`BadAddress`] if the range is not entirely in the kernel's memory.
    fn bytes(&self, address: u32, length: u32) -> Result<&[u8], BadAddress>;

    /// The little-endian word at `address`, which need not be aligned.
    ///
    /// # Errors
    /// As [`Memory::bytes`].
    fn word(&self, address: u32) -> Result<u32, BadAddress> {
        let bytes = self.bytes(address, 4)?;
        u32_at(bytes, 0).ok_or(BadAddress { address, length: 4 })
    }
}

/// Write access to the kernel's memory.
pub trait MemoryMut: Memory {
    /// The `length` bytes at `address`, for writing.
    ///
    /// # Errors
    /// [`BadAddress`] if the range is not entirely in the kernel's memory.
    fn bytes_mut(&mut self, address: u32, length: u32) -> Result<&mut [u8], BadAddress>;

    /// Stores a little-endian word.
    ///
    /// # Errors
    /// As [`MemoryMut::bytes_mut`].
    fn set_word(&mut self, address: u32, value: u32) -> Result<(), BadAddress> {
        self.bytes_mut(address, 4)?.copy_from_slice(&value.to_le_bytes());
        Ok(())
    }
}

/// Why a request could not be encoded. Either error means a corrupt library: the compiler causes
/// neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// The tag string does not follow the grammar.
    Tag(TagError),
    /// A pointer leads out of the kernel's memory.
    Address(BadAddress),
}

impl From<TagError> for EncodeError {
    fn from(error: TagError) -> Self {
        Self::Tag(error)
    }
}

impl From<BadAddress> for EncodeError {
    fn from(error: BadAddress) -> Self {
        Self::Address(error)
    }
}

impl fmt::Display for BadAddress {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let Self { address, length } = self;
        write!(out, "address {address:#010x} (+{length}) is not memory of the kernel")
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let reason: &dyn fmt::Display = match self {
            Self::Tag(error) => error,
            Self::Address(error) => error,
        };
        reason.fmt(out)
    }
}
