//! Exception ids shared by host, compiler and firmware.
//!
//! Generated from `src/contracts/exceptions.toml` by `src/contracts/generate.py`: do not edit.

/// Prefix of the names of the device's own exceptions in the host's string table.
pub const HOST_PREFIX: &str = "0:artiq.coredevice.exceptions.";

/// Prefix of the names of Python's exceptions.
pub const HOST_BUILTIN_PREFIX: &str = "0:";

/// Ids, in the order of the host's string table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Id {
    /// An event was submitted too late.
    RtioUnderflow = 0,
    /// An input channel lost events.
    RtioOverflow = 1,
    /// A channel does not exist or cannot be reached.
    RtioDestinationUnreachable = 2,
    /// Wrong use of DMA.
    DmaError = 3,
    /// The I2C bus failed.
    I2cError = 4,
    /// A value cannot be stored in the cache.
    CacheError = 5,
    /// The SPI bus failed.
    SpiError = 6,
    /// A subkernel failed.
    SubkernelError = 7,
    /// An `assert` failed.
    AssertionError = 8,
    /// An attribute is missing.
    AttributeError = 9,
    /// An index is out of range.
    IndexError = 10,
    /// Input or output failed.
    IoError = 11,
    /// A key is missing.
    KeyError = 12,
    /// Not implemented.
    NotImplementedError = 13,
    /// A number is too large.
    OverflowError = 14,
    /// Any other error.
    RuntimeError = 15,
    /// Something took too long.
    TimeoutError = 16,
    /// A value has the wrong type.
    TypeError = 17,
    /// An invalid argument.
    ValueError = 18,
    /// A division by zero.
    ZeroDivisionError = 19,
    /// A matrix has no solution.
    LinAlgError = 20,
    /// An option was empty.
    UnwrapNoneError = 21,
    /// A camera or its frame grabber failed.
    CxpError = 22,
    /// A load or store in another board's memory failed.
    RemoteMemoryError = 23,
}

/// Names, by id.
pub const NAMES: [&str; 24] = [
    "RTIOUnderflow",
    "RTIOOverflow",
    "RTIODestinationUnreachable",
    "DMAError",
    "I2CError",
    "CacheError",
    "SPIError",
    "SubkernelError",
    "AssertionError",
    "AttributeError",
    "IndexError",
    "IOError",
    "KeyError",
    "NotImplementedError",
    "OverflowError",
    "RuntimeError",
    "TimeoutError",
    "TypeError",
    "ValueError",
    "ZeroDivisionError",
    "LinAlgError",
    "UnwrapNoneError",
    "CXPError",
    "RemoteMemoryError",
];

/// Those that kernels know without an import.
pub const PRELUDE: [Id; 4] = [Id::IndexError, Id::RuntimeError, Id::ValueError, Id::ZeroDivisionError];

impl Id {
    /// Its name.
    pub const fn name(self) -> &'static str {
        NAMES[self as usize]
    }
}
