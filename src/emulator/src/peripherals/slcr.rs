//! System level control registers: lock, clocks, resets, and the status bits that a boot loader
//! polls: PLL locks and calibration of the DDR pins. Clock settings are stored, not acted on: the
//! machine always runs at the clocks of [`INITIAL`], as set by a first-stage boot loader.

use crate::machine::peripheral::{Access, Context, Peripheral, Reset};
use crate::machine::signals::{Cause, Signals};
use crate::machine::time::Cycles;

/// Boot device of the boot ROM: `BOOT_MODE` (UG585, table 6-4).
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum BootMode {
    /// The QSPI flash.
    Qspi = 1,
    /// The SD card in slot 0.
    SdCard = 5,
}

/// Request to the machine caused by a write.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Action {
    /// None.
    None,
    /// `A9_CPU_RST_CTRL` was written: core 1 held in reset (or its clock stopped), or released.
    Core1Reset(bool),
    /// `PSS_RST_CTRL`: reset of the whole processing system.
    SystemReset,
}

/// Registers 0x000 to 0xfff, as words.
pub struct Slcr {
    words: Vec<u32>,
    locked: bool,
    /// Status registers follow the settings, for a boot loader that makes them.
    raw: bool,
}

/// Registers whose reset values differ from those of [`INITIAL`] (UG585, appendix B.28).
const AFTER_RESET: &[(u32, u32)] = &[
    (0x100, 0x0001_a008),
    (0x104, 0x0001_a008),
    (0x108, 0x0001_a008),
    (0x110, 0x0017_7ea0),
    (0x114, 0x0017_7ea0),
    (0x118, 0x0017_7ea0),
    (0x120, 0x1f00_0400),
    (0x124, 0x1840_0003),
    (0x128, 0x01e0_3201),
    (0x12c, 0x01ff_cccd),
    (0x138, 0),
    (0x140, 0x0000_3c01),
    (0x14c, 0x0000_2821),
    (0x150, 0x0000_1e03),
    (0x154, 0x0000_3f03),
    (0x168, 0x0000_0f01),
    (0x170, 0x0010_1800),
    (0x240, 0x01f3_3f0f), // FPGA_RST_CTRL: the PL is held in reset
    (0x900, 0),
    (0xb70, 0x0000_0020),
];

const REBOOT_STATUS: u32 = 0x258;
/// Bits of `REBOOT_STATUS` that software may use; they survive every reset except power-up.
const REBOOT_STATE: u32 = 0xff00_0000;

/// (offset, value) after the boot loader, for a 33.333333 MHz crystal: ARM PLL x48 / 2 = 800 MHz
/// CPU (6:2:1), DDR PLL x32, IO PLL x30 = 1 GHz, GEM0 125 MHz, UART 50 MHz, FCLK0 125 MHz.
const INITIAL: &[(u32, u32)] = &[
    (0x100, 0x0003_0008), // ARM_PLL_CTRL
    (0x104, 0x0002_0008), // DDR_PLL_CTRL
    (0x108, 0x0001_e008), // IO_PLL_CTRL
    (0x10c, 0x0000_003f), // PLL_STATUS: all locked and stable
    (0x110, 0x000f_a240), // ARM_PLL_CFG
    (0x114, 0x0012_c220), // DDR_PLL_CFG
    (0x118, 0x0014_52c0), // IO_PLL_CFG
    (0x120, 0x1f00_0200), // ARM_CLK_CTRL
    (0x124, 0x0c20_0003), // DDR_CLK_CTRL
    (0x128, 0x0070_0f01), // DCI_CLK_CTRL
    (0x12c, 0x01ff_cccd), // APER_CLK_CTRL
    (0x130, 0x0010_1941),
    (0x134, 0x0010_1941),
    (0x138, 0x0000_0001), // GEM0_RCLK_CTRL
    (0x13c, 0x0000_0001),
    (0x140, 0x0010_0801), // GEM0_CLK_CTRL
    (0x144, 0x0010_0801),
    (0x148, 0x0000_3c21), // SMC_CLK_CTRL
    (0x14c, 0x0000_0501), // LQSPI_CLK_CTRL
    (0x150, 0x0000_1403), // SDIO_CLK_CTRL
    (0x154, 0x0000_1403), // UART_CLK_CTRL
    (0x158, 0x0000_0603), // SPI_CLK_CTRL
    (0x15c, 0x0010_0a03), // CAN_CLK_CTRL
    (0x164, 0x0000_0f03), // DBG_CLK_CTRL
    (0x168, 0x0000_0501), // PCAP_CLK_CTRL
    (0x16c, 0x0000_0302), // TOPSW_CLK_CTRL
    (0x170, 0x0010_0800), // FPGA0_CLK_CTRL
    (0x180, 0x0010_0800),
    (0x190, 0x0010_0800),
    (0x1a0, 0x0010_0800),
    (0x1c4, 0x0000_0001), // CLK_621_TRUE
    (0x240, 0x0000_0000), // FPGA_RST_CTRL: the PL is not in reset
    (0x258, 0x0040_0000), // REBOOT_STATUS: power-on
    (0x25c, 0x0000_0001), // BOOT_MODE, as in QEMU
    (0x304, 0x0000_0000),
    (0x530, 0x0373_1093), // PSS_IDCODE: 7z045
    (0xb00, 0x0000_0000),
    (0xb74, 0x0000_2000), // DDRIOB_DCI_STATUS: done
    (0x900, 0x0000_000f), // LVL_SHFTR_EN
];

