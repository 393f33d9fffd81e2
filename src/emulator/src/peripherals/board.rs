//! Description of a board, and construction of a machine from it. A process may have several
//! boards.

use super::devcfg::Devcfg;
use super::gem::Cable;
use super::gpio::Gpio;
use super::i2c::{Fitted, Si5324, Si549};
use super::qspi::Qspi;
use super::sd::{Card, Sd};
use super::slcr::{BootMode, Slcr};
use super::{Row, SPACES, TABLE};
use crate::machine::boot_rom;
use crate::machine::bus::{Bus, Slot};
use crate::machine::memory::Memory;
use crate::machine::params::Params;
use crate::machine::schedule::Machine;
use crate::machine::time::Cycles;
use crate::pl::fabric::Gateware;
use crate::pl::Pl;

/// The parts of a board. The default has memory and no optional parts.
pub struct Board {
    /// DDR in MiB.
    pub mib: usize,
    /// Timing and environment.
    pub params: Params,
    /// Gateware configured at start, without a boot ROM.
    pub pl: Option<Pl>,
    /// Gateware available for configuration of the PL.
    pub gateware: Gateware,
    /// Card in slot 0.
    pub card: Option<Card>,
    /// Contents of the QSPI flash. If present, the boot ROM boots from it, otherwise from the card.
    pub flash: Option<Vec<u8>>,
    /// Cable plugged into GEM0.
    pub cable: Option<Box<dyn Cable>>,
}

impl Default for Board {
    fn default() -> Self {
        Self {
            mib: 256,
            params: Params::default(),
            pl: None,
            gateware: Gateware::default(),
            card: None,
            flash: None,
            cable: None,
        }
    }
}

impl Board {
    /// Creates a machine whose code is loaded by `load`, as by a boot loader, at power-up and
    /// after each system reset. `load` returns the entry point.
    pub fn with_firmware(self, load: impl Fn(&Memory) -> Result<u32, String> + 'static) -> Result<Machine, String> {
        let params = self.params.clone();
        let memory = Memory::new(self.mib);
        let bus = Parts::new(self, None).build(memory);
        Machine::new(bus, Box::new(move |bus: &mut Bus| load(&bus.memory)), params)
    }

    /// Creates a machine whose cores are held in reset.
    pub fn held(self) -> Result<Machine, String> {
        let params = self.params.clone();
        let memory = Memory::new(self.mib);
        Machine::held(Parts::new(self, None).build(memory), params)
    }

    /// Creates a machine that starts in its boot ROM, without DDR or a configuration of the PL.
    pub fn with_boot_rom(self) -> Result<Machine, String> {
        let params = self.params.clone();
        let memory = Memory::after_reset(self.mib);
        let mode = match self.flash {
            Some(_) => BootMode::Qspi,
            None => BootMode::SdCard,
        };
        let bus = Parts::new(self, Some(mode)).build(memory);
        Machine::new(bus, Box::new(move |bus: &mut Bus| boot(bus, mode)), params)
    }
}

/// Runs the boot ROM: loads a boot loader and returns its entry point.
fn boot(bus: &mut Bus, mode: BootMode) -> Result<u32, String> {
    match mode {
        BootMode::Qspi => {
            let flash = bus.get::<Qspi>().map_or(&[][..], Qspi::contents);
            let found = boot_rom::search(flash, &bus.memory);
            let (entry, offset) = found.map_err(|e| format!("boot ROM: the QSPI flash {e}"))?;
            if let Some(devcfg) = bus.get_mut::<Devcfg>() {
                devcfg.set_multiboot(offset);
            }
            Ok(entry)
        }
        BootMode::SdCard => {
            let card = bus.get::<Sd>().and_then(Sd::card);
            let card = card.ok_or("boot ROM: there is no SD card")?;
            let image = boot_rom::read_card(card.image()).map_err(|e| format!("boot ROM: the SD card {e}"))?;
            boot_rom::load(&image, &bus.memory).map_err(|e| format!("boot ROM: BOOT.BIN {e}"))
        }
    }
}

/// Sets the frequency in Hz of the board's external clock from `now` on; 0: no clock.
pub fn set_clock_input(bus: &mut Bus, frequency: u64, now: Cycles) {
    bus.with(|gpio: &mut Gpio, context| {
        if let Some(chip) = gpio.device::<Si5324>() {
            chip.set_external(frequency, now);
        }
        if let Some(chip) = gpio.device::<Si549>() {
            chip.external = frequency;
        }
        gpio.drive(context.signals);
    });
}

