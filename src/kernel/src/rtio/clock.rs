//! An upper bound of the RTIO counter from the chip's global timer, so that an output can be
//! checked for being early enough without reading the gateware.
//!
//! The two clocks have different sources. Their ratio is measured once; an estimate is used for
//! [`WINDOW`] ticks, then a new one starts from the counter itself. The estimate yields a time that
//! is early enough for as long as a permit runs, which the gateware counts, and whose end it
//! reports in the status word: most outputs only compare with that time.

use core::ptr::read_volatile;

use kairos_chip::gic::barrier;

use super::registers::{registers, Registers};
use super::ring::{Status, NEVER, RING};
use crate::owned::Owned;

/// The global timer, two words (Cortex-A9 MPCore TRM, section 4.3). The comms core runs it for its
/// own use.
const TIMER: *const u32 = 0xf8f0_0200 as *const u32;
/// Ticks for which an estimate is used.
const WINDOW: u64 = 1 << 20;
/// Length of a permit, in PL cycles. An output is posted without a second check if its slack is at
/// least this long, in addition to [`MARGIN`] and [`TOLD`]; once in this time an output has to take
/// that check.
const PERMIT: u32 = 1280;
/// Machine units per PL cycle.
pub const UNITS: i64 = 8;
/// Longest time from the end of a permit until this core sees it, in machine units: a write,
/// preceded by the answer to a request that returns room for inputs.
const PERMIT_MARGIN: i64 = 256 * UNITS;
/// Ticks over which the ratio is measured: 0.66 ms at 400 MHz.
const MEASURE: u64 = 1 << 18;
/// Longest time from the decision to post an output to its acceptance, in machine units: requests
/// before it, reads of the port, dispatch. At a read latency of 100 PL cycles, 15 requests of one
/// word take 400 cycles of 8 units.
pub const MARGIN: i64 = 4096;
/// Added to the ratio for the drift of the clocks after the measurement, 1/4096.
const DRIFT_LOG2: u32 = 12;
/// With a ratio this large no event is early enough: the timer does not run.
const LARGEST_RATIO: u64 = 1 << 12;

/// Whether posting without a second check is disabled.
static FORBIDDEN: Owned<bool> = Owned::new(false);

/// The lower word of the global timer, which both cores share.
pub fn timer_count() -> u32 {
    // SAFETY: a timer register without side effects.
    unsafe { read_volatile(TIMER) }
}

fn ticks() -> u64 {
    // SAFETY: timer registers without side effects.
    unsafe {
        loop {
            let high = read_volatile(TIMER.add(1));
            let low = read_volatile(TIMER);
            if read_volatile(TIMER.add(1)) == high {
                return u64::from(high) << 32 | u64::from(low);
            }
        }
    }
}

/// Measures the ratio. Without a running timer every output is waited for.
pub fn measure(registers: &Registers) {
    let first = registers.read_counter();
    let start = ticks();
    let mut polls = 0;
    while ticks().wrapping_sub(start) < MEASURE && polls < MEASURE {
        polls += 1;
    }
    let passed = ticks().wrapping_sub(start);
    let units = registers.read_counter().wrapping_sub(first) as u64;
    let ratio = if passed < MEASURE {
        LARGEST_RATIO
    } else {
        (units * 1024).div_ceil(passed)
    };
    let ratio = (ratio + (ratio >> DRIFT_LOG2) + 1).min(LARGEST_RATIO);
    RING.clock.ratio.set(ratio);
    renew(registers);
}

/// Starts a new estimate.
pub fn renew(registers: &Registers) {
    let clock = &RING.clock;
    if clock.ratio.get() >= LARGEST_RATIO {
        clock.limit.set(NEVER);
        clock.earliest.set(NEVER);
        clock.start.set(0);
        return;
    }
    let start = ticks();
    let now = registers.read_counter();
    clock.limit.set(now.wrapping_add(MARGIN));
    clock.start.set(start);
}

/// Ticks since the estimate began.
fn passed() -> u64 {
    ticks().wrapping_sub(RING.clock.start.get())
}

/// The earliest time that is early enough after `passed` ticks of the estimate.
fn bound(passed: u64) -> i64 {
    let scaled = (passed * RING.clock.ratio.get()).div_ceil(1024);
    RING.clock.limit.get().saturating_add(scaled as i64)
}

/// Makes the fast path leave every event to `rtio_output_checked`, or lets it post again from the
/// next permit on.
pub fn forbid(forbidden: bool) {
    FORBIDDEN.set(forbidden);
    RING.clock.earliest.set(NEVER);
    RING.quick.floor.set(NEVER);
}

/// Whether an event at `time` is certain to be delivered early enough. Starts a new permit if the
/// last one has ended.
pub fn is_early_enough(time: i64) -> bool {
    let permitted = Status(RING.status.get()).permits();
    if permitted && time >= RING.clock.earliest.get() {
        return true;
    }
    let Some(registers) = registers() else { return false };
    let mut now = passed();
    if now >= WINDOW {
        renew(&registers);
        now = passed();
    }
    if !permitted {
        registers.permit.write(PERMIT);
        RING.reached.set(0);
        barrier();
        // Read after the permit has begun, so that the permit ends first.
        now = passed();
        if !FORBIDDEN.get() {
            let earliest = bound(now).saturating_add(i64::from(PERMIT) * UNITS + PERMIT_MARGIN);
            RING.clock.earliest.set(earliest);
            RING.quick.floor.set(RING.quick.floor.get().max(earliest));
        }
    }
    time >= bound(now)
}
