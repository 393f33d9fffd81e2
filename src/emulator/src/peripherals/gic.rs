//! The interrupt controller (GIC architecture 1, PL390 of the MPCore): distributor and CPU
//! interfaces. Both cores run Secure and every interrupt is in group 0, so all arrive as IRQ. As in
//! QEMU, the private peripheral interrupts are level-sensitive. Its inputs are the interrupt lines;
//! its outputs are the IRQ inputs of the cores.

use crate::machine::peripheral::{Access, Context, Peripheral, Reset};
use crate::machine::signals::Lines;
use crate::machine::time::Cycles;

/// Number of interrupts: 16 software, 16 private, 64 shared.
pub const LINES: usize = 96;
/// Interrupt ID returned when nothing is pending.
const SPURIOUS: u32 = 1023;
const IDLE_PRIORITY: u32 = 0x100;

/// One bit per interrupt: those of interrupts 0 to 31 are banked per core, the rest are shared.
#[derive(Clone, Default)]
struct Bits([u32; 3]);

impl Bits {
    fn get(&self, n: usize) -> bool {
        self.0[n / 32] >> (n % 32) & 1 != 0
    }
    fn set(&mut self, n: usize, on: bool) {
        let mask = 1 << (n % 32);
        if on {
            self.0[n / 32] |= mask;
        } else {
            self.0[n / 32] &= !mask;
        }
    }
}

#[derive(Clone)]
struct Interface {
    control: u32,
    mask: u32,
    binary_point: u32,
    /// Lines 0..31 of this core; words 1 and 2 unused.
    enable: Bits,
    pending: Bits,
    active: Bits,
    line: Bits,
    /// Bit per source core for each software-generated interrupt.
    sgi_source: [u8; 16],
    priority: [u8; 32],
}

impl Default for Interface {
    fn default() -> Self {
        Self {
            control: 0,
            mask: 0,
            binary_point: 2,
            enable: Bits([0xffff, 0, 0]), // software-generated interrupts cannot be disabled on reset (QEMU)
            pending: Bits::default(),
            active: Bits::default(),
            line: Bits::default(),
            sgi_source: [0; 16],
            priority: [0; 32],
        }
    }
}

/// Distributor and both CPU interfaces.
#[derive(Clone, Default)]
pub struct Gic {
    control: u32,
    core: [Interface; 2],
    enable: Bits,
    pending: Bits,
    active: Bits,
    line: Bits,
    edge: Bits,
    priority: Shared<{ LINES }>,
    target: Shared<{ LINES }>,
    config: [u32; 6],
}

#[derive(Clone)]
struct Shared<const N: usize>([u8; N]);
impl<const N: usize> Default for Shared<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl Gic {
    /// Samples the levels of all lines, and drives the IRQ inputs of the cores.
    fn take(&mut self, lines: &mut Lines) {
        let shared = [lines.shared as u32, (lines.shared >> 32) as u32];
        let private = [0, 1].map(|core: usize| self.core[core].line.0[0]);
        if self.line.0[1..] == shared && private == lines.private {
            return; // other changes have been driven when they were made
        }
        for (core, interface) in self.core.iter_mut().enumerate() {
            interface.line.0[0] = lines.private[core];
        }
        for (word, level) in [(1, shared[0]), (2, shared[1])] {
            self.pending.0[word] |= level & !self.line.0[word] & self.edge.0[word];
            self.line.0[word] = level;
        }
        self.drive(lines);
    }

    fn drive(&self, lines: &mut Lines) {
        lines.irq = [self.asserted(0), self.asserted(1)];
    }

    fn is_pending(&self, core: usize, n: usize) -> bool {
        if n < 16 {
            self.core[core].sgi_source[n] != 0
        } else if n < 32 {
            self.core[core].pending.get(n) || self.core[core].line.get(n)
        } else {
            self.pending.get(n) || (!self.edge.get(n) && self.line.get(n))
        }
    }

    fn is_active(&self, core: usize, n: usize) -> bool {
        if n < 32 {
            self.core[core].active.get(n)
        } else {
            self.active.get(n)
        }
    }

