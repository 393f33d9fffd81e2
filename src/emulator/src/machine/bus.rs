//! Who answers at which address. Cores come here for everything that is not memory.

use crate::machine::memory::Memory;
use crate::machine::time::{self, Cycles};
use crate::peripherals::ddrc::Ddrc;
use crate::peripherals::devcfg::{self, Devcfg};
use crate::peripherals::gem::{self, Gem};
use crate::peripherals::gic::Gic;
use crate::peripherals::gpio::Gpio;
use crate::peripherals::sd::Sd;
use crate::peripherals::slcr::{Action, Reset, Slcr};
use crate::peripherals::stubs::Stubs;
use crate::peripherals::swdt::Swdt;
use crate::peripherals::timers::{self, DownCounter, GlobalTimer};
use crate::peripherals::uart::Uart;
use crate::peripherals::xadc::Xadc;
use crate::pl::gp::Access;
use crate::pl::{bitstream, Gateware, Pl};

/// Address ranges (base, size) answered by [`Bus`]; anything else that is not memory is an external abort.
pub const MMIO: &[(u32, u32)] = &[
    (0x4000_0000, 0x4000_0000), // GP0
    (0x8000_0000, 0x4000_0000), // GP1: nothing there
    (0xe000_0000, 0x0030_0000), // I/O peripherals
    (0xe100_0000, 0x0500_0000), // static memory controller: nothing there
    (0xf800_0000, 0x0100_0000), // system registers, MPCore, L2 cache controller
    (0xfc00_0000, 0x0200_0000), // QSPI, linear mode
];

/// What the outside of a core asks of the machine, besides interrupts.
#[derive(Default)]
pub struct Requests {
    /// Core 1 was put into reset.
    pub core1_held: bool,
    /// Core 1 was released after that: it starts at address 0.
    pub core1_released: bool,
    /// Reset everything.
    pub system_reset: Option<Reset>,
    /// The DDR controller has come up.
    pub ddr_running: bool,
    /// Translated code of this core may be stale: its code was loaded by the other one.
    pub flush_code: [bool; 2],
    /// Address translations of this core may be stale.
    pub flush_tlb: [bool; 2],
    /// Event register of each core, for `wfe`, with the time it was set.
    pub event: [Option<Cycles>; 2],
}

/// Cost and consequence of an access.
#[derive(Default, Clone, Copy)]
pub struct Effect {
    /// Cycles the core stalls.
    pub stall: Cycles,
    /// The core's slice must end soon: something may have become due.
    pub kick: bool,
}

/// All peripherals.
pub struct Bus {
    /// DDR and OCM.
    pub memory: Memory,
    /// Interrupt controller.
    pub gic: Gic,
    /// Global timer.
    pub global_timer: GlobalTimer,
    /// Private timer and watchdog of each core.
    pub private: [[DownCounter; 2]; 2],
    /// System watchdog.
    pub swdt: Swdt,
    /// System level control registers.
    pub slcr: Slcr,
    /// UART0 and UART1.
    pub uart: [Uart; 2],
    /// Ethernet.
    pub gem: Gem,
    /// DDR controller.
    pub ddrc: Ddrc,
    /// Configuration of the PL.
    pub devcfg: Devcfg,
    /// Sensors of the chip.
    pub xadc: Xadc,
    /// What the QSPI flash holds; read in linear mode only.
    pub flash: Vec<u8>,
    /// What the PL can be configured with.
    pub gateware: Gateware,
    /// General purpose pins, and the I2C bus on them.
    pub gpio: Gpio,
    /// SD host controller 0.
    pub sd: Sd,
    /// SD host controller 1: its slot is empty.
    pub sd1: Sd,
    /// The rest.
    pub stubs: Stubs,
    /// The gateware, if there is one.
    pub pl: Option<Pl>,
    /// Open requests to the machine.
    pub requests: Requests,
    /// `sev` executed.
    pub sev_count: u64,
    /// The core that executed the newest `sev`.
    pub sev_core: usize,
    /// PL cycles of the newest `sev`.
    pub sev_cycles: std::collections::VecDeque<u64>,
}

