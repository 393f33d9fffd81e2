//! First stage of the loader, entered by the chip's boot ROM in on-chip memory (`docs/boot.md`):
//! sets up clocks, pins and DDR of the board, copies the second stage to DDR and starts it.
//!
//! It runs with caches and MMU off, where unaligned accesses fault. Therefore formatting is not
//! used.
#![no_std]
#![no_main]

mod ddr;
mod registers;
mod start;
mod uart;

use core::ptr::{addr_of, read_volatile};

use kairos_chip::boards::{Choice, BOARDS, CHOICE};
use kairos_intercore::memory::LOADER;

/// The second stage.
#[repr(align(4))]
struct Aligned<T: ?Sized>(T);
static LOADER_IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/loader.bin")));

/// Modified in the image by `kairos image`.
static CHOSEN: Choice = CHOICE;

/// Entered from [`start`].
extern "C" fn main() -> ! {
    // SAFETY: a valid static; volatile, because the image may differ from what the compiler knows.
    let chosen = unsafe { read_volatile(addr_of!(CHOSEN.chosen)) };
    // `kairos image` writes only valid board numbers.
    let board = BOARDS.get(chosen as usize).unwrap_or(&BOARDS[0]);
    registers::unlock();
    for pll in &board.plls() {
        registers::start_pll(pll);
    }
    registers::write_all(&board.clocks());
    for (pins, value) in board.pins {
        registers::set_pins(pins, *value);
    }
    uart::init(board.uart_base());
    uart::print("\nKairos loader, first stage, ");
    uart::print(board.title);
    uart::print("\n");
    if let Err(reason) = ddr::start(board.memory) {
        fail(reason);
    }
    start::second_stage(&LOADER_IMAGE.0, LOADER.start)
}

/// Reports why nothing can be booted, and stops.
fn fail(reason: &str) -> ! {
    uart::print("error: ");
    uart::print(reason);
    uart::print("\n");
    loop {
        kairos_chip::gic::wait_for_interrupt();
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    fail("panic in the first stage")
}
