//! The Ethernet controller GEM0: its two rings of descriptors, and its interrupts (UG585, chapter
//! 16 and appendix B.18).
//!
//! The HAL sets the controller up; its driver is not used, because it spends several thousand
//! instructions per frame: it searches the whole ring each time, takes an interrupt for each
//! transmitted frame, and cleans two caches over it. Here only the next descriptor is examined.

use core::ptr::{read_volatile, write_volatile};

use crate::gic::barrier;

/// Descriptors and buffers in each direction: the most frames in transit to the host, or to this
/// core.
pub const SLOTS: usize = 64;
/// Size of a buffer in bytes, as the HAL configures the controller.
pub const BUFFER: usize = 1536;

/// A buffer for a frame, on its own cache lines, in groups of four.
#[repr(C, align(128))]
pub struct Buffer(pub [u8; BUFFER]);

/// The frame buffers of a ring.
pub type Buffers = [Buffer; SLOTS];

/// Two words that the controller reads and writes.
type Descriptor = [u32; 2];

/// The controller's rings; to be placed in device memory.
#[repr(C)]
pub struct Rings {
    receive: [Descriptor; SLOTS],
    send: [Descriptor; SLOTS],
}

/// Received frame: word 0, the frame belongs to this core until the bit is cleared; end of the
/// ring; word 1, its length.
const RX_OWNED: u32 = 1;
const RX_WRAP: u32 = 1 << 1;
const RX_LENGTH: u32 = 0x1fff;
/// Frame to send, word 1: it belongs to this core; end of the ring; the buffer contains the whole
/// frame.
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

/// Interrupts: a frame was received, no descriptor was free, or the controller's memory overflowed;
/// and a frame was sent.
pub const RECEIVED: u32 = 1 << 1 | 1 << 2 | 1 << 10;
pub const SENT: u32 = 1 << 7;

fn write(word: *mut u32, value: u32) {
    // SAFETY: a register of GEM0, or a word of a descriptor; both are used by the rings only.
    unsafe { write_volatile(word, value) };
}

fn read(word: *const u32) -> u32 {
    // SAFETY: a status of GEM0, which a read does not change, or a word of a descriptor, which the
    // controller may be writing.
    unsafe { read_volatile(word) }
}

/// Takes the events since the last call, and disables their interrupts until they are requested
/// again.
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

/// Requests an interrupt for the next of these events. Earlier events cause none: poll once more.
pub fn ask_for(events: u32) {
    write(INTERRUPT_STATUS, events);
    write(INTERRUPT_ENABLE, events);
}

/// Prepares the rings and their buffers for a stopped controller. Returns both ends, and the ring
/// addresses to be configured in the controller: of received frames, and of frames to send.
///
/// # Safety
/// The pointers must be aligned, and refer to memory that nothing else uses; the rings and the
/// frames to send must be uncached. Ends that were returned before must not be in use.
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

/// The ring of received frames.
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

    /// The buffer of the oldest frame.
    pub fn buffer(&self) -> &[u8; BUFFER] {
        // SAFETY: a buffer of this ring, which the controller does not touch until the frame is
        // released, which takes `&mut self`.
        unsafe { &(*self.buffers.wrapping_add(self.at)).0 }
    }

    /// Returns the frame's descriptor to the controller.
    pub fn release(&mut self) {
        let [address, _] = words(self.ring, self.at);
        // Complete all reads of the frame before the controller may overwrite it.
        barrier();
        write(address, read(address) & !RX_OWNED);
        self.at = (self.at + 1) % SLOTS;
    }
}

/// The ring of frames to be sent.
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

    /// The buffer of the next frame. Call only if there is room.
    pub fn buffer(&mut self) -> &mut [u8; BUFFER] {
        // SAFETY: a buffer of this ring that belongs to this core.
        unsafe { &mut (*self.buffers.wrapping_add(self.at)).0 }
    }

    /// Queues the next frame; it leaves after [`start`](Self::start).
    pub fn send(&mut self, length: usize) {
        let [_, status] = words(self.ring, self.at);
        let wrap = if self.at == SLOTS - 1 { TX_WRAP } else { 0 };
        self.at = (self.at + 1) % SLOTS;
        // The frame must be in memory before the controller may read it.
        barrier();
        write(status, length as u32 | TX_LAST | wrap);
    }

    /// Makes the controller send the queued frames.
    pub fn start(&mut self) {
        barrier();
        write(CONTROL, read(CONTROL) | START_TX);
    }
}