    fn set_active(&mut self, core: usize, n: usize, on: bool) {
        if n < 32 {
            self.core[core].active.set(n, on)
        } else {
            self.active.set(n, on)
        }
    }

    fn priority(&self, core: usize, n: usize) -> u32 {
        u32::from(if n < 32 {
            self.core[core].priority[n]
        } else {
            self.priority.0[n]
        })
    }

    /// Interrupts that may be delivered to `core`: pending, enabled and not active.
    fn candidates(&self, core: usize) -> [u32; 3] {
        let c = &self.core[core];
        let mut sgi = 0;
        for (n, source) in c.sgi_source.iter().enumerate() {
            sgi |= u32::from(*source != 0) << n;
        }
        let mut words = [0; 3];
        words[0] = (sgi | ((c.pending.0[0] | c.line.0[0]) & 0xffff_0000)) & c.enable.0[0] & !c.active.0[0];
        for (w, word) in words.iter_mut().enumerate().skip(1) {
            let level = self.line.0[w] & !self.edge.0[w];
            *word = (self.pending.0[w] | level) & self.enable.0[w] & !self.active.0[w];
        }
        words
    }

    /// Highest-priority deliverable interrupt of a core, regardless of its masks.
    fn best(&self, core: usize) -> Option<(usize, u32)> {
        let mut best: Option<(usize, u32)> = None;
        for (w, mut word) in self.candidates(core).into_iter().enumerate() {
            while word != 0 {
                let n = w * 32 + word.trailing_zeros() as usize;
                word &= word - 1;
                if n >= 32 && self.target.0[n] >> core & 1 == 0 {
                    continue;
                }
                let p = self.priority(core, n);
                if best.is_none_or(|(_, q)| p < q) {
                    best = Some((n, p));
                }
            }
        }
        best
    }

    fn running_priority(&self, core: usize) -> u32 {
        let mut running = IDLE_PRIORITY;
        for w in 0..3 {
            let mut word = if w == 0 {
                self.core[core].active.0[0]
            } else {
                self.active.0[w]
            };
            while word != 0 {
                let n = w * 32 + word.trailing_zeros() as usize;
                word &= word - 1;
                if n < 32 || self.target.0[n] >> core & 1 != 0 {
                    running = running.min(self.priority(core, n));
                }
            }
        }
        running
    }

    /// Whether the IRQ input of `core` is asserted.
    fn asserted(&self, core: usize) -> bool {
        let c = &self.core[core];
        if self.control & 1 == 0 || c.control & 1 == 0 {
            return false;
        }
        self.best(core)
            .is_some_and(|(_, p)| p < c.mask && p < self.running_priority(core))
    }

    fn acknowledge(&mut self, core: usize) -> u32 {
        if !self.asserted(core) {
            return SPURIOUS;
        }
        let Some((n, _)) = self.best(core) else { return SPURIOUS };
        self.set_active(core, n, true);
        if n < 16 {
            let source = self.core[core].sgi_source[n].trailing_zeros();
            self.core[core].sgi_source[n] &= !(1 << source);
            return n as u32 | source << 10;
        }
        if n < 32 {
            self.core[core].pending.set(n, false);
        } else {
            self.pending.set(n, false);
        }
        n as u32
    }

    /// Reads a register of the CPU interface.
    fn read_interface(&mut self, core: usize, offset: u32) -> u32 {
        match offset {
            0x00 => self.core[core].control,
            0x04 => self.core[core].mask,
            0x08 => self.core[core].binary_point,
            ACKNOWLEDGE => self.acknowledge(core),
            0x14 => self.running_priority(core).min(0xff),
            0x18 => self.best(core).map_or(SPURIOUS, |(n, _)| n as u32),
            0xfc => 0x3901_243b, // PL390, as the MPCore reports it
            _ => 0,
        }
    }

    /// Writes a register of the CPU interface.
    fn write_interface(&mut self, core: usize, offset: u32, value: u32) {
        match offset {
            0x00 => self.core[core].control = value & 0x1f,
            0x04 => self.core[core].mask = value & 0xf8, // 32 priority levels
            0x08 => self.core[core].binary_point = value & 7,
            0x10 => {
                let n = (value & 0x3ff) as usize;
                if n < LINES && self.is_active(core, n) {
                    self.set_active(core, n, false);
                }
            }
            _ => {}
        }
    }

