//! Set-up of the chip through the HAL: MMU, caches, clocks, time base.

use aarch32_cpu::register::{dacr::DomainAccess, Dacr};
use kairos_chip::setup::{self, DATA, DEVICE, NOT_CACHED, UNMAPPED};
use kairos_intercore::memory::{
    DESCRIPTOR_COPY, DMA, ETHERNET_BUFFERS, ETHERNET_DESCRIPTORS, INTERCORE, KERNEL_DATA, KERNEL_HEAP, KERNEL_IMAGE,
    KERNEL_STACK, LOW, MAILBOX, REMOTE, REPORT, RUNTIME, RUNTIME_DATA, STREAM,
};
use zynq7000_hal::clocks::Clocks;
use zynq7000_hal::slcr::Slcr;
use zynq7000_hal::uart::Tx;
use zynq7000_hal::InteruptConfig;

use crate::interrupts;

/// Peripherals for the rest of the program.
pub struct Chip {
    pub clocks: Clocks,
    pub console: Tx,
    pub ethernet: zynq7000::eth::MmioRegisters<'static>,
    pub sd: zynq7000::sdio::MmioRegisters<'static>,
    pub xadc: zynq7000::xadc::MmioRegisters<'static>,
}

/// Brings the chip up. Called once, before anything else. `last_use` is called before the low
/// megabyte is unmapped.
pub fn init(last_use: fn()) -> Chip {
    let mut config = zynq7000_hal::Config::default();
    config.interrupt_config = Some(InteruptConfig::Minimal);
    let peripherals = zynq7000_hal::init(config).expect("chip initialised twice");
    interrupts::enable();
    last_use();
    protect_memory();
    fix_qemu_clock();
    release_i2c_pins();
    let clocks = setup::clocks(peripherals.gtc);
    Chip {
        console: setup::console([peripherals.uart_0, peripherals.uart_1], &clocks),
        clocks,
        ethernet: peripherals.eth_0,
        sd: peripherals.sdio_0,
        xadc: peripherals.xadc,
    }
}

/// Logs the banner and the use of memory.
pub fn announce(banner: &str, kernel_image: usize) {
    log::info!("{banner}");
    log::info!(
        "memory: 256 MiB of DDR used, comms core {} KiB, kernel core {} KiB",
        image_size() / 1024,
        kernel_image / 1024
    );
}

fn image_size() -> usize {
    extern "C" {
        static _stacks_high_end: u8;
    }
    core::ptr::addr_of!(_stacks_high_end) as usize - kairos_intercore::memory::RUNTIME.start
}

/// Makes the MMU enforce the permissions of the table; the kernel core uses the same table.
fn protect_memory() {
    setup::map(&[
        // An access there is a null pointer's, and faults.
        (LOW, UNMAPPED),
        (RUNTIME_DATA..RUNTIME.end, DATA),
        (INTERCORE.start..DESCRIPTOR_COPY.end, DATA),
        (MAILBOX, DATA),
        (KERNEL_DATA..KERNEL_IMAGE.end, DATA),
        (KERNEL_HEAP, DATA),
        (KERNEL_STACK, DATA),
        (ETHERNET_DESCRIPTORS, DEVICE),
        (ETHERNET_BUFFERS, NOT_CACHED),
        (REPORT, NOT_CACHED),
        (DMA, NOT_CACHED),
        (REMOTE.start..STREAM.end, NOT_CACHED),
    ]);
    // The HAL leaves the domain in manager mode, where permissions are ignored.
    Dacr::modify(|dacr| dacr.set_d(0, DomainAccess::Client));
    aarch32_cpu::asm::isb();
}

/// Gives the I2C pins to GPIO, through which the kernel core drives the bus: SCL is MIO 50, SDA is
/// MIO 51. I/O standard and speed of the pins are unchanged.
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

/// Makes the clock registers say 100 MHz, at which QEMU's timers run whatever the registers say.
/// QEMU is recognised by its zero IDCODE.
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
