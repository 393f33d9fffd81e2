//! Notes of the kernel core for an emulator, which knows who has called: options of the hint `dbg`.
//!
//! Generated from `src/contracts/notes.toml` by `src/contracts/generate.py`: do not edit.

/// Notes on DMA traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum TraceNote {
    /// An event stands at the address in r0: copied from that in r1, or recorded if that is 0.
    Written = 1,
    /// Another board is to play the part at the address in r0, from the time in r2 (lower half) and r3 on.
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
