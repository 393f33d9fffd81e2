//! The boot medium: a boot image with firmware and gateware, and the configuration.

use core::fmt;

use kairos_chip::sd::Slot;
use kairos_config::store::{self, Store, Workspace};
use kairos_intercore::memory::RUNTIME;
use kairos_proto::boot_image::{self, BootImage, Destination};
use kairos_proto::firmware;
use static_cell::ConstStaticCell;
use zynq7000_hal::clocks::Clocks;

use crate::chip::BootDevice;
use crate::config::Config;
use crate::network::Hardware;
use crate::{gateware, start};

/// The flash as the boot ROM leaves it: mapped for reading, up to 16 MiB.
const FLASH: usize = 0xFC00_0000;
const FLASH_LENGTH: usize = 16 << 20;

/// Why nothing can be booted from the medium.
pub enum Error {
    /// The loader was not booted from a medium.
    NoMedium,
    Card(store::Error),
    NoImage,
    Image(boot_image::Error),
    Gateware(gateware::Error),
    Firmware(firmware::Error),
    NoFirmware,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoMedium => write!(f, "not booted from a card or a flash"),
            Error::Card(error) => error.fmt(f),
            Error::NoImage => write!(f, "there is no BOOT.BIN"),
            Error::Image(error) => error.fmt(f),
            Error::Gateware(error) => write!(f, "gateware: {error}"),
            Error::Firmware(error) => write!(f, "firmware: {error}"),
            Error::NoFirmware => write!(f, "the boot image has no firmware"),
        }
    }
}

/// The medium, and the configuration.
pub struct Medium {
    device: BootDevice,
    pub config: Config,
}

impl Medium {
    /// Opens the medium. The configuration is on the card, whatever the boot device.
    pub fn open(device: BootDevice, sd: zynq7000::sdio::MmioRegisters<'static>, clocks: &Clocks) -> Self {
        static ROOM: ConstStaticCell<Workspace> = ConstStaticCell::new(Workspace::new());
        let mut store = Store::new(Slot::new(), ROOM.take());
        store.device().attach(sd, clocks);
        Self {
            device,
            config: Config::new(store),
        }
    }

    /// The medium's name for messages.
    pub fn name(&self) -> &'static str {
        match self.device {
            BootDevice::Card => "SD card",
            BootDevice::Flash => "QSPI flash",
            BootDevice::Other => "boot",
        }
    }

    /// Boots the medium's image; returns only on an error.
    pub fn boot(
        &mut self,
        room: &'static mut [u8],
        network: &mut Hardware,
    ) -> Result<core::convert::Infallible, Error> {
        let (image, room) = match self.device {
            BootDevice::Card => {
                let length = self.config.boot_image(room).map_err(Error::Card)?;
                let length = length.ok_or(Error::NoImage)?;
                // The gateware's words are reordered after the image.
                let (image, rest) = room.split_at_mut(length.next_multiple_of(64));
                (&*image, rest)
            }
            BootDevice::Flash => (flash_image(), room),
            BootDevice::Other => return Err(Error::NoMedium),
        };
        boot(image, room, network)
    }
}

/// The flash contents from the image found by the boot ROM, the first intact one.
fn flash_image() -> &'static [u8] {
    /// The image's offset in units of 32 KiB (UG585, appendix B.16).
    const MULTIBOOT_ADDR: *const u32 = 0xF800_702C as *const u32;
    // SAFETY: reading the register has no effect.
    let place = unsafe { MULTIBOOT_ADDR.read_volatile() } as usize & 0x1fff;
    // SAFETY: the flash is mapped here, and nothing writes to it.
    let flash = unsafe { core::slice::from_raw_parts(FLASH as *const u8, FLASH_LENGTH) };
    flash.get(place * (32 << 10)..).unwrap_or(&[])
}

fn boot(image: &[u8], room: &mut [u8], network: &mut Hardware) -> Result<core::convert::Infallible, Error> {
    let image = BootImage::parse(image).map_err(Error::Image)?;
    let mut entry = None;
    for n in 1.. {
        let Some(partition) = image.partition(n).map_err(Error::Image)? else {
            break;
        };
        match partition.destination {
            Destination::Logic => {
                let copy = room.get_mut(..partition.data.len());
                let copy = copy.ok_or(Error::Image(boot_image::Error::Truncated))?;
                copy.copy_from_slice(partition.data);
                gateware::configure(copy).map_err(Error::Gateware)?;
            }
            Destination::Memory => {
                start::partition(&partition).map_err(Error::Firmware)?;
                if RUNTIME.contains(&(partition.entry as usize)) {
                    entry = entry.or(Some(partition.entry));
                }
            }
            Destination::Other => {}
        }
    }
    start::run(entry.ok_or(Error::NoFirmware)?, network)
}
