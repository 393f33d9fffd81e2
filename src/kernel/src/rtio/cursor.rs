//! The time cursor: the due time of the next event, in machine units. Kept across kernels,
//! connections and restarts.

use core::arch::naked_asm;
use core::mem::offset_of;

use super::ring::{Quick, Ring, RING};

/// `rtio_cursor`: the cursor itself, for compiled code that modifies it in place.
pub const CURSOR: *const i64 = RING.quick.now.as_ptr();

/// `now_mu`
pub extern "C" fn now_mu() -> i64 {
    RING.quick.now.get()
}

/// `at_mu`
pub extern "C" fn at_mu(time: i64) {
    RING.quick.now.set(time);
}

/// `delay_mu`. In assembly, because the compiler gives each function a stack frame, and this one
/// runs between any two events.
#[unsafe(naked)]
pub extern "C" fn delay_mu(duration: i64) {
    naked_asm!(
        "ldr r12, 8f",
        "ldrd r2, r3, [r12]",
        "adds r2, r2, r0",
        "adc r3, r3, r1",
        "strd r2, r3, [r12]",
        "bx lr",
        "8: .long {ring} + {now}",
        ring = sym RING,
        now = const offset_of!(Ring, quick) + offset_of!(Quick, now),
    )
}
