//! Transactions with the kernel initiator: a buffer in cached memory that the gateware reads and writes through the
//! accelerator coherency port (`docs/interfaces.md`, section 5).
//!
//! The `sev` in [`submit`] is the only one in all firmware: each one starts a transaction.

use core::arch::asm;
use core::ptr::{addr_of, addr_of_mut, read_volatile, write_volatile};

use super::INPUT_UNREACHABLE;

/// Data words of the longest output.
pub const MAX_WORDS: u32 = 16;

const OUTPUT: u32 = 0;
const INPUT: u32 = 1;
/// A status for when there is no gateware to give one.
const UNREACHABLE: u32 = super::OUTPUT_UNREACHABLE | INPUT_UNREACHABLE;

#[repr(C, align(128))]
struct Buffer {
    /// command | words << 8 | sequence number << 16
    head: u32,
    target: u32,
    time: i64,
    data: [u32; MAX_WORDS as usize],
    _reserved: [u32; 4],
    input_timestamp: i64,
    /// RTIO status in bits 3..0, sequence number in bits 31..16.
    status: u32,
    input_data: u32,
    _end: [u32; 4],
}

const _: () = assert!(core::mem::size_of::<Buffer>() == 128 && core::mem::offset_of!(Buffer, status) == 104);

static mut BUFFER: Buffer = Buffer {
    head: 0,
    target: 0,
    time: 0,
    data: [0; MAX_WORDS as usize],
    _reserved: [0; 4],
    input_timestamp: 0,
    status: 0,
    input_data: 0,
    _end: [0; 4],
};

/// Sequence number of the newest transaction, in bits 31..16. Kept over restarts, so that a late answer is not mistaken.
static mut SEQUENCE: u32 = 0;
/// There is an initiator that answers.
static mut ALLOWED: bool = false;

/// An input event.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Event {
    /// Time in machine units.
    pub timestamp: i64,
    /// What the PHY delivered.
    pub data: u32,
}

/// Physical address of the buffer.
pub fn address() -> u32 {
    addr_of!(BUFFER) as u32
}

/// Lets transactions through, or answers them with "unreachable".
pub fn allow(there: bool) {
    // SAFETY: one core, and no interrupt handler uses it; so for all statics of this module.
    unsafe { addr_of_mut!(ALLOWED).write(there) };
}

/// Starts the transaction in the buffer and waits for its answer; `sequence` is its number, in bits 31..16.
#[inline(never)]
fn submit(sequence: u32) -> u32 {
    // SAFETY: the gateware writes the status word only. `dsb` completes the request before the event is sent.
    unsafe { asm!("dsb", "sev", options(nostack, preserves_flags)) };
    loop {
        // SAFETY: as above.
        let status = unsafe { read_volatile(addr_of!(BUFFER.status)) };
        if (status ^ sequence) >> 16 == 0 {
            return status;
        }
        // The gateware raises an event with each answer, so none is slept over. This core's own `sev` counts as one too:
        // the first `wfe` falls through, and there is a second look before the core really sleeps.
        // SAFETY: a hint.
        unsafe { asm!("wfe", options(nostack, preserves_flags)) };
    }
}

/// Writes the head of a request and returns its sequence number, in bits 31..16.
#[inline(always)]
unsafe fn request(command: u32, words: u32, target: u32, time: i64) -> u32 {
    let sequence = addr_of!(SEQUENCE).read().wrapping_add(1 << 16);
    addr_of_mut!(SEQUENCE).write(sequence);
    write_volatile(addr_of_mut!(BUFFER.head), command | words << 8 | sequence);
    write_volatile(addr_of_mut!(BUFFER.target), target);
    write_volatile(addr_of_mut!(BUFFER.time), time);
    sequence
}

/// Submits an event of one word at `time`; returns its status.
#[inline(always)]
pub fn output(target: u32, time: i64, data: u32) -> u32 {
    // SAFETY: the buffer is free, since each transaction is waited for.
    unsafe {
        if !addr_of!(ALLOWED).read() {
            return UNREACHABLE;
        }
        let sequence = request(OUTPUT, 1, target, time);
        write_volatile(addr_of_mut!(BUFFER.data[0]), data);
        submit(sequence)
    }
}

/// Submits an event of 1 to 16 words, given by their bytes.
pub fn output_wide(target: u32, time: i64, data: &[u8]) -> u32 {
    // SAFETY: as in `output`.
    unsafe {
        if !addr_of!(ALLOWED).read() {
            return UNREACHABLE;
        }
        let words = data.chunks_exact(4).take(MAX_WORDS as usize);
        let sequence = request(OUTPUT, words.len() as u32, target, time);
        for (index, word) in words.enumerate() {
            let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            write_volatile(addr_of_mut!(BUFFER.data).cast::<u32>().add(index), word);
        }
        submit(sequence)
    }
}

/// Waits for an event on `channel` until the counter passes `timeout` (-1: for ever).
pub fn input(channel: u32, timeout: i64) -> (u32, Event) {
    // SAFETY: as in `output`.
    unsafe {
        if !addr_of!(ALLOWED).read() {
            return (UNREACHABLE, Event { timestamp: -1, data: 0 });
        }
        let sequence = request(INPUT, 0, channel << 8, timeout);
        let status = submit(sequence);
        // The gateware wrote these before the status.
        asm!("dmb", options(nostack, preserves_flags));
        let timestamp = read_volatile(addr_of!(BUFFER.input_timestamp));
        (
            status,
            Event {
                timestamp,
                data: read_volatile(addr_of!(BUFFER.input_data)),
            },
        )
    }
}
