//! What a kernel has in its registers, on its stack and in its data at each of its calls of the firmware, for a
//! debugger on the host, which has the library with its debug information.
//!
//! A step is, in little endian: time in ns (u64), fingerprint of the library (7 bytes), a zero, r0 to r12, stack
//! pointer, return address, address of the data (16 × u32), d0 to d15 (u64), lengths of what follows (2 × u32): the
//! stack from its pointer on; the data, left out if they are those of the step before.

use std::collections::BTreeSet;

use kairos_contracts::library::{FINGERPRINT, FINGERPRINT_BYTES};
use kairos_contracts::memory::{KERNEL_LIBRARY, KERNEL_STACK};
use unicorn_engine::{uc_engine, uc_mem_read, uc_reg_read, RegisterARM};

use crate::machine::time::{self, Cycles};

/// Most bytes of a stack, and of a library's data, that are recorded per step.
const STACK: u32 = 4096;
const DATA: u32 = 1 << 16;
const BASE: u32 = KERNEL_LIBRARY.start as u32;
const PT_LOAD: u32 = 1;
/// Flags of a segment: code, writable.
const PF_X: u32 = 1;
const PF_W: u32 = 2;

/// The steps of a core.
#[derive(Default)]
pub struct Steps {
    /// Bytes that may be used.
    most: usize,
    bytes: Vec<u8>,
    fingerprint: [u8; FINGERPRINT_BYTES],
    /// Address and length of the data of this library.
    data: (u32, u32),
    last: Vec<u8>,
    /// Addresses of the firmware to which the kernel may return.
    returns: BTreeSet<u32>,
}

impl Steps {
    /// Steps of up to so many bytes in all.
    pub fn within(most: usize) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    /// All steps so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The firmware calls the kernel, or returns to it, with any address of its own as return address.
    pub(super) fn enter(&mut self, uc: *mut uc_engine) {
        let link = word(uc, RegisterARM::LR as i32);
        if !KERNEL_LIBRARY.contains(&(link as usize)) {
            self.returns.insert(link);
        }
    }

    /// Records a step at `now`, if the firmware at `address` is called: the kernel also returns to it, with nothing on
    /// its stack and the return address of an earlier call.
    pub(super) fn record(&mut self, uc: *mut uc_engine, address: u32, now: Cycles) {
        let link = word(uc, RegisterARM::LR as i32);
        let is_full = self.bytes.len() >= self.most;
        if is_full || self.returns.contains(&address) || !KERNEL_LIBRARY.contains(&(link as usize)) {
            return;
        }
        let mut fingerprint = [0; FINGERPRINT_BYTES];
        read(uc, BASE + FINGERPRINT as u32, &mut fingerprint);
        if fingerprint != self.fingerprint {
            (self.fingerprint, self.data) = (fingerprint, data(uc));
            self.last.clear();
        }
        self.bytes.extend(time::to_ns(now).to_le_bytes());
        self.bytes.extend(fingerprint);
        self.bytes.push(0);
        let stack = word(uc, RegisterARM::SP as i32);
        for number in 0..13 {
            self.bytes
                .extend(word(uc, RegisterARM::R0 as i32 + number).to_le_bytes());
        }
        for value in [stack, link, self.data.0] {
            self.bytes.extend(value.to_le_bytes());
        }
        for number in 0..16 {
            self.bytes
                .extend(double(uc, RegisterARM::D0 as i32 + number).to_le_bytes());
        }
        let left = (KERNEL_STACK.end as u32).saturating_sub(stack).min(STACK);
        let mut content = vec![0; self.data.1 as usize];
        read(uc, self.data.0, &mut content);
        let changed = content != self.last;
        self.bytes.extend(left.to_le_bytes());
        self.bytes.extend(if changed { self.data.1 } else { 0 }.to_le_bytes());
        let at = self.bytes.len();
        self.bytes.resize(at + left as usize, 0);
        read(uc, stack, &mut self.bytes[at..]);
        if changed {
            self.bytes.extend(&content);
            self.last = content;
        }
    }
}

/// Address and length of the data of the library in memory.
fn data(uc: *mut uc_engine) -> (u32, u32) {
    let get = |at: u32| {
        let mut bytes = [0; 4];
        read(uc, at, &mut bytes);
        u32::from_le_bytes(bytes)
    };
    let half = |at: u32| get(BASE + (at & !3)) >> (8 * (at & 2)) & 0xffff;
    let (table, size, count) = (get(BASE + 28), half(42), half(44));
    let mut segments = (0..count).map(|number| BASE + table + number * size);
    let found = segments.find(|at| get(*at) == PT_LOAD && get(*at + 24) & (PF_W | PF_X) == PF_W);
    found.map_or((BASE, 0), |at| (BASE + get(at + 8), get(at + 20).min(DATA)))
}

fn read(uc: *mut uc_engine, address: u32, into: &mut [u8]) {
    // SAFETY: the calling engine, whose memory is copied into the slice.
    let _ = unsafe { uc_mem_read(uc, address.into(), into.as_mut_ptr().cast(), into.len() as u64) };
}

fn word(uc: *mut uc_engine, register: i32) -> u32 {
    let mut value = 0u32;
    // SAFETY: the calling engine; a 32-bit register is read into 32 bits.
    let _ = unsafe { uc_reg_read(uc, register, (&raw mut value).cast()) };
    value
}

fn double(uc: *mut uc_engine, register: i32) -> u64 {
    let mut value = 0u64;
    // SAFETY: the calling engine; a 64-bit register is read into 64 bits.
    let _ = unsafe { uc_reg_read(uc, register, (&raw mut value).cast()) };
    value
}
