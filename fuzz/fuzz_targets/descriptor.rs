//! The gateware's descriptor memory, also with a valid checksum.
#![no_main]

use kairos_proto::descriptor::{announced_length, Descriptor};
use libfuzzer_sys::fuzz_target;

fn walk(bytes: &[u8]) {
    let Ok(descriptor) = Descriptor::new(bytes) else { return };
    let _ = (descriptor.identification(), descriptor.build_id(), descriptor.clock());
    for register in descriptor.registers() {
        assert!(descriptor.register(register.name).is_some());
    }
    for channel in descriptor.channels() {
        assert!(descriptor.channel(channel.number).is_some());
    }
}

fuzz_target!(|data: &[u8]| {
    walk(data);
    if let Some(header) = data.first_chunk() {
        let _ = announced_length(header);
    }
    let mut whole = b"KAIR\x01\0\0\0".to_vec();
    whole.extend((16 + data.len() as u32).to_le_bytes());
    whole.extend(crc32(data).to_le_bytes());
    whole.extend_from_slice(data);
    walk(&whole);
});

/// CRC-32 (IEEE), bit by bit.
fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    })
}
