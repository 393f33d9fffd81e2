//! The driver between GEM0 and the TCP/IP stack: frames in and out of the controller's two descriptor rings.
//!
//! The HAL sets the controller up; its driver is not used, because it spends several thousand instructions on a frame:
//! it searches the whole ring for each, takes an interrupt for each frame sent, and cleans two caches over it. Here
//! frames are sent from memory that is not cached, the next descriptor is the only one looked at, and interrupts are on only while
//! somebody waits for one. Checksums of IPv4, TCP and UDP are made and checked by the controller.
//!
//! After long frames, which come in a row, the next look is a little later: the stack then works on several at once. Short
//! frames, such as a reply that a kernel waits for, are taken at once. Behind a frame that opens a TCP connection nothing is
//! received until another socket can listen (see `service.rs`).
//!
//! Descriptors and registers: Zynq-7000 manual (UG585), chapter 16 and appendix B.18.

use core::ptr::{read_volatile, write_volatile};
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::Context;

use embassy_futures::yield_now;
use embassy_net::driver::{self, Capabilities, Checksum, HardwareAddress, LinkState};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::signal::Signal;
use embassy_sync::waitqueue::AtomicWaker;
use embassy_time::{Duration, Timer};
use kairos_board::gic::barrier;
use kairos_board::memory::{ETHERNET_BUFFERS, ETHERNET_DESCRIPTORS};
use static_cell::ConstStaticCell;
use zynq7000_hal::eth::{rx_descr, tx_descr, AlignedBuffer, Ethernet, MTU};

/// Descriptors and buffers in each direction; what may be on its way to the host, or to this core, at a time.
const SLOTS: usize = 64;

/// The rings that the controller reads and writes, in the device memory set apart for them.
#[repr(C)]
struct Lists {
    rx: rx_descr::DescriptorList<SLOTS>,
    tx: tx_descr::DescriptorList<SLOTS>,
}
const _: () = assert!(core::mem::size_of::<Lists>() <= ETHERNET_DESCRIPTORS.end - ETHERNET_DESCRIPTORS.start);
const _: () = assert!(SLOTS * MTU <= ETHERNET_BUFFERS.end - ETHERNET_BUFFERS.start);

/// A descriptor of either ring, as two words.
type Descriptor = [u32; 2];
/// Received frame: word 0, the frame is this core's until the bit is cleared; word 1, its length.
const RX_OWNED: u32 = 1;
const RX_LENGTH: u32 = 0x1fff;
/// Frame to send, word 1: it is this core's; end of the ring; the buffer holds the whole frame.
const TX_OWNED: u32 = 1 << 31;
const TX_WRAP: u32 = 1 << 30;
const TX_LAST: u32 = 1 << 15;

/// Registers of GEM0.
mod register {
    const BASE: usize = 0xE000_B000;
    pub const CONTROL: *mut u32 = BASE as *mut u32;
    pub const TX_STATUS: *mut u32 = (BASE + 0x14) as *mut u32;
    pub const RX_STATUS: *mut u32 = (BASE + 0x20) as *mut u32;
    pub const INTERRUPT_STATUS: *mut u32 = (BASE + 0x24) as *mut u32;
    pub const INTERRUPT_ENABLE: *mut u32 = (BASE + 0x28) as *mut u32;
    pub const INTERRUPT_DISABLE: *mut u32 = (BASE + 0x2c) as *mut u32;
    pub const START_TX: u32 = 1 << 9;
}
use register::*;

/// A frame was received; there was no descriptor for one; the controller's memory overflowed.
const RECEIVED: u32 = 1 << 1 | 1 << 2 | 1 << 10;
const SENT: u32 = 1 << 7;

/// Frames from this length on, in bytes, are expected to be followed by others.
const LONG: usize = 1000;
/// How long they are left to gather. At 1 Gbit/s up to 8 arrive.
const GATHER: Duration = Duration::from_micros(100);
/// Frames are left to gather: no look at the ring and no interrupt until then.
static GATHERING: AtomicBool = AtomicBool::new(false);
static GATHER_BEGINS: Signal<CriticalSectionRawMutex, ()> = Signal::new();

/// A client connects: nothing is received until another socket listens.
static HELD: AtomicBool = AtomicBool::new(false);
static HOLD_BEGINS: Signal<CriticalSectionRawMutex, ()> = Signal::new();

