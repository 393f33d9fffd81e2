//! Transfers on adapters that support only SMBus, as in most PCs (`i2c-i801`, `i2c-piix4`): each of
//! its commands is a particular I2C transfer, and only those are possible (System Management Bus
//! Specification 2.0, section 5.5).

use i2cdev::core::I2CDevice;

use crate::part::Part;

/// Length of the longest block in bytes.
const BLOCK_MAX: usize = 32;

/// A transfer that is an SMBus command. `register`: the command code in SMBus terms.
#[derive(Debug, PartialEq, Eq)]
pub enum Command<'a> {
    ReadByte,
    WriteByte(u8),
    /// Number of bytes to read from a register on.
    Read(u8, usize),
    Write(u8, &'a [u8]),
}

impl<'a> Command<'a> {
    /// The command with the same effect on the wires; `None` if there is none.
    pub fn of(parts: &'a [Part]) -> Option<Self> {
        match parts {
            [Part::Read(1)] => Some(Self::ReadByte),
            [Part::Write(bytes)] => match bytes.as_slice() {
                [byte] => Some(Self::WriteByte(*byte)),
                [register, data @ ..] if data.len() <= BLOCK_MAX => Some(Self::Write(*register, data)),
                _ => None,
            },
            [Part::Write(bytes), Part::Read(count @ 1..=BLOCK_MAX)] => match bytes.as_slice() {
                [register] => Some(Self::Read(*register, *count)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Executes the command with a chip; returns the bytes read.
    pub fn execute<C: I2CDevice>(&self, chip: &mut C) -> Result<Vec<u8>, C::Error> {
        match *self {
            Self::ReadByte => Ok(vec![chip.smbus_read_byte()?]),
            Self::WriteByte(byte) => chip.smbus_write_byte(byte).map(|()| Vec::new()),
            Self::Read(register, 1) => Ok(vec![chip.smbus_read_byte_data(register)?]),
            // The low byte of a word comes first.
            Self::Read(register, 2) => Ok(chip.smbus_read_word_data(register)?.to_le_bytes().into()),
            Self::Read(register, count) => chip.smbus_read_i2c_block_data(register, count as u8),
            Self::Write(register, &[byte]) => chip.smbus_write_byte_data(register, byte).map(|()| Vec::new()),
            Self::Write(register, &[low, high]) => {
                let word = u16::from_le_bytes([low, high]);
                chip.smbus_write_word_data(register, word).map(|()| Vec::new())
            }
            Self::Write(register, data) => chip.smbus_write_i2c_block_data(register, data).map(|()| Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smbus_commands_cover_short_transfers() {
        let write = |bytes: &[u8]| Part::Write(bytes.to_vec());
        for (parts, command) in [
            (vec![write(&[])], None),
            (vec![Part::Read(1)], Some(Command::ReadByte)),
            (vec![write(&[7])], Some(Command::WriteByte(7))),
            (vec![write(&[7, 1, 2, 3])], Some(Command::Write(7, &[1, 2, 3]))),
            (vec![write(&[7]), Part::Read(32)], Some(Command::Read(7, 32))),
            (vec![write(&[7]), Part::Read(33)], None),
            (vec![write(&[0; 34])], None),
            (vec![Part::Read(2)], None),
            (vec![write(&[7, 8]), Part::Read(1)], None),
            (vec![write(&[7]), Part::Read(1), Part::Read(1)], None),
        ] {
            assert_eq!(Command::of(&parts), command, "{parts:?}");
        }
    }
}