impl Slcr {
    /// Creates the registers as left by the boot loader; locked.
    pub fn new() -> Self {
        let mut words = vec![0; 0x400];
        for &(offset, value) in INITIAL {
            words[offset as usize / 4] = value;
        }
        for pin in 0..54 {
            words[0x700 / 4 + pin] = 0x1601; // MIO_PIN_xx
        }
        Self {
            words,
            locked: true,
            raw: false,
        }
    }

    /// Creates the registers after power-up, as left by the boot ROM.
    pub fn after_power_up(boot_mode: BootMode) -> Self {
        let mut this = Self::new();
        this.raw = true;
        for &(offset, value) in AFTER_RESET {
            this.words[offset as usize / 4] = value;
        }
        this.words[0x25c / 4] = boot_mode as u32;
        this
    }

    /// Resets the registers, other than at power-up.
    fn reset(&mut self, cause: Cause) {
        let kept = self.words[REBOOT_STATUS as usize / 4] & REBOOT_STATE;
        let boot_mode = self.words[0x25c / 4];
        let raw = self.raw;
        *self = Self::new();
        if raw {
            *self = Self::after_power_up(match boot_mode {
                1 => BootMode::Qspi,
                _ => BootMode::SdCard,
            });
        }
        self.words[REBOOT_STATUS as usize / 4] = kept | cause as u32;
    }

    /// Whether the clock of the PCAP, which configures the PL, is running.
    fn pcap_clock(&self) -> bool {
        self.words[0x168 / 4] & 1 != 0
    }

    /// Clock of the memory in MHz, if both clocks of the DDR controller are running, its PLL is
    /// locked, and its pins are calibrated.
    fn ddr_clock(&self) -> Option<f64> {
        let (pll, clocks) = (self.words[0x104 / 4], self.words[0x124 / 4]);
        let ready = !self.raw || (clocks & 3 == 3 && self.pll_status() & 2 != 0 && self.read(0xb74) != 0);
        let (multiplier, divisor) = (pll >> 12 & 0x7f, clocks >> 20 & 0x3f);
        (ready && divisor != 0).then(|| 33.333_333 * f64::from(multiplier) / f64::from(divisor))
    }

    /// Locked (bits 2..0: IO, DDR, ARM) and stable (bits 5..3), unless held in reset or powered
    /// down.
    fn pll_status(&self) -> u32 {
        let bits = (0..3).filter(|n| self.words[0x100 / 4 + n] & 3 == 0);
        bits.map(|n| 0b1001 << n).sum()
    }

    /// Reads the register at `offset`.
    fn read(&self, offset: u32) -> u32 {
        match offset & 0xfff {
            0xc => self.locked.into(),
            0x10c => self.pll_status(),
            // DDRIOB_DCI_STATUS: done, once DDRIOB_DCI_CTRL takes the DCI out of reset and enables
            // it.
            0xb74 if self.raw => u32::from(self.words[0xb70 / 4] & 3 == 3) << 13,
            o => self.words[o as usize / 4],
        }
    }

