//! DDR controller: stores its registers, and models only what a boot loader waits for, that it is
//! running. It starts only with settings with which DDR3 memory can work; the limits are those of
//! the JEDEC standard, not copied from some loader. Registers: UG585, appendix B.7.

use crate::machine::peripheral::{Access, Context, Peripheral, Reset};

const CONTROL: u32 = 0;
const MODE_STATUS: u32 = 0x54;
const OUT_OF_RESET: u32 = 1;

/// The controller.
pub struct Ddrc {
    words: Vec<u32>,
    running: bool,
}

impl Ddrc {
    /// Creates the controller, running or in reset.
    pub fn new(running: bool) -> Self {
        Self {
            words: vec![0; 0x400],
            running,
        }
    }

    /// Reads the register at `offset`.
    fn read(&self, offset: u32) -> u32 {
        match offset {
            MODE_STATUS => self.running.into(), // 1: normal operation
            o => self.words[o as usize / 4 % 0x400],
        }
    }

    /// Writes a register. Returns true if DDR starts. `clock`: its frequency in MHz, `None` if it
    /// is stopped or the pins are not calibrated.
    fn write(&mut self, offset: u32, value: u32, clock: Option<f64>) -> bool {
        self.words[offset as usize / 4 % 0x400] = value;
        if offset != CONTROL || value & OUT_OF_RESET == 0 || self.running {
            return false;
        }
        let checked = clock.ok_or_else(|| "without clock or calibrated pins".into());
        match checked.and_then(|mhz| self.check(mhz)) {
            Ok(()) => self.running = true,
            Err(reason) => log::warn!("ddrc: taken out of reset {reason}"),
        }
        self.running
    }

    /// `width` bits from bit `at` of the register at `offset`.
    fn field(&self, offset: u32, at: u32, width: u32) -> u32 {
        self.words[offset as usize / 4] >> at & ((1 << width) - 1)
    }

    /// Checks that DDR3 memory can work with these settings. The error continues a sentence.
    fn check(&self, mhz: f64) -> Result<(), String> {
        if !(300.0..533.4).contains(&mhz) {
            return Err(format!("at {mhz:.0} MHz, of 300 to 533"));
        }
        // (name, cycles, minimum in ns, minimum in cycles)
        let f = |offset, at, width| self.field(offset, at, width);
        let (cl, cwl) = (f(0x30, 4, 3) + 4, f(0x2c, 3, 3) + 5);
        let write_recovery = match f(0x30, 9, 3) {
            code @ 1..=4 => code + 4,
            0 => 16,
            code => 2 * code,
        };
        let behind_write = cwl + 4;
        let limits = [
            ("CL", cl, 13.1, 5),
            ("tRCD", f(0x1c, 28, 4), 13.1, 4),
            ("tRP", f(0x20, 12, 4), 13.1, 4),
            ("tRAS", f(0x18, 22, 5), 35.0, 4),
            ("tRC", f(0x14, 0, 6), 48.1, 4),
            ("tRFC", f(0x14, 6, 8), 160.0, 4),
            ("tFAW", f(0x18, 10, 6), 30.0, 16),
            ("tRRD", f(0x20, 5, 3), 6.0, 4),
            ("tXP", f(0x1c, 15, 5), 6.0, 3),
            ("read to precharge", f(0x1c, 23, 5), 7.5, 4),
            ("write recovery", write_recovery, 15.0, 5),
            (
                "write to precharge",
                f(0x18, 0, 5).saturating_sub(behind_write),
                15.0,
                5,
            ),
            ("write to read", f(0x1c, 10, 5).saturating_sub(behind_write), 7.5, 4),
            ("read to write", f(0x1c, 5, 5), 0.0, (cl + 6).saturating_sub(cwl)),
            ("reset", f(0xa8, 20, 8) * 1024, 200_000.0, 0),
            ("reset and wait", f(0x34, 4, 10) * 1024, 700_000.0, 0),
        ];
        for (name, cycles, ns, least) in limits {
            // Slight tolerance: a cycle at 533.333 MHz is not exactly 1.875 ns.
            if f64::from(cycles) * 1000.0 / mhz < ns * 0.999 || cycles < least {
                return Err(format!("with {name} of {cycles} cycles at {mhz:.0} MHz"));
            }
        }
        let refresh = f64::from(f(0x04, 0, 12) * 32) / mhz;
        if !(1.0..7.9).contains(&refresh) {
            return Err(format!("with a refresh each {refresh:.1} us"));
        }
        if f(0x20, 24, 5) != cl || f(0x1c, 0, 5) + 1 != cwl {
            return Err(format!("with latencies unlike those of the memory, CL {cl}, CWL {cwl}"));
        }
        if f(0x30, 0, 2) != 0 || f(0x34, 0, 4) != 4 {
            return Err("with bursts of other lengths than 8".into());
        }
        if self.field(0x194, 14, 3) != 7 {
            return Err("without all training".into());
        }
        self.check_bytes()?;
        self.check_addresses()
    }

    /// Checks the bytes of the data bus that are in use: two or four.
    fn check_bytes(&self) -> Result<(), String> {
        let used: Vec<bool> = (0..4).map(|n| self.field(0x118 + 4 * n, 0, 1) != 0).collect();
        match (self.field(0, 2, 2), &used[..]) {
            (0, [true, true, true, true]) | (1, [true, true, false, false]) => Ok(()),
            (width, _) => Err(format!("with bus width {width} and bytes {used:?}")),
        }
    }