    fn word_of(&mut self, core: usize, w: usize, which: u32) -> Option<&mut u32> {
        let (banked, shared) = match which {
            1 => (&mut self.core[core].enable, &mut self.enable),
            2 => (&mut self.core[core].pending, &mut self.pending),
            _ => (&mut self.core[core].active, &mut self.active),
        };
        match w {
            0 => Some(&mut banked.0[0]),
            1 | 2 => Some(&mut shared.0[w]),
            _ => None,
        }
    }

    fn byte(&self, core: usize, offset: u32) -> u8 {
        let n = (offset & 0x3ff) as usize;
        match offset {
            0x400..=0x7ff if n < 32 => self.core[core].priority[n],
            0x400..=0x7ff if n < LINES => self.priority.0[n],
            0x800..=0xbff if n < 32 => 1 << core,
            0x800..=0xbff if n < LINES => self.target.0[n],
            _ => 0,
        }
    }

    /// Reads `size` bytes of the distributor.
    fn read_distributor(&mut self, core: usize, offset: u32, size: u32) -> u32 {
        let w = (offset as usize & 0x7f) / 4;
        match offset {
            0x000 => self.control,
            0x004 => 0x0000_fc22, // 96 lines, 2 cores, security extensions (Zynq TRM, ICDICTR)
            0x008 => 0x0102_043b,
            0x100..=0x1ff => self.word_of(core, w, 1).map_or(0, |x| *x),
            0x200..=0x2ff => (0..32).fold(0, |x, b| x | u32::from(w < 3 && self.is_pending(core, w * 32 + b)) << b),
            0x300..=0x37f => self.word_of(core, w, 3).map_or(0, |x| *x),
            0x400..=0xbff => (0..size).fold(0, |x, i| x | u32::from(self.byte(core, offset + i)) << (8 * i)),
            0xc00 => 0xaaaa_aaaa,
            0xc08..=0xc17 => self.config[(offset as usize - 0xc00) / 4],
            0xfe0 => 0x90,
            0xfe4 => 0xb3,
            0xfe8 => 0x1b,
            _ => 0,
        }
    }

    /// Writes `size` bytes of the distributor.
    fn write_distributor(&mut self, core: usize, offset: u32, size: u32, value: u32) {
        let w = (offset as usize & 0x7f) / 4;
        match offset {
            0x000 => self.control = value & 3,
            0x100..=0x2ff => {
                let which = offset >> 8;
                let Some(word) = self.word_of(core, w, which) else {
                    return;
                };
                let value = if which == 2 && w == 0 {
                    value & 0xffff_0000
                } else {
                    value
                };
                if offset & 0x80 == 0 {
                    *word |= value;
                } else {
                    *word &= !value;
                }
                if which == 1 && w == 0 {
                    *word |= 0xffff;
                }
            }
            0x400..=0xbff => {
                for i in 0..size {
                    let (n, b) = (((offset + i) & 0x3ff) as usize, (value >> (8 * i)) as u8);
                    match (offset, n) {
                        (0x400..=0x7ff, 0..=31) => self.core[core].priority[n] = b & 0xf8,
                        (0x400..=0x7ff, 32..LINES) => self.priority.0[n] = b & 0xf8,
                        (0x800..=0xbff, 32..LINES) => self.target.0[n] = b & 3,
                        _ => {}
                    }
                }
            }
            0xc08..=0xc17 => {
                let r = (offset as usize - 0xc00) / 4;
                self.config[r] = value;
                for i in 0..16 {
                    self.edge.set(r * 16 + i, value >> (2 * i + 1) & 1 != 0);
                }
            }
            0xf00 => {
                let targets = match value >> 24 & 3 {
                    0 => value >> 16 & 3,
                    1 => 3 & !(1 << core),
                    2 => 1 << core,
                    _ => 0,
                };
                for to in 0..2 {
                    if targets >> to & 1 != 0 {
                        self.core[to].sgi_source[(value & 15) as usize] |= 1 << core;
                    }
                }
            }
            _ => {}
        }
    }
}

