//! An I2C transaction, as encoded in an instruction.

use kairos_contracts::batch::{I2C_BYTE, I2C_READ_MAX, I2C_WRITTEN_MAX};

/// A bus switch to be set for a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// 7 bits.
    pub address: u8,
    /// A bit for each of its channels.
    pub mask: u8,
}

/// A transaction: writes bytes to a device, then reads bytes from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// 7 bits.
    pub address: u8,
    written: [u8; I2C_WRITTEN_MAX],
    count: usize,
    /// Number of bytes to read.
    pub read: usize,
    pub switch: Option<Switch>,
}

impl Transfer {
    /// Creates a transaction; `None` if an address is invalid or there are too many bytes.
    pub fn new(address: u8, written: &[u8], read: usize, switch: Option<Switch>) -> Option<Self> {
        let addresses = [Some(address), switch.map(|switch| switch.address)];
        let mut kept = [0; I2C_WRITTEN_MAX];
        kept.get_mut(..written.len())?.copy_from_slice(written);
        let sound = read <= I2C_READ_MAX && addresses.into_iter().flatten().all(|address| address < 0x80);
        // Switch address 0 encodes no switch, and is not a device's address.
        (sound && switch.is_none_or(|switch| switch.address != 0)).then_some(Self {
            address,
            written: kept,
            count: written.len(),
            read,
            switch,
        })
    }

    /// Decodes the operands of an instruction; `None` if they are invalid.
    pub fn from_operands([a, b, c, d]: [u32; 4]) -> Option<Self> {
        let [address, count, read, 0] = a.to_le_bytes() else {
            return None;
        };
        let [switch, mask, 0, 0] = d.to_le_bytes() else {
            return None;
        };
        let mut bytes = [0; I2C_WRITTEN_MAX];
        bytes[..4].copy_from_slice(&b.to_le_bytes());
        bytes[4..].copy_from_slice(&c.to_le_bytes());
        let (written, rest) = bytes.split_at_checked(count.into())?;
        let switch = (d != 0).then_some(Switch { address: switch, mask });
        rest.iter()
            .all(|&byte| byte == 0)
            .then(|| Self::new(address, written, read.into(), switch))?
    }

    pub fn operands(&self) -> [u32; 4] {
        let word = |at: usize| {
            self.written[at..]
                .first_chunk()
                .map_or(0, |bytes| u32::from_le_bytes(*bytes))
        };
        let switch = self.switch.map_or([0; 4], |switch| [switch.address, switch.mask, 0, 0]);
        let head = [self.address, self.count as u8, self.read as u8, 0];
        [u32::from_le_bytes(head), word(0), word(4), u32::from_le_bytes(switch)]
    }

    /// Bytes written after the address.
    pub fn written(&self) -> &[u8] {
        &self.written[..self.count]
    }

    /// Number of result words.
    pub fn results(&self) -> u32 {
        self.read.div_ceil(4) as u32
    }

    /// The time it counts as, in microseconds.
    pub fn time(&self) -> u32 {
        // The device's address twice; the switch is read, set, and restored.
        let bytes = 2 + self.count + self.read + if self.switch.is_some() { 6 } else { 0 };
        bytes as u32 * I2C_BYTE
    }
}
