//! Resets of the whole chip, and the byte that survives software resets (UG585, appendix B.28,
//! `REBOOT_STATUS`): a request to the loader, or a note for the next start.

use zynq7000_hal::slcr::Slcr;

const REBOOT_STATUS: *const u32 = 0xF800_0258 as *const u32;
const MARK: u32 = 24;
const BY_WATCHDOG: u32 = 1 << 16;

/// Values of the byte.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Nothing = 0,
    /// The loader is to wait for the network.
    Netboot = 0x4e,
    /// The comms core has failed.
    Failure = 0x46,
}

fn status() -> u32 {
    // SAFETY: a read has no effect.
    unsafe { REBOOT_STATUS.read_volatile() }
}

fn set(mark: Mark) {
    // SAFETY: no other code uses the SLCR now; the upper byte of the status is for software.
    unsafe { Slcr::with(|slcr| slcr.modify_reboot_status(|status| status & 0x00ff_ffff | (mark as u32) << MARK)) };
}

/// Whether the mark was set before the last reset; clears it.
pub fn take(mark: Mark) -> bool {
    let found = status() >> MARK == mark as u32;
    if found {
        set(Mark::Nothing);
    }
    found
}

/// Whether the last reset was by the watchdog.
pub fn was_by_watchdog() -> bool {
    status() & BY_WATCHDOG != 0
}

/// Resets the whole processing system. The boot loader starts again, and finds the mark.
pub fn reset(mark: Mark) -> ! {
    set(mark);
    crate::gic::barrier();
    // SAFETY: nothing of the program is needed any more.
    unsafe { Slcr::with(|slcr| slcr.reset_ctrl().modify_pss(|reset| reset.with_soft_reset(true))) };
    loop {
        crate::gic::wait_for_interrupt();
    }
}
