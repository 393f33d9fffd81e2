//! The time cursor: when the next event is due, in machine units. Kept across kernels, connections and restarts.

use core::ptr::addr_of_mut;

static mut NOW: i64 = 0;

/// `now_mu`
pub extern "C" fn now_mu() -> i64 {
    // SAFETY: only this core uses it, and no interrupt handler does.
    unsafe { addr_of_mut!(NOW).read() }
}

/// `at_mu`
pub extern "C" fn at_mu(time: i64) {
    // SAFETY: as above.
    unsafe { addr_of_mut!(NOW).write(time) };
}

/// `delay_mu`
pub extern "C" fn delay_mu(duration: i64) {
    at_mu(now_mu().wrapping_add(duration));
}
