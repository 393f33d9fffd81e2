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
        self.drain() && self.device.ready()
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
