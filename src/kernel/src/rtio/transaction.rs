//! Requests to the kernel initiator: a ring in cached memory that the gateware reads, and a reply that it writes, through
//! the accelerator coherency port (`docs/interfaces.md`, section 5).
//!
//! An output is posted, that is, not waited for, when its time is so far ahead that it cannot be late
//! ([`super::clock`]), its channel is known to take outputs, and nothing before it can block it. Otherwise its own status is
//! waited for. So an underflow is always raised by the call that caused it.
//!
//! [`submit_output`] and [`submit`] hold the only `sev` in all firmware: each one makes the gateware read a request.

use core::arch::{asm, naked_asm};
use core::mem::{offset_of, size_of};
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
    /// What only this core uses.
    pub(super) clock: clock::Estimate,
    _state: [u32; 32],
    pub quick: Quick,
    /// By the low byte of a channel's number: the high byte of the channel there that is known to take outputs.
    known: [u8; 256],
}

/// What [`submit_output`] needs, in the order of its registers, so that one instruction loads it. It ends where
/// [`Ring::known`] begins.
#[repr(C)]
pub struct Quick {
    /// [`POSTED_WORD`], or 0 while nothing is to be posted without a second look.
    allowed: u32,
    /// Address of the countdown of [`clock`].
    countdown: *const u32,
    /// The time cursor.
    pub now: i64,
    /// An event that is not before this has ample time while the countdown runs, and is not before the newest output.
    pub(super) floor: i64,
    /// Head of the next request if it is a posted output of one word: its number in bits 31..16, below [`POSTED_WORD`].
    next: u32,
    /// The slot of the next request.
    slot: *mut Slot,
}

/// Head of a posted output of one word, without its number.
const POSTED_WORD: u32 = POSTED | 1 << 8;
/// Time of nothing: any event is before it.
const NO_FLOOR: i64 = i64::MAX;
const KNOWN: usize = offset_of!(Ring, known);
const _: () = assert!(offset_of!(Ring, input_timestamp) == 2048 && KNOWN == 2304);
const _: () = assert!(offset_of!(Ring, quick) + size_of::<Quick>() == KNOWN);

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
    _state: [0; 32],
    quick: Quick {
        allowed: POSTED_WORD,
        countdown: clock::COUNTDOWN,
        now: 0,
        floor: NO_FLOOR,
        next: POSTED_WORD,
        slot: core::ptr::null_mut(),
    },
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
        clock::expire();
        set_next(1);
        write_volatile(addr_of_mut!(RING.quick.floor), NO_FLOOR);
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

/// Number of the next request.
fn next() -> u32 {
    // SAFETY: as above.
    unsafe { read_volatile(addr_of!(RING.quick.next)) >> 16 }
}

fn set_next(number: u32) {
    // SAFETY: as above.
    unsafe {
        write_volatile(addr_of_mut!(RING.quick.next), number << 16 | POSTED_WORD);
        write_volatile(addr_of_mut!(RING.quick.slot), slot(number));
    }
}

/// The slot of a request.
fn slot(number: u32) -> *mut Slot {
    // SAFETY: within the ring.
    unsafe { addr_of_mut!(RING.slots).cast::<Slot>().add((number % SLOTS) as usize) }
}

fn under_way() -> u32 {
    next().wrapping_sub(1 + (status() >> 16)) & 0xffff
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
        let number = next();
        let slot = slot(number);
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
        set_next(number.wrapping_add(1));
        if command != INPUT {
            let floor = time.max(addr_of!(RING.clock.earliest).read());
            write_volatile(addr_of_mut!(RING.quick.floor), floor);
        }
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
        // SAFETY: as above.
        let newest_time = unsafe { (*slot(next().wrapping_sub(1))).time };
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

/// Makes [`submit_output`] leave every event to `rtio_output_checked`, or lets it post again.
pub fn forbid_posting(forbidden: bool) {
    let allowed = if forbidden { 0 } else { POSTED_WORD };
    // SAFETY: as above.
    unsafe { write_volatile(addr_of_mut!(RING.quick.allowed), allowed) };
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
        let (number, age) = (word >> 16, next().wrapping_sub(1 + (word >> 16)) & 0xffff);
        let (target, time) = if age < SLOTS {
            ((*slot(number)).target, (*slot(number)).time)
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
/// everything else is left to `rtio_output_checked`. 25 instructions; they follow each other so that no load is waited for.
///
/// How each rule is looked at:
/// - Early enough: the countdown runs, and the time is not before `floor`, or else not before `earliest` ([`clock`]).
/// - The channel is known: the entry of its low byte is its high byte.
/// - Not blocked: the time is not before `floor`, or else there is no attention in the status word.
/// - A slot: next number - number answered, which is 1 if all is answered, is at most 15.
/// - No error waits in the status word, and posting is not forbidden: in the lower halves the same difference, when bits 4..0 of
///   the status word are ignored, is that of the head alone, and it is what is allowed.
#[unsafe(naked)]
pub unsafe extern "C" fn submit_output() {
    naked_asm!(
        "push {{r4-r10, lr}}",
        "ldr r12, 8f",
        // r2 allowed, r3 countdown, r4 and r5 time, r6 and r7 floor, r8 head, r9 slot; r12 moves on to the table.
        "ldm r12!, {{r2-r9}}",
        "ubfx r10, r0, #8, #8",
        "ldr r3, [r3]",
        "ldrb r10, [r12, r10]",
        "ldr lr, [r12, #{status}]",
        "cmp r3, #1",
        "cmphs r10, r0, lsr #16",
        "bic lr, lr, #{unimportant}",
        "sub lr, r8, lr",
        "bic lr, lr, #{credit}",
        "cmpeq lr, r2",
        "bne 9f",
        "cmp r4, r6",
        "sbcs lr, r5, r7",
        "blt 2f",
        "1:",
        "stm r9, {{r0, r1, r4, r5, r8}}",
        "add r8, r8, #0x10000",
        "add r9, r9, #128",
        "bic r9, r9, #0x800",
        // The time becomes the floor.
        "stmdb r12, {{r4, r5, r8, r9}}",
        "dsb",
        "sev",
        "pop {{r4-r10, pc}}",
        // Before the floor.
        "2:",
        "ldr lr, [r12, #{status}]",
        "ldrd r6, r7, [r12, #{earliest}]",
        "tst lr, #{attention}",
        "bne 9f",
        "cmp r4, r6",
        "sbcs lr, r5, r7",
        "bge 1b",
        "9:",
        "pop {{r4-r10, lr}}",
        "b {checked}",
        "8: .long {ring} + {quick}",
        ring = sym RING,
        quick = const offset_of!(Ring, quick),
        status = const from_known(offset_of!(Ring, status)),
        earliest = const from_known(offset_of!(Ring, clock) + offset_of!(clock::Estimate, earliest)),
        // Status of the newest answer, which was raised if it was an error, and attention.
        unimportant = const ATTENTION | 0xf,
        // Of the difference, what may be set.
        credit = const CREDIT << 16,
        attention = const ATTENTION,
        checked = sym super::rtio_output_checked,
    )
}
