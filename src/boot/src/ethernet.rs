//! Frames between GEM0 and the TCP/IP stack. A loader has time: descriptors and buffers lie in memory that is not cached, frames are
//! copied by the stack, and nothing is moved by interrupts. Descriptors and registers: UG585, chapter 16 and appendix B.18.

use core::ptr::{read_volatile, write_volatile};

use kairos_board::gic::barrier;
use kairos_board::memory::{ETHERNET_BUFFERS, ETHERNET_DESCRIPTORS};
use smoltcp::phy::{self, Checksum, DeviceCapabilities, Medium};
use smoltcp::time::Instant;
use zynq7000_hal::eth::Ethernet;

/// Descriptors and buffers in each direction.
const SLOTS: usize = 64;
/// Bytes of a buffer, as the HAL tells the controller.
const BUFFER: usize = 1536;

type Descriptor = [u32; 2];
type Buffer = [u8; BUFFER];

const RX_OWNED: u32 = 1;
const RX_WRAP: u32 = 1 << 1;
const RX_LENGTH: u32 = 0x1fff;
const TX_OWNED: u32 = 1 << 31;
const TX_WRAP: u32 = 1 << 30;
const TX_LAST: u32 = 1 << 15;

const CONTROL: *mut u32 = 0xE000_B000 as *mut u32;
const RX_STATUS: *mut u32 = 0xE000_B020 as *mut u32;
const INTERRUPT_STATUS: *mut u32 = 0xE000_B024 as *mut u32;
const INTERRUPT_ENABLE: *mut u32 = 0xE000_B028 as *mut u32;
const INTERRUPT_DISABLE: *mut u32 = 0xE000_B02C as *mut u32;
const START_TX: u32 = 1 << 9;
/// A frame was received; there was no descriptor for one; the controller's memory overflowed.
const RECEIVED: u32 = 1 << 1 | 1 << 2 | 1 << 10;

const _: () =
    assert!(2 * SLOTS * core::mem::size_of::<Descriptor>() <= ETHERNET_DESCRIPTORS.end - ETHERNET_DESCRIPTORS.start);
const _: () = assert!(2 * SLOTS * BUFFER <= ETHERNET_BUFFERS.end - ETHERNET_BUFFERS.start);

/// Both rings.
pub struct Driver {
    rx: *mut Descriptor,
    tx: *mut Descriptor,
    rx_buffers: *mut Buffer,
    tx_buffers: *mut Buffer,
    rx_at: usize,
    tx_at: usize,
}

fn write(register: *mut u32, value: u32) {
    // SAFETY: a register of GEM0, or a word of a descriptor, which only this driver uses.
    unsafe { write_volatile(register, value) };
}

impl Driver {
    /// Gives the controller its rings and starts it.
    pub fn start(ethernet: &mut Ethernet) -> Self {
        let rx = ETHERNET_DESCRIPTORS.start as *mut Descriptor;
        let rx_buffers = ETHERNET_BUFFERS.start as *mut Buffer;
        let this = Self {
            rx,
            tx: rx.wrapping_add(SLOTS),
            rx_buffers,
            tx_buffers: rx_buffers.wrapping_add(SLOTS),
            rx_at: 0,
            tx_at: 0,
        };
        for n in 0..SLOTS {
            let last = n == SLOTS - 1;
            let (rx, tx) = (
                this.rx.wrapping_add(n).cast::<u32>(),
                this.tx.wrapping_add(n).cast::<u32>(),
            );
            write(
                rx,
                this.rx_buffers.wrapping_add(n) as u32 | if last { RX_WRAP } else { 0 },
            );
            write(rx.wrapping_add(1), 0);
            write(tx, this.tx_buffers.wrapping_add(n) as u32);
            write(tx.wrapping_add(1), TX_OWNED | if last { TX_WRAP } else { 0 });
        }
        barrier();
        ethernet.set_rx_buf_descriptor_base_address(this.rx as u32);
        ethernet.set_tx_buf_descriptor_base_address(this.tx as u32);
        ethernet.start();
        write(INTERRUPT_DISABLE, !0);
        write(INTERRUPT_ENABLE, RECEIVED);
        this
    }

