//! Configuration of the PL through PCAP (UG585, section 6.4.5): the DMA of the device configuration unit carries a bitstream from
//! memory to it.

use core::fmt;
use core::ptr::{read_volatile, write_volatile};

use embassy_time::{Duration, Instant};
use kairos_proto::bitstream::{self, Bitstream};
use zynq7000_hal::slcr::Slcr;
use zynq7000_hal::{cache, pl};

use crate::chip;

mod register {
    const BASE: usize = 0xF800_7000;
    pub const CONTROL: usize = BASE;
    pub const INTERRUPT_STATUS: usize = BASE + 0x0c;
    pub const STATUS: usize = BASE + 0x14;
    pub const SOURCE: usize = BASE + 0x18;
    pub const DESTINATION: usize = BASE + 0x1c;
    pub const SOURCE_LENGTH: usize = BASE + 0x20;
    pub const DESTINATION_LENGTH: usize = BASE + 0x24;
    pub const UNLOCK: usize = BASE + 0x34;
    pub const MISCELLANEOUS: usize = BASE + 0x80;
}
use register::*;

const PROG_B: u32 = 1 << 30;
/// Configuration through PCAP, not ICAP or JTAG; at the full rate.
const PCAP: u32 = 1 << 27 | 1 << 26;
const QUARTER_RATE: u32 = 1 << 25;
const LOOPBACK: u32 = 1 << 4;
const PL_INIT: u32 = 1 << 4;
const DMA_DONE: u32 = 1 << 13;
const PL_DONE: u32 = 1 << 2;
/// Every flag that tells of a failed transfer: bus errors, time-outs, a full queue, lengths that differ.
const FAILED: u32 = 0x00f0_c800 | 1 << 18;
const UNLOCK_KEY: u32 = 0x757B_DF0D;
/// The largest bitstream takes 45 ms at the 400 MB/s of PCAP.
const TRANSFER: Duration = Duration::from_millis(200);
/// Clearing the memory of the PL, and its start-up, take less than half of this.
const REACTION: Duration = Duration::from_millis(20);
/// Instructions between two looks at a status.
const PAUSE: u32 = 2000;
/// Both level shifters between the processing system and the PL.
const SHIFTERS: u32 = 0xf;
const LVL_SHFTR_EN: *mut u32 = 0xF800_0900 as *mut u32;

/// Why the PL is not configured.
pub enum Error {
    File(bitstream::Error),
    /// The PL does not clear its memory.
    Init,
    /// The transfer has failed; interrupt status.
    Transfer(u32),
    /// Everything has been transferred, and the PL is not satisfied.
    NotDone,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File(error) => error.fmt(f),
            Error::Init => write!(f, "the PL does not answer: has it power?"),
            Error::Transfer(status) => write!(f, "the transfer to the PL has failed, status {status:#010x}"),
            Error::NotDone => write!(f, "the PL does not accept this bitstream: it is damaged or incomplete"),
        }
    }
}

fn write(register: usize, value: u32) {
    // SAFETY: a register of the device configuration unit, which only this module uses.
    unsafe { write_volatile(register as *mut u32, value) };
}

fn read(register: usize) -> u32 {
    // SAFETY: as above.
    unsafe { read_volatile(register as *const u32) }
}

fn wait(limit: Duration, done: impl Fn() -> bool) -> bool {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if done() {
            return true;
        }
        for _ in 0..PAUSE {
            aarch32_cpu::asm::nop();
        }
    }
    done()
}

/// Configures the PL with the bitstream in a file. The file is changed: its words are put in order and moved to its start, which must
/// be aligned to 64 bytes.
pub fn configure(file: &mut [u8]) -> Result<(), Error> {
    let found = Bitstream::find(file, chip::idcode()).map_err(Error::File)?;
    file.copy_within(found.start..found.start + found.length, 0);
    let words = &mut file[..found.length];
    if found.reversed {
        for word in words.chunks_exact_mut(4) {
            word.reverse();
        }
    }
    let address = words.as_ptr() as u32;
    assert!(address.is_multiple_of(64), "a bitstream is not aligned");
    let padded = words.len().next_multiple_of(32);
    cache::clean_data_cache_range(address, padded).expect("aligned");

    // Nothing of the old gateware reaches the processing system, and it is in reset while the new one starts.
    // SAFETY: nothing uses the PL while the loader runs.
    unsafe { Slcr::with(|_| LVL_SHFTR_EN.write_volatile(0)) };
    pl::assert_reset();
    write(UNLOCK, UNLOCK_KEY);
    let control = (read(CONTROL) | PCAP | PROG_B) & !QUARTER_RATE;
    write(CONTROL, control);
    write(CONTROL, control & !PROG_B);
    if !wait(REACTION, || read(STATUS) & PL_INIT == 0) {
        return Err(Error::Init);
    }
    write(CONTROL, control);
    if !wait(REACTION, || read(STATUS) & PL_INIT != 0) {
        return Err(Error::Init);
    }
    write(INTERRUPT_STATUS, !0);
    write(MISCELLANEOUS, read(MISCELLANEOUS) & !LOOPBACK);
    // The lowest bit: the last transfer of a series.
    write(SOURCE, address | 1);
    write(DESTINATION, !0);
    write(SOURCE_LENGTH, words.len() as u32 / 4);
    write(DESTINATION_LENGTH, words.len() as u32 / 4);
    let moved = wait(TRANSFER, || read(INTERRUPT_STATUS) & (DMA_DONE | FAILED) != 0);
    let status = read(INTERRUPT_STATUS);
    if !moved || status & FAILED != 0 {
        return Err(Error::Transfer(status));
    }
    if !wait(REACTION, || read(INTERRUPT_STATUS) & PL_DONE != 0) {
        return Err(Error::NotDone);
    }
    // SAFETY: as above.
    unsafe { Slcr::with(|_| LVL_SHFTR_EN.write_volatile(SHIFTERS)) };
    pl::deassert_reset();
    log::info!("PL configured, {} bytes", words.len());
    Ok(())
}
