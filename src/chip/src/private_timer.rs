//! The calling core's private timer (UG585, section 8.2), for a program without interrupt handlers:
//! it ends a sleep.

use core::ptr::write_volatile;

use crate::gic;

/// Its interrupt.
pub const INTERRUPT: u16 = 29;

const LOAD: *mut u32 = 0xF8F0_0600 as *mut u32;
const CONTROL: *mut u32 = 0xF8F0_0608 as *mut u32;
const STATUS: *mut u32 = 0xF8F0_060C as *mut u32;
/// Counts once, with interrupt, at a 256th of its clock.
const ON: u32 = 255 << 8 | 1 << 2 | 1;
const DIVIDER: u64 = 256;

fn write(register: *mut u32, value: u32) {
    // SAFETY: a register of the calling core's timer, which nothing but this module uses; its
    // interrupt is never taken.
    unsafe { write_volatile(register, value) };
}

/// Off, as after reset.
pub fn stop() {
    write(CONTROL, 0);
    write(STATUS, 1);
}

/// Sleeps until an interrupt comes of those that [`gic::listen`] was told, for `microseconds` at
/// most. `clock`: CPU_3x2x in Hz.
pub fn sleep(microseconds: u64, clock: u32) {
    let ticks = microseconds * u64::from(clock) / DIVIDER / 1_000_000;
    stop();
    write(LOAD, ticks.clamp(1, u64::from(u32::MAX)) as u32);
    write(CONTROL, ON);
    gic::wait_for_interrupt();
    stop();
    // The interrupt controller remembers the timer's until it is acknowledged.
    loop {
        let interrupt = gic::acknowledge();
        gic::end(interrupt);
        if interrupt.id() != INTERRUPT {
            return;
        }
    }
}
