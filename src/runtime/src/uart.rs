//! The UART with a connector, transmit only, for the log.

use zynq7000_hal::clocks::Clocks;
use zynq7000_hal::uart::{ClockConfig, Config, Tx, Uart};

const BAUD: u32 = 115_200;

/// Sets it up for 115200 baud, 8N1. Pins are as the boot loader left them.
pub fn init(registers: zynq7000::uart::MmioRegisters<'static>, clocks: &Clocks) -> Tx {
    let (baud, _error) = ClockConfig::new_autocalc_with_error(clocks.io_clocks(), BAUD).expect("UART clock is off");
    let uart = Uart::new_with_emio(registers, Config::new_with_clk_config(baud)).expect("UART");
    uart.split().0
}