static RX_WAKER: AtomicWaker = AtomicWaker::new();
static TX_WAKER: AtomicWaker = AtomicWaker::new();
static LINK_WAKER: AtomicWaker = AtomicWaker::new();
static LINK: AtomicBool = AtomicBool::new(false);

fn write(register: *mut u32, value: u32) {
    // SAFETY: a register of GEM0, which this driver owns once it is set up; the handler writes bits of its own only.
    unsafe { write_volatile(register, value) };
}

/// Interrupt handler of GEM0: wakes whoever waits, and stays silent until somebody waits again.
pub fn on_interrupt() {
    // SAFETY: as in `write`.
    let status = unsafe { read_volatile(INTERRUPT_STATUS) };
    write(INTERRUPT_STATUS, status);
    write(INTERRUPT_DISABLE, status);
    if status & RECEIVED != 0 {
        write(RX_STATUS, 0xf);
        RX_WAKER.wake();
    }
    if status & SENT != 0 {
        write(TX_STATUS, 0x1ff);
        TX_WAKER.wake();
    }
}

/// Tells the stack whether the cable is connected.
pub fn set_link(up: bool) {
    if LINK.swap(up, Ordering::Relaxed) != up {
        LINK_WAKER.wake();
    }
}

/// Ends the time in which frames gather.
#[embassy_executor::task]
pub async fn gather() -> ! {
    loop {
        GATHER_BEGINS.wait().await;
        Timer::after(GATHER).await;
        GATHERING.store(false, Ordering::Relaxed);
        RX_WAKER.wake();
    }
}

/// Receives again when the tasks of a service have taken note of a new client. A yield lets every task run that has been
/// woken: one that leaves off listening, the next one that begins to, and one turn to spare.
#[embassy_executor::task]
pub async fn hold() -> ! {
    loop {
        HOLD_BEGINS.wait().await;
        for _ in 0..3 {
            yield_now().await;
        }
        HELD.store(false, Ordering::Relaxed);
        RX_WAKER.wake();
    }
}

/// Both rings, as the stack's driver.
pub struct Driver {
    rx: *mut Descriptor,
    tx: *mut Descriptor,
    rx_buffers: &'static mut [AlignedBuffer; SLOTS],
    tx_buffers: &'static mut [AlignedBuffer; SLOTS],
    rx_at: usize,
    tx_at: usize,
    /// The newest frame was long.
    long: bool,
    /// The newest frame opened a TCP connection.
    opening: bool,
    address: [u8; 6],
}

impl Driver {
    /// Gives the controller its rings and starts it. Called once.
    pub fn start(ethernet: &mut Ethernet, address: [u8; 6]) -> Self {
        // SAFETY: the region is set apart for this, mapped as device memory, and taken once.
        let lists = unsafe { &*(ETHERNET_DESCRIPTORS.start as *const Lists) };
        // SAFETY: taken once.
        let (rx_list, tx_list) = unsafe { (lists.rx.take(), lists.tx.take()) };
        static RX: ConstStaticCell<[AlignedBuffer; SLOTS]> =
            ConstStaticCell::new([const { AlignedBuffer([0; MTU]) }; SLOTS]);
        let rx_buffers = RX.take();
        // SAFETY: the region is set apart for this, and taken once; any bytes are valid.
        let tx_buffers = unsafe { &mut *(ETHERNET_BUFFERS.start as *mut [AlignedBuffer; SLOTS]) };
        let (rx, tx) = (rx_list.as_mut_ptr().cast(), tx_list.as_mut_ptr().cast::<Descriptor>());
        rx_descr::DescriptorListWrapper::new(rx_list).init_with_aligned_bufs(rx_buffers);
        tx_descr::DescriptorListWrapper::new(tx_list).init_or_reset();
        for (index, buffer) in tx_buffers.iter().enumerate() {
            // SAFETY: a descriptor of the list, which the controller does not read yet.
            unsafe { write_volatile(tx.add(index).cast::<u32>(), buffer.0.as_ptr() as u32) };
        }
        ethernet.set_rx_buf_descriptor_base_address(rx as u32);
        ethernet.set_tx_buf_descriptor_base_address(tx as u32);
        ethernet.start();
        write(INTERRUPT_DISABLE, !0);
        Self {
            rx,
            tx,
            rx_buffers,
            tx_buffers,
            rx_at: 0,
            tx_at: 0,
            long: false,
            opening: false,
            address,
        }
    }