    /// Forgets that there was something: what comes from now on raises the interrupt.
    pub fn clear_interrupt(&mut self) {
        write(INTERRUPT_STATUS, !0);
        write(RX_STATUS, 0xf);
    }

    /// Whether the current descriptors are this core's, of a received frame and of one to be sent.
    fn owned(&self) -> (bool, bool) {
        let (rx, tx) = (self.rx.wrapping_add(self.rx_at), self.tx.wrapping_add(self.tx_at));
        // SAFETY: within the lists.
        unsafe {
            (
                read_volatile(rx.cast::<u32>()) & RX_OWNED != 0,
                read_volatile(tx.cast::<u32>().add(1)) & TX_OWNED != 0,
            )
        }
    }

    fn sender(&mut self) -> TxToken<'_> {
        let (descriptor, buffer) = (
            self.tx.wrapping_add(self.tx_at),
            self.tx_buffers.wrapping_add(self.tx_at),
        );
        TxToken {
            descriptor: descriptor.cast(),
            // SAFETY: a buffer of this ring, which the controller has given back.
            buffer: unsafe { &mut *buffer },
            at: &mut self.tx_at,
        }
    }
}

impl phy::Device for Driver {
    type RxToken<'a> = RxToken<'a>;
    type TxToken<'a> = TxToken<'a>;

    fn receive(&mut self, _: Instant) -> Option<(RxToken<'_>, TxToken<'_>)> {
        // Every frame may need an answer.
        if self.owned() != (true, true) {
            return None;
        }
        let (descriptor, buffer) = (
            self.rx.wrapping_add(self.rx_at),
            self.rx_buffers.wrapping_add(self.rx_at),
        );
        self.rx_at = (self.rx_at + 1) % SLOTS;
        let rx = RxToken {
            descriptor: descriptor.cast(),
            // SAFETY: a buffer of this ring, which the controller has filled.
            buffer: unsafe { &mut *buffer },
        };
        Some((rx, self.sender()))
    }

    fn transmit(&mut self, _: Instant) -> Option<TxToken<'_>> {
        self.owned().1.then(|| self.sender())
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = 1514;
        capabilities.max_burst_size = Some(SLOTS);
        // Made and checked by the controller.
        capabilities.checksum.ipv4 = Checksum::None;
        capabilities.checksum.udp = Checksum::None;
        capabilities.checksum.tcp = Checksum::None;
        capabilities
    }
}

/// A received frame.
pub struct RxToken<'a> {
    descriptor: *mut u32,
    buffer: &'a mut Buffer,
}

impl phy::RxToken for RxToken<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        // SAFETY: within the list.
        let status = unsafe { read_volatile(self.descriptor.add(1)) };
        f(&self.buffer[..((status & RX_LENGTH) as usize).min(BUFFER)])
    }
}

impl Drop for RxToken<'_> {
    fn drop(&mut self) {
        // SAFETY: within the list; nobody reads the buffer any more.
        let word = unsafe { read_volatile(self.descriptor) };
        barrier();
        write(self.descriptor, word & !RX_OWNED);
    }
}

/// Room for a frame.
pub struct TxToken<'a> {
    descriptor: *mut u32,
    buffer: &'a mut Buffer,
    at: &'a mut usize,
}

impl phy::TxToken for TxToken<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, f: F) -> R {
        let result = f(&mut self.buffer[..length]);
        let wrap = if *self.at == SLOTS - 1 { TX_WRAP } else { 0 };
        *self.at = (*self.at + 1) % SLOTS;
        // The frame is in memory before the controller may read it.
        barrier();
        write(self.descriptor.wrapping_add(1), length as u32 | TX_LAST | wrap);
        barrier();
        // SAFETY: as in `write`.
        write(CONTROL, unsafe { read_volatile(CONTROL) } | START_TX);
        result
    }
}
