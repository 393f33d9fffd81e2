//! The parts of I2C transfers.

/// A part of a transfer. The bus is not released between parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Write(Vec<u8>),
    /// Number of bytes.
    Read(usize),
}
