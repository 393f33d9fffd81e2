//! Descriptors for tests.

use std::vec::Vec;

/// Builds a descriptor with these registers: name, address, width, flags.
pub fn bytes(registers: &[(&str, u32, u16, u16)]) -> Vec<u8> {
    let mut records = Vec::new();
    for (name, address, width, flags) in registers {
        records.extend([3, 0]);
        records.extend((8 + name.len() as u16).to_le_bytes());
        records.extend(address.to_le_bytes());
        records.extend(width.to_le_bytes());
        records.extend(flags.to_le_bytes());
        records.extend(name.bytes());
        records.resize(records.len().next_multiple_of(4), 0);
    }
    records.extend([0; 4]);
    let mut bytes = Vec::from(*b"KAIR\x01\0\0\0");
    bytes.extend((16 + records.len() as u32).to_le_bytes());
    let checksum = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(&records);
    bytes.extend(checksum.to_le_bytes());
    bytes.extend(records);
    bytes
}