/// Number of `sev` times kept.
const SEV_HISTORY: usize = 4096;

impl Bus {
    /// After power-up.
    pub fn new(memory: Memory, pl: Option<Pl>) -> Self {
        Self {
            memory,
            gic: Gic::default(),
            global_timer: GlobalTimer::default(),
            private: Default::default(),
            swdt: Swdt::default(),
            slcr: Slcr::new(),
            uart: Default::default(),
            gem: Gem::default(),
            ddrc: Ddrc::new(true),
            devcfg: Devcfg::configured(),
            xadc: Xadc::default(),
            flash: Vec::new(),
            gateware: Gateware::default(),
            gpio: Gpio::default(),
            sd: Sd::default(),
            sd1: Sd::default(),
            stubs: Stubs::default(),
            pl,
            requests: Requests::default(),
            sev_count: 0,
            sev_core: 1,
            sev_cycles: Default::default(),
        }
    }

    /// Back to power-up, except for memory and what was recorded. A machine with a boot ROM loses its gateware.
    pub fn reset_peripherals(&mut self, cause: Reset) {
        self.gic = Gic::default();
        self.global_timer = GlobalTimer::default();
        self.private = Default::default();
        self.swdt = Swdt::default();
        self.slcr.reset(cause);
        if self.memory.has_boot_rom() {
            self.ddrc = Ddrc::new(false);
            self.devcfg = Devcfg::default();
            self.pl = None;
        }
        for uart in &mut self.uart {
            let output = std::mem::take(&mut uart.output);
            *uart = Uart::default();
            uart.output = output;
        }
        self.gem = Gem::default();
        self.gpio.reset();
        self.xadc.reset();
        self.sd.reset();
        self.sd1.reset();
        self.requests = Requests::default();
    }

    /// Brings timers and the gateware to `now` and the interrupt lines up to date.
    pub fn update(&mut self, now: Cycles) {
        self.global_timer.update(now);
        for timer in self.private.iter_mut().flatten() {
            timer.update(now);
        }
        if self.swdt.update(now) {
            self.requests.system_reset = Some(Reset::Watchdog);
        }
        if let Some(pl) = &mut self.pl {
            pl.advance(now, &self.memory, false);
        }
        self.clocks(now);
        if self.gem.blocked() {
            self.gem.deliver(&self.memory);
        }
        self.lines();
    }

    /// Tells the gateware which clocks there are.
    fn clocks(&mut self, now: Cycles) {
        if let Some(pl) = self.pl.as_mut().filter(|pl| pl.measures_clocks()) {
            pl.set_clock("synthesiser", self.gpio.clock_output(now), now, &self.memory);
            pl.set_clock("reference", self.gpio.clock_input(), now, &self.memory);
        }
    }

    /// Copies interrupt levels to the interrupt controller, and the gateware's event to the cores.
    pub fn lines(&mut self) {
        for core in 0..2 {
            self.gic
                .set_private(core, timers::GLOBAL_TIMER_IRQ, self.global_timer.irq(core));
            self.gic
                .set_private(core, timers::PRIVATE_TIMER_IRQ, self.private[core][0].irq());
            self.gic
                .set_private(core, timers::WATCHDOG_IRQ, self.private[core][1].irq());
        }
        self.gic.set_shared(59, self.uart[0].irq());
        self.gic.set_shared(82, self.uart[1].irq());
        self.gic.set_shared(gem::IRQ, self.gem.irq());
        if let Some(pl) = &mut self.pl {
            let irq = pl.interrupts();
            for n in 0..8 {
                self.gic.set_shared(61 + n, irq >> n & 1 != 0); // IRQF2P[7:0]: 61..68
                self.gic.set_shared(84 + n, irq >> (8 + n) & 1 != 0); // IRQF2P[15:8]: 84..91
            }
            if let Some(cycle) = pl.event.take() {
                let when = time::from_pl(cycle + 1);
                self.requests.event = [Some(when); 2];
            }
        }
    }

