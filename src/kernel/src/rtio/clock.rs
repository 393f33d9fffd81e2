//! An upper bound of the RTIO counter from the chip's global timer, so that an output need not ask the gateware whether it
//! is early enough.
//!
//! The two clocks have different sources. Their ratio is measured once; an estimate is used for [`WINDOW`] ticks, then a
//! new one starts from the counter itself. From the estimate comes a time that is early enough for as long as a countdown of
//! [`PERMIT`] ticks runs: most outputs compare with that, and compute nothing.

use core::ptr::{read_volatile, write_volatile};

use kairos_chip::gic::barrier;

use super::registers::{registers, Registers};
use super::ring::{COUNTDOWN, RING};

/// The global timer, two words (Cortex-A9 MPCore TRM, section 4.3). The comms core has it running for its own use.
const TIMER: *const u32 = 0xf8f0_0200 as *const u32;
const COUNTDOWN_LOAD: *mut u32 = 0xf8f0_0620 as *mut u32;
const COUNTDOWN_CONTROL: *mut u32 = 0xf8f0_0628 as *mut u32;
/// Timer mode, one shot, no interrupt.
const COUNT_ONCE: u32 = 1;
/// Ticks for which an estimate is used.
const WINDOW: u64 = 1 << 20;
/// Ticks for which [`Estimate::earliest`] holds: 10 us at 400 MHz. So long must the slack of an output be, above
/// [`MARGIN`], to be posted without a second look; and so often one output has to take that look.
const PERMIT: u32 = 1 << 12;
/// Ticks over which the ratio is measured: 0.65 ms at 400 MHz.
const MEASURE: u64 = 1 << 18;
/// Longest time from the decision to post an output to its acceptance, in machine units: requests before it, reads of
/// the port, dispatch. At a read latency of 100 PL cycles, 15 requests of one word take 400 cycles of 8 units.
pub const MARGIN: i64 = 4096;
/// Added to the ratio for what the clocks drift after the measurement, 1/4096.
const DRIFT_LOG2: u32 = 12;
/// A ratio so large leaves no event early enough: the timer does not run.
const LARGEST_RATIO: u64 = 1 << 12;

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
    // SAFETY: this core's own timer.
    unsafe { write_volatile(COUNTDOWN_CONTROL, COUNT_ONCE) };
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
        clock.limit.set(i64::MAX);
        clock.earliest.set(i64::MAX);
        clock.start.set(0);
        return;
    }
    let start = ticks();
    let now = registers.read_counter();
    clock.limit.set(now.wrapping_add(MARGIN));
    clock.start.set(start);
}

/// Whether the countdown runs.
fn running() -> bool {
    // SAFETY: this core's private watchdog; reading its counter has no effect.
    unsafe { read_volatile(COUNTDOWN) != 0 }
}

/// Starts the countdown with `ticks`, or ends it with none.
fn count_down(ticks: u32) {
    // SAFETY: this core's private watchdog, in timer mode without an interrupt: it only counts.
    unsafe { write_volatile(COUNTDOWN_LOAD, ticks) };
}

/// Ends the countdown.
pub fn expire() {
    count_down(0);
}

/// Ticks since the estimate began.
fn passed() -> u64 {
    ticks().wrapping_sub(RING.clock.start.get())
}

/// What is early enough when `passed` ticks of the estimate have passed.
fn bound(passed: u64) -> i64 {
    let scaled = (passed * RING.clock.ratio.get()).div_ceil(1024);
    RING.clock.limit.get().saturating_add(scaled as i64)
}

/// Whether an event at `time` is certainly delivered early enough. Starts a new countdown if the last one has ended.
pub fn ample(time: i64) -> bool {
    let running = running();
    if running && time >= RING.clock.earliest.get() {
        return true;
    }
    let mut now = passed();
    if now >= WINDOW {
        let Some(registers) = registers() else { return false };
        renew(&registers);
        now = passed();
    }
    if !running {
        count_down(PERMIT);
        barrier();
        // Taken after the countdown has begun, so that the countdown ends first.
        now = passed();
        let earliest = bound(now + u64::from(PERMIT));
        RING.clock.earliest.set(earliest);
        RING.quick.floor.set(RING.quick.floor.get().max(earliest));
    }
    time >= bound(now)
}
