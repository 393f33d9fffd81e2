//! The async executor of core 0: embassy's, with an own pender and idle loop.
//!
//! embassy's platform for Cortex-A wakes with `sev`, which on this chip submits an RTIO event. Here a wake only sets a flag;
//! it comes from a task (and the loop looks at the flag before it sleeps) or from an interrupt (which ends `wfi`).

use core::sync::atomic::{AtomicBool, Ordering};

use embassy_executor::{raw, Spawner};
use static_cell::StaticCell;

static READY: AtomicBool = AtomicBool::new(true);

#[export_name = "__pender"]
fn pender(_context: *mut ()) {
    READY.store(true, Ordering::Release);
}

/// Runs `init`, then its tasks for ever.
pub fn run(init: impl FnOnce(Spawner)) -> ! {
    static EXECUTOR: StaticCell<raw::Executor> = StaticCell::new();
    let executor: &'static raw::Executor = EXECUTOR.init(raw::Executor::new(core::ptr::null_mut()));
    init(executor.spawner());
    loop {
        READY.store(false, Ordering::Release);
        // SAFETY: called from here only, never from within itself.
        unsafe { executor.poll() };
        // With interrupts masked, one that comes between the look at the flag and the sleep still ends the sleep.
        critical_section::with(|_| {
            if !READY.load(Ordering::Acquire) {
                kairos_board::gic::wait_for_interrupt();
            }
        });
    }
}
