//! Checksums of a frame: the frame check sequence, and those that the controller fills in for the
//! guest (IPv4 header, TCP and UDP).

/// Computes the Ethernet frame check sequence.
pub fn crc32(data: &[u8]) -> u32 {
    let mut crc = !0u32;
    for &byte in data {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 * (crc & 1));
        }
    }
    !crc
}

fn sum(data: &[u8]) -> u32 {
    data.chunks(2)
        .map(|c| u32::from(c[0]) << 8 | u32::from(*c.get(1).unwrap_or(&0)))
        .sum()
}

fn fold(mut s: u32) -> u16 {
    while s >> 16 != 0 {
        s = (s & 0xffff) + (s >> 16);
    }
    !(s as u16)
}

/// Fills in the checksums of an Ethernet frame, if it has any; for IPv6 without extension headers
/// only, as on silicon.
pub fn fill(frame: &mut [u8]) {
    if frame.len() < 34 {
        return;
    }
    match (u16::from_be_bytes([frame[12], frame[13]]), frame[14] >> 4) {
        (0x0800, 4) => fill_ipv4(&mut frame[14..]),
        (0x86dd, 6) if frame.len() >= 54 => {
            let length = usize::from(u16::from_be_bytes([frame[18], frame[19]]));
            let protocol = frame[20];
            let (addresses, body) = frame[22..].split_at_mut(32);
            if let Some(body) = body.get_mut(..length) {
                fill_transport(protocol, sum(addresses), body);
            }
        }
        _ => {}
    }
}

fn fill_ipv4(packet: &mut [u8]) {
    let header = usize::from(packet[0] & 15) * 4;
    let total = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
    if header < 20 || total < header || packet.len() < total {
        return;
    }
    let (head, body) = packet[..total].split_at_mut(header);
    head[10..12].fill(0);
    let check = fold(sum(head));
    head[10..12].copy_from_slice(&check.to_be_bytes());
    let fragment = u16::from_be_bytes([head[6], head[7]]) & 0x3fff != 0;
    if !fragment {
        fill_transport(head[9], sum(&head[12..20]), body);
    }
}

/// Fills in the TCP or UDP checksum; `addresses` is the sum of both addresses.
fn fill_transport(protocol: u8, addresses: u32, body: &mut [u8]) {
    let at = match protocol {
        6 => 16,
        17 => 6,
        _ => return,
    };
    if body.len() < at + 2 {
        return;
    }
    body[at..at + 2].fill(0);
    let mut check = fold(addresses + u32::from(protocol) + body.len() as u32 + sum(body));
    if protocol == 17 && check == 0 {
        check = 0xffff;
    }
    body[at..at + 2].copy_from_slice(&check.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_check_sequence_is_the_standard_crc() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
