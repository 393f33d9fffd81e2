//! The async executor of core 0: embassy's, with its own pender and idle loop.
//!
//! embassy's Cortex-A platform wakes with `sev`, which on this chip submits an RTIO event. Here a
//! wake only sets a flag. It is called either from a task, in which case the loop checks the flag
//! before it sleeps, or from an interrupt, which ends `wfi`.

use core::sync::atomic::{AtomicBool, Ordering};

use embassy_executor::{raw, Spawner};
use static_cell::StaticCell;

static READY: AtomicBool = AtomicBool::new(true);

#[export_name = "__pender"]
fn pender(_context: *mut ()) {
    READY.store(true, Ordering::Release);
}

/// Work done between polls of the tasks.
pub trait Background {
    /// Does pending work. False if more remains after the tasks that it has woken.
    fn run(&mut self) -> bool;

    /// Called with interrupts masked: arms an interrupt for when there is work. False if there is
    /// some already.
    fn may_sleep(&mut self) -> bool;
}

/// Runs `init`, then its tasks for ever, and the returned [`Background`] between their polls.
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
        // With interrupts masked, one that arrives between the check of the flag and the sleep
        // still ends the sleep.
        critical_section::with(|_| {
            if !READY.load(Ordering::Acquire) && background.may_sleep() {
                kairos_chip::gic::wait_for_interrupt();
            }
        });
    }
}
