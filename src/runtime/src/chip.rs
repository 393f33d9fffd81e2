//! Set-up of the chip through the HAL: MMU, caches, clocks, time base.

use aarch32_cpu::mmu::{MemoryRegionAttributes, SectionAttributes};
use aarch32_cpu::register::{dacr::DomainAccess, Dacr};
use kairos_channel::memory::{
    ANALYZER, DMA, ETHERNET_BUFFERS, ETHERNET_DESCRIPTORS, FAILURE, LOW, NETBOOT_REQUEST, REBOOT_STATUS, REPORT,
};
use kairos_chip::boards;
use zynq7000_hal::clocks::Clocks;
use zynq7000_hal::gtc::GlobalTimerCounter;
use zynq7000_hal::mmu::{mmu_l1_table_mut, section_attrs};
use zynq7000_hal::slcr::Slcr;
use zynq7000_hal::time::Hertz;
use zynq7000_hal::time_driver_gtc;

/// Crystal of the supported boards: 33.3333 MHz. Rounded up, because the timer driver divides by whole numbers: 1 Hz less
/// would make its microsecond 1/400 too short at 800 MHz.
const CRYSTAL: Hertz = Hertz::from_raw(33_333_334);

/// Memory that a device reads or writes: writes are merged, and caches need no maintenance.
const NOT_CACHED: SectionAttributes = SectionAttributes {
    memory_attrs: MemoryRegionAttributes::OuterAndInnerNonCacheable.as_raw(),
    ..section_attrs::DDR
};

/// What the rest of the runtime takes over.
pub struct Chip {
    pub clocks: Clocks,
    pub uart: zynq7000::uart::MmioRegisters<'static>,
    pub ethernet: zynq7000::eth::MmioRegisters<'static>,
    pub sd: zynq7000::sdio::MmioRegisters<'static>,
    pub xadc: zynq7000::xadc::MmioRegisters<'static>,
}

/// Brings the chip up. Called once, first of all. `last_use`: of the low megabyte, which is closed then.
pub fn init(last_use: fn()) -> Chip {
    let peripherals = zynq7000_hal::init(zynq7000_hal::Config::default()).expect("chip initialised twice");
    last_use();
    protect_memory();
    fix_qemu_clock();
    release_i2c_pins();
    let clocks = Clocks::new_from_regs(CRYSTAL).expect("clock registers make no sense");
    let timer = GlobalTimerCounter::new(peripherals.gtc, clocks.arm_clocks());
    time_driver_gtc::init(clocks.arm_clocks(), timer);
    Chip {
        clocks,
        uart: match boards::uart_with_clock() {
            0 => peripherals.uart_0,
            _ => peripherals.uart_1,
        },
        ethernet: peripherals.eth_0,
        sd: peripherals.sdio_0,
        xadc: peripherals.xadc,
    }
}

/// The lines that say what this is.
pub fn announce(kernel_image: usize) {
    log::info!("Kairos runtime {}", env!("CARGO_PKG_VERSION"));
    log::info!(
        "memory: 256 MiB of DDR used, runtime {} KiB, kernel core {} KiB",
        image_size() / 1024,
        kernel_image / 1024
    );
}

fn image_size() -> usize {
    extern "C" {
        static _stacks_high_end: u8;
    }
    core::ptr::addr_of!(_stacks_high_end) as usize - kairos_channel::memory::RUNTIME.start
}

/// The lower word of the global timer, which embassy-time counts with.
pub fn timer_count() -> u32 {
    const COUNTER: *const u32 = 0xF8F0_0200 as *const u32;
    // SAFETY: reading it has no effect.
    unsafe { COUNTER.read_volatile() }
}

/// Makes the MMU check what the table says; the kernel core uses the same table.
fn protect_memory() {
    let mut table = mmu_l1_table_mut();
    // From now on an access there is a null pointer, and faults.
    table
        .update(LOW.start as u32, section_attrs::UNASSIGNED_RESERVED)
        .expect("aligned");
    table
        .update(ETHERNET_DESCRIPTORS.start as u32, section_attrs::SHAREABLE_DEVICE)
        .expect("aligned");
    const MEGABYTE: usize = 1 << 20;
    for range in [ETHERNET_BUFFERS, REPORT, DMA, ANALYZER] {
        for megabyte in range.step_by(MEGABYTE) {
            table.update(megabyte as u32, NOT_CACHED).expect("aligned");
        }
    }
    // The HAL leaves the domain in manager mode, where permissions are ignored.
    Dacr::modify(|dacr| dacr.set_d(0, DomainAccess::Client));
    aarch32_cpu::asm::isb();
}

