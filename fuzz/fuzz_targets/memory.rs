// A kernel's memory consisting of a few bytes at `BASE`; all other addresses are bad.
use kairos_proto::rpc::{BadAddress, Memory, MemoryMut};

pub const BASE: u32 = 0x0900_0000;

pub struct Bytes(pub Vec<u8>);

impl Bytes {
    fn range(&self, address: u32, length: u32) -> Result<core::ops::Range<usize>, BadAddress> {
        let start = address.wrapping_sub(BASE) as usize;
        match start.checked_add(length as usize) {
            Some(end) if end <= self.0.len() => Ok(start..end),
            _ => Err(BadAddress { address, length }),
        }
    }
}

impl Memory for Bytes {
    fn bytes(&self, address: u32, length: u32) -> Result<&[u8], BadAddress> {
        self.range(address, length).map(|range| &self.0[range])
    }
}

impl MemoryMut for Bytes {
    fn bytes_mut(&mut self, address: u32, length: u32) -> Result<&mut [u8], BadAddress> {
        let range = self.range(address, length)?;
        Ok(&mut self.0[range])
    }
}