    /// When a timer of `core` will next interrupt, or the watchdog will reset everything, which counts as one of core 0.
    pub fn next_timer(&self, core: usize) -> Option<Cycles> {
        [
            self.global_timer.next(core),
            self.private[core][0].next(),
            self.private[core][1].next(),
            self.swdt.next().filter(|_| core == 0),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// `core` executed `sev` at `now`.
    pub fn send_event(&mut self, core: usize, now: Cycles) {
        self.sev_count += 1;
        self.sev_core = core;
        self.requests.event = [Some(now); 2];
        if let Some(pl) = &mut self.pl {
            let cycle = pl.send_event(now, &self.memory);
            if self.sev_cycles.len() == SEV_HISTORY {
                self.sev_cycles.pop_front();
            }
            self.sev_cycles.push_back(cycle);
        }
        log::trace!("core {core}: sev at {now}");
    }

    /// A load of `size` bytes by `core` at `now`; the value is right-aligned.
    pub fn read(&mut self, core: usize, address: u32, size: u32, now: Cycles) -> (u32, Effect) {
        let none = Effect::default();
        let (aligned, shift) = (address & !3, 8 * (address & 3));
        let offset = address & 0xfff;
        let word = match address {
            0x4000_0000..=0x7fff_ffff => {
                self.clocks(now);
                return match &mut self.pl {
                    Some(pl) => {
                        let (value, stall) = pl.access(
                            Access {
                                address,
                                size,
                                store: None,
                            },
                            now,
                            &self.memory,
                        );
                        (value, Effect { stall, kick: true })
                    }
                    None => (0, none),
                };
            }
            0xe000_0000..=0xe000_0fff => self.uart[0].read(offset & !3),
            0xe000_1000..=0xe000_1fff => self.uart[1].read(offset & !3),
            0xe000_a000..=0xe000_afff => self.gpio.read(offset & !3),
            0xe000_b000..=0xe000_bfff => self.gem.read(offset & !3),
            0xe010_0000..=0xe010_0fff => self.sd.read(offset & !3),
            0xe010_1000..=0xe010_1fff => self.sd1.read(offset & !3),
            0xf800_0000..=0xf800_0fff => self.slcr.read(offset & !3),
            0xf800_5000..=0xf800_5fff => self.swdt.read(offset & !3),
            0xf800_6000..=0xf800_6fff => self.ddrc.read(offset & !3),
            0xf800_7000..=0xf800_70ff => self.devcfg.read(offset & !3),
            0xf800_7100..=0xf800_711f => self.xadc.read(offset & 0x1c),
            0xfc00_0000..=0xfdff_ffff => {
                let at = (aligned - 0xfc00_0000) as usize;
                let word = self.flash.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
                u32::from_le_bytes(word.unwrap_or([0xff; 4]))
            }
            0xf8f0_0100..=0xf8f0_01ff => {
                self.update(now);
                let value = self.gic.read_interface(core, aligned & 0xff);
                return (
                    value >> shift,
                    Effect {
                        stall: 0,
                        kick: aligned & 0xff == 0xc,
                    },
                );
            }
            0xf8f0_0200..=0xf8f0_02ff => self.global_timer.read(core, aligned & 0xff, now),
            0xf8f0_0600..=0xf8f0_061f => self.private[core][0].read(aligned & 0x1f, now),
            0xf8f0_0620..=0xf8f0_06ff => self.private[core][1].read((aligned - 0x20) & 0x1f, now),
            0xf8f0_1000..=0xf8f0_1fff => {
                // Byte registers are read with the access's own size.
                return (self.gic.read_distributor(core, offset, size), none);
            }
            _ => self.stubs.read(aligned),
        };
        (word >> shift, none)
    }

    /// A store of `size` bytes by `core` at `now`.
    pub fn write(&mut self, core: usize, address: u32, size: u32, value: u32, now: Cycles) -> Effect {
        let offset = address & 0xfff;
        let mut kick = true;
        match address {
            0x4000_0000..=0x7fff_ffff => {
                self.clocks(now);
                if let Some(pl) = &mut self.pl {
                    let (_, stall) = pl.access(
                        Access {
                            address,
                            size,
                            store: Some(value),
                        },
                        now,
                        &self.memory,
                    );
                    return Effect { stall, kick };
                }
            }
            0xe000_0000..=0xe000_0fff => self.uart[0].write(offset & !3, value),
            0xe000_1000..=0xe000_1fff => self.uart[1].write(offset & !3, value),
            0xe000_a000..=0xe000_afff => {
                self.gpio.write(offset & !3, value, now);
                kick = false;
            }
            0xe000_b000..=0xe000_bfff => self.gem.write(offset & !3, value, &self.memory),
            0xe010_0000..=0xe010_0fff => self.sd.write(offset & !3, value),
            0xe010_1000..=0xe010_1fff => self.sd1.write(offset & !3, value),
            0xf800_0000..=0xf800_0fff => match self.slcr.write(offset & !3, value) {
                Action::None => kick = false,
                Action::Core1Reset(hold) => {
                    self.requests.core1_held |= hold;
                    self.requests.core1_released = !hold;
                }
                Action::SystemReset => self.requests.system_reset = Some(Reset::Software),
            },
            0xf800_5000..=0xf800_5fff => self.swdt.write(offset & !3, value, now),
            0xf800_6000..=0xf800_6fff => {
                kick = self.ddrc.write(offset & !3, value, self.slcr.ddr_clock());
                self.requests.ddr_running |= kick;
            }
            0xf800_7000..=0xf800_70ff => self.configure(offset & !3, value, now),
            0xf800_7100..=0xf800_711f => {
                self.xadc.write(offset & 0x1c, value);
                kick = false;
            }
            0xf8f0_0100..=0xf8f0_01ff => self.gic.write_interface(core, address & 0xfc, value),
            0xf8f0_0200..=0xf8f0_02ff => self.global_timer.write(core, address & 0xfc, value, now),
            0xf8f0_0600..=0xf8f0_061f => self.private[core][0].write(address & 0x1c, value, now),
            0xf8f0_0620..=0xf8f0_06ff => self.private[core][1].write((address - 0x20) & 0x1c, value, now),
            0xf8f0_1000..=0xf8f0_1fff => self.gic.write_distributor(core, offset, size, value),
            _ => {
                self.stubs.write(address, value);
                kick = false;
            }
        }
        Effect { stall: 0, kick }
    }

    /// A write to the controller that configures the PL.
    fn configure(&mut self, offset: u32, value: u32, now: Cycles) {
        match self.devcfg.write(offset, value, self.slcr.pcap_clock(), &self.memory) {
            devcfg::Action::None => {}
            devcfg::Action::Clear => self.pl = None,
            devcfg::Action::Configure(words) => match bitstream::configure(&words) {
                Ok(frames) => {
                    self.devcfg.set_done();
                    self.pl = self.gateware.with_descriptor(&frames, now);
                    if self.pl.is_none() {
                        log::warn!("the PL is configured with a gateware that the emulator has no library for");
                    }
                }
                Err(error) => log::warn!("the PL does not accept the bitstream: {error}"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_and_raises_lines() {
        let mut b = Bus::new(Memory::new(1), None);
        b.write(0, 0xf8f0_1000, 4, 3, 0);
        b.write(0, 0xf8f0_0100, 4, 3, 0);
        b.write(0, 0xf8f0_0104, 4, 0xff, 0);
        b.write(0, 0xf8f0_1100, 4, 1 << 29, 0);
        b.write(0, 0xf8f0_0600, 4, 100, 0);
        b.write(0, 0xf8f0_0608, 4, 5, 0);
        assert_eq!((b.next_timer(0), b.next_timer(1)), (Some(200), None));
        b.update(200);
        assert!(b.gic.irq(0) && !b.gic.irq(1));
        assert_eq!(b.read(0, 0x4000_0000, 4, 0).0, 0);
        b.write(0, 0xe000_0000, 4, 0x14, 0);
        b.write(0, 0xe000_0030, 4, 65, 0);
        assert_eq!(b.uart[0].output, b"A");
        assert_eq!(b.read(0, 0xf8f0_1004, 1, 0).0 & 0xff, 0x22);
    }
}
