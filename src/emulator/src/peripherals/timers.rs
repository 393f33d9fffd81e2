//! Timers of the MPCore: the global timer, and each core's private timer and watchdog. All count at
//! half the CPU clock (CPU_3x2x, PERIPHCLK). Counters are computed from the time, never stepped.

use crate::machine::peripheral::{sooner, Access, Context, Due, Peripheral, Reset};
use crate::machine::time::{Cycles, CYCLES_PER_TIMER_TICK};

#[derive(Clone, Copy, Default)]
struct Comparator {
    control: u32, // bits 1 (comparator), 2 (interrupt), 3 (auto-increment)
    event: bool,
    compare: u64,
    increment: u32,
}

/// One counter, shared by the cores, with a comparator for each.
#[derive(Clone, Default)]
pub struct GlobalTimer {
    /// Bit 0 (enable) and bits 15..8 (prescaler).
    control: u32,
    /// Counter value at time `since`.
    base: u64,
    since: Cycles,
    core: [Comparator; 2],
}

impl GlobalTimer {
    fn period(&self) -> u64 {
        CYCLES_PER_TIMER_TICK * (u64::from(self.control >> 8 & 0xff) + 1)
    }

    fn count(&self, now: Cycles) -> u64 {
        let passed = if self.control & 1 == 0 {
            0
        } else {
            now.saturating_sub(self.since) / self.period()
        };
        self.base.wrapping_add(passed)
    }

    fn rebase(&mut self, now: Cycles) {
        self.base = self.count(now);
        self.since = now;
    }

    /// Sets the event flag of comparators that have been reached (at or past: revision r2p0 and
    /// later).
    pub fn update(&mut self, now: Cycles) {
        let count = self.count(now);
        let running = self.control & 1 != 0;
        for c in &mut self.core {
            if running && c.control & 2 != 0 && c.compare <= count {
                c.event = true;
                if c.control & 8 != 0 && c.increment != 0 {
                    let steps = (count - c.compare) / u64::from(c.increment) + 1;
                    c.compare += steps * u64::from(c.increment);
                }
            }
        }
    }

    /// Level of the core's interrupt.
    pub fn irq(&self, core: usize) -> bool {
        self.core[core].event && self.core[core].control & 4 != 0
    }

    /// When the core's interrupt will next be asserted, if nothing is written.
    pub fn next(&self, core: usize) -> Option<Cycles> {
        let c = &self.core[core];
        if self.control & 1 == 0 || c.control & 6 != 6 || c.event {
            return None;
        }
        let ticks = c.compare.saturating_sub(self.base);
        Some(self.since.saturating_add(ticks.saturating_mul(self.period())))
    }

    /// Reads the register at `offset`.
    pub fn read(&mut self, core: usize, offset: u32, now: Cycles) -> u32 {
        self.update(now);
        let c = &self.core[core];
        match offset {
            0x00 => self.count(now) as u32,
            0x04 => (self.count(now) >> 32) as u32,
            0x08 => self.control | c.control,
            0x0c => c.event.into(),
            0x10 => c.compare as u32,
            0x14 => (c.compare >> 32) as u32,
            0x18 => c.increment,
            _ => 0,
        }
    }

    /// Writes a register.
    pub fn write(&mut self, core: usize, offset: u32, value: u32, now: Cycles) {
        self.update(now);
        self.rebase(now);
        let c = &mut self.core[core];
        let v = u64::from(value);
        match offset {
            0x00 => self.base = self.base & !0xffff_ffff | v,
            0x04 => self.base = self.base & 0xffff_ffff | v << 32,
            0x08 => {
                self.control = value & 0xff01;
                c.control = value & 0xe;
            }
            0x0c => c.event &= value & 1 == 0,
            0x10 => c.compare = c.compare & !0xffff_ffff | v,
            0x14 => c.compare = c.compare & 0xffff_ffff | v << 32,
            0x18 => c.increment = value,
            _ => {}
        }
        self.update(now);
    }
}

/// A 32-bit down counter: the private timer, and the private watchdog in timer mode.
#[derive(Clone, Default)]
pub struct DownCounter {
    load: u32,
    control: u32,
    event: bool,
    /// Counter value at time `since`.
    base: u32,
    since: Cycles,
}

impl DownCounter {
    fn period(&self) -> u64 {
        CYCLES_PER_TIMER_TICK * (u64::from(self.control >> 8 & 0xff) + 1)
    }

    fn running(&self) -> bool {
        self.control & 1 != 0 && (self.base != 0 || self.control & 2 != 0 && self.load != 0)
    }

    /// Moves the base to `now`, setting the event flag when zero was reached on the way.
    pub fn update(&mut self, now: Cycles) {
        if !self.running() || now < self.since {
            return;
        }
        let period = self.period();
        let ticks = (now - self.since) / period;
        self.since += ticks * period;
        if ticks < u64::from(self.base) || ticks == 0 {
            self.base -= ticks as u32;
            return;
        }
        let past = ticks - u64::from(self.base);
        self.event |= self.base != 0 || past > 0;
        if self.control & 2 != 0 && self.load != 0 {
            let cycle = u64::from(self.load) + 1;
            let rest = past % cycle;
            self.base = if rest == 0 { 0 } else { (cycle - rest) as u32 };
        } else {
            self.base = 0;
        }
    }