    /// The word that says whose the current descriptor is, if it is this core's.
    fn received(&self) -> Option<u32> {
        // SAFETY: within the list.
        let word = unsafe { read_volatile(self.rx.add(self.rx_at).cast::<u32>()) };
        (word & RX_OWNED != 0).then_some(word)
    }

    fn can_send(&self) -> bool {
        // SAFETY: within the list.
        unsafe { read_volatile(self.tx.add(self.tx_at).cast::<u32>().add(1)) & TX_OWNED != 0 }
    }

    fn wait_to_send(&mut self, cx: &mut Context) -> bool {
        if self.can_send() {
            return true;
        }
        TX_WAKER.register(cx.waker());
        write(INTERRUPT_STATUS, SENT);
        write(INTERRUPT_ENABLE, SENT);
        // A frame may have left before the interrupt was on.
        self.can_send()
    }

    fn sender(&mut self) -> TxToken<'_> {
        TxToken {
            descriptor: self.tx.wrapping_add(self.tx_at),
            buffer: &mut self.tx_buffers[self.tx_at],
            at: &mut self.tx_at,
        }
    }
}

impl driver::Driver for Driver {
    type RxToken<'a> = RxToken<'a>;
    type TxToken<'a> = TxToken<'a>;

    fn receive(&mut self, cx: &mut Context) -> Option<(RxToken<'_>, TxToken<'_>)> {
        if core::mem::take(&mut self.opening) {
            HELD.store(true, Ordering::Relaxed);
            HOLD_BEGINS.signal(());
        }
        if HELD.load(Ordering::Relaxed) {
            RX_WAKER.register(cx.waker());
            return None;
        }
        // Every frame may need an answer.
        if !self.wait_to_send(cx) {
            return None;
        }
        let word = match self.received() {
            Some(word) => word,
            None => {
                RX_WAKER.register(cx.waker());
                if core::mem::take(&mut self.long) {
                    GATHERING.store(true, Ordering::Relaxed);
                    GATHER_BEGINS.signal(());
                }
                if GATHERING.load(Ordering::Relaxed) {
                    return None;
                }
                write(INTERRUPT_STATUS, RECEIVED);
                write(INTERRUPT_ENABLE, RECEIVED);
                // A frame may have come before the interrupt was on.
                self.received()?
            }
        };
        let index = self.rx_at;
        self.rx_at = (index + 1) % SLOTS;
        let tx = TxToken {
            descriptor: self.tx.wrapping_add(self.tx_at),
            buffer: &mut self.tx_buffers[self.tx_at],
            at: &mut self.tx_at,
        };
        let rx = RxToken {
            descriptor: self.rx.wrapping_add(index),
            buffer: &mut self.rx_buffers[index],
            long: &mut self.long,
            opening: &mut self.opening,
            word,
        };
        Some((rx, tx))
    }

    fn transmit(&mut self, cx: &mut Context) -> Option<TxToken<'_>> {
        self.wait_to_send(cx).then(|| self.sender())
    }

    fn link_state(&mut self, cx: &mut Context) -> LinkState {
        LINK_WAKER.register(cx.waker());
        match LINK.load(Ordering::Relaxed) {
            true => LinkState::Up,
            false => LinkState::Down,
        }
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        // Ethernet header included, check sequence not.
        capabilities.max_transmission_unit = 1514;
        capabilities.max_burst_size = Some(SLOTS);
        capabilities.checksum.ipv4 = Checksum::None;
        capabilities.checksum.udp = Checksum::None;
        capabilities.checksum.tcp = Checksum::None;
        capabilities.checksum.icmpv4 = Checksum::Both;
        capabilities.checksum.icmpv6 = Checksum::Both;
        capabilities
    }

    fn hardware_address(&self) -> HardwareAddress {
        HardwareAddress::Ethernet(self.address)
    }
}

/// A received frame. If it is dropped unread, it is lost, and its descriptor goes back all the same.
pub struct RxToken<'a> {
    descriptor: *mut Descriptor,
    buffer: &'a mut AlignedBuffer,
    long: &'a mut bool,
    opening: &'a mut bool,
    word: u32,
}

