//! Requests to the kernel initiator: a ring in cached memory that the gateware reads, and a reply that it writes, through
//! the accelerator coherency port (`docs/interfaces.md`, section 5).
//!
//! An output is posted, that is, not waited for, when its time is so far ahead that it cannot be late
//! ([`super::clock`]), its channel is known to take outputs, and nothing before it can block it. Otherwise its own status is
//! waited for. So an underflow is always raised by the call that caused it.
//!
//! [`submit_output`] and [`submit`] hold the only `sev` in all firmware: each one makes the gateware read a request.

use core::arch::{asm, naked_asm};
use core::mem::offset_of;
use core::ptr::{addr_of, addr_of_mut, read_volatile, write_volatile};

use super::{clock, INPUT_UNREACHABLE};

/// Data words of the longest output.
pub const MAX_WORDS: usize = 16;

const OUTPUT: u32 = 0;
const INPUT: u32 = 1;
/// An output whose error the gateware keeps, because nobody waits for its status.
const POSTED: u32 = 2;
/// Status word: some lane is nearly full, or there was an error.
const ATTENTION: u32 = 1 << 4;
/// Status word: a posted output failed.
const ERROR: u32 = 1 << 5;
const SLOTS: u32 = 16;
/// Requests under way at most: a slot is not written anew before its request has been answered.
const CREDIT: u32 = SLOTS - 1;
/// The same when there are wide ones among them, which take the gateware longer.
const WIDE_CREDIT: u32 = 7;
/// A status for when there is no gateware to give one.
const UNREACHABLE: u32 = super::OUTPUT_UNREACHABLE | INPUT_UNREACHABLE;
const UNKNOWN: u8 = 0xff;

/// The first 20 bytes are written by one instruction.
#[derive(Clone, Copy)]
#[repr(C)]
struct Slot {
    target: u32,
    word0: u32,
    time: i64,
    /// command | words << 8 | number << 16
    head: u32,
    words: [u32; MAX_WORDS - 1],
    _end: [u32; 12],
}

/// Requests, reply, and what goes with them.
#[repr(C, align(4096))]
pub struct Ring {
    slots: [Slot; SLOTS as usize],
    input_timestamp: i64,
    /// RTIO status in bits 3..0, flags, number of the newest event answered in bits 31..16.
    status: u32,
    /// Of the first failed posted output: status in bits 3..0, number in bits 31..16.
    input_data_or_error: u32,
    _line: [u32; 12],
    /// What only this core uses, near each other so that few instructions reach it.
    pub(super) clock: clock::Estimate,
    /// The time cursor.
    pub now: i64,
    /// Number of the newest request in bits 31..16; below, the rest of the head of a posted output of one word.
    newest: u32,
    /// The newest request's slot.
    slot: u32,
    _state: [u32; 38],
    /// By the low byte of a channel's number: the high byte of the channel there that is known to take outputs.
    known: [u8; 256],
}

const FIRST_HEAD: u32 = POSTED | 1 << 8;
const KNOWN: usize = offset_of!(Ring, known);
const _: () = assert!(offset_of!(Ring, input_timestamp) == 2048 && KNOWN == 2304);

#[allow(clippy::declare_interior_mutable_const)]
const EMPTY: Slot = Slot {
    target: 0,
    word0: 0,
    time: 0,
    head: 0,
    words: [0; MAX_WORDS - 1],
    _end: [0; 12],
};

/// One core, and no interrupt handler uses it.
pub static mut RING: Ring = Ring {
    slots: [EMPTY; SLOTS as usize],
    input_timestamp: 0,
    status: 0,
    input_data_or_error: 0,
    _line: [0; 12],
    clock: clock::Estimate::NEVER,
    now: 0,
    newest: FIRST_HEAD,
    slot: 0,
    _state: [0; 38],
    known: [UNKNOWN; 256],
};

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

/// A request that failed.
pub struct Failure {
    /// RTIO status.
    pub status: u32,
    /// channel << 8 | address
    pub target: u32,
    /// Time of the event.
    pub time: i64,
}

/// Physical address of the ring.
pub fn address() -> u32 {
    addr_of!(RING) as u32
}

/// Begins with number 1. The initiator is disabled meanwhile, and at rest.
pub fn begin() {
    // SAFETY: one core, and no interrupt handler uses it; so for all accesses to the statics of this module.
    unsafe {
        write_volatile(addr_of_mut!(RING.status), 0);
        write_volatile(addr_of_mut!(RING.newest), FIRST_HEAD);
        write_volatile(addr_of_mut!(RING.slot), address());
        write_volatile(addr_of_mut!(RING.slots[0].time), i64::MIN);
        // The ring may hold numbers that come again.
        for index in 0..SLOTS as usize {
            write_volatile(addr_of_mut!(RING.slots[index].head), 0);
        }
        asm!("dsb", options(nostack, preserves_flags));
        addr_of_mut!(ALLOWED).write(true);
    }
}

