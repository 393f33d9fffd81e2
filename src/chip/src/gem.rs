//! The Ethernet controller GEM0: its two rings of descriptors, and its interrupts (UG585, chapter
//! 16 and appendix B.18).
//!
//! The HAL sets the controller up; its driver is not used, because it spends several thousand
//! instructions on a frame. It searches the whole ring for each, takes an interrupt for each frame
//! sent, and cleans two caches over it. Here the next descriptor is the only one looked at.

use core::ptr::{read_volatile, write_volatile};

use crate::gic::barrier;

/// Descriptors and buffers in each direction; what may be on its way to the host, or to this core, at a time.
pub const SLOTS: usize = 64;
/// Bytes of a buffer, as the HAL tells the controller.
pub const BUFFER: usize = 1536;

/// Room for a frame. On cache lines of its own, in groups of four.
#[repr(C, align(128))]
pub struct Buffer(pub [u8; BUFFER]);

/// Room for the frames of a ring.
pub type Buffers = [Buffer; SLOTS];

/// Two words of memory that the controller reads and writes.
type Descriptor = [u32; 2];

/// The rings that the controller works on; to be placed in device memory.
#[repr(C)]
pub struct Rings {
    receive: [Descriptor; SLOTS],
    send: [Descriptor; SLOTS],
}

/// Received frame: word 0, the frame is this core's until the bit is cleared; end of the ring; word
/// 1, its length.
const RX_OWNED: u32 = 1;
const RX_WRAP: u32 = 1 << 1;
const RX_LENGTH: u32 = 0x1fff;
/// Frame to send, word 1: it is this core's; end of the ring; the buffer holds the whole frame.
const TX_OWNED: u32 = 1 << 31;
const TX_WRAP: u32 = 1 << 30;
const TX_LAST: u32 = 1 << 15;

/// Number of the controller's interrupt.
pub const INTERRUPT: u16 = 54;

const BASE: usize = 0xE000_B000;
const CONTROL: *mut u32 = BASE as *mut u32;
const TX_STATUS: *mut u32 = (BASE + 0x14) as *mut u32;
const RX_STATUS: *mut u32 = (BASE + 0x20) as *mut u32;
const INTERRUPT_STATUS: *mut u32 = (BASE + 0x24) as *mut u32;
const INTERRUPT_ENABLE: *mut u32 = (BASE + 0x28) as *mut u32;
const INTERRUPT_DISABLE: *mut u32 = (BASE + 0x2c) as *mut u32;
const START_TX: u32 = 1 << 9;

/// Interrupts: a frame was received, there was no descriptor for one, or the controller's memory
/// overflowed; and a frame was sent.
pub const RECEIVED: u32 = 1 << 1 | 1 << 2 | 1 << 10;
pub const SENT: u32 = 1 << 7;

fn write(word: *mut u32, value: u32) {
    // SAFETY: a register of GEM0, or a word of a descriptor; both are the rings' only.
    unsafe { write_volatile(word, value) };
}

fn read(word: *const u32) -> u32 {
    // SAFETY: a status of GEM0, which reading leaves as it is, or a word of a descriptor, which the
    // controller may be writing.
    unsafe { read_volatile(word) }
}

/// Takes the events that have happened since, and silences their interrupts until they are asked for again.
pub fn take_events() -> u32 {
    let events = read(INTERRUPT_STATUS);
    write(INTERRUPT_STATUS, events);
    write(INTERRUPT_DISABLE, events);
    if events & RECEIVED != 0 {
        write(RX_STATUS, 0xf);
    }
    if events & SENT != 0 {
        write(TX_STATUS, 0x1ff);
    }
    events
}

/// The next of these events raises an interrupt. Those that have happened already do not: look once more.
pub fn ask_for(events: u32) {
    write(INTERRUPT_STATUS, events);
    write(INTERRUPT_ENABLE, events);
}

