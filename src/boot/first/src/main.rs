//! First stage of the loader, entered by the chip's boot ROM in on-chip memory (`docs/boot.md`): sets up clocks, pins and DDR of
//! the board, puts the second stage into DDR and starts it.
//!
//! It runs with caches and MMU off, where an access that is not aligned faults. So there is no formatting here.
#![no_std]
#![no_main]

mod boards;
mod ddr;
mod registers;
mod start;
mod uart;

use boards::BOARD;
use kairos_board::memory::LOADER;

/// The second stage.
#[repr(align(4))]
struct Aligned<T: ?Sized>(T);
static LOADER_IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/loader.bin")));

/// Entered from [`start`].
extern "C" fn main() -> ! {
    registers::unlock();
    for pll in &BOARD.plls {
        pll.start();
    }
    registers::write_all(BOARD.clocks);
    for (pins, value) in BOARD.pins {
        registers::set_pins(pins, *value);
    }
    uart::init(BOARD.uart);
    uart::print("\nKairos loader, first stage, ");
    uart::print(BOARD.name);
    uart::print("\n");
    if let Err(reason) = ddr::start(BOARD.ddr) {
        fail(reason);
    }
    start::second_stage(&LOADER_IMAGE.0, LOADER.start)
}

/// Says why nothing can be booted, and stops.
fn fail(reason: &str) -> ! {
    uart::print("error: ");
    uart::print(reason);
    uart::print("\n");
    loop {
        kairos_board::gic::wait_for_interrupt();
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    fail("panic in the first stage")
}