    /// Checks that address bits above the bus width map to those of the memory without gaps, up to
    /// at least 256 MiB.
    fn check_addresses(&self) -> Result<(), String> {
        let f = |offset, at| self.field(offset, at, 4);
        // (value, address bit for 0); 15 means unused.
        let mut bits = vec![(f(0x3c, 0), 5), (f(0x3c, 4), 6), (f(0x3c, 8), 7)];
        // Columns from 3 on (4 at half width); the lower ones address words within a burst.
        bits.extend((0..3).map(|n| (f(0x40, 4 * n), 5 + n)));
        bits.extend([(f(0x3c, 12), 8), (f(0x3c, 16), 9)]);
        bits.extend((0..5).map(|n| (f(0x40, 12 + 4 * n), 10 + n)));
        bits.extend([(f(0x44, 0), 9), (f(0x44, 4), 10)]);
        bits.extend((2..12).map(|n| (f(0x44, 8), 9 + n)));
        bits.extend((12..16).map(|n| (f(0x44, 12 + 4 * (n - 12)), 9 + n)));
        let mut used: Vec<u32> = bits.iter().filter(|bit| bit.0 != 15).map(|bit| bit.0 + bit.1).collect();
        used.sort_unstable();
        // Lower bits address bytes within a burst. 256 MiB needs 28 bits.
        if used.len() < 23 || !used.iter().copied().eq(5..5 + used.len() as u32) {
            return Err(format!("with an address map of the bits {used:?}"));
        }
        Ok(())
    }
}

impl Peripheral for Ddrc {
    fn read(&mut self, at: Access, _: &mut Context) -> u32 {
        Ddrc::read(self, at.offset)
    }

    fn write(&mut self, at: Access, value: u32, context: &mut Context) {
        let comes_up = self.write(at.offset, value, context.signals.ddr_clock);
        context.signals.ddr_running |= comes_up;
        context.ends_turn = comes_up;
    }

    /// Without a boot ROM nothing would start the controller again, so it keeps running.
    fn reset(&mut self, what: Reset, context: &mut Context) {
        if let (Reset::System(_), true) = (what, context.memory.has_boot_rom()) {
            *self = Self::new(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: Option<f64> = Some(533.333_328);

    /// The settings of a board with 256 MiB on a 16-bit bus, as published for the EBAZ4205.
    fn set_up() -> Ddrc {
        let mut ddrc = Ddrc::new(false);
        for (offset, value) in [
            (0x00, 0x84),
            (0x04, 0x1082),
            (0x14, 0x0004_159b),
            (0x18, 0x4524_64d3),
            (0x1c, 0x7282_bce5),
            (0x20, 0x2708_72d0),
            (0x2c, 0x8),
            (0x30, 0x0004_0b30),
            (0x34, 0x0001_16d4),
            (0x3c, 0x666),
            (0x40, 0xffff_0000),
            (0x44, 0x0ff5_5555),
            (0xa8, 0x0690_cb73),
            (0x118, 0x4000_0001),
            (0x11c, 0x4000_0001),
            (0x120, 0x4000_0000),
            (0x124, 0x4000_0000),
            (0x194, 0x0001_fc82),
        ] {
            assert!(!ddrc.write(offset, value, CLOCK));
        }
        ddrc
    }

    #[test]
    fn enabled_controller_starts_once_with_a_clock() {
        let mut d = set_up();
        assert!(!d.write(CONTROL, 0x85, None));
        assert_eq!(d.read(MODE_STATUS), 0);
        assert!(d.write(CONTROL, 0x85, CLOCK) && !d.write(CONTROL, 0x85, CLOCK));
        assert_eq!(d.read(MODE_STATUS), 1);
    }

    #[test]
    fn controller_with_wrong_timing_does_not_start() {
        for (offset, value, reason) in [
            (0x04, 0x1092, "refresh each 8.8"),
            (0x14, 0x0004_0c9b, "tRFC"),
            (0x18, 0x4464_64d3, "tRAS"),
            (0x18, 0x4524_64d0, "write to precharge"),
            (0x1c, 0x6282_bce5, "tRCD"),
            (0x1c, 0x7282_bce6, "latencies"),
            (0x20, 0x2708_62d0, "tRP"),
            (0x30, 0x0004_0930, "comes up"), // write recovery of 8 cycles: just enough
            (0x30, 0x0004_0b20, "CL"),
            (0x34, 0x0001_06d4, "reset and wait"),
            (0x3c, 0x777, "address map"),
            (0x44, 0x0fff_5555, "address map"),
            (0x120, 0x4000_0001, "bytes"),
            (0x194, 0x0000_fc82, "training"),
        ] {
            let mut d = set_up();
            d.write(offset, value, CLOCK);
            let result = d.check(533.333).err().unwrap_or_else(|| "comes up".into());
            assert!(result.contains(reason), "{offset:#x}: {result}");
            assert_eq!(d.write(CONTROL, 0x85, CLOCK), reason == "comes up");
        }
        assert!(set_up().check(667.0).unwrap_err().contains("at 667 MHz"));
    }
}
