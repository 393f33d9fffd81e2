//! Failure messages of the cores, kept in memory over the reset that follows, and reported once by
//! the next start.

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};

use embassy_time::Instant;
use kairos_chip::reset::{self, Mark};
use kairos_health::report::Slot;
use kairos_intercore::memory::REPORT;

/// The core that has failed.
#[derive(Clone, Copy)]
pub enum Core {
    Comms,
    Kernel,
}

static BY_WATCHDOG: AtomicBool = AtomicBool::new(false);

/// Returns whether the watchdog caused the reset before this start.
pub fn was_reset_by_watchdog() -> bool {
    BY_WATCHDOG.load(Ordering::Relaxed)
}

/// One for each core.
const SLOTS: usize = 2;
const _: () = assert!(core::mem::size_of::<[Slot; SLOTS]>() <= REPORT.end - REPORT.start);

fn with_slot<T>(core: Core, use_slot: impl FnOnce(&mut Slot) -> T) -> T {
    // SAFETY: the region is reserved for this, and any bytes are valid. The only users are tasks of
    // this core, one at a time, and a failure handler, which never returns to what it interrupted;
    // the closures in this file do not nest.
    use_slot(unsafe { &mut (*(REPORT.start as *mut [Slot; SLOTS]))[core as usize] })
}

/// Keeps the reason, replacing any earlier one.
pub fn keep(core: Core, reason: fmt::Arguments) {
    let time = Instant::now().as_millis();
    let (seconds, millis) = (time / 1000, time % 1000);
    with_slot(core, |slot| {
        slot.keep(format_args!("{reason}, {seconds}.{millis:03} s after its start"))
    });
}

/// Discards a reason that no longer holds.
pub fn discard(core: Core) {
    with_slot(core, |slot| slot.clear());
}

/// Logs the reasons kept before this start.
pub fn announce() {
    let failed = reset::take(Mark::Failure);
    if reset::was_by_watchdog() {
        BY_WATCHDOG.store(true, Ordering::Relaxed);
        log::error!("before this start: reset by the watchdog");
    }
    let comms = with_slot(Core::Comms, |slot| {
        slot.take().map(|text| log::error!("before this start: {text}"))
    });
    if failed && comms.is_none() {
        log::error!("before this start: the comms core failed, and its message is lost");
    }
    with_slot(Core::Kernel, |slot| {
        if let Some(text) = slot.take() {
            log::warn!("before this start, kernel core: {text}");
        }
    });
}
