//! Frames between GEM0 and the TCP/IP stack. A loader has time: descriptors and buffers lie in memory that is not cached, frames are
//! copied by the stack, and nothing is moved by interrupts.

use kairos_channel::memory::{ETHERNET_BUFFERS, ETHERNET_DESCRIPTORS};
use kairos_chip::gem::{self, Buffers, Receiver, Rings, Transmitter};
use smoltcp::phy::{self, Checksum, DeviceCapabilities, Medium};
use smoltcp::time::Instant;
use zynq7000_hal::eth::Ethernet;

const _: () = assert!(core::mem::size_of::<Rings>() <= ETHERNET_DESCRIPTORS.end - ETHERNET_DESCRIPTORS.start);
const _: () = assert!(2 * core::mem::size_of::<Buffers>() <= ETHERNET_BUFFERS.end - ETHERNET_BUFFERS.start);

/// Both rings.
pub struct Driver {
    receiver: Receiver,
    transmitter: Transmitter,
}

impl Driver {
    /// Gives the controller its rings and starts it. Called once.
    pub fn start(ethernet: &mut Ethernet) -> Self {
        let buffers = ETHERNET_BUFFERS.start as *mut Buffers;
        // SAFETY: the regions are set apart for this, not cached, and used here only.
        let (receiver, transmitter, [receive, send]) = unsafe {
            gem::prepare(
                ETHERNET_DESCRIPTORS.start as *mut Rings,
                buffers,
                buffers.wrapping_add(1),
            )
        };
        ethernet.set_rx_buf_descriptor_base_address(receive);
        ethernet.set_tx_buf_descriptor_base_address(send);
        ethernet.start();
        gem::ask_for(gem::RECEIVED);
        Self { receiver, transmitter }
    }

    /// Forgets that there was something: what comes from now on raises the interrupt.
    pub fn clear_interrupt(&mut self) {
        gem::take_events();
        gem::ask_for(gem::RECEIVED);
    }
}

impl phy::Device for Driver {
    type RxToken<'a> = RxToken<'a>;
    type TxToken<'a> = TxToken<'a>;

    fn receive(&mut self, _: Instant) -> Option<(RxToken<'_>, TxToken<'_>)> {
        // Every frame may need an answer.
        if !self.transmitter.ready() {
            return None;
        }
        let length = self.receiver.length()?;
        Some((RxToken(&mut self.receiver, length), TxToken(&mut self.transmitter)))
    }

    fn transmit(&mut self, _: Instant) -> Option<TxToken<'_>> {
        self.transmitter.ready().then_some(TxToken(&mut self.transmitter))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = 1514;
        capabilities.max_burst_size = Some(gem::SLOTS);
        // Made and checked by the controller.
        capabilities.checksum.ipv4 = Checksum::None;
        capabilities.checksum.udp = Checksum::None;
        capabilities.checksum.tcp = Checksum::None;
        capabilities
    }
}

/// A received frame, and its length.
pub struct RxToken<'a>(&'a mut Receiver, usize);

impl phy::RxToken for RxToken<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0.buffer()[..self.1])
    }
}

impl Drop for RxToken<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// Room for a frame.
pub struct TxToken<'a>(&'a mut Transmitter);

impl phy::TxToken for TxToken<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, f: F) -> R {
        let result = f(&mut self.0.buffer()[..length]);
        self.0.send(length);
        self.0.start();
        result
    }
}