/// Parts handed to the constructors in the table.
pub struct Parts {
    /// Boot mode of the boot ROM; `None`: without a boot ROM.
    pub boot: Option<BootMode>,
    /// Gateware configured at start.
    pub pl: Option<Pl>,
    /// Card in slot 0.
    pub card: Option<Card>,
    /// Cable plugged into GEM0.
    pub cable: Option<Box<dyn Cable>>,
    /// Temperature of the chip in °C.
    pub celsius: u32,
    /// Cycles that an access to the GPIO controller takes.
    pub gpio_access: Cycles,
    /// Chips on the I2C bus.
    pub i2c: Fitted,
    gateware: Gateware,
    flash: Vec<u8>,
}

impl Parts {
    /// Takes the parts of a board with this boot mode; `None`: the emulator loads the firmware.
    pub fn new(board: Board, boot: Option<BootMode>) -> Self {
        let params = &board.params;
        Self {
            boot,
            celsius: params.chip_celsius.min(200) as u32,
            gpio_access: params.gpio_access,
            i2c: Fitted {
                synthesiser: (params.si5324 != 0).then(|| Si5324::new(params.clock_input)),
                oscillator: (params.si549 != 0).then(|| Si549::new(params.clock_input)),
                expanders: params.expanders != 0,
                ..Fitted::default()
            },
            pl: board.pl,
            card: board.card,
            cable: board.cable,
            gateware: board.gateware,
            flash: board.flash.unwrap_or_default(),
        }
    }

    /// Builds the chip with these parts.
    fn build(mut self, memory: Memory) -> Bus {
        let slot = |row: &Row| Slot {
            windows: row.windows,
            interrupts: row.interrupts,
            peripheral: (row.make)(&mut self),
        };
        let slots = TABLE.iter().map(slot).collect();
        Bus::new(memory, SPACES, slots)
    }

    /// Takes the gateware available for configuration of the PL.
    pub fn gateware(&mut self) -> Gateware {
        std::mem::take(&mut self.gateware)
    }

    /// Takes the contents of the QSPI flash.
    pub fn flash(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.flash)
    }

    /// The SLCR in the state left by a boot loader, or after power-up if there is a boot ROM.
    pub fn slcr(&self) -> Slcr {
        match self.boot {
            Some(mode) => Slcr::after_power_up(mode),
            None => Slcr::new(),
        }
    }

    /// The controller in the state left by a boot loader, or after power-up if there is a boot ROM.
    pub fn devcfg(&self) -> Devcfg {
        match self.boot {
            Some(_) => Devcfg::default(),
            None => Devcfg::configured(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::peripheral::{Reset, NEVER};
    use crate::machine::signals::Cause;

    fn chip() -> Bus {
        Parts::new(Board::default(), None).build(Memory::new(1))
    }

    #[test]
    fn register_accesses_are_routed_and_raise_interrupts() {
        let mut b = chip();
        for (address, value) in [
            (0xf8f0_1000, 3),
            (0xf8f0_0100, 3),
            (0xf8f0_0104, 0xff),
            (0xf8f0_1100, 1 << 29),
        ] {
            assert!(b.write(0, address, 4, value, 0).ends_turn);
        }
        b.write(0, 0xf8f0_0600, 4, 100, 0);
        b.write(0, 0xf8f0_0608, 4, 5, 0);
        assert_eq!(b.due().timer, [200, NEVER]);
        b.update(199);
        assert_eq!(b.signals.lines.irq, [false, false]);
        // A read of the GIC shows the timer that is due.
        assert_eq!(b.read(0, 0xf8f0_0118, 4, 200).0, 29);
        assert_eq!(b.signals.lines.irq, [true, false]);
        assert_eq!(b.read(0, 0x4000_0000, 4, 0).0, 0, "no gateware");
        assert_eq!(b.read(0, 0xf8f0_1004, 1, 0).0 & 0xff, 0x22);
    }

    #[test]
    fn access_to_any_address_is_answered() {
        let mut b = chip();
        for (base, size) in SPACES {
            for address in [*base, base + (size - 4)] {
                b.write(0, address, 4, 0, 0);
                b.read(0, address, 4, 0);
            }
        }
        assert!(!b.write(0, 0xf8f0_2104, 4, 7, 0).ends_turn);
        assert_eq!(b.read(1, 0xf8f0_2106, 2, 0).0, 0);
        assert_eq!(b.read(1, 0xf8f0_2104, 2, 0).0, 7, "storage");
    }

    #[test]
    fn reset_keeps_recorded_values() {
        let mut b = chip();
        b.write(0, 0xe000_1000, 4, 0x14, 0);
        b.write(0, 0xe000_1030, 4, 65, 0);
        b.write(0, 0xe000_1008, 4, 1 << 3, 0);
        assert_eq!(b.signals.lines.shared, 1 << (82 - 32));
        b.reset(Reset::System(Cause::Watchdog));
        assert_eq!((b.signals.lines.shared, b.signals.console.sent), (0, [0, 1]));
        assert_eq!(b.signals.console.text, b"A");
        assert_eq!(b.read(0, 0xf800_0258, 4, 0).0, Cause::Watchdog as u32);
    }
}
