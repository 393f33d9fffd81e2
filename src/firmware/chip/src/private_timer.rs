//! The calling core's private timer (UG585, section 8.2), which ends a sleep of a program without
//! interrupt handlers.

use core::ptr::write_volatile;

use crate::gic;

/// The timer's interrupt.
pub const INTERRUPT: u16 = 29;

const LOAD: *mut u32 = 0xF8F0_0600 as *mut u32;
const CONTROL: *mut u32 = 0xF8F0_0608 as *mut u32;
const STATUS: *mut u32 = 0xF8F0_060C as *mut u32;
/// One shot, with interrupt, at 1/256 of its clock.
const ON: u32 = 255 << 8 | 1 << 2 | 1;
const DIVIDER: u64 = 256;

fn write(register: *mut u32, value: u32) {
    // SAFETY: a register of the calling core's timer, used by this module only; its interrupt is
    // never taken.
    unsafe { write_volatile(register, value) };
}

/// Stops the timer, as after reset.
pub fn stop() {
    write(CONTROL, 0);
    write(STATUS, 1);
}

/// Sleeps until one of the interrupts configured by [`gic::listen`], at most for `microseconds`.
/// `clock`: CPU_3x2x in Hz.
pub fn sleep(microseconds: u64, clock: u32) {
    let ticks = microseconds * u64::from(clock) / DIVIDER / 1_000_000;
    stop();
    write(LOAD, ticks.clamp(1, u64::from(u32::MAX)) as u32);
    write(CONTROL, ON);
    gic::wait_for_interrupt();
    stop();
    // The interrupt controller keeps the timer's interrupt pending until it is acknowledged.
    loop {
        let interrupt = gic::acknowledge();
        gic::end(interrupt);
        if interrupt.id() != INTERRUPT {
            return;
        }
    }
}
