//! The async executor of core 0: embassy's, with an own pender and idle loop.
//!
//! embassy's platform for Cortex-A wakes with `sev`, which on this chip submits an RTIO event. Here
//! a wake only sets a flag; it comes from a task (and the loop looks at the flag before it sleeps)
//! or from an interrupt (which ends `wfi`).

use core::sync::atomic::{AtomicBool, Ordering};

use embassy_executor::{raw, Spawner};
use static_cell::StaticCell;

static READY: AtomicBool = AtomicBool::new(true);

#[export_name = "__pender"]
fn pender(_context: *mut ()) {
    READY.store(true, Ordering::Release);
}

/// What is done between the turns of the tasks.
pub trait Background {
    /// Does what there is to do. False if there is more, after the tasks that it has woken.
    fn run(&mut self) -> bool;

    /// With interrupts masked: has an interrupt come when there is something to do. False if there
    /// is something already.
    fn may_sleep(&mut self) -> bool;
}

/// Runs `init`, then its tasks for ever, and what it returns between their turns.
pub fn run<B: Background>(init: impl FnOnce(Spawner) -> B) -> ! {
    static EXECUTOR: StaticCell<raw::Executor> = StaticCell::new();
    let executor: &'static raw::Executor = EXECUTOR.init(raw::Executor::new(core::ptr::null_mut()));
    let mut background = init(executor.spawner());
    loop {
        if READY.swap(false, Ordering::AcqRel) {
            // SAFETY: called from here only, never from within itself.
            unsafe { executor.poll() };
        }
        if !background.run() || READY.load(Ordering::Acquire) {
            continue;
        }
        // With interrupts masked, one that comes between the look at the flag and the sleep still
        // ends the sleep.
        critical_section::with(|_| {
            if !READY.load(Ordering::Acquire) && background.may_sleep() {
                kairos_chip::gic::wait_for_interrupt();
            }
        });
    }
}
