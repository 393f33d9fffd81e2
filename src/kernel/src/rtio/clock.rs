//! An upper bound of the RTIO counter from the chip's global timer, so that an output need not ask the gateware whether it
//! is early enough.
//!
//! The two clocks have different sources. Their ratio is measured once; an estimate is used for [`WINDOW`] ticks, then a
//! new one starts from the counter itself.

use core::ptr::{addr_of, addr_of_mut, read_volatile};

use super::{counter, registers, transaction::RING, Registers};

/// Low word of the global timer (Cortex-A9 MPCore TRM, section 4.3). The comms core has it running for its own use.
const TIMER: u32 = 0xf8f0_0200;
/// Ticks for which an estimate is used.
pub const WINDOW: u32 = 1 << 20;
/// Ticks over which the ratio is measured: 0.65 ms at 400 MHz.
const MEASURE: u32 = 1 << 18;
/// Longest time from the decision to post an output to its acceptance, in machine units: requests before it, reads of
/// the port, dispatch. At a read latency of 100 PL cycles, 15 requests of one word take 400 cycles of 8 units.
pub const MARGIN: i64 = 4096;
/// Added to the ratio for what the clocks drift after the measurement, 1/4096.
const DRIFT_LOG2: u32 = 12;
/// A ratio so large leaves no event early enough: the timer does not run.
const LARGEST_RATIO: u32 = 1 << 12;

/// The counter is less than `limit - MARGIN + (timer - start) * ratio / 1024`, for `WINDOW` ticks from `start`.
#[repr(C)]
pub struct Estimate {
    /// An event not before this, plus the time that has passed since `start`, is early enough.
    pub limit: i64,
    /// Timer at which it began.
    pub start: u32,
    /// Machine units per tick in 1/1024, rounded up; below `1 << 12`.
    pub ratio: u32,
    /// Address of the timer.
    pub timer: u32,
    _pad: u32,
}

impl Estimate {
    /// Lets no event pass.
    pub const NEVER: Self = Self {
        limit: i64::MAX - (1 << 33),
        start: 0,
        ratio: 0,
        timer: TIMER,
        _pad: 0,
    };
}

fn ticks() -> u32 {
    // SAFETY: a timer register without side effects.
    unsafe { read_volatile(TIMER as *const u32) }
}

/// Measures the ratio. Without a running timer every output is waited for.
pub fn measure(registers: &Registers) {
    let first = counter::read(registers);
    let start = ticks();
    let mut polls = 0u32;
    while ticks().wrapping_sub(start) < MEASURE && polls < MEASURE {
        polls += 1;
    }
    let passed = u64::from(ticks().wrapping_sub(start));
    let units = counter::read(registers).wrapping_sub(first) as u64;
    let ratio = if passed < u64::from(MEASURE) {
        0
    } else {
        (units * 1024).div_ceil(passed)
    };
    let ratio = (ratio + (ratio >> DRIFT_LOG2) + 1).min(u64::from(LARGEST_RATIO)) as u32;
    // SAFETY: this core only, outside of interrupts; so below.
    unsafe { addr_of_mut!(RING.clock.ratio).write(if passed == 0 { LARGEST_RATIO } else { ratio }) };
    renew(registers);
}

/// Starts a new estimate.
pub fn renew(registers: &Registers) {
    // SAFETY: as above.
    unsafe {
        if addr_of!(RING.clock.ratio).read() >= LARGEST_RATIO {
            addr_of_mut!(RING.clock).write(Estimate {
                ratio: LARGEST_RATIO,
                ..Estimate::NEVER
            });
            return;
        }
        let start = ticks();
        let now = counter::read(registers);
        addr_of_mut!(RING.clock.limit).write(now.wrapping_add(MARGIN));
        addr_of_mut!(RING.clock.start).write(start);
    }
}

/// Whether an event at `time` is certainly delivered early enough.
pub fn ample(time: i64) -> bool {
    // SAFETY: as above.
    let (start, ratio) = unsafe { (addr_of!(RING.clock.start).read(), addr_of!(RING.clock.ratio).read()) };
    let mut passed = ticks().wrapping_sub(start);
    if passed >= WINDOW {
        let Some(registers) = registers() else { return false };
        renew(&registers);
        passed = 0;
    }
    // SAFETY: as above.
    let limit = unsafe { addr_of!(RING.clock.limit).read() };
    time >= limit.saturating_add(i64::from(passed.wrapping_mul(ratio) >> 10))
}
