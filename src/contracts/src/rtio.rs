//! RTIO: status of outputs and inputs, formats of DMA traces, errors of a playback.
//!
//! Generated from `src/contracts/rtio.toml` by `src/contracts/generate.py`: do not edit.

/// Status of an output: underflow, its time has passed.
pub const OUTPUT_UNDERFLOW: u32 = 2;

/// Status of an output: there is no such channel.
pub const OUTPUT_UNREACHABLE: u32 = 4;

/// Status of an input: timeout.
pub const INPUT_TIMEOUT: u32 = 1;

/// Status of an input: overflow, events were lost.
pub const INPUT_OVERFLOW: u32 = 2;

/// Status of an input: there is no such channel.
pub const INPUT_UNREACHABLE: u32 = 8;

/// Maximum number of boards in a tree; a board thus has up to seven links.
pub const BOARDS: usize = 8;

/// Alignment of DMA traces in bytes.
pub const DMA_ALIGNMENT: usize = 128;

/// Compact traces: bits of data of a short event.
pub const DMA_SHORT_DATA_BITS: u32 = 6;

/// Data words of the longest event of a trace.
pub const DMA_MAX_WORDS: usize = 16;

/// Value of the register `dma_format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum DmaFormat {
    /// Concatenated records of `rtio_output` calls.
    Recorded = 0,
    /// 64-bit words with time differences.
    Compact = 1,
}

impl DmaFormat {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 2] = [Self::Recorded, Self::Compact];
}

impl TryFrom<u32> for DmaFormat {
    /// The number, which none of them has.
    type Error = u32;

    fn try_from(number: u32) -> Result<Self, u32> {
        Ok(match number {
            0 => Self::Recorded,
            1 => Self::Compact,
            other => return Err(other),
        })
    }
}

/// Compact traces: kind in bits 1..0 of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum TraceWord {
    /// End of the trace.
    End = 0,
    /// An event with one data word of at most DMA_SHORT_DATA_BITS bits.
    Short = 1,
    /// Any other event.
    Long = 2,
    /// A time difference that does not fit into an event.
    Time = 3,
}

impl TraceWord {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 4] = [Self::End, Self::Short, Self::Long, Self::Time];
}

impl TryFrom<u32> for TraceWord {
    /// The number, which none of them has.
    type Error = u32;

    fn try_from(number: u32) -> Result<Self, u32> {
        Ok(match number {
            0 => Self::End,
            1 => Self::Short,
            2 => Self::Long,
            3 => Self::Time,
            other => return Err(other),
        })
    }
}
