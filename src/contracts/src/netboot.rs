//! Network boot, TCP 1379: message numbers (`docs/boot.md`).
//!
//! Generated from `src/contracts/netboot.toml` by `src/contracts/generate.py`: do not edit.

/// TCP port of the loader.
pub const PORT: u16 = 1_379;

/// Greeting sent by the host.
pub const GREETING: &[u8; 15] = b"KAIROS netboot\n";

/// Version of the protocol.
pub const VERSION: u8 = 1;

/// Length of a SHA-256 digest, a nonce, or a proof in bytes.
pub const DIGEST_LENGTH: usize = 32;

/// Longest text of a refusal, in bytes.
pub const TEXT_MAX: usize = 112;

/// Requests of the host; each ends with a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Request {
    /// Offer a file.
    Offer = 1,
    /// Start the files received.
    Boot = 2,
}

impl Request {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 2] = [Self::Offer, Self::Boot];
}

impl TryFrom<u8> for Request {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            1 => Self::Offer,
            2 => Self::Boot,
            other => return Err(other),
        })
    }
}

/// Answers of the loader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reply {
    /// Answer to the greeting.
    Hello = 1,
    /// Number of bytes of the file already received.
    Have = 2,
    /// The file is complete and verified.
    Verified = 3,
    /// The device starts.
    Booting = 4,
    /// The request is refused, and the connection closed.
    Refused = 5,
}

impl Reply {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 5] = [Self::Hello, Self::Have, Self::Verified, Self::Booting, Self::Refused];
}

impl TryFrom<u8> for Reply {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            1 => Self::Hello,
            2 => Self::Have,
            3 => Self::Verified,
            4 => Self::Booting,
            5 => Self::Refused,
            other => return Err(other),
        })
    }
}

/// Type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FileKind {
    /// An ELF file for the comms core.
    Firmware = 1,
    /// A bitstream.
    Gateware = 2,
}

impl FileKind {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 2] = [Self::Firmware, Self::Gateware];
}

impl TryFrom<u8> for FileKind {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            1 => Self::Firmware,
            2 => Self::Gateware,
            other => return Err(other),
        })
    }
}
