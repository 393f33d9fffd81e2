//! Notes of the kernel core for an emulator: options of the hint instruction `dbg`.
//!
//! Generated from `src/contracts/notes.toml` by `src/contracts/generate.py`: do not edit.

/// Notes on DMA traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum TraceNote {
    /// An event was written to the address in r0: copied from the address in r1, or recorded if r1 is 0.
    Written = 1,
    /// The part at the address in r0 will be played by another board, starting at the time in r2 (lower half) and r3.
    Elsewhere = 2,
}

impl TraceNote {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 2] = [Self::Written, Self::Elsewhere];
}

impl TryFrom<u32> for TraceNote {
    /// The number, which none of them has.
    type Error = u32;

    fn try_from(number: u32) -> Result<Self, u32> {
        Ok(match number {
            1 => Self::Written,
            2 => Self::Elsewhere,
            other => return Err(other),
        })
    }
}
