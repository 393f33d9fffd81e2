//! Identifies the connection of a frame, and recognises special segments.

/// Longest frame in bytes, with Ethernet header, without check sequence.
pub const MTU: usize = 1514;
/// Bytes of the headers of Ethernet, IPv4 and TCP, without options.
pub const HEADERS: usize = 54;
pub const ETHERNET: usize = 14;
pub const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const IPV6_HEADER: usize = 40;
pub const TCP: u8 = 6;
const TCP_HEADER: usize = 20;
/// Mask of the IPv4 fragmentation field (more fragments, offset) that is nonzero in fragments.
pub const FRAGMENT: u16 = 0x3fff;

pub const FIN: u8 = 1 << 0;
pub const SYN: u8 = 1 << 1;
pub const RST: u8 = 1 << 2;
pub const PSH: u8 = 1 << 3;
pub const ACK: u8 = 1 << 4;

/// Both ends of a connection, in the representation of its frames.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    ports: u32,
    /// An IPv4 address is in the first word, and the others are zero.
    remote: [u32; 4],
    local: [u32; 4],
}

/// Word by word, ports first: the derived comparison would call a function on bytes.
impl PartialEq for Flow {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.ports == other.ports
            && (0..4).all(|index| self.remote[index] == other.remote[index])
            && (0..4).all(|index| self.local[index] == other.local[index])
    }
}

impl Flow {
    /// Matches no frame: ports are not zero.
    pub const NONE: Self = Self {
        ports: 0,
        remote: [0; 4],
        local: [0; 4],
    };

    /// The same connection in frames of the opposite direction.
    pub fn reversed(&self) -> Self {
        Self {
            ports: self.ports.rotate_left(16),
            remote: self.local,
            local: self.remote,
        }
    }

    pub fn local_port(&self) -> u16 {
        let [_, _, high, low] = self.ports.to_ne_bytes();
        u16::from_be_bytes([high, low])
    }
}

/// The properties of a TCP segment needed before smoltcp processes it. Nothing is validated here.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub flow: Flow,
    pub flags: u8,
    pub payload: usize,
}

impl Segment {
    /// Whether it belongs to an established connection and does not change its state.
    pub fn is_plain(&self) -> bool {
        self.flags & !PSH == ACK
    }

    /// Whether it requests a connection.
    pub fn opens(&self) -> bool {
        self.flags & (SYN | ACK | RST) == SYN
    }
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// In native byte order: words are only compared.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn address(bytes: &[u8], at: usize) -> Option<[u32; 4]> {
    Some([
        word(bytes, at)?,
        word(bytes, at + 4)?,
        word(bytes, at + 8)?,
        word(bytes, at + 12)?,
    ])
}

/// The frame's TCP segment, if it is one.
pub fn segment(frame: &[u8]) -> Option<Segment> {
    match frame.first_chunk::<54>() {
        Some(head) if head[12..15] == [8, 0, 0x45] && head[23] == TCP => {
            // The usual case: without IPv4 options, so that all offsets are fixed.
            let half = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
            let word = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
            let headers = 20 + 4 * usize::from(head[46] >> 4);
            (half(20) & FRAGMENT == 0).then(|| Segment {
                flow: Flow {
                    ports: word(34),
                    remote: [word(26), 0, 0, 0],
                    local: [word(30), 0, 0, 0],
                },
                flags: head[47],
                payload: usize::from(half(16)).saturating_sub(headers),
            })
        }
        _ => unusual_segment(frame),
    }
}

/// Like [`segment`], for any frame.
#[cold]
fn unusual_segment(frame: &[u8]) -> Option<Segment> {
    let (tcp, end, remote, local) = match half(frame, 12)? {
        IPV4 => {
            // One bounds check covers the addresses too.
            let header = frame.get(ETHERNET..)?.first_chunk::<20>()?;
            if header[9] != TCP || u16::from_be_bytes([header[6], header[7]]) & FRAGMENT != 0 {
                return None;
            }
            let end = ETHERNET + usize::from(u16::from_be_bytes([header[2], header[3]]));
            let tcp = ETHERNET + 4 * usize::from(header[0] & 15);
            let [remote, local] = [word(header, 12)?, word(header, 16)?];
            (tcp, end, [remote, 0, 0, 0], [local, 0, 0, 0])
        }
        IPV6 if *frame.get(ETHERNET + 6)? == TCP => {
            let tcp = ETHERNET + IPV6_HEADER;
            let end = tcp + usize::from(half(frame, ETHERNET + 4)?);
            (tcp, end, address(frame, ETHERNET + 8)?, address(frame, ETHERNET + 24)?)
        }
        _ => return None,
    };
    let header = frame.get(tcp..)?.first_chunk::<TCP_HEADER>()?;
    let payload = tcp + 4 * usize::from(header[12] >> 4);
    Some(Segment {
        flow: Flow {
            ports: word(header, 0)?,
            remote,
            local,
        },
        flags: header[13],
        payload: end.saturating_sub(payload),
    })
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        /// Arbitrary frames cause no panic; the result lies within the packet's stated length.
        #[test]
        fn arbitrary_frames_are_parsed_without_panic(mut frame in prop::collection::vec(any::<u8>(), 0..200), version in 0..3) {
            if let Some(kind) = frame.get_mut(12..14) {
                let types: [[u8; 2]; 3] = [[8, 0], [0x86, 0xdd], [8, 6]];
                kind.copy_from_slice(&types[version as usize]);
            }
            let found = segment(&frame);
            let slowly = unusual_segment(&frame);
            let parts_of = |segment: Segment| (segment.flow.ports, segment.flags, segment.payload);
            prop_assert_eq!(found.map(parts_of), slowly.map(parts_of));
        }
    }

    #[test]
    fn segment_is_identified_by_addresses_and_ports() {
        let mut frame: Vec<u8> = [2; 12].into();
        frame.extend([
            8, 0, 0x45, 0, 0, 45, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 2, 2, 10, 0, 2, 15,
        ]);
        frame.extend([0xc0, 1, 5, 101, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, SYN, 1, 0, 0, 0, 0, 0]);
        frame.extend(b"hello, and padding");
        let first = segment(&frame).unwrap();
        assert_eq!(first.flow.local_port(), 1381);
        assert_eq!(first.payload, 5);
        assert!(first.opens() && !first.is_plain());
        frame[47] = ACK | PSH;
        let second = segment(&frame).unwrap();
        assert!(second.is_plain() && second.flow == first.flow);
        frame[29] += 1;
        assert!(segment(&frame).unwrap().flow != first.flow);
        // A fragment has no ports.
        frame[21] = 1;
        assert!(segment(&frame).is_none());
    }
}