/// The kernel core drives the I2C bus as GPIO: SCL is MIO 50, SDA is MIO 51. Electrical standard and speed of the pins stay.
fn release_i2c_pins() {
    const MIO_PIN_50: *mut u32 = 0xF800_07C8 as *mut u32;
    /// Tri-state and peripheral selections; pull-up.
    const FUNCTION: u32 = 0xff;
    const PULL_UP: u32 = 1 << 12;
    // SAFETY: no other code uses the SLCR now, nor these pins.
    unsafe {
        Slcr::with(|slcr| {
            slcr.clk_ctrl()
                .modify_aper_clk_ctrl(|clocks| clocks.with_gpio_1x_clk_act(true));
            for pin in 0..2 {
                let pin = MIO_PIN_50.add(pin);
                pin.write_volatile(pin.read_volatile() & !FUNCTION | PULL_UP);
            }
        });
    }
}

/// QEMU's timers run at 100 MHz whatever the clock registers say; make them say that. QEMU is known by its zero IDCODE.
fn fix_qemu_clock() {
    // SAFETY: no other code uses the SLCR now.
    unsafe {
        Slcr::with(|slcr| {
            if slcr.read_pss_idcode() == 0 {
                /// ARM_PLL_CTRL; FDIV is in bits 18..12: 33.3 MHz x 24, /4 and /2 make 100 MHz at the timer.
                const ARM_PLL_CTRL: *mut u32 = 0xF800_0100 as *mut u32;
                core::ptr::write_volatile(ARM_PLL_CTRL, 24 << 12 | 8);
            }
        });
    }
}

/// Why the whole processing system is reset.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reset {
    Request,
    /// The loader is to wait for the network.
    Netboot,
    /// This core has failed.
    Failure,
}

/// Resets the whole processing system. The boot loader starts anew.
pub fn reboot(why: Reset) -> ! {
    set_reset_mark(match why {
        Reset::Request => 0,
        Reset::Netboot => NETBOOT_REQUEST,
        Reset::Failure => FAILURE,
    });
    kairos_chip::gic::barrier();
    // SAFETY: nothing of this program is needed any more.
    unsafe { Slcr::with(|slcr| slcr.reset_ctrl().modify_pss(|reset| reset.with_soft_reset(true))) };
    loop {
        aarch32_cpu::asm::wfi();
    }
}

/// Whether the newest reset was one after a failure; forgets it.
pub fn take_failure() -> bool {
    let status = REBOOT_STATUS as *const u32;
    // SAFETY: reading it has no effect.
    let failed = unsafe { status.read_volatile() } >> 24 == FAILURE;
    if failed {
        set_reset_mark(0);
    }
    failed
}

/// Whether the newest reset was one by the watchdog.
pub fn was_watchdog() -> bool {
    const SWDT_RST: u32 = 1 << 16;
    // SAFETY: reading it has no effect.
    unsafe { (REBOOT_STATUS as *const u32).read_volatile() & SWDT_RST != 0 }
}

/// Sets the byte that outlives a reset.
fn set_reset_mark(mark: u32) {
    // SAFETY: no other code uses the SLCR now; the upper byte of the status is for software.
    unsafe { Slcr::with(|slcr| slcr.modify_reboot_status(|status| status & 0x00ff_ffff | mark << 24)) };
}

/// Writes a range back from both caches to memory, for a reader whose caches are off. Whole cache lines are written.
pub fn clean(start: usize, length: usize) {
    let first = start & !31;
    let length = (start + length).next_multiple_of(32) - first;
    zynq7000_hal::cache::clean_data_cache_range(first as u32, length).expect("aligned");
    kairos_chip::gic::barrier();
}
