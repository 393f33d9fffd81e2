//! Reading the RTIO counter, and sleeping until it has passed a time.

use super::output::posted_error;
use super::registers::registers_or_raise;
use crate::owned::Owned;
use crate::{raise, timer};

/// `rtio_get_counter`
extern "C" fn get_counter() -> i64 {
    registers_or_raise().map_or(0, |registers| registers.read_counter())
}

/// Machine units per tick of the private timer, in 1/256, as measured by the latest long sleep.
/// Until then more than on any chip, since a sleep that ends too early is followed by another one,
/// but one that ends too late cannot be taken back.
static UNITS_PER_TICK: Owned<u32> = Owned::new(256 * 8);
/// Shortest sleep that is used for measuring, in ticks.
const MEASURABLE: u32 = 4000;
/// Longest single sleep, in machine units, so that a tick count fits in 32 bits.
const LONGEST: u64 = 1 << 31;
/// From this time on, in machine units, the last 1/64 is left to another sleep: the ratio is known
/// to 1/256 of a unit, and the clocks of timer and counter may differ.
const LONG: u64 = 20_000;

/// `rtio_wait_until_mu(time)`: sleeps until the counter is past `time`, so that the core saves
/// power and the emulator can skip the time. Resumes within a few microseconds after it. Raises the
/// error of a posted output, since its caller wants the outputs up to `time` to have been executed.
extern "C" fn wait_until_mu(time: i64) {
    let Some(registers) = registers_or_raise() else { return };
    let mut now = registers.read_counter();
    while now <= time {
        let left = (time.wrapping_sub(now).max(1) as u64).min(LONGEST);
        let units = if left < LONG { left } else { left - left / 64 };
        // Rounded up: the last sleep should end after the time, not just before it.
        let ticks = (units * 256)
            .div_ceil(u64::from(UNITS_PER_TICK.get()))
            .min(u64::from(u32::MAX)) as u32;
        let slept = timer::sleep_ticks(ticks);
        let before = now;
        now = registers.read_counter();
        if slept == ticks && ticks >= MEASURABLE {
            // Reading the counter takes time too, so the measured ratio is slightly high, and the
            // next sleep slightly short.
            let measured = (now.wrapping_sub(before) as u64 * 256 / u64::from(ticks)) as u32;
            UNITS_PER_TICK.set(measured.clamp(64, 256 * 64));
        }
    }
    posted_error();
}

raise::raising! {
    rtio_get_counter => get_counter;
    rtio_wait_until_mu => wait_until_mu;
}
