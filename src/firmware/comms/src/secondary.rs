//! Core 1 inside this image.
//!
//! On the chip and in the emulator core 1 is held until the runtime releases it. It then starts at
//! address 0, where a branch leads to the kernel core's image, and never runs this code. QEMU
//! starts both cores at the entry point of the image. There the start-up code calls
//! [`kmain_secondary`] while core 0 is still clearing its memory.

use core::sync::atomic::{AtomicU32, Ordering};

use kairos_chip::cache::clean;
use kairos_intercore::memory::KERNEL_IMAGE;

const PARKED: u32 = 0x5041_524b;
const RELEASED: u32 = 0x474f_474f;

/// Nonzero initially, so it lies in `.data`, and neither clearing `.bss` nor a warm restart opens
/// the gate.
static GATE: Gate = Gate(AtomicU32::new(PARKED));

/// Occupies a cache line of its own, which is cleaned to memory for a core whose caches are off.
/// Accessed by loads and stores only: exclusive accesses need the caches on.
#[repr(C, align(32))]
struct Gate(AtomicU32);

/// Waits, with caches and MMU off, then branches to the kernel core's image.
#[no_mangle]
extern "C" fn kmain_secondary() -> ! {
    while GATE.0.load(Ordering::Relaxed) != RELEASED {
        // Not `wfi`: no interrupt would end it.
        aarch32_cpu::asm::wfe();
    }
    // SAFETY: the image was put there before the gate opened, and is entered in the state of a core
    // after reset.
    let enter: extern "C" fn() -> ! = unsafe { core::mem::transmute(KERNEL_IMAGE.start) };
    enter()
}

/// Releases a core 1 that waits here. Its image must be in place, and cleaned to memory.
pub fn open() {
    GATE.0.store(RELEASED, Ordering::Relaxed);
    clean(core::ptr::from_ref(&GATE) as usize, size_of::<Gate>());
}
