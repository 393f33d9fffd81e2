//! Interrupts of core 0, and their handlers.

use kairos_chip::{ethernet, gic};
use zynq7000_hal::time_driver_gtc;

/// Clears the timer's event flag, which the HAL's driver leaves set, so that the interrupt would
/// recur for ever. The comparator is disabled first, as it would set the flag again.
fn on_global_timer() {
    const CONTROL: *mut u32 = 0xF8F0_0208 as *mut u32;
    const STATUS: *mut u32 = 0xF8F0_020C as *mut u32;
    const COMPARATOR_AND_INTERRUPT: u32 = 0b110;
    // SAFETY: the timer belongs to the driver, which is called right after and sets the comparator
    // again; the driver requires to be called from the handler of the timer's interrupt, which this
    // is.
    unsafe {
        CONTROL.write_volatile(CONTROL.read_volatile() & !COMPARATOR_AND_INTERRUPT);
        STATUS.write_volatile(1);
        time_driver_gtc::on_interrupt();
    }
}

const GLOBAL_TIMER: u16 = 27;
const GEM0: u16 = 54;
const BELL: u16 = kairos_intercore::SGI_DATA as u16;

/// Enables the interrupts that have a handler. Any other line may be asserted from
/// the start, since the gateware keeps running when the processors restart: such an interrupt would
/// recur forever.
pub fn enable() {
    gic::enable(0, &[BELL, GLOBAL_TIMER, GEM0]);
}

/// Dispatches every interrupt by number (UG585, section 7.2). The HAL's table takes longer than
/// most of the handlers.
#[zynq7000_rt::irq]
fn on_interrupt() {
    let interrupt = gic::acknowledge();
    match interrupt.id() {
        BELL => crate::kernel_core::on_bell(),
        GEM0 => ethernet::on_interrupt(),
        GLOBAL_TIMER => on_global_timer(),
        // Unknown interrupts are acknowledged and ignored.
        _ => {}
    }
    gic::end(interrupt);
}