/// Prepares the rings and their buffers, for a controller that stands still. Returns both halves,
/// and the addresses of the rings, which the controller has to be told: of received frames, and of
/// frames to send.
///
/// # Safety
/// The pointers are aligned, to memory that nothing else uses, that of the rings and of the frames
/// to send not cached. Nobody has halves that were returned before.
pub unsafe fn prepare(
    rings: *mut Rings,
    receive: *mut Buffers,
    send: *mut Buffers,
) -> (Receiver, Transmitter, [u32; 2]) {
    write(INTERRUPT_DISABLE, !0);
    let receiver = Receiver {
        ring: rings.cast(),
        buffers: receive.cast(),
        at: 0,
    };
    let transmitter = Transmitter {
        ring: rings.cast::<Descriptor>().wrapping_add(SLOTS),
        buffers: send.cast(),
        at: 0,
    };
    for index in 0..SLOTS {
        let last = index == SLOTS - 1;
        let [address, status] = words(receiver.ring, index);
        let buffer = receiver.buffers.wrapping_add(index) as u32;
        write(address, buffer | if last { RX_WRAP } else { 0 });
        write(status, 0);
        let [address, status] = words(transmitter.ring, index);
        write(address, transmitter.buffers.wrapping_add(index) as u32);
        write(status, TX_OWNED | if last { TX_WRAP } else { 0 });
    }
    barrier();
    let addresses = [receiver.ring as u32, transmitter.ring as u32];
    (receiver, transmitter, addresses)
}

fn words(ring: *mut Descriptor, index: usize) -> [*mut u32; 2] {
    let word = ring.wrapping_add(index).cast::<u32>();
    [word, word.wrapping_add(1)]
}

/// Frames that have come.
pub struct Receiver {
    ring: *mut Descriptor,
    buffers: *mut Buffer,
    at: usize,
}

impl Receiver {
    /// Length of the oldest frame, if there is one.
    pub fn length(&self) -> Option<usize> {
        let [address, status] = words(self.ring, self.at);
        let there = read(address) & RX_OWNED != 0;
        there.then(|| ((read(status) & RX_LENGTH) as usize).min(BUFFER))
    }

    /// Its buffer.
    pub fn buffer(&self) -> &[u8; BUFFER] {
        // SAFETY: of this ring; the controller leaves it alone until the frame is released, which
        // takes `&mut self`.
        unsafe { &(*self.buffers.wrapping_add(self.at)).0 }
    }

    /// Gives its descriptor back.
    pub fn release(&mut self) {
        let [address, _] = words(self.ring, self.at);
        // The frame has been read before the controller may write another one.
        barrier();
        write(address, read(address) & !RX_OWNED);
        self.at = (self.at + 1) % SLOTS;
    }
}

/// Frames to be sent.
pub struct Transmitter {
    ring: *mut Descriptor,
    buffers: *mut Buffer,
    at: usize,
}

impl Transmitter {
    /// Whether there is room for a frame.
    pub fn ready(&self) -> bool {
        let [_, status] = words(self.ring, self.at);
        read(status) & TX_OWNED != 0
    }

    /// The buffer of the next frame. Only if there is room.
    pub fn buffer(&mut self) -> &mut [u8; BUFFER] {
        // SAFETY: of this ring, and this core's.
        unsafe { &mut (*self.buffers.wrapping_add(self.at)).0 }
    }

    /// Hands the next frame over; it leaves after [`start`](Self::start).
    pub fn send(&mut self, length: usize) {
        let [_, status] = words(self.ring, self.at);
        let wrap = if self.at == SLOTS - 1 { TX_WRAP } else { 0 };
        self.at = (self.at + 1) % SLOTS;
        // The frame is in memory before the controller may read it.
        barrier();
        write(status, length as u32 | TX_LAST | wrap);
    }

    /// Has the controller send what was handed over.
    pub fn start(&mut self) {
        barrier();
        write(CONTROL, read(CONTROL) | START_TX);
    }
}
