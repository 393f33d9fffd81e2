//! Violations of a service's protocol by its client: one type for all services.

use core::fmt;

use crate::moninj::UnknownType;

/// A violation of the protocol by the client; the connection must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    UnknownType(u8),
    /// A length of 2^31 or more, which cannot be intended.
    Length(u32),
    /// The length of a configuration key that is empty or too long.
    KeyLength(u32),
    /// A configuration key that is not ASCII.
    KeyCharacter,
    /// A reply to an RPC, or an exception, for which no kernel waits.
    UnsolicitedReply,
    /// The reply to an RPC is longer than its type, by this many bytes.
    LongReply(u32),
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownType(number) => write!(f, "request of unknown type {number}"),
            Self::Length(length) => write!(f, "length {length:#x} in a request"),
            Self::KeyLength(length) => write!(f, "configuration key of {length} bytes"),
            Self::KeyCharacter => write!(f, "configuration key that is not ASCII"),
            Self::UnsolicitedReply => write!(f, "unsolicited RPC reply"),
            Self::LongReply(bytes) => write!(f, "RPC reply is {bytes} bytes too long"),
        }
    }
}

impl From<UnknownType> for ProtocolError {
    fn from(UnknownType(number): UnknownType) -> Self {
        Self::UnknownType(number)
    }
}
