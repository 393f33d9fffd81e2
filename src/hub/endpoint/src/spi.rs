//! Transfers on an SPI bus.

use std::path::Path;

use embedded_hal::spi::SpiDevice;
use linux_embedded_hal::spidev::{SpiModeFlags, Spidev, SpidevOptions};
use linux_embedded_hal::SpidevDevice;

/// Settings for a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Maximum clock frequency; 0 for that in the device tree.
    pub hertz: u32,
    /// Polarity and phase of the clock, 0 to 3.
    pub mode: u8,
}

/// Opens the chip of a `spidev` file.
pub fn open(path: &Path, settings: Settings) -> Result<SpidevDevice, String> {
    let failed = |error: std::io::Error| format!("{} cannot be opened: {error}", path.display());
    let mut device = Spidev::open(path).map_err(failed)?;
    let mut options = SpidevOptions::new();
    options.mode(SpiModeFlags::from_bits_truncate(u32::from(settings.mode & 3)));
    if settings.hertz != 0 {
        options.max_speed_hz(settings.hertz);
    }
    device.configure(&options.build()).map_err(failed)?;
    Ok(SpidevDevice(device))
}

/// Sends bytes while the chip is selected; returns as many received bytes.
pub fn transfer<D: SpiDevice>(device: &mut D, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut exchanged = bytes.to_vec();
    device
        .transfer_in_place(&mut exchanged)
        .map_err(|error| format!("the transfer failed: {error:?}"))?;
    Ok(exchanged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use embedded_hal::spi::{ErrorKind, ErrorType, Operation};

    /// A connection from output to input.
    struct Line;

    impl ErrorType for Line {
        type Error = ErrorKind;
    }

    impl SpiDevice for Line {
        fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), ErrorKind> {
            let complement = |bytes: &mut [u8]| bytes.iter_mut().for_each(|byte| *byte = !*byte);
            match operations {
                [Operation::TransferInPlace(bytes)] => complement(bytes),
                _ => return Err(ErrorKind::Other),
            }
            Ok(())
        }
    }

    #[test]
    fn transfer_returns_as_many_bytes_as_sent() {
        assert_eq!(transfer(&mut Line, &[0, 0xf0]), Ok(vec![0xff, 0x0f]));
    }

    #[test]
    fn file_without_a_bus_is_rejected() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let settings = Settings { hertz: 0, mode: 0 };
        let error = open(file.path(), settings).map(drop).unwrap_err();
        assert!(error.contains("cannot be opened"), "{error}");
    }
}
