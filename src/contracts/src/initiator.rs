//! Kernel initiator: layout of its rings (`docs/interfaces.md`, section 5).
//!
//! Generated from `src/contracts/initiator.toml` by `src/contracts/generate.py`: do not edit.

/// Number of requests in the ring.
pub const SLOTS: u32 = 16;

/// Bytes of a request.
pub const SLOT_BYTES: usize = 128;

/// Offset in a slot: channel << 8 | address, u32.
pub const SLOT_TARGET: usize = 0;

/// Offset in a slot: data word 0, u32.
pub const SLOT_DATA: usize = 4;

/// Offset in a slot: event time or timeout in machine units, i64.
pub const SLOT_TIME: usize = 8;

/// Offset in a slot: 2 * number of the request u16, command u8, number of data words u8.
pub const SLOT_HEADER: usize = 16;

/// Offset in a slot: data words from 1 on.
pub const SLOT_WORDS: usize = 20;

/// Data words of the longest output.
pub const MAX_WORDS: usize = 16;

/// Offset of the reply: input timestamp or progress, i64.
pub const REPLY: usize = 1 << 11;

/// Offset of the status word, u32.
pub const REPLY_STATUS: usize = 2_056;

/// Offset of input data, or of the first posted output that failed, u32.
pub const REPLY_DATA: usize = 2_060;

/// The ring begins at a multiple of this.
pub const RING_ALIGNMENT: usize = 1 << 12;

/// Request numbers count modulo 2 to the power of this.
pub const NUMBER_BITS: u32 = 15;

/// Maximum number of requests in flight. Bits 15..1 of the status word are the number of the newest request answered +
/// this.
pub const CREDIT: u32 = 15;

/// Status word: a lane, or the pool of a core that reorders, is nearly full, or a posted output failed.
pub const ATTENTION: u32 = 1;

/// Status word, unless it is open: RTIO status of the newest request answered, in 4 bits from here on.
pub const STATUS_SHIFT: u32 = 16;

/// Status word, unless it is open: a posted output failed since `initiator_clear`.
pub const POSTED_ERROR: u32 = 1 << 21;

/// Status word, unless it is open: a permit is active.
pub const PERMIT: u32 = 1 << 22;

/// Head of a posted output of one word, without its number. In the upper half of the status word: it is open, that is,
/// its status is 0, a permit is active, and no posted output has failed.
pub const POSTED_WORD: u32 = 0x102_0000;

/// Offset in the ring of the structure exported as `rtio_post_2`.
pub const POST: usize = 2_272;

/// Offset in this structure of the time cursor, i64.
pub const POST_CURSOR: usize = 0;

/// Offset of the ring's address, u32.
pub const POST_RING: usize = 8;

/// Offset of the last of the leading channels that take outputs, i32; -1: none known.
pub const POST_CHANNEL: usize = 12;

/// Offset of the floor, i64: while the status word is open, an event at or after this time is early enough and in
/// order.
pub const POST_FLOOR: usize = 16;

/// Offset of the header of the next request if it is a posted output of one word, u32.
pub const POST_HEADER: usize = 24;

/// Offset of the end.
pub const POST_END: usize = 28;

/// Entries in the ring of an input channel.
pub const INPUT_ENTRIES: u32 = 64;

/// Bytes of an entry.
pub const INPUT_ENTRY_BYTES: usize = 16;

/// Number of channels with input rings; higher-numbered channels have none.
pub const INPUT_CHANNELS: usize = 256;

/// Offset in an entry: timestamp, i64.
pub const ENTRY_TIME: usize = 0;

/// Offset in an entry: data, u32.
pub const ENTRY_DATA: usize = 8;

/// Offset in an entry: flags, u16.
pub const ENTRY_FLAGS: usize = 12;

/// Offset in an entry: its number, u16.
pub const ENTRY_NUMBER: usize = 14;

/// Flag of an entry: an event.
pub const ENTRY_EVENT: u32 = 1;

/// Flag of an entry: events were lost here.
pub const ENTRY_LOST: u32 = 2;

/// Flag of an entry: the FIFO contained further events when it was pushed.
pub const ENTRY_MORE: u32 = 4;

/// Command of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Command {
    /// An output; the kernel core waits for its status.
    Output = 0,
    /// An input.
    Input = 1,
    /// A posted output: the kernel core does not wait for its status, and the gateware stores any error.
    Posted = 2,
}

impl Command {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 3] = [Self::Output, Self::Input, Self::Posted];
}

impl TryFrom<u8> for Command {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            0 => Self::Output,
            1 => Self::Input,
            2 => Self::Posted,
            other => return Err(other),
        })
    }
}
