//! Management, TCP 1380: message numbers.
//!
//! Generated from `src/contracts/management.toml` by `src/contracts/generate.py`: do not edit.

/// TCP port of the service.
pub const PORT: u16 = 1_380;

/// Greeting sent by the client, followed by a DRTIO destination in one byte.
pub const GREETING: &[u8; 17] = b"ARTIQ management\n";

/// Destination of the device itself, the only one without DRTIO.
pub const DESTINATION_LOCAL: u8 = 0;

/// Prefix of the nonce in a proof, which makes proofs for other services invalid here.
pub const PROOF_CONTEXT: &[u8; 18] = b"KAIROS management\n";

/// Length of a nonce or a proof in bytes.
pub const DIGEST_LENGTH: usize = 32;

/// Longest configuration key in bytes. With `.BIN` appended, it must be a valid FAT file name; keys in use are shorter
/// than 20.
pub const KEY_MAX: usize = 128;

/// Length of the CRC-32 (IEEE) after a boot image in bytes.
pub const IMAGE_CHECKSUM_LENGTH: usize = 4;

/// Prefix of the reason for which a device cannot boot from an image, in the answer to `failure_reason` and in the log.
pub const IMAGE_REFUSED: &str = "boot image not replaced: ";

/// Payload of a message, after its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Payload {
    /// Nothing.
    None = 0,
    /// A configuration key: length u32 and ASCII.
    Key = 1,
    /// A key, and a value: length u32 and bytes.
    KeyAndData = 2,
    /// Length u32 and bytes.
    Data = 3,
    /// A nonce or a proof, 32 bytes.
    Digest = 4,
    /// Measurement to make: path u8, three bytes 0, size u32 in bytes, trials u32 (`src/contracts/paths.toml`).
    Measurement = 5,
}

impl Payload {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 6] = [
        Self::None,
        Self::Key,
        Self::KeyAndData,
        Self::Data,
        Self::Digest,
        Self::Measurement,
    ];
}

impl TryFrom<u8> for Payload {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            0 => Self::None,
            1 => Self::Key,
            2 => Self::KeyAndData,
            3 => Self::Data,
            4 => Self::Digest,
            5 => Self::Measurement,
            other => return Err(other),
        })
    }
}

/// Requests of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Request {
    /// Return the log, without clearing it.
    GetLog = 1,
    /// Clear the log.
    ClearLog = 2,
    /// Restart the device.
    Reboot = 5,
    /// Return the log continuously, clearing what has been sent.
    PullLog = 7,
    /// Write the state of the memory allocator to the log.
    DebugAllocator = 8,
    /// Replace the boot image (followed by its CRC-32) and restart.
    Flash = 9,
    /// Return the value of a key.
    ConfigRead = 12,
    /// Set a key; an empty value removes it.
    ConfigWrite = 13,
    /// Remove a key if it exists.
    ConfigRemove = 14,
    /// Remove all keys.
    ConfigErase = 15,
    /// Restart into the loader, which waits for network boot.
    Netboot = 128,
    /// Request a nonce. Devices without a key do not know this request, nor the next one.
    Challenge = 129,
    /// Prove possession of the key: HMAC-SHA-256 over PROOF_CONTEXT and the latest nonce.
    Authenticate = 130,
    /// Measure a path between processors, memory and logic. Refused while a kernel may run.
    Measure = 131,
    /// Return the links of this board as JSON.
    Links = 132,
    /// Return the descriptor of the gateware (section 3).
    Descriptor = 133,
    /// Execute a batch of register accesses (`src/contracts/batch.toml`).
    Batch = 134,
    /// Return the condition of this board's subsystems as JSON.
    Health = 135,
    /// Return why the latest request of this connection that was answered by Error has failed; empty if none was.
    FailureReason = 136,
}

impl Request {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 19] = [
        Self::GetLog,
        Self::ClearLog,
        Self::Reboot,
        Self::PullLog,
        Self::DebugAllocator,
        Self::Flash,
        Self::ConfigRead,
        Self::ConfigWrite,
        Self::ConfigRemove,
        Self::ConfigErase,
        Self::Netboot,
        Self::Challenge,
        Self::Authenticate,
        Self::Measure,
        Self::Links,
        Self::Descriptor,
        Self::Batch,
        Self::Health,
        Self::FailureReason,
    ];

    /// Its payload: a member of [`Payload`].
    pub const fn payload(self) -> Payload {
        match self {
            Self::GetLog
            | Self::ClearLog
            | Self::Reboot
            | Self::PullLog
            | Self::DebugAllocator
            | Self::ConfigErase
            | Self::Netboot
            | Self::Challenge
            | Self::Links
            | Self::Descriptor
            | Self::Health
            | Self::FailureReason => Payload::None,
            Self::Flash | Self::Batch => Payload::Data,
            Self::ConfigRead | Self::ConfigRemove => Payload::Key,
            Self::ConfigWrite => Payload::KeyAndData,
            Self::Authenticate => Payload::Digest,
            Self::Measure => Payload::Measurement,
        }
    }
}

impl TryFrom<u8> for Request {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            1 => Self::GetLog,
            2 => Self::ClearLog,
            5 => Self::Reboot,
            7 => Self::PullLog,
            8 => Self::DebugAllocator,
            9 => Self::Flash,
            12 => Self::ConfigRead,
            13 => Self::ConfigWrite,
            14 => Self::ConfigRemove,
            15 => Self::ConfigErase,
            128 => Self::Netboot,
            129 => Self::Challenge,
            130 => Self::Authenticate,
            131 => Self::Measure,
            132 => Self::Links,
            133 => Self::Descriptor,
            134 => Self::Batch,
            135 => Self::Health,
            136 => Self::FailureReason,
            other => return Err(other),
        })
    }
}

/// Replies of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reply {
    /// Success.
    Success = 1,
    /// The log, or another text.
    LogContent = 2,
    /// The device restarts; nothing more follows.
    RebootImminent = 3,
    /// Failure; the log contains the reason, and `failure_reason` returns it.
    Error = 6,
    /// The value of a key.
    ConfigData = 7,
    /// A nonce, valid for one proof.
    Challenge = 128,
    /// Frequencies of processors and logic in Hz, u32 each, then the samples.
    Measured = 131,
    /// Outcome and results of a batch (`src/contracts/batch.toml`).
    Batch = 133,
    /// The measurement was refused: reason (`Refusal`) u8, and a text.
    Refused = 132,
}

impl Reply {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 9] = [
        Self::Success,
        Self::LogContent,
        Self::RebootImminent,
        Self::Error,
        Self::ConfigData,
        Self::Challenge,
        Self::Measured,
        Self::Batch,
        Self::Refused,
    ];

    /// Its payload: a member of [`Payload`].
    pub const fn payload(self) -> Payload {
        match self {
            Self::Success | Self::RebootImminent | Self::Error => Payload::None,
            Self::LogContent | Self::ConfigData | Self::Measured | Self::Batch | Self::Refused => Payload::Data,
            Self::Challenge => Payload::Digest,
        }
    }
}

impl TryFrom<u8> for Reply {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            1 => Self::Success,
            2 => Self::LogContent,
            3 => Self::RebootImminent,
            6 => Self::Error,
            7 => Self::ConfigData,
            128 => Self::Challenge,
            131 => Self::Measured,
            133 => Self::Batch,
            132 => Self::Refused,
            other => return Err(other),
        })
    }
}