    /// Writes the register at `offset`; while locked, only the lock registers take effect.
    fn write(&mut self, offset: u32, value: u32) -> Action {
        match offset & 0xfff {
            0x4 if value & 0xffff == 0x767b => self.locked = true,
            0x8 if value & 0xffff == 0xdf0d => self.locked = false,
            0x4 | 0x8 | 0xc | 0x10c | 0x25c | 0x530 | 0xb74 => {}
            REBOOT_STATUS if !self.locked => {
                let word = &mut self.words[REBOOT_STATUS as usize / 4];
                *word = *word & !REBOOT_STATE | value & REBOOT_STATE;
            }
            o if self.locked => log::debug!("slcr: write to {o:#05x} while locked, ignored"),
            0x200 if value & 1 != 0 => return Action::SystemReset,
            o => {
                self.words[o as usize / 4] = value;
                if o == 0x244 {
                    return Action::Core1Reset(value & 0x22 != 0);
                }
            }
        }
        Action::None
    }
}

impl Default for Slcr {
    fn default() -> Self {
        Self::new()
    }
}

impl Slcr {
    /// Drives the clock signals used by other peripherals.
    fn drive(&self, signals: &mut Signals) {
        signals.ddr_clock = self.ddr_clock();
        signals.pcap_clock = self.pcap_clock();
    }
}

impl Peripheral for Slcr {
    fn read(&mut self, at: Access, _: &mut Context) -> u32 {
        Slcr::read(self, at.offset)
    }

    fn write(&mut self, at: Access, value: u32, context: &mut Context) {
        let action = self.write(at.offset, value);
        let signals = &mut *context.signals;
        match action {
            Action::None => {}
            Action::Core1Reset(hold) => {
                signals.core1_held |= hold;
                signals.core1_released = !hold;
            }
            Action::SystemReset => signals.system_reset = Some(Cause::Software),
        }
        self.drive(signals);
        context.ends_turn = action != Action::None;
    }

    fn reset(&mut self, what: Reset, context: &mut Context) {
        if let Reset::System(cause) = what {
            self.reset(cause);
            self.drive(context.signals);
        }
    }

    fn update(&mut self, _: Cycles, context: &mut Context) -> bool {
        self.drive(context.signals);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_protects_registers_and_resets_are_reported() {
        let mut s = Slcr::new();
        assert_eq!(s.write(0x244, 0x22), Action::None);
        assert_eq!(s.read(0x244), 0);
        s.write(8, 0xdf0d);
        assert_eq!(s.write(0x244, 0x22), Action::Core1Reset(true));
        assert_eq!(s.write(0x244, 0x20), Action::Core1Reset(true));
        assert_eq!(s.write(0x244, 0), Action::Core1Reset(false));
        assert_eq!(s.write(0x200, 1), Action::SystemReset);
        s.write(4, 0x767b);
        assert_eq!((s.read(0xc), s.write(0x200, 1)), (1, Action::None));
    }

    #[test]
    fn loader_finds_expected_registers() {
        let mut s = Slcr::after_power_up(BootMode::SdCard);
        s.write(8, 0xdf0d);
        assert_eq!((s.read(0x10c), s.read(0x25c), s.read(0xb74)), (0x3f, 5, 0));
        s.write(0x104, 0x0002_0009);
        assert_eq!(s.read(0x10c), 0x2d);
        s.write(0xb70, 3);
        s.write(0x124, 0x0c20_0003);
        assert_eq!(s.ddr_clock(), None);
        s.write(0x104, 0x0002_0008);
        assert_eq!(s.ddr_clock().map(f64::round), Some(533.0));
    }

    #[test]
    fn reboot_byte_survives_a_reset() {
        let mut s = Slcr::after_power_up(BootMode::Qspi);
        s.write(8, 0xdf0d);
        s.write(0x258, 0x4b00_0001);
        s.reset(Cause::Software);
        assert_eq!((s.read(0x258), s.read(0x25c)), (0x4b08_0000, 1));
        s.reset(Cause::Watchdog);
        assert_eq!(s.read(0x258), 0x4b01_0000);
    }

    #[test]
    fn reset_registers_give_the_clocks_of_the_timing_model() {
        let s = Slcr::new();
        let fdiv = s.read(0x100) >> 12 & 0x7f;
        let divisor = s.read(0x120) >> 8 & 0x3f;
        assert_eq!((fdiv, divisor), (48, 2)); // 33.333 MHz x 48 / 2 = 800 MHz
    }
}
