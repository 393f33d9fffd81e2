//! Output on a UART, for the few messages of the first stage (UG585, appendix B.33).

use core::sync::atomic::{AtomicU32, Ordering};

use crate::registers::{read, write};

/// Base address of the UART in use.
static BASE: AtomicU32 = AtomicU32::new(0);

const CONTROL: u32 = 0x00;
const MODE: u32 = 0x04;
const BAUD: u32 = 0x18;
const STATUS: u32 = 0x2c;
const FIFO: u32 = 0x30;
const BAUD_DIVIDER: u32 = 0x34;
const FULL: u32 = 1 << 4;

/// 115200 baud, 8N1, from the 50 MHz that the boards' tables configure for the UARTs: 50 MHz / 62 /
/// 7.
pub fn init(base: u32) {
    BASE.store(base, Ordering::Relaxed);
    write(base + CONTROL, 0x28); // both directions off
    write(base + MODE, 0x20);
    write(base + BAUD, 62);
    write(base + BAUD_DIVIDER, 6);
    write(base + CONTROL, 0x17); // both on, after a reset
}

/// Sends a text, waiting until there is room for each character.
pub fn print(text: &str) {
    let base = BASE.load(Ordering::Relaxed);
    for byte in text.bytes() {
        while read(base + STATUS) & FULL != 0 {}
        write(base + FIFO, byte.into());
    }
}
