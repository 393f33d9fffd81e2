//! Set-up of the chip through the HAL, where the first stage has left it open, and the chip's
//! identification.

use kairos_chip::setup::{self, DEVICE, NOT_CACHED};
use kairos_intercore::memory::{ETHERNET_BUFFERS, ETHERNET_DESCRIPTORS};
use zynq7000_hal::clocks::Clocks;
use zynq7000_hal::uart::Tx;

/// The device from which the boot ROM has read the loader: `BOOT_MODE` (UG585, table 6-4).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BootDevice {
    Card,
    Flash,
    /// JTAG, or a memory that the loader does not support.
    Other,
}

pub struct Chip {
    pub clocks: Clocks,
    pub console: Tx,
    pub ethernet: zynq7000::eth::MmioRegisters<'static>,
    pub sd: zynq7000::sdio::MmioRegisters<'static>,
    pub boot_device: BootDevice,
}

/// Brings the chip up. Called once, before anything else. Interrupts stay masked.
pub fn init() -> Chip {
    let mut config = zynq7000_hal::Config::default();
    config.interrupt_config = None;
    config.deassert_pl_reset = false;
    config.level_shifter_config = None;
    let peripherals = zynq7000_hal::init(config).expect("chip initialised twice");
    setup::map(&[(ETHERNET_DESCRIPTORS, DEVICE), (ETHERNET_BUFFERS, NOT_CACHED)]);
    let clocks = setup::clocks(peripherals.gtc);
    Chip {
        console: setup::console([peripherals.uart_0, peripherals.uart_1], &clocks),
        clocks,
        ethernet: peripherals.eth_0,
        sd: peripherals.sdio_0,
        boot_device: match read_slcr(0x25C) & 7 {
            1 => BootDevice::Flash,
            5 => BootDevice::Card,
            _ => BootDevice::Other,
        },
    }
}

fn read_slcr(offset: usize) -> u32 {
    // SAFETY: reading a register of the system level control has no effect.
    unsafe { core::ptr::read_volatile((0xF800_0000 + offset) as *const u32) }
}

pub use kairos_chip::boards::idcode;

/// Name of the chip.
pub fn name() -> kairos_proto::bitstream::Chip {
    kairos_proto::bitstream::Chip(idcode())
}