/// Index of the CPU interface's window; the other one is the distributor's.
const INTERFACE: usize = 0;
const ACKNOWLEDGE: u32 = 0x0c;

impl Peripheral for Gic {
    fn read(&mut self, at: Access, context: &mut Context) -> u32 {
        let word = if at.window == INTERFACE {
            context.ends_turn = at.offset == ACKNOWLEDGE;
            self.read_interface(at.core, at.offset)
        } else {
            // Byte registers are read with the size of the access.
            let offset = at.offset | at.address & 3;
            self.read_distributor(at.core, offset, at.size) << at.shift()
        };
        self.drive(&mut context.signals.lines);
        word
    }

    fn write(&mut self, at: Access, value: u32, context: &mut Context) {
        if at.window == INTERFACE {
            self.write_interface(at.core, at.offset, value);
        } else {
            self.write_distributor(at.core, at.offset | at.address & 3, at.size, value);
        }
        self.drive(&mut context.signals.lines);
    }

    fn reset(&mut self, what: Reset, context: &mut Context) {
        match what {
            Reset::System(_) => *self = Self::default(),
            Reset::Core(core) => self.core[core] = Interface::default(),
        }
        self.drive(&mut context.signals.lines);
    }

    fn update(&mut self, _now: Cycles, context: &mut Context) -> bool {
        self.take(&mut context.signals.lines);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on() -> Gic {
        let mut g = Gic::default();
        g.write_distributor(0, 0, 4, 3);
        for c in 0..2 {
            g.write_interface(c, 0, 3);
            g.write_interface(c, 4, 0xff);
        }
        g
    }

    fn shared(g: &mut Gic, line: u32, level: bool) {
        g.take(&mut Lines {
            shared: u64::from(level) << (line - 32),
            ..Lines::default()
        });
    }

    fn private(g: &mut Gic, lines: u32) {
        g.take(&mut Lines {
            private: [lines, 0],
            ..Lines::default()
        });
    }

    #[test]
    fn software_interrupt_carries_its_source() {
        let mut g = on();
        g.write_distributor(0, 0xf00, 4, 2 << 16 | 1);
        assert!(!g.asserted(0) && g.asserted(1));
        assert_eq!(g.read_interface(1, 0xc), 1); // from core 0
        assert!(!g.asserted(1));
        g.write_interface(1, 0x10, 1);
        assert_eq!(g.read_interface(1, 0xc), SPURIOUS);
        g.write_distributor(1, 0xf00, 4, 1 << 16 | 3);
        assert_eq!(g.read_interface(0, 0xc), 3 | 1 << 10);
    }

    #[test]
    fn level_interrupt_returns_until_its_line_falls() {
        let mut g = on();
        g.write_distributor(0, 0x104, 4, 1 << 22);
        g.write_distributor(0, 0x800 + 54, 1, 1);
        shared(&mut g, 54, true);
        assert_eq!(g.read_interface(0, 0xc), 54);
        assert!(!g.asserted(0));
        g.write_interface(0, 0x10, 54);
        assert!(g.asserted(0) && !g.asserted(1));
        shared(&mut g, 54, false);
        assert!(!g.asserted(0));
    }

    #[test]
    fn interrupt_of_higher_priority_preempts_and_mask_blocks() {
        let mut g = on();
        g.write_distributor(0, 0x100, 4, 1 << 27 | 1 << 29);
        g.write_distributor(0, 0x400 + 27, 1, 0x80);
        g.write_distributor(0, 0x400 + 29, 1, 0x40);
        private(&mut g, 1 << 27);
        assert_eq!(g.read_interface(0, 0xc), 27);
        private(&mut g, 1 << 27 | 1 << 29);
        assert_eq!(g.read_interface(0, 0xc), 29); // preempts
        g.write_interface(0, 0x10, 29);
        private(&mut g, 1 << 27);
        assert_eq!(g.read_interface(0, 0x14), 0x80);
        g.write_interface(0, 0x10, 27);
        g.write_interface(0, 4, 0x80);
        assert!(!g.asserted(0)); // masked: priority must be below the mask
    }
}
