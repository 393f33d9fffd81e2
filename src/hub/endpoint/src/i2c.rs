//! Transfers on an I2C bus.

use std::path::Path;

use embedded_hal::i2c::{Error as _, ErrorKind, I2c, Operation};
use i2cdev::linux::LinuxI2CError;
use linux_embedded_hal::{I2CError, I2cdev};

pub use crate::part::Part;
use crate::smbus;

/// Error numbers of Linux (`asm-generic/errno.h`).
const EBUSY: i32 = 16;
const EOPNOTSUPP: i32 = 95;

/// Opens the bus of an `i2c-dev` file.
pub fn open(path: &Path) -> Result<I2cdev, String> {
    I2cdev::new(path).map_err(|error| format!("{} cannot be opened: {error}", path.display()))
}

/// Executes the parts in one transfer with a chip; returns the bytes read. On an adapter that
/// supports only SMBus, uses the equivalent command.
pub fn transfer(bus: &mut I2cdev, address: u8, parts: &[Part]) -> Result<Vec<u8>, String> {
    let failed = match exchange(bus, address, parts) {
        Ok(bytes) => return Ok(bytes),
        Err(error) if number(error.inner()) == Some(EOPNOTSUPP) => match smbus::Command::of(parts) {
            // `exchange` has set the chip's address.
            Some(command) => match command.execute(&mut **bus) {
                Ok(bytes) => return Ok(bytes),
                Err(error) => error.into(),
            },
            None => error,
        },
        Err(error) => error,
    };
    Err(message(&failed, address))
}

fn number(error: &LinuxI2CError) -> Option<i32> {
    match error {
        LinuxI2CError::Errno(number) => Some(*number),
        LinuxI2CError::Io(error) => error.raw_os_error(),
    }
}

/// Describes an error of a transfer, and a remedy.
fn message(error: &I2CError, address: u8) -> String {
    match (number(error.inner()), error.kind()) {
        (Some(EBUSY), _) => {
            format!("a driver of the Linux kernel uses the chip at address {address:#04x}: unbind it first")
        }
        (Some(EOPNOTSUPP), _) => {
            "the adapter of this bus supports SMBus only, which has no such transfer: one byte can be read, or up to \
             32 after a written one, or up to 33 written"
                .into()
        }
        (_, ErrorKind::NoAcknowledge(_)) => format!("no acknowledgement from address {address:#04x}"),
        (_, ErrorKind::ArbitrationLoss) => "arbitration lost: another master uses the bus".into(),
        (Some(number), _) => {
            let error = std::io::Error::from_raw_os_error(number);
            format!("the transfer with address {address:#04x} failed: {error}")
        }
        (None, _) => format!("the transfer with address {address:#04x} failed: {error}"),
    }
}

fn exchange<B: I2c>(bus: &mut B, address: u8, parts: &[Part]) -> Result<Vec<u8>, B::Error> {
    let mut buffers: Vec<Vec<u8>> = parts
        .iter()
        .map(|part| match part {
            Part::Write(bytes) => bytes.clone(),
            Part::Read(count) => vec![0; *count],
        })
        .collect();
    let mut operations: Vec<_> = parts
        .iter()
        .zip(&mut buffers)
        .map(|(part, buffer)| match part {
            Part::Write(_) => Operation::Write(buffer),
            Part::Read(_) => Operation::Read(buffer),
        })
        .collect();
    bus.transaction(address, &mut operations)?;
    let reads = parts
        .iter()
        .zip(buffers)
        .filter(|(part, _)| matches!(part, Part::Read(_)));
    Ok(reads.flat_map(|(_, bytes)| bytes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use embedded_hal::i2c::{ErrorType, NoAcknowledgeSource};

    /// An EEPROM of 256 bytes at address 0x50.
    struct Eeprom {
        position: usize,
        bytes: [u8; 256],
    }

    impl ErrorType for Eeprom {
        type Error = ErrorKind;
    }

    impl I2c for Eeprom {
        fn transaction(&mut self, address: u8, operations: &mut [Operation<'_>]) -> Result<(), ErrorKind> {
            if address != 0x50 {
                return Err(ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address));
            }
            for operation in operations {
                match operation {
                    Operation::Write(bytes) => {
                        self.position = bytes[0].into();
                        for byte in &bytes[1..] {
                            self.bytes[self.position] = *byte;
                            self.position += 1;
                        }
                    }
                    Operation::Read(bytes) => {
                        bytes.copy_from_slice(&self.bytes[self.position..self.position + bytes.len()]);
                        self.position += bytes.len();
                    }
                }
            }
            Ok(())
        }
    }

    #[test]
    fn written_bytes_read_back() {
        let mut chip = Eeprom {
            position: 0,
            bytes: [0; 256],
        };
        assert_eq!(exchange(&mut chip, 0x50, &[Part::Write(vec![16, 1, 2, 3])]), Ok(vec![]));
        let parts = [Part::Write(vec![17]), Part::Read(1), Part::Read(1)];
        assert_eq!(exchange(&mut chip, 0x50, &parts), Ok(vec![2, 3]));
        let absent = ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address);
        assert_eq!(exchange(&mut chip, 0x51, &parts), Err(absent));
    }

    #[test]
    fn i2c_errors_are_described_in_words() {
        let message = |number| message(&LinuxI2CError::Errno(number).into(), 0x48);
        assert!(message(EBUSY).contains("a driver of the Linux kernel uses the chip at address 0x48"));
        assert!(message(EOPNOTSUPP).contains("SMBus only"));
        let (enxio, etimedout) = (6, 110);
        assert_eq!(message(enxio), "no acknowledgement from address 0x48");
        assert!(
            message(etimedout).contains("failed: Connection timed out"),
            "{}",
            message(etimedout)
        );
    }

    #[test]
    fn file_without_a_bus_is_rejected() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = open(file.path()).map(drop).unwrap_err();
        assert!(error.contains("cannot be opened"), "{error}");
        let error = open(Path::new("/nowhere")).map(drop).unwrap_err();
        assert!(error.starts_with("/nowhere cannot be opened"), "{error}");
    }
}
