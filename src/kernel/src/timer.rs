//! Interrupts of this core, and sleeping: until the comms core rings, or for a time by the private
//! timer.

use core::arch::asm;
use core::ptr::{read_volatile, write_volatile};

use kairos_chip::gic;

/// Private timer (Cortex-A9 MPCore TRM, section 4.1). It counts down at half the CPU's clock.
const LOAD: *mut u32 = 0xf8f0_0600 as *mut u32;
const CONTROL: *mut u32 = 0xf8f0_0608 as *mut u32;
const STATUS: *mut u32 = 0xf8f0_060c as *mut u32;
const COUNTER: *const u32 = 0xf8f0_0604 as *const u32;
/// Enabled, one shot, interrupt on zero.
const START: u32 = 0b101;

/// Interrupt 29, the private timer: priority register and enable bit, both banked per core.
const PRIORITY: *mut u8 = 0xf8f0_141d as *mut u8;
const ENABLE: *mut u32 = 0xf8f0_1100 as *mut u32;

/// Enables the timer's interrupt. Must follow [`gic::enable_sgis_only`].
pub fn initialise() {
    // SAFETY: registers of this core's own timer and interrupt interface.
    unsafe {
        write_volatile(CONTROL, 0);
        write_volatile(STATUS, 1);
        write_volatile(PRIORITY, 0x80);
        write_volatile(ENABLE, 1 << 29);
    }
}

/// Masks interrupts.
pub fn mask_interrupts() {
    // SAFETY: the handler shares data with the surrounding code only through the interrupt
    // controller.
    unsafe { asm!("cpsid i", options(nostack)) };
}

/// Unmasks interrupts, including a pending one.
pub fn unmask_interrupts() {
    // SAFETY: a restart does not return, and drops the stack and all loans; any other interrupt
    // changes nothing here.
    unsafe { asm!("cpsie i", "isb", options(nostack)) };
}

/// Sleeps until `ready`, checking again after each interrupt. Nothing is missed between the check
/// and the sleep, because interrupts are masked there: a pending one still ends `wfi`.
pub fn sleep_until(mut ready: impl FnMut() -> bool) {
    loop {
        mask_interrupts();
        let done = ready();
        if !done {
            gic::wait_for_interrupt();
        }
        unmask_interrupts();
        if done {
            return;
        }
    }
}

/// Sleeps until the next interrupt. The caller must have masked interrupts and checked its
/// condition.
pub fn sleep_masked() {
    gic::wait_for_interrupt();
    unmask_interrupts();
    mask_interrupts();
}

/// Sleeps for about `ticks` of the timer, less if another interrupt occurs; returns the ticks that
/// passed.
pub fn sleep_ticks(ticks: u32) -> u32 {
    mask_interrupts();
    // SAFETY: this core's own timer.
    unsafe {
        write_volatile(LOAD, ticks);
        write_volatile(STATUS, 1);
        write_volatile(CONTROL, START);
    }
    gic::wait_for_interrupt();
    // SAFETY: reading the counter has no effect. At zero it stays there (one shot).
    let left = unsafe { read_volatile(COUNTER) };
    // SAFETY: stops this core's own timer before interrupts are unmasked, so that a late one has no
    // effect.
    unsafe { write_volatile(CONTROL, 0) };
    unmask_interrupts();
    ticks.saturating_sub(left)
}

/// Waits briefly for room in the channel. The comms core need not ring after reading, so the caller
/// polls again after this time.
pub fn sleep_briefly() {
    sleep_ticks(20_000);
}
