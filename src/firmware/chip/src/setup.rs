//! Set-up common to all images on the HAL: the clocks' frequencies, the time base, memory used by
//! devices, the UART.

use core::ops::Range;

use aarch32_cpu::mmu::{MemoryRegionAttributes, SectionAttributes};
use zynq7000_hal::clocks::Clocks;
use zynq7000_hal::gtc::GlobalTimerCounter;
use zynq7000_hal::mmu::{mmu_l1_table_mut, section_attrs};
use zynq7000_hal::time::Hertz;
use zynq7000_hal::time_driver_gtc;
use zynq7000_hal::uart::{ClockConfig, Config, Tx, Uart};

use crate::boards;

/// Crystal of the supported boards: 33.3333 MHz. Rounded up, because the timer driver divides by
/// whole numbers: 1 Hz less would make its microsecond 1/400 too short at 800 MHz.
const CRYSTAL: Hertz = Hertz::from_raw(33_333_334);
const BAUD: u32 = 115_200;
/// Memory mapped by one entry of the MMU's table.
const SECTION: usize = 1 << 20;

/// Not mapped: accesses fault.
pub const UNMAPPED: SectionAttributes = section_attrs::UNASSIGNED_RESERVED;
/// Registers, or memory that is accessed like them.
pub const DEVICE: SectionAttributes = SectionAttributes {
    execute_never: true,
    ..section_attrs::SHAREABLE_DEVICE
};
/// Memory without instructions: jumping there faults.
pub const DATA: SectionAttributes = SectionAttributes {
    execute_never: true,
    ..section_attrs::DDR
};
/// Memory accessed by a device: writes are merged, and no cache maintenance is needed.
pub const NOT_CACHED: SectionAttributes = SectionAttributes {
    memory_attrs: MemoryRegionAttributes::OuterAndInnerNonCacheable.as_raw(),
    ..DATA
};

/// Maps whole megabytes of memory one to one, in the given order.
pub fn map(regions: &[(Range<usize>, SectionAttributes)]) {
    let mut table = mmu_l1_table_mut();
    for (region, attributes) in regions {
        for section in region.clone().step_by(SECTION) {
            table.update(section as u32, *attributes).expect("aligned");
        }
    }
}

/// Reads the frequencies configured by the first stage, and starts the time base.
pub fn clocks(timer: zynq7000::gtc::MmioRegisters<'static>) -> Clocks {
    let clocks = Clocks::new_from_regs(CRYSTAL).expect("clock registers make no sense");
    let timer = GlobalTimerCounter::new(timer, clocks.arm_clocks());
    time_driver_gtc::init(clocks.arm_clocks(), timer);
    clocks
}

/// The lower word of the global timer, on which the time base is built.
pub fn timer_count() -> u32 {
    const COUNTER: *const u32 = 0xF8F0_0200 as *const u32;
    // SAFETY: a read has no effect.
    unsafe { COUNTER.read_volatile() }
}

/// Configures the UART with a connector as the transmitter of the log: 115200 baud, 8N1. Pins are
/// as configured by the first stage.
pub fn console(uarts: [zynq7000::uart::MmioRegisters<'static>; 2], clocks: &Clocks) -> Tx {
    let [first, second] = uarts;
    let registers = if boards::uart_with_clock() == 0 { first } else { second };
    let (baud, _error) = ClockConfig::new_autocalc_with_error(clocks.io_clocks(), BAUD).expect("UART clock is off");
    let uart = Uart::new_with_emio(registers, Config::new_with_clk_config(baud)).expect("UART");
    uart.split().0
}
