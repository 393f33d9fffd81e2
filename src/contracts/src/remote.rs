//! Memory and blocks of other boards: descriptors of copies, rights, registers of bridges, addresses of their blocks.
//!
//! Generated from `src/contracts/remote.toml` by `src/contracts/generate.py`: do not edit.

/// Calls: added to the destination of a copy that goes from there to here.
pub const FETCH_DESTINATION: u32 = 1 << 31;

/// Copies: descriptors of a ring, which begins at a multiple of its size.
pub const COPY_DESCRIPTORS: usize = 64;

/// Copies: size of a descriptor: address here, bytes, address there, flags, u32 each.
pub const COPY_DESCRIPTOR_BYTES: usize = 16;

/// Copies: bit of the flags: completion is reported.
pub const COPY_NOTIFY_AT: usize = 0;

/// Copies: bit of the flags: from there to here.
pub const COPY_FETCH_AT: usize = 1;

/// Copies: lowest bit, in the flags, of the number of a board other than the neighbour.
pub const COPY_DESTINATION_AT: usize = 8;

/// Copies: bit of the flags: for the board with this number, not for the neighbour.
pub const COPY_OTHER_AT: usize = 11;

/// Block `pages`: size of a page.
pub const PAGE_BYTES: usize = 1 << 12;

/// Block `pages`: pages of its range.
pub const PAGES: usize = 256;

/// Block `pages`: lowest bit, in an entry, of the number of a page of the range; below it are the rights.
pub const PAGE_AT: usize = 2;

/// Block `adder`: most numbers of a vector.
pub const ADDER_NUMBERS: usize = 1 << 10;

/// Block `adder`: value of its first register.
pub const ADDER_IDENTITY: u32 = 0x5644_4441;

/// Block `adder`: size of its registers, of each vector, and of the sums, which follow one another.
pub const ADDER_AREA_BYTES: usize = 1 << 12;

/// Register of this board's end of a bridge in a kernel's call; those from `raises` on can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum BridgeRegister {
    /// Interrupts that the other board shows.
    Levels = 0,
    /// State of the bridge.
    State = 1,
    /// Cycles of the latest access.
    Latency = 2,
    /// Interrupts shown at the other board.
    Raises = 3,
    /// Reset of the bridge and of its block.
    Reset = 4,
    /// Entry of a shared page.
    Entry = 5,
}

impl BridgeRegister {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 6] = [
        Self::Levels,
        Self::State,
        Self::Latency,
        Self::Raises,
        Self::Reset,
        Self::Entry,
    ];
}

impl TryFrom<u32> for BridgeRegister {
    /// The number, which none of them has.
    type Error = u32;

    fn try_from(number: u32) -> Result<Self, u32> {
        Ok(match number {
            0 => Self::Levels,
            1 => Self::State,
            2 => Self::Latency,
            3 => Self::Raises,
            4 => Self::Reset,
            5 => Self::Entry,
            other => return Err(other),
        })
    }
}

/// Block `adder`: addresses of its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdderRegister {
    /// Read: `ADDER_IDENTITY`.
    Identity = 0,
    /// Numbers to add.
    Count = 4,
    /// Read: an `AdderState`.
    State = 8,
    /// Write: begin; `done` is cleared.
    Begin = 12,
}

impl AdderRegister {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 4] = [Self::Identity, Self::Count, Self::State, Self::Begin];
}

impl TryFrom<u32> for AdderRegister {
    /// The number, which none of them has.
    type Error = u32;

    fn try_from(number: u32) -> Result<Self, u32> {
        Ok(match number {
            0 => Self::Identity,
            4 => Self::Count,
            8 => Self::State,
            12 => Self::Begin,
            other => return Err(other),
        })
    }
}

/// Block `adder`: what its addresses hold, in units of `ADDER_AREA_BYTES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdderArea {
    /// The registers.
    Registers = 0,
    /// The first vector.
    First = 1,
    /// The second vector.
    Second = 2,
    /// The sums, read only.
    Sums = 3,
}

impl AdderArea {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 4] = [Self::Registers, Self::First, Self::Second, Self::Sums];
}

impl TryFrom<u32> for AdderArea {
    /// The number, which none of them has.
    type Error = u32;

    fn try_from(number: u32) -> Result<Self, u32> {
        Ok(match number {
            0 => Self::Registers,
            1 => Self::First,
            2 => Self::Second,
            3 => Self::Sums,
            other => return Err(other),
        })
    }
}

/// Read it.
pub const RIGHT_READ: u32 = 1;

/// Write it, together with `read`.
pub const RIGHT_WRITE: u32 = 2;

/// It adds.
pub const ADDER_STATE_BUSY: u32 = 1;

/// The sums are there.
pub const ADDER_STATE_DONE: u32 = 2;
