//! Long packets, cut into segments here. smoltcp composes a packet of up to [`LONGEST`] bytes at once, as for a controller
//! that cuts them itself; what is left to do for each segment is a header of which two or three fields differ.

use core::ops::Range;

use crate::device::Transmit;
use crate::frame::{self, ETHERNET, FIN, PSH};

/// Longest packet in bytes, with its Ethernet header: a whole number of the usual segments.
pub const LONGEST: usize = 54 + 11 * 1460;
/// The sending half of a device, which takes long packets too.
pub struct Sender<T> {
    pub device: T,
    packet: &'static mut [u8; LONGEST],
    /// Payload of the packet that has not been sent.
    rest: Range<usize>,
    /// Where its TCP header begins.
    tcp: usize,
    /// Where its payload begins.
    payload: usize,
    /// Payload bytes of a segment.
    size: usize,
}

impl<T: Transmit> Sender<T> {
    /// `packet`: room for a long one.
    pub const fn new(device: T, packet: &'static mut [u8; LONGEST]) -> Self {
        Self {
            device,
            packet,
            rest: 0..0,
            tcp: 0,
            payload: 0,
            size: 0,
        }
    }

    /// Whether a packet can be sent, of whatever length.
    pub fn ready(&mut self) -> bool {
        (self.rest.is_empty() || self.drain()) && self.device.ready()
    }

    /// Sends a packet of `length` bytes, in segments with payloads of `size` bytes if it is given.
    pub fn send<R>(&mut self, length: usize, size: Option<usize>, fill: impl FnOnce(&mut [u8]) -> R) -> R {
        let Some(size) = size else {
            return self.device.send(length, fill);
        };
        let packet = &mut self.packet[..length];
        let result = fill(packet);
        if let Some((tcp, payload)) = frame::parts(packet) {
            (self.tcp, self.payload, self.size, self.rest) = (tcp, payload.start, size, payload);
            self.drain();
        }
        result
    }

    /// Sends what is left of the packet, as far as there is room. True if there is nothing left.
    fn drain(&mut self) -> bool {
        while !self.rest.is_empty() {
            if !self.device.ready() {
                return false;
            }
            let end = self.rest.end.min(self.rest.start + self.size);
            let piece = self.rest.start..end;
            self.rest.start = end;
            let last = self.rest.is_empty();
            let (head, payload) = (&self.packet[..self.payload], &self.packet[piece.clone()]);
            let (tcp, offset) = (self.tcp, (piece.start - self.payload) as u32);
            self.device.send(head.len() + payload.len(), |frame| {
                let (header, rest) = frame.split_at_mut(head.len());
                header.copy_from_slice(head);
                patch(header, tcp, payload.len(), offset, last);
                rest.copy_from_slice(payload);
            });
        }
        true
    }
}

/// Makes a packet's header that of a segment of `length` bytes, `offset` bytes behind its start. Checksums are the
/// controller's.
fn patch(header: &mut [u8], tcp: usize, length: usize, offset: u32, last: bool) {
    let length = (header.len() - ETHERNET + length) as u16;
    header[ETHERNET + 2..][..2].copy_from_slice(&length.to_be_bytes());
    let sequence = &mut header[tcp + 4..][..4];
    let first = u32::from_be_bytes([sequence[0], sequence[1], sequence[2], sequence[3]]);
    sequence.copy_from_slice(&first.wrapping_add(offset).to_be_bytes());
    if !last {
        header[tcp + 13] &= !(PSH | FIN);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::frame::ACK;
    use proptest::prelude::*;
    use std::boxed::Box;
    use std::vec;
    use std::vec::Vec;

    #[derive(Default)]
    struct Device {
        frames: Vec<Vec<u8>>,
        room: usize,
    }

    impl Transmit for Device {
        fn ready(&mut self) -> bool {
            self.frames.len() < self.room
        }

        fn send<R>(&mut self, length: usize, fill: impl FnOnce(&mut [u8]) -> R) -> R {
            self.frames.push(vec![0; length]);
            fill(self.frames.last_mut().unwrap())
        }

        fn flush(&mut self) {}
    }

    const HEADER: usize = 54;

    proptest! {
        /// Segments have the payload in order, each with its place and length; only the last one has the packet's end.
        #[test]
        fn segments_make_up_the_packet(length in 1usize..=LONGEST - HEADER, size in 1usize..1460, room in 1usize..20) {
            let mut sender = Sender::new(Device { room, ..Device::default() }, Box::leak(Box::new([0; LONGEST])));
            let first = 0xffff_ff00_u32;
            sender.send(HEADER + length, Some(size), |packet| {
                packet[14] = 0x45;
                packet[38..42].copy_from_slice(&first.to_be_bytes());
                packet[46] = 0x50;
                packet[47] = ACK | PSH;
                for (index, byte) in packet[HEADER..].iter_mut().enumerate() {
                    *byte = (index * 7 + index / 251) as u8;
                }
            });
            let mut frames = vec![];
            loop {
                let ready = sender.ready();
                frames.append(&mut sender.device.frames);
                if ready {
                    break;
                }
            }
            let mut at = 0;
            for frame in &frames {
                let payload = &frame[HEADER..];
                prop_assert!(!payload.is_empty() && payload.len() <= size);
                prop_assert_eq!(u16::from_be_bytes([frame[16], frame[17]]) as usize, frame.len() - 14);
                let sequence = u32::from_be_bytes([frame[38], frame[39], frame[40], frame[41]]);
                prop_assert_eq!(sequence, first.wrapping_add(at as u32));
                prop_assert!(payload.iter().enumerate().all(|(n, byte)| *byte == ((at + n) * 7 + (at + n) / 251) as u8));
                at += payload.len();
                prop_assert_eq!(frame[47], if at == length { ACK | PSH } else { ACK });
            }
            prop_assert_eq!(at, length);
        }
    }
}
