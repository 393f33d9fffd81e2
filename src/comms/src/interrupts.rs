//! Interrupts of core 0: who is told of which.

use kairos_chip::{ethernet, gic};
use zynq7000_hal::time_driver_gtc;

/// The HAL's driver leaves the event flag set, so the interrupt would fire for ever. With the
/// comparator still on, the flag would come back once more: so that goes off first.
fn on_global_timer() {
    const CONTROL: *mut u32 = 0xF8F0_0208 as *mut u32;
    const STATUS: *mut u32 = 0xF8F0_020C as *mut u32;
    const COMPARATOR_AND_INTERRUPT: u32 = 0b110;
    // SAFETY: the timer belongs to the driver, which is called right after and sets the comparator
    // anew; this is the handler of the timer's interrupt, which the driver asks to be called from.
    unsafe {
        CONTROL.write_volatile(CONTROL.read_volatile() & !COMPARATOR_AND_INTERRUPT);
        STATUS.write_volatile(1);
        time_driver_gtc::on_interrupt();
    }
}

/// Every interrupt there is, by number (UG585, section 7.2). The HAL's table takes longer than most
/// of the handlers.
#[zynq7000_rt::irq]
fn on_interrupt() {
    const GLOBAL_TIMER: u16 = 27;
    const GEM0: u16 = 54;
    const BELL: u16 = kairos_channel::SGI_DATA as u16;
    let interrupt = gic::acknowledge();
    match interrupt.id() {
        BELL => crate::kernel_core::on_bell(),
        GEM0 => ethernet::on_interrupt(),
        GLOBAL_TIMER => on_global_timer(),
        // Acknowledged, and ignored.
        _ => {}
    }
    gic::end(interrupt);
}
