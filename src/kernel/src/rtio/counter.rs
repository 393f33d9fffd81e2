//! Reading the RTIO counter, and sleeping until it has passed a time.

use super::output::posted_error;
use super::registers::registers_or_raise;
use crate::owned::Owned;
use crate::{raise, timer};

/// `rtio_get_counter`
extern "C" fn get_counter() -> i64 {
    registers_or_raise().map_or(0, |registers| registers.read_counter())
}

/// Machine units per tick of the private timer, in 1/256: until the first sleep has measured it,
/// the shortest tick of a real chip (866 MHz CPU).
static UNITS_PER_TICK: Owned<u32> = Owned::new(256 * 2);
/// Shortest sleep that is used for measuring, in ticks.
const MEASURABLE: u32 = 4000;
/// Longest single sleep, in machine units, so that a tick count fits in 32 bits.
const LONGEST: i64 = 1 << 31;

/// `rtio_wait_until_mu(time)`: sleeps until the counter is past `time`, so that the core saves
/// power and the emulator can skip the time. Resumes within a few microseconds after it. Raises the
/// error of a posted output, since its caller wants the outputs up to `time` to have been executed.
extern "C" fn wait_until_mu(time: i64) {
    let Some(registers) = registers_or_raise() else { return };
    let mut now = registers.read_counter();
    while now <= time {
        let units = time.wrapping_sub(now).clamp(1, LONGEST) as u64;
        // Rounded up: the sleep should end after the time, not just before it.
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
