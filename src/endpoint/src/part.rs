//! What transfers on a bus of I2C are made of.

/// A part of a transfer. Between two of them the bus is not given away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Write(Vec<u8>),
    /// So many bytes.
    Read(usize),
}