fn allowed() -> bool {
    // SAFETY: as above.
    unsafe { addr_of!(ALLOWED).read() }
}

fn status() -> u32 {
    // SAFETY: as above; written by the gateware.
    unsafe { read_volatile(addr_of!(RING.status)) }
}

fn newest() -> u32 {
    // SAFETY: as above.
    unsafe { read_volatile(addr_of!(RING.newest)) }
}

fn under_way() -> u32 {
    (newest() >> 16).wrapping_sub(status() >> 16) & 0xffff
}

/// Sleeps until the gateware has written a status. It raises an event with each, so none is slept over. This core's own
/// `sev` counts as one too: the first `wfe` falls through, and there is a second look before the core really sleeps.
fn wait() {
    // SAFETY: a hint.
    unsafe { asm!("wfe", options(nostack, preserves_flags)) };
}

/// Fills the next slot and tells the gateware. There must be room. `words`: 1 to 16.
#[inline(never)]
fn submit(command: u32, target: u32, time: i64, words: impl ExactSizeIterator<Item = u32>) -> u32 {
    // SAFETY: as above. `dsb` completes the request before the event is sent.
    unsafe {
        let next = newest().wrapping_add(1 << 16);
        let number = next >> 16;
        let slot = addr_of_mut!(RING.slots).cast::<Slot>().add((number % SLOTS) as usize);
        write_volatile(addr_of_mut!((*slot).target), target);
        write_volatile(addr_of_mut!((*slot).time), time);
        let head = command | (words.len() as u32) << 8 | number << 16;
        for (index, word) in words.enumerate() {
            if index == 0 {
                write_volatile(addr_of_mut!((*slot).word0), word);
            } else {
                write_volatile(addr_of_mut!((*slot).words).cast::<u32>().add(index - 1), word);
            }
        }
        write_volatile(addr_of_mut!((*slot).head), head);
        write_volatile(addr_of_mut!(RING.newest), next);
        write_volatile(addr_of_mut!(RING.slot), slot as u32);
        asm!("dsb", "sev", options(nostack, preserves_flags));
        number
    }
}

/// Submits a request and waits for its own status.
fn transact(command: u32, target: u32, time: i64, words: impl ExactSizeIterator<Item = u32>) -> u32 {
    while under_way() >= CREDIT {
        wait();
    }
    let number = submit(command, target, time, words);
    loop {
        let status = status();
        if status >> 16 == number {
            return status & 0xf;
        }
        wait();
    }
}

fn known(channel: u32) -> *mut u8 {
    // SAFETY: within the table.
    unsafe { addr_of_mut!(RING.known).cast::<u8>().add((channel & 0xff) as usize) }
}

/// Submits an event of 1 to 16 words at `time`; returns its status, 0 for a posted one.
pub fn output(target: u32, time: i64, words: impl ExactSizeIterator<Item = u32>) -> u32 {
    if !allowed() {
        return UNREACHABLE;
    }
    let channel = target >> 8;
    let credit = if words.len() > 2 { WIDE_CREDIT } else { CREDIT };
    // SAFETY: as above.
    let postable = unsafe { u32::from(read_volatile(known(channel))) == channel >> 8 };
    while postable && clock::ample(time) {
        let (status, under_way) = (status(), under_way());
        // SAFETY: as above; `slot` points to a slot.
        let newest_time = unsafe { (*(addr_of!(RING.slot).read() as *const Slot)).time };
        // Nothing blocks it if all lanes have room. If not, an earlier event may have to wait for room; that one gets it
        // before its own time, so a later one is not hindered.
        let free = under_way == 0 || status & ATTENTION == 0 || time >= newest_time;
        if under_way < credit && free {
            submit(POSTED, target, time, words);
            return 0;
        }
        wait();
    }
    let status = transact(OUTPUT, target, time, words);
    if status == 0 && channel >> 8 < u32::from(UNKNOWN) {
        // SAFETY: as above.
        unsafe { write_volatile(known(channel), (channel >> 8) as u8) };
    }
    status
}

/// Makes [`submit_output`] leave the next event on each channel to `rtio_output_checked`.
pub fn forget_channels() {
    // SAFETY: as above.
    unsafe { addr_of_mut!(RING.known).write([UNKNOWN; 256]) };
    let _ = forbidden;
}