impl driver::RxToken for RxToken<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, f: F) -> R {
        // SAFETY: within the list.
        let status = unsafe { read_volatile(self.descriptor.cast::<u32>().add(1)) };
        let length = ((status & RX_LENGTH) as usize).min(MTU);
        *self.long = length >= LONG;
        invalidate(self.buffer.0.as_ptr() as usize, length);
        let frame = &mut self.buffer.0[..length];
        *self.opening = opens(frame);
        f(frame)
    }
}

impl Drop for RxToken<'_> {
    fn drop(&mut self) {
        // SAFETY: within the list; nobody reads the buffer any more.
        unsafe { write_volatile(self.descriptor.cast::<u32>(), self.word & !RX_OWNED) };
    }
}

/// Whether the frame asks for a TCP connection.
fn opens(frame: &[u8]) -> bool {
    const ETHERNET: usize = 14;
    const TCP: u8 = 6;
    const FLAGS: usize = 13;
    const SYN: u8 = 1 << 1;
    const ACK: u8 = 1 << 4;
    let (protocol, header) = match *frame {
        [_, _, _, _, _, _, _, _, _, _, _, _, 0x08, 0x00, version, ..] => (23, 4 * usize::from(version & 15)),
        [_, _, _, _, _, _, _, _, _, _, _, _, 0x86, 0xdd, ..] => (20, 40),
        _ => return false,
    };
    let flags = frame.get(ETHERNET + header + FLAGS);
    frame.get(protocol) == Some(&TCP) && flags.is_some_and(|flags| flags & (SYN | ACK) == SYN)
}

/// Room for a frame.
pub struct TxToken<'a> {
    descriptor: *mut Descriptor,
    buffer: &'a mut AlignedBuffer,
    at: &'a mut usize,
}

impl driver::TxToken for TxToken<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, f: F) -> R {
        let result = f(&mut self.buffer.0[..length]);
        let wrap = if *self.at == SLOTS - 1 { TX_WRAP } else { 0 };
        *self.at = (*self.at + 1) % SLOTS;
        // The frame is in memory before the controller may read it.
        barrier();
        // SAFETY: within the list; the controller has given the descriptor back.
        unsafe { write_volatile(self.descriptor.cast::<u32>().add(1), length as u32 | TX_LAST | wrap) };
        barrier();
        // SAFETY: as in `write`.
        write(CONTROL, unsafe { read_volatile(CONTROL) } | START_TX);
        result
    }
}

/// Drops what both caches hold of a received frame; nothing in it has been written by a core, so nothing is lost.
fn invalidate(start: usize, length: usize) {
    const LINE: usize = 32;
    /// Level 2 cache: invalidate line by physical address; cache sync (PL310 manual, section 3.3.10).
    const INVALIDATE: *mut u32 = 0xF8F0_2770 as *mut u32;
    const SYNC: *mut u32 = 0xF8F0_2730 as *mut u32;
    // Four at a time: buffers are multiples of that, and nothing else lies in them. Written out, as the compiler would not do
    // it where it is told to care for size, and this runs for each line of each frame.
    let end = start + length;
    barrier();
    // Outer cache first: the inner one could be filled from it again.
    let mut line = start;
    while line < end {
        write(INVALIDATE, line as u32);
        write(INVALIDATE, (line + LINE) as u32);
        write(INVALIDATE, (line + 2 * LINE) as u32);
        write(INVALIDATE, (line + 3 * LINE) as u32);
        line += 4 * LINE;
    }
    write(SYNC, 0);
    barrier();
    let mut line = start;
    while line < end {
        // SAFETY: lines of the buffer, which hold nothing that is not in memory.
        unsafe {
            core::arch::asm!(
                "mcr p15, 0, {0}, c7, c6, 1",
                "mcr p15, 0, {1}, c7, c6, 1",
                "mcr p15, 0, {2}, c7, c6, 1",
                "mcr p15, 0, {3}, c7, c6, 1",
                in(reg) line,
                in(reg) line + LINE,
                in(reg) line + 2 * LINE,
                in(reg) line + 3 * LINE,
                options(nostack, preserves_flags)
            )
        };
        line += 4 * LINE;
    }
    barrier();
}

const _: () = assert!(MTU.is_multiple_of(128));
