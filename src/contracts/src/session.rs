//! Kernel session, TCP 1381: message numbers.
//!
//! Generated from `src/contracts/session.toml` by `src/contracts/generate.py`: do not edit.

/// TCP port of the service.
pub const PORT: u16 = 1_381;

/// Greeting sent by the client.
pub const GREETING: &[u8; 14] = b"ARTIQ coredev\n";

/// The device's answer to a greeting, `e`: numbers are little endian.
pub const LITTLE_ENDIAN: u8 = 101;

/// The answer of a big-endian device, `E`, which Kairos does not serve.
pub const BIG_ENDIAN: u8 = 69;

/// Value of the synchronisation bytes before a message.
pub const SYNC_BYTE: u8 = 90;

/// Number of synchronisation bytes.
pub const SYNC_LENGTH: usize = 4;

/// Runtime id of a Zynq; nothing follows it.
pub const RUNTIME_ID: &[u8; 4] = b"ARZQ";

/// Runtime id of a device with a soft core; followed by an identifier and a flag.
pub const RUNTIME_ID_SOFT: &[u8; 4] = b"AROR";

/// Length of an RpcException after its type, in bytes.
pub const RPC_EXCEPTION_LENGTH: usize = 48;

/// Length that marks a string stored on the host; its key follows instead of the text.
pub const HOST_STRING: u32 = 0xffff_ffff;

/// Requests of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Request {
    /// Request the runtime id.
    SystemInfo = 3,
    /// Load this kernel library.
    LoadKernel = 5,
    /// Run the library loaded last.
    RunKernel = 6,
    /// Return value of a called function.
    RpcReply = 7,
    /// Exception raised by a called function.
    RpcException = 8,
    /// Upload a library for a satellite.
    SubkernelUpload = 9,
}

impl Request {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 6] = [
        Self::SystemInfo,
        Self::LoadKernel,
        Self::RunKernel,
        Self::RpcReply,
        Self::RpcException,
        Self::SubkernelUpload,
    ];
}

impl TryFrom<u8> for Request {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            3 => Self::SystemInfo,
            5 => Self::LoadKernel,
            6 => Self::RunKernel,
            7 => Self::RpcReply,
            8 => Self::RpcException,
            9 => Self::SubkernelUpload,
            other => return Err(other),
        })
    }
}

/// Messages of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reply {
    /// Answer to SystemInfo.
    SystemInfo = 2,
    /// The library is ready to run.
    LoadCompleted = 5,
    /// The library cannot be run.
    LoadFailed = 6,
    /// The kernel has returned.
    KernelFinished = 7,
    /// There is no kernel to run.
    KernelMissing = 8,
    /// The kernel has ended with an exception.
    KernelException = 9,
    /// The kernel calls a function of the host.
    RpcRequest = 10,
    /// The RTIO clock was lost; nothing more follows.
    ClockFailure = 15,
}

impl Reply {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 8] = [
        Self::SystemInfo,
        Self::LoadCompleted,
        Self::LoadFailed,
        Self::KernelFinished,
        Self::KernelMissing,
        Self::KernelException,
        Self::RpcRequest,
        Self::ClockFailure,
    ];
}

impl TryFrom<u8> for Reply {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            2 => Self::SystemInfo,
            5 => Self::LoadCompleted,
            6 => Self::LoadFailed,
            7 => Self::KernelFinished,
            8 => Self::KernelMissing,
            9 => Self::KernelException,
            10 => Self::RpcRequest,
            15 => Self::ClockFailure,
            other => return Err(other),
        })
    }
}

/// Two events had the same channel and time.
pub const ASYNC_ERROR_COLLISION: u8 = 1;

/// A PHY was not ready for an event.
pub const ASYNC_ERROR_BUSY: u8 = 2;

/// No lane was available for an event.
pub const ASYNC_ERROR_SEQUENCE_ERROR: u8 = 4;

/// What a message calls them.
pub const ASYNC_ERROR_TEXTS: [(u8, &str); 3] = [
    (ASYNC_ERROR_COLLISION, "collision(s)"),
    (ASYNC_ERROR_BUSY, "busy error(s)"),
    (ASYNC_ERROR_SEQUENCE_ERROR, "sequence error(s)"),
];