    /// Level of the interrupt.
    pub fn irq(&self) -> bool {
        self.event && self.control & 4 != 0
    }

    /// When the interrupt will next be asserted.
    pub fn next(&self) -> Option<Cycles> {
        if !self.running() || self.control & 4 == 0 || self.event {
            return None;
        }
        let ticks = if self.base == 0 {
            u64::from(self.load) + 1
        } else {
            self.base.into()
        };
        Some(self.since + ticks * self.period())
    }

    /// Reads the register at `offset` (0 load, 4 counter, 8 control, 12 status).
    pub fn read(&mut self, offset: u32, now: Cycles) -> u32 {
        self.update(now);
        match offset {
            0x0 => self.load,
            0x4 => self.base,
            0x8 => self.control,
            0xc => self.event.into(),
            _ => 0,
        }
    }

    /// Writes a register.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        self.update(now);
        match offset {
            0x0 => {
                self.load = value;
                self.base = value;
                self.since = now;
            }
            0x4 => {
                self.base = value;
                self.since = now;
            }
            0x8 => {
                if self.control & 1 == 0 || value >> 8 != self.control >> 8 {
                    self.since = now;
                }
                self.control = value & 0xff07;
            }
            0xc => self.event &= value & 1 == 0,
            _ => {}
        }
    }
}

impl Peripheral for GlobalTimer {
    fn read(&mut self, at: Access, _: &mut Context) -> u32 {
        self.read(at.core, at.offset, at.now)
    }

    fn write(&mut self, at: Access, value: u32, _: &mut Context) {
        self.write(at.core, at.offset, value, at.now);
    }

    fn reset(&mut self, what: Reset, _: &mut Context) {
        if let Reset::System(_) = what {
            *self = Self::default();
        }
    }

    fn update(&mut self, now: Cycles, _: &mut Context) -> bool {
        self.update(now);
        true
    }

    fn next(&self, due: &mut Due) {
        for core in 0..2 {
            sooner(&mut due.timer[core], self.next(core));
        }
    }

    fn irq(&self) -> u32 {
        u32::from(self.irq(0)) | u32::from(self.irq(1)) << 1
    }
}

/// A down counter of each core at one address: each core accesses its own.
#[derive(Default)]
pub struct Private([DownCounter; 2]);

impl Peripheral for Private {
    fn read(&mut self, at: Access, _: &mut Context) -> u32 {
        self.0[at.core].read(at.offset & 0x1f, at.now)
    }

    fn write(&mut self, at: Access, value: u32, _: &mut Context) {
        self.0[at.core].write(at.offset & 0x1f, value, at.now);
    }

    fn reset(&mut self, what: Reset, _: &mut Context) {
        match what {
            Reset::System(_) => *self = Self::default(),
            Reset::Core(core) => self.0[core] = DownCounter::default(),
        }
    }

    fn update(&mut self, now: Cycles, _: &mut Context) -> bool {
        for counter in &mut self.0 {
            counter.update(now);
        }
        true
    }

    fn next(&self, due: &mut Due) {
        for (due, counter) in due.timer.iter_mut().zip(&self.0) {
            sooner(due, counter.next());
        }
    }

    fn irq(&self) -> u32 {
        u32::from(self.0[0].irq()) | u32::from(self.0[1].irq()) << 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn global_timer_counts_at_half_the_cpu_clock() {
        let mut t = GlobalTimer::default();
        t.write(0, 8, 1, 100);
        assert_eq!(t.read(1, 0, 300), 100);
        t.write(0, 0x10, 500, 300);
        t.write(0, 8, 7, 300);
        assert_eq!(t.next(0), Some(1100));
        assert_eq!(t.next(1), None);
        t.update(1099);
        assert!(!t.irq(0));
        t.update(1100);
        assert!(t.irq(0));
        t.write(0, 0xc, 1, 1101);
        assert!(t.irq(0), "the comparator is still reached");
        t.write(0, 8, 1, 1101);
        t.write(0, 0xc, 1, 1101);
        assert!(!t.irq(0));
    }

    #[test]
    fn comparator_with_auto_increment_repeats() {
        let mut t = GlobalTimer::default();
        t.write(0, 0x18, 10, 0);
        t.write(0, 0x10, 10, 0);
        t.write(0, 8, 0xf, 0);
        t.update(2 * 35);
        assert!(t.irq(0));
        t.write(0, 0xc, 1, 2 * 35);
        assert_eq!(t.next(0), Some(80));
    }

    #[test]
    fn private_timer_reloads_and_interrupts() {
        let mut t = DownCounter::default();
        t.write(0, 9, 0);
        t.write(8, 7, 0);
        assert_eq!(t.next(), Some(18));
        t.update(18);
        assert!(t.irq());
        t.write(0xc, 1, 18);
        assert_eq!(t.next(), Some(18 + 20));
        assert_eq!(t.read(4, 24), 7);
        let mut one = DownCounter::default();
        one.write(0, 5, 0);
        one.write(8, 5, 0);
        one.update(1000);
        assert!(one.irq());
        assert_eq!((one.read(4, 1000), one.next()), (0, None));
    }
}
