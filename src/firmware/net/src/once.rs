//! The device seen by smoltcp's interface: at most one frame, and space for the answer.

use smoltcp::phy::{self, Checksum, DeviceCapabilities, Medium};
use smoltcp::time::Instant;

use crate::device::Transmit;
use crate::frame::{self, ACK, FIN, HEADERS, MTU, PSH, RST, SYN};

/// Passes at most one frame to the interface, and sends its answer.
pub struct Once<'a, T> {
    pub frame: Option<&'a [u8]>,
    pub device: &'a mut T,
    pub sent: Option<Sent>,
}

/// Summary of a frame that was sent.
pub struct Sent {
    /// Flags of the TCP segment, with PSH if nothing follows; 0 for other frames.
    flags: u8,
    /// The start of the frame.
    pub headers: Option<[u8; HEADERS]>,
}

impl Sent {
    fn new(frame: &[u8]) -> Self {
        let flags = frame::segment(frame).map_or(0, |segment| match segment.payload {
            0 => segment.flags | PSH,
            _ => segment.flags,
        });
        Self {
            flags,
            headers: frame.first_chunk().copied(),
        }
    }

    /// Whether nothing waits to be sent after it.
    pub fn is_last(&self) -> bool {
        self.flags & (ACK | PSH | FIN | SYN | RST) != ACK
    }
}

pub struct RxToken<'a>(&'a [u8]);
pub struct TxToken<'a, T> {
    device: &'a mut T,
    sent: &'a mut Option<Sent>,
}

impl<T: Transmit> phy::Device for Once<'_, T> {
    type RxToken<'a>
        = RxToken<'a>
    where
        Self: 'a;
    type TxToken<'a>
        = TxToken<'a, T>
    where
        Self: 'a;

    fn receive(&mut self, now: Instant) -> Option<(RxToken<'_>, TxToken<'_, T>)> {
        let frame = self.frame.take()?;
        Some((RxToken(frame), self.transmit(now)?))
    }

    fn transmit(&mut self, _: Instant) -> Option<TxToken<'_, T>> {
        self.device.ready().then_some(TxToken {
            device: self.device,
            sent: &mut self.sent,
        })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        capabilities()
    }
}

fn capabilities() -> DeviceCapabilities {
    let mut capabilities = DeviceCapabilities::default();
    capabilities.medium = Medium::Ethernet;
    capabilities.max_transmission_unit = MTU;
    capabilities.checksum.ipv4 = Checksum::None;
    capabilities.checksum.udp = Checksum::None;
    capabilities.checksum.tcp = Checksum::None;
    capabilities
}

impl phy::RxToken for RxToken<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(self.0)
    }
}

impl<T: Transmit> phy::TxToken for TxToken<'_, T> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, f: F) -> R {
        let sent = self.sent;
        self.device.send(length, |frame| {
            let result = f(frame);
            *sent = Some(Sent::new(frame));
            result
        })
    }
}

/// For constructing the interface.
pub struct Capabilities;

impl phy::Device for Capabilities {
    type RxToken<'a> = RxToken<'a>;
    type TxToken<'a> = NoToken;

    fn receive(&mut self, _: Instant) -> Option<(RxToken<'_>, NoToken)> {
        None
    }

    fn transmit(&mut self, _: Instant) -> Option<NoToken> {
        None
    }

    fn capabilities(&self) -> DeviceCapabilities {
        capabilities()
    }
}

pub enum NoToken {}

impl phy::TxToken for NoToken {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, _: usize, _: F) -> R {
        match self {}
    }
}
