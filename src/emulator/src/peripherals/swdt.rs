//! System watchdog: counts down while enabled, and resets the processing system at zero. Registers:
//! UG585, appendix B.31. Its interrupt is not modelled.

use crate::machine::peripheral::{sooner, Access, Context, Due, Peripheral, Reset};
use crate::machine::signals::Cause;
use crate::machine::time::Cycles;

const MODE: u32 = 0x0;
const CONTROL: u32 = 0x4;
const RESTART: u32 = 0x8;
const STATUS: u32 = 0xc;

const ENABLE: u32 = 1 << 0;
const RESET: u32 = 1 << 1;
/// CPU_1x in CPU cycles, at the clock ratio 6:2:1.
const CYCLES_PER_TICK: Cycles = 6;

/// The watchdog.
pub struct Swdt {
    mode: u32,
    control: u32,
    /// When the counter will reach zero.
    due: Option<Cycles>,
    expired: bool,
}

impl Default for Swdt {
    fn default() -> Self {
        Self {
            mode: 0x1c0,
            control: 0x3ffc,
            due: None,
            expired: false,
        }
    }
}

impl Swdt {
    fn restart(&mut self, now: Cycles) {
        let ticks = (u64::from(self.control >> 2) << 12 | 0xfff) + 1;
        let prescaler = 8 << (3 * (self.control & 3));
        let enabled = self.mode & ENABLE != 0;
        self.due = enabled.then(|| now + ticks * prescaler * CYCLES_PER_TICK);
    }

    /// When the counter will reach zero.
    pub fn next(&self) -> Option<Cycles> {
        self.due
    }

    /// Updates the counter to `now`; returns whether it resets the system.
    pub fn update(&mut self, now: Cycles) -> bool {
        let reached = self.due.is_some_and(|due| now >= due);
        if reached {
            self.due = None;
            self.expired = true;
        }
        reached && self.mode & RESET != 0
    }

    /// Reads the register at `offset`.
    pub fn read(&self, offset: u32) -> u32 {
        match offset {
            MODE => self.mode,
            CONTROL => self.control,
            STATUS => self.expired.into(),
            _ => 0,
        }
    }

    /// Writes a register; ignored without the register's key.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        match offset {
            MODE if value >> 12 == 0xabc => {
                let before = self.mode;
                self.mode = value & 0xfff;
                if (before ^ self.mode) & ENABLE != 0 {
                    self.restart(now);
                }
            }
            CONTROL if value >> 14 == 0x248 => self.control = value & 0x3fff,
            RESTART if value == 0x1999 => self.restart(now),
            _ => log::debug!("swdt: write of {value:#x} to {offset:#x} without its key, ignored"),
        }
    }
}

impl Peripheral for Swdt {
    fn read(&mut self, at: Access, _: &mut Context) -> u32 {
        Swdt::read(self, at.offset)
    }

    fn write(&mut self, at: Access, value: u32, _: &mut Context) {
        self.write(at.offset, value, at.now);
    }

    fn reset(&mut self, what: Reset, _: &mut Context) {
        if let Reset::System(_) = what {
            *self = Self::default();
        }
    }

    fn update(&mut self, now: Cycles, context: &mut Context) -> bool {
        if self.update(now) {
            context.signals.system_reset = Some(Cause::Watchdog);
        }
        true
    }

    /// Counts as a timer of core 0.
    fn next(&self, due: &mut Due) {
        sooner(&mut due.timer[0], self.next());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watchdog_resets_unless_restarted() {
        let mut w = Swdt::default();
        w.write(CONTROL, 0x248 << 14 | 1 << 2 | 1, 0);
        w.write(MODE, ENABLE | RESET, 0);
        assert_eq!(w.next(), None, "without the key");
        w.write(MODE, 0xabc << 12 | ENABLE | RESET, 100);
        let period = 2 * 4096 * 64 * 6;
        assert_eq!(w.next(), Some(100 + period));
        assert!(!w.update(99 + period));
        w.write(RESTART, 0x1999, 99 + period);
        assert!(!w.update(100 + period));
        assert!(w.update(99 + 2 * period) && w.read(STATUS) == 1);
        assert_eq!((w.next(), w.update(99 + 3 * period)), (None, false));
    }

    #[test]
    fn disabled_watchdog_does_not_reset() {
        let mut w = Swdt::default();
        w.write(MODE, 0xabc << 12 | ENABLE | RESET, 0);
        w.write(MODE, 0xabc << 12 | RESET, 0);
        assert_eq!(w.next(), None);
    }
}
