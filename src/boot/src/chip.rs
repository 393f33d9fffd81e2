//! Set-up of the chip through the HAL, as far as the first stage has left it open, and what the chip says about itself.

use aarch32_cpu::mmu::{MemoryRegionAttributes, SectionAttributes};
use kairos_channel::memory::{ETHERNET_BUFFERS, ETHERNET_DESCRIPTORS, NETBOOT_REQUEST, REBOOT_STATUS};
use kairos_chip::boards;
use zynq7000_hal::clocks::Clocks;
use zynq7000_hal::gtc::GlobalTimerCounter;
use zynq7000_hal::mmu::{mmu_l1_table_mut, section_attrs};
use zynq7000_hal::slcr::Slcr;
use zynq7000_hal::time::Hertz;
use zynq7000_hal::time_driver_gtc;

/// Crystal of the supported boards, rounded up as in the runtime.
const CRYSTAL: Hertz = Hertz::from_raw(33_333_334);

const NOT_CACHED: SectionAttributes = SectionAttributes {
    memory_attrs: MemoryRegionAttributes::OuterAndInnerNonCacheable.as_raw(),
    ..section_attrs::DDR
};

/// Where the boot ROM has found the loader: `BOOT_MODE` (UG585, table 6-4).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BootDevice {
    Card,
    Flash,
    /// JTAG, or a memory that the loader does not know.
    Other,
}

pub struct Chip {
    pub clocks: Clocks,
    pub uart: zynq7000::uart::MmioRegisters<'static>,
    pub ethernet: zynq7000::eth::MmioRegisters<'static>,
    pub sd: zynq7000::sdio::MmioRegisters<'static>,
    pub boot_device: BootDevice,
}

/// Brings the chip up. Called once, first of all. Interrupts stay masked.
pub fn init() -> Chip {
    let mut config = zynq7000_hal::Config::default();
    config.interrupt_config = None;
    config.deassert_pl_reset = false;
    config.level_shifter_config = None;
    let peripherals = zynq7000_hal::init(config).expect("chip initialised twice");
    let mut table = mmu_l1_table_mut();
    table
        .update(ETHERNET_DESCRIPTORS.start as u32, section_attrs::SHAREABLE_DEVICE)
        .expect("aligned");
    table
        .update(ETHERNET_BUFFERS.start as u32, NOT_CACHED)
        .expect("aligned");
    let clocks = Clocks::new_from_regs(CRYSTAL).expect("clock registers make no sense");
    let timer = GlobalTimerCounter::new(peripherals.gtc, clocks.arm_clocks());
    time_driver_gtc::init(clocks.arm_clocks(), timer);
    Chip {
        uart: match boards::uart_with_clock() {
            0 => peripherals.uart_0,
            _ => peripherals.uart_1,
        },
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

/// IDCODE of the chip, which is that of its PL, too.
pub fn idcode() -> u32 {
    const PSS_IDCODE: usize = 0x530;
    read_slcr(PSS_IDCODE)
}

/// Name of the chip.
pub fn name() -> kairos_proto::bitstream::Chip {
    kairos_proto::bitstream::Chip(idcode())
}

/// Whether the runtime was asked to boot from the network before it reset the chip; forgets it.
pub fn take_netboot_request() -> bool {
    let register = REBOOT_STATUS as *mut u32;
    // SAFETY: the upper byte of the register is for software, and outlives a reset; nothing else uses it.
    unsafe {
        let status = register.read_volatile();
        let requested = status >> 24 == NETBOOT_REQUEST;
        if requested {
            Slcr::with(|_| register.write_volatile(status & 0x00ff_ffff));
        }
        requested
    }
}
