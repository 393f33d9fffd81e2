//! The system watchdog (UG585, chapter 8.4), which resets the device if it is not fed for
//! [`LIMIT`].
//!
//! A task feeds it, so a hung executor leads to a reset. The task feeds only if all expected
//! heartbeats have been seen since the previous round: that of the network, and that of the task
//! that waits for the kernel core, which is woken for this purpose.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use embassy_time::{Duration, Timer};
use kairos_health::heartbeat::Heartbeat;
use zynq7000_hal::clocks::Clocks;

use crate::{kernel_core, report};

/// Heartbeat of the network, which beats on each poll.
pub static NETWORK: Heartbeat = Heartbeat::new(true);

/// Seconds after which a hung device is reset.
const LIMIT: u32 = 5;
/// The limit during an access to the card, which blocks this core: 16 MB at a few hundred kB/s.
const CARD_LIMIT: u32 = 60;
const ROUND: Duration = Duration::from_millis(500);

const MODE: *mut u32 = 0xF800_5000 as *mut u32;
const CONTROL: *mut u32 = 0xF800_5004 as *mut u32;
const RESTART: *mut u32 = 0xF800_5008 as *mut u32;

/// CPU_1x in Hz, which clocks the watchdog.
static CLOCK: AtomicU32 = AtomicU32::new(0);

/// Whether a heartbeat was missing in the last round.
static MISSING: AtomicBool = AtomicBool::new(false);

/// Returns whether a heartbeat is missing. Unless it resumes, the device will be reset.
pub fn missing() -> bool {
    MISSING.load(Ordering::Relaxed)
}

/// Starts the watchdog.
pub fn start(clocks: &Clocks) {
    const KEY: u32 = 0xabc << 12;
    const RESET_AND_ENABLE: u32 = 0b11;
    /// Lengths of the output signals, left unchanged.
    const LENGTHS: u32 = 0x1f0;
    CLOCK.store(clocks.arm_clocks().cpu_1x_clk().to_raw(), Ordering::Relaxed);
    // SAFETY: nothing else uses this peripheral.
    unsafe { MODE.write_volatile(KEY | MODE.read_volatile() & LENGTHS | RESET_AND_ENABLE) };
    // Last: a restart before the counter is enabled may be ignored. Until then the limit is a
    // second.
    set_limit(LIMIT);
}

/// Feeds the watchdog, and sets the limit for the next feed.
fn set_limit(seconds: u32) {
    const KEY: u32 = 0x248 << 14;
    /// Divides the clock by 4096; the counter's lower 12 bits are all ones.
    const DIVIDED: u32 = 0b11;
    const UNIT: u64 = 1 << 24;
    let units = (u64::from(seconds) * u64::from(CLOCK.load(Ordering::Relaxed)) / UNIT).min(0xfff) as u32;
    // SAFETY: nothing else uses this peripheral.
    unsafe {
        CONTROL.write_volatile(KEY | units << 2 | DIVIDED);
        RESTART.write_volatile(0x1999);
    }
}

/// Extends the limit during an access to the card.
pub fn during_card<T>(access: impl FnOnce() -> T) -> T {
    set_limit(CARD_LIMIT);
    let result = access();
    set_limit(LIMIT);
    result
}

/// Waits for less than [`LIMIT`] while no task runs. Who waits so again and again must give up at some time: the
/// watchdog is fed.
pub fn block_for(duration: Duration) {
    set_limit(LIMIT);
    embassy_time::block_for(duration);
}

/// Feeds the watchdog while no heartbeat is missing.
#[embassy_executor::task]
pub async fn feed() {
    let mut missing = None;
    loop {
        Timer::after(ROUND).await;
        let before = missing;
        missing = match (NETWORK.take(), kernel_core::SUPERVISION.take()) {
            (true, true) => None,
            (false, _) => Some("the network"),
            (true, false) => Some("the supervision of the kernel core"),
        };
        MISSING.store(missing.is_some(), Ordering::Relaxed);
        match missing {
            None => set_limit(LIMIT),
            Some(who) if before.is_none() => {
                log::error!("{who} has no heartbeat");
                report::keep(report::Core::Comms, format_args!("{who} had no heartbeat"));
            }
            Some(_) => {}
        }
        if let (None, Some(who)) = (missing, before) {
            log::warn!("{who} has a heartbeat again");
            report::discard(report::Core::Comms);
        }
        kernel_core::on_bell();
    }
}