/// The error of a posted output, once. It is one that could not be foreseen: a bus error, or a delivery that took longer
/// than [`clock::MARGIN`].
pub fn take_error(clear: impl FnOnce()) -> Option<Failure> {
    if !allowed() || status() & ERROR == 0 {
        return None;
    }
    while under_way() != 0 {
        wait();
    }
    clear();
    // SAFETY: as above. The gateware writes nothing now.
    unsafe {
        let word = read_volatile(addr_of!(RING.input_data_or_error));
        write_volatile(addr_of_mut!(RING.status), status() & !(ERROR | 0xf));
        let (number, age) = (word >> 16, (newest() >> 16).wrapping_sub(word >> 16) & 0xffff);
        let slot = addr_of!(RING.slots).cast::<Slot>().add((number % SLOTS) as usize);
        let (target, time) = if age < SLOTS {
            ((*slot).target, (*slot).time)
        } else {
            (0, -1)
        };
        Some(Failure {
            status: word & 0xf,
            target,
            time,
        })
    }
}

/// Waits for an event on `channel` until the counter passes `timeout` (-1: for ever).
pub fn input(channel: u32, timeout: i64) -> (u32, Event) {
    if !allowed() {
        return (UNREACHABLE, Event { timestamp: -1, data: 0 });
    }
    let status = transact(INPUT, channel << 8, timeout, core::iter::once(0));
    // SAFETY: as above. The gateware wrote these before the status.
    unsafe {
        asm!("dmb", options(nostack, preserves_flags));
        let timestamp = read_volatile(addr_of!(RING.input_timestamp));
        let data = read_volatile(addr_of!(RING.input_data_or_error));
        (status, Event { timestamp, data })
    }
}

/// Distance of a field from the table of known channels.
const fn from_known(offset: usize) -> i32 {
    offset as i32 - KNOWN as i32
}

/// `rtio_output(target, data)`: posts the event if that is allowed by the rules of [`output`] without a second look;
/// everything else is left to `rtio_output_checked`.
#[unsafe(naked)]
pub unsafe extern "C" fn submit_output() {
    naked_asm!(
        "push {{r4-r9, lr}}",
        "movw r12, #:lower16:{ring}+{table}",
        "movt r12, #:upper16:{ring}+{table}",
        // Is the channel known to take outputs?
        "ubfx r2, r0, #8, #8",
        "ldrb r2, [r12, r2]",
        "cmp r2, r0, lsr #16",
        "bne 9f",
        // Is there a slot?
        "ldr r3, [r12, #{status}]",
        "ldrd r4, r5, [r12, #{newest}]",
        "sub r6, r4, r3",
        "cmp r6, #{credit}",
        "bhs 9f",
        "tst r3, #{attention}",
        "bne 2f",
        // Is it early enough?
        "1:",
        "ldr r6, [r12, #{timer}]",
        "ldr r6, [r6]",
        "ldrd r2, r3, [r12, #{start}]",
        "sub r6, r6, r2",
        "cmp r6, #{window}",
        "bhs 9f",
        "mul r6, r6, r3",
        "ldrd r2, r3, [r12, #{now}]",
        "ldrd r8, r9, [r12, #{limit}]",
        "adds r8, r8, r6, lsr #10",
        "adc r9, r9, #0",
        "cmp r2, r8",
        "sbcs r9, r3, r9",
        "blt 9f",
        "add r4, r4, #0x10000",
        "add r5, r5, #128",
        "bic r5, r5, #0x800",
        "stm r5, {{r0-r4}}",
        "strd r4, r5, [r12, #{newest}]",
        "dsb",
        "sev",
        "pop {{r4-r9, pc}}",
        // A lane is nearly full: only events that are not before the newest.
        "2:",
        "tst r3, #{error}",
        "bne 9f",
        "ldrd r8, r9, [r5, #8]",
        "ldrd r2, r3, [r12, #{now}]",
        "cmp r2, r8",
        "sbcs r9, r3, r9",
        "bge 1b",
        "9:",
        "pop {{r4-r9, lr}}",
        "b {checked}",
        ring = sym RING,
        table = const KNOWN,
        status = const from_known(offset_of!(Ring, status)),
        newest = const from_known(offset_of!(Ring, newest)),
        now = const from_known(offset_of!(Ring, now)),
        start = const from_known(offset_of!(Ring, clock) + offset_of!(clock::Estimate, start)),
        limit = const from_known(offset_of!(Ring, clock) + offset_of!(clock::Estimate, limit)),
        timer = const from_known(offset_of!(Ring, clock) + offset_of!(clock::Estimate, timer)),
        window = const clock::WINDOW,
        credit = const CREDIT << 16,
        attention = const ATTENTION,
        error = const ERROR,
        checked = sym super::rtio_output_checked,
    )
}
