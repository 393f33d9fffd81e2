//! SD card in the first slot, through the HAL's driver of the controller. Pins and card voltage are
//! as configured by the boot loader.
//!
//! The CPU transfers one sector at a time and waits for completion: a sector takes some 50 µs, on a
//! slow card up to 250 ms.

use embassy_time::{Duration, Instant};
use kairos_config::card::{BlockDevice, DeviceError, Sector};
use zynq7000_hal::clocks::Clocks;
use zynq7000_hal::sd::commands::{CMD13_SEND_STATUS, CMD17_READ_SINGLE_BLOCK, CMD24_WRITE_BLOCK};
use zynq7000_hal::sd::{initialize_card, SdClockConfig, SdLowLevel};
use zynq7000_hal::time::Hertz;

/// Time limit for a sector; the SD specification allows a card 250 ms to write one.
const TIMEOUT: Duration = Duration::from_millis(500);
/// Frequencies of the controller's reference clock and of the card's clock.
const REFERENCE: Hertz = Hertz::MHz(100);
const CARD: Hertz = Hertz::MHz(25);
/// `READY_FOR_DATA` and state `tran` in a card's status.
const READY_MASK: u32 = 1 << 8 | 0xf << 9;
const READY: u32 = 1 << 8 | 4 << 9;

/// The slot, and the card present at the last reset.
pub struct Slot {
    controller: Option<(SdLowLevel, SdClockConfig)>,
    address: u32,
    /// Address increment per sector: 512 for cards addressed by bytes, 1 for cards addressed by
    /// sectors.
    step: u32,
}

impl Default for Slot {
    fn default() -> Self {
        Self::new()
    }
}

impl Slot {
    /// Creates a slot without a controller, until [`Self::attach`].
    pub const fn new() -> Self {
        Self {
            controller: None,
            address: 0,
            step: 1,
        }
    }

    /// Attaches the controller.
    pub fn attach(&mut self, registers: zynq7000::sdio::MmioRegisters<'static>, clocks: &Clocks) {
        let clock = SdClockConfig::calculate_for_io_clock(clocks.io_clocks(), REFERENCE, CARD);
        self.controller = SdLowLevel::new(registers).zip(clock);
    }

    /// Sends a command for a sector, after the card has finished the previous one.
    fn start(&mut self, command: zynq7000::sdio::CommandRegister, sector: u32) -> Result<&mut SdLowLevel, DeviceError> {
        let argument = sector.checked_mul(self.step).ok_or(DeviceError)?;
        self.wait_ready()?;
        let (controller, _) = self.controller.as_mut().ok_or(DeviceError)?;
        if controller.send_command(command, argument).has_response_errors() {
            return Err(DeviceError);
        }
        Ok(controller)
    }

    fn wait_ready(&mut self) -> Result<(), DeviceError> {
        let (controller, _) = self.controller.as_mut().ok_or(DeviceError)?;
        let end = Instant::now() + TIMEOUT;
        while Instant::now() < end {
            if controller
                .send_command(CMD13_SEND_STATUS, self.address << 16)
                .has_response_errors()
            {
                return Err(DeviceError);
            }
            if controller.read_u32_response() & READY_MASK == READY {
                return Ok(());
            }
        }
        Err(DeviceError)
    }
}

/// Waits until `done` accepts the interrupt status; clears it.
fn wait(
    controller: &mut SdLowLevel,
    done: impl Fn(&zynq7000::sdio::InterruptStatus) -> bool,
) -> Result<(), DeviceError> {
    let end = Instant::now() + TIMEOUT;
    while Instant::now() < end {
        let status = controller.read_status();
        if status.has_data_error() {
            controller.clear_all_status_bits();
            return Err(DeviceError);
        }
        if done(&status.0) {
            controller.clear_status_bits(status.0);
            return Ok(());
        }
    }
    Err(DeviceError)
}

impl BlockDevice for Slot {
    fn reset(&mut self) -> Result<(), DeviceError> {
        let (controller, clock) = self.controller.as_mut().ok_or(DeviceError)?;
        let card = initialize_card(controller, clock).map_err(|error| {
            log::debug!("SD card: {:?}", error.step());
            DeviceError
        })?;
        self.address = card.rca().into();
        self.step = match card.card_type() {
            embedded_sdmmc_types::sdcard::CardType::SdhcSdxc => 1,
            _ => 512,
        };
        Ok(())
    }

    fn read(&mut self, sector: u32, data: &mut Sector) -> Result<(), DeviceError> {
        let controller = self.start(CMD17_READ_SINGLE_BLOCK, sector)?;
        wait(controller, |status| status.buffer_read_ready())?;
        for word in data.chunks_exact_mut(4) {
            word.copy_from_slice(&controller.read_data_word().to_le_bytes());
        }
        wait(controller, |status| status.transfer_complete())
    }

    fn write(&mut self, sector: u32, data: &Sector) -> Result<(), DeviceError> {
        let controller = self.start(CMD24_WRITE_BLOCK, sector)?;
        wait(controller, |status| status.buffer_write_ready())?;
        for word in data.chunks_exact(4) {
            controller.write_data_word(u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        }
        wait(controller, |status| status.transfer_complete())?;
        self.wait_ready()
    }
}
