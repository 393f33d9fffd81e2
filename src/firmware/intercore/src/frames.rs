//! Messages between the cores: frames in two byte rings, and the restart handshake
//! (`docs/interfaces.md`, section 2).
//!
//! The comms core (core 0) and the kernel core (core 1) are separately linked; they share only
//! [`Shared`], at the start of [`crate::memory::INTERCORE`]. Each of its words has a single writer,
//! except those that record the owner of the DMA player and of the I2C bus.
//!
//! A message is one or more frames, all but the last flagged MORE. Frames are published whole, so a
//! receiver that sees a header can read the whole payload without waiting.
//!
//! A side that waits for data or space sleeps until its bell rings: the other side rings after
//! every frame sent (except with [`Sender::send_silently`]), and after consuming from a ring that
//! is more than half full. No wake-up is lost if the ring is checked with interrupts masked and the
//! sleep is `wfi`, which a pending interrupt ends even so.
//!
//! The restart handshake:
//!
//! ```text
//! comms core                                kernel core
//! request_restart()  generation = g
//!   reset or SGI 0 ------------------------> drops its stack, resets its state
//!                                            kernel_enter(): state = Restarted, g; rings the bell; waits
//! has_restarted() is true
//! grant()            empties the rings
//!                    granted = g ----------> state = Running, g; takes its ends of the rings
//! ```

use core::sync::atomic::{AtomicU32, AtomicU8, Ordering};

pub use kairos_contracts::intercore::{Kind, Outcome, State, FRAME_MAX, REASON_MAX, SGI_DATA, SGI_RESTART};
use kairos_contracts::intercore::{AWAITING, AWAITS_BOARDS, FLAG_MORE, HEADER};

pub use crate::ring::Corrupt;
use crate::ring::{Consumer, Producer, Ring, CAPACITY};

/// Parameters that the comms core passes to the kernel core before releasing it. Read with MMU and
/// caches off.
#[repr(C, align(32))]
pub struct Boot {
    /// Translation table base register 0, attributes included.
    pub ttbr0: AtomicU32,
    /// Domain access control register.
    pub dacr: AtomicU32,
}

/// Owner of a resource that both cores use.
pub const COMMS: u32 = 1;
pub const KERNEL: u32 = 2;

/// A word on a cache line of its own.
#[repr(C, align(32))]
struct Word(AtomicU32);

impl Word {
    /// Takes ownership for `who`; false if the other core has it.
    fn take(&self, who: u32) -> bool {
        let taken = self.0.compare_exchange(0, who, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok() || taken == Err(who)
    }

    /// Releases ownership if `who` has it; returns whether it had.
    fn release(&self, who: u32) -> bool {
        self.0
            .compare_exchange(who, 0, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }
}

/// The shared memory. All zero is its state before the first start.
#[repr(C)]
pub struct Shared {
    pub boot: Boot,
    /// Number of the newest restart request, 24 bits. Written by the comms core.
    generation: Word,
    /// Generation whose handshake the comms core has completed. Written by the comms core.
    granted: Word,
    /// [`State`] in bits 7..0, its generation in bits 31..8. Written by the kernel core.
    state: Word,
    /// Owner of the DMA player: 0 for none, else [`COMMS`] or [`KERNEL`]. Both cores write this
    /// word and the next one.
    player: Word,
    /// Owner of the I2C bus, from start to stop condition, encoded likewise.
    bus: Word,
    /// Whether the comms core waits for the bus. Written by the comms core.
    bus_wanted: Word,
    /// [`AWAITING`] while the kernel core, which writes it, waits for other boards. For emulators.
    awaits_boards: Word,
    /// Reason of the kernel core's fault, a zero-terminated text. Written by the kernel core before
    /// the state.
    reason: [AtomicU8; REASON_MAX],
    to_kernel: Ring,
    to_comms: Ring,
}

const _: () = assert!(core::mem::offset_of!(Shared, awaits_boards) == AWAITS_BOARDS);

impl Shared {
    /// The shared memory of this chip, at [`crate::memory::INTERCORE`].
    #[cfg(target_arch = "arm")]
    pub fn get() -> &'static Shared {
        // SAFETY: that memory is reserved for this in both images, any bit pattern is valid, and
        // all accesses are atomic or go through the rings.
        unsafe { &*(crate::memory::INTERCORE.start as *const Shared) }
    }

    // ---- comms core ----

    /// Clears what a previous run of the firmware left in the memory. Called before the kernel core
    /// is released.
    pub fn initialise(&self) {
        let owners = [&self.player, &self.bus, &self.bus_wanted];
        let words = [&self.generation, &self.granted, &self.state, &self.awaits_boards];
        for word in words.into_iter().chain(owners) {
            word.0.store(0, Ordering::Release);
        }
    }

    /// Requests a restart; the caller then resets core 1 or raises SGI 0 on it.
    pub fn request_restart(&self) {
        let next = (self.generation.0.load(Ordering::Relaxed) + 1) & 0x00ff_ffff;
        self.generation.0.store(next, Ordering::Release);
    }

    /// Whether the kernel core has answered the newest request and waits in the handshake.
    pub fn has_restarted(&self) -> bool {
        self.state.0.load(Ordering::Acquire) == word(State::Restarted, self.generation.0.load(Ordering::Relaxed))
    }

    /// Empties the rings, lets the kernel core continue and returns the comms core's ends. `None`
    /// unless [`has_restarted`](Self::has_restarted).
    ///
    /// # Safety
    /// The ends returned earlier must not be used any more.
    pub unsafe fn grant(&self, bell: fn()) -> Option<(Sender<'_>, Receiver<'_>)> {
        if !self.has_restarted() {
            return None;
        }
        // SAFETY: the kernel core has restarted, and waits before it takes its ends; by this
        // function's contract nobody uses those of this core.
        let (to_kernel, to_comms) = unsafe {
            self.to_kernel.reset();
            self.to_comms.reset();
            (self.to_kernel.producer(), self.to_comms.consumer())
        };
        let ends = (Sender::new(to_kernel, bell), Receiver::new(to_comms, bell));
        self.granted
            .0
            .store(self.generation.0.load(Ordering::Relaxed), Ordering::Release);
        bell();
        Some(ends)
    }

    /// The kernel core's last reported state, of any generation.
    pub fn state(&self) -> State {
        State::try_from(self.state.0.load(Ordering::Acquire) as u8).unwrap_or(State::Silent)
    }

    /// The reason of the kernel core's fault, if that is its state. Truncated at invalid text: a
    /// kernel can write here too.
    pub fn reason<'b>(&self, buffer: &'b mut [u8; REASON_MAX]) -> &'b str {
        for (byte, place) in buffer.iter_mut().zip(&self.reason) {
            *byte = place.load(Ordering::Relaxed);
        }
        let text = buffer.split(|&byte| byte == 0).next().unwrap_or(&[]);
        text.utf8_chunks().next().map_or("", |chunk| chunk.valid())
    }

    // ---- either core ----

    /// Takes the DMA player for [`COMMS`] or [`KERNEL`]; false if the other core has it.
    pub fn take_player(&self, who: u32) -> bool {
        self.player.take(who)
    }

    /// Releases the DMA player, if `who` has it; returns whether it had.
    pub fn release_player(&self, who: u32) -> bool {
        self.player.release(who)
    }

    /// Releases the I2C bus, if `who` has it.
    pub fn release_bus(&self, who: u32) {
        self.bus.release(who);
    }

    // ---- comms core ----

    /// Sets whether the comms core waits for the I2C bus. A kernel begins no further transaction
    /// meanwhile.
    pub fn want_bus(&self, wanted: bool) {
        self.bus_wanted.0.store(wanted.into(), Ordering::Release);
    }

    /// Takes the I2C bus for the comms core; false if the kernel core has it.
    pub fn take_bus(&self) -> bool {
        self.bus.take(COMMS)
    }

    // ---- kernel core ----

    /// Takes the I2C bus for the kernel core, which may have it already; false while the comms core
    /// has it or waits for it.
    pub fn kernel_takes_bus(&self) -> bool {
        let has = self.bus.0.load(Ordering::Relaxed) == KERNEL;
        has || self.bus_wanted.0.load(Ordering::Acquire) == 0 && self.bus.take(KERNEL)
    }

    /// Kernel core: says whether it waits for other boards.
    pub fn await_boards(&self, waits: bool) {
        let value = if waits { AWAITING } else { 0 };
        self.awaits_boards.0.store(value, Ordering::Release);
    }

    /// Kernel core: completes the restart handshake and returns its ends of the rings.
    ///
    /// Rings `bell` (SGI 1 to the comms core) when it is ready, and calls `wait` (for instance
    /// [`kairos_chip::gic::wait_for_interrupt`]) until the comms core has emptied the rings.
    ///
    /// # Safety
    /// The ends returned earlier must not be used any more; only core 1 calls this.
    pub unsafe fn kernel_enter(&self, bell: fn(), mut wait: impl FnMut()) -> (Sender<'_>, Receiver<'_>) {
        self.await_boards(false);
        let mut reported = None;
        loop {
            let generation = self.generation.0.load(Ordering::Acquire);
            if reported != Some(generation) {
                self.state
                    .0
                    .store(word(State::Restarted, generation), Ordering::Release);
                reported = Some(generation);
                bell();
            }
            if self.granted.0.load(Ordering::Acquire) == generation {
                self.state.0.store(word(State::Running, generation), Ordering::Release);
                // SAFETY: by this function's contract these are the only ends of this core.
                let (to_comms, to_kernel) = unsafe { (self.to_comms.producer(), self.to_kernel.consumer()) };
                return (Sender::new(to_comms, bell), Receiver::new(to_kernel, bell));
            }
            wait();
        }
    }

    /// Kernel core: reports that it cannot continue until it is restarted, and why. Works without
    /// intact rings; the caller rings the bell.
    pub fn kernel_faulted(&self, reason: &str) {
        self.await_boards(false);
        let bytes = reason.bytes().chain(core::iter::repeat(0));
        for (place, byte) in self.reason.iter().zip(bytes) {
            place.store(byte, Ordering::Relaxed);
        }
        let generation = self.generation.0.load(Ordering::Acquire);
        self.state.0.store(word(State::Faulted, generation), Ordering::Release);
    }
}

fn word(state: State, generation: u32) -> u32 {
    state as u32 | generation << 8
}

/// Sending end of one direction.
pub struct Sender<'a> {
    ring: Producer<'a>,
    /// Rings the other core's bell.
    bell: fn(),
}

impl<'a> Sender<'a> {
    fn new(ring: Producer<'a>, bell: fn()) -> Self {
        Self { ring, bell }
    }

    /// Whether the ring appears not to be overwritten. An overwritten one may never have room.
    pub fn intact(&self) -> bool {
        self.ring.intact()
    }

    /// Sends one frame with as much of `payload` as fits, without waiting, and returns the number
    /// of bytes; `None` if nothing fits. The frame ends the message if all was sent and `more` is
    /// false; otherwise call again with the rest.
    pub fn try_send(&mut self, kind: Kind, payload: &[u8], more: bool) -> Option<usize> {
        let sent = self.put(kind, payload, more);
        if sent.is_some() {
            (self.bell)();
        }
        sent
    }

    fn put(&mut self, kind: Kind, payload: &[u8], more: bool) -> Option<usize> {
        let free = self.ring.free();
        let room = free.saturating_sub(HEADER).min(FRAME_MAX);
        if free < HEADER || (room == 0 && !payload.is_empty()) {
            return None;
        }
        let len = room.min(payload.len());
        self.ring
            .write_words(header_words(kind, more || len < payload.len(), len), &payload[..len]);
        self.ring.publish();
        Some(len)
    }

    /// Sends a whole message, calling `wait` while the ring is full.
    pub fn send(&mut self, kind: Kind, mut payload: &[u8], mut wait: impl FnMut()) {
        loop {
            match self.try_send(kind, payload, false) {
                Some(len) if len == payload.len() => return,
                Some(len) => payload = &payload[len..],
                None => wait(),
            }
        }
    }

    /// Sends a short message without waking the other side, which will see it before the next one.
    /// True if there was room.
    pub fn send_silently(&mut self, kind: Kind, payload: &[u8]) -> bool {
        let room = self.ring.free() >= HEADER + payload.len() + padding(payload.len());
        room && self.put(kind, payload, false).is_some()
    }

    /// Begins a message to be written piece by piece, directly into the ring; `wait` is called
    /// while the ring is full. It must be [`finish`](Message::finish)ed.
    pub fn message<W: FnMut()>(&mut self, kind: Kind, wait: W) -> Message<'_, 'a, W> {
        Message {
            sender: self,
            kind,
            wait,
            frame: None,
        }
    }
}

/// A message being written. Its current frame is invisible to the other core until the frame is
/// complete.
#[must_use = "finish() sends the message"]
pub struct Message<'s, 'a, W: FnMut()> {
    sender: &'s mut Sender<'a>,
    kind: Kind,
    wait: W,
    /// Position of the current frame's header and its payload length so far.
    frame: Option<(u32, usize)>,
}

impl<W: FnMut()> Message<'_, '_, W> {
    /// Appends `bytes`.
    pub fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (position, len) = self.open();
            // Payload and padding end on a 4-byte boundary, as does the free space.
            let taken = self.sender.ring.write(&bytes[..bytes.len().min(FRAME_MAX - len)]);
            bytes = &bytes[taken..];
            self.frame = Some((position, len + taken));
            if len + taken == FRAME_MAX || taken == 0 {
                self.close(true);
            }
        }
    }

    /// Ends the message.
    pub fn finish(mut self) {
        self.open();
        self.close(false);
    }

    fn open(&mut self) -> (u32, usize) {
        if let Some(frame) = self.frame {
            return frame;
        }
        // Room for a header and one word, so that every frame of a long message makes progress.
        while self.sender.ring.free() < HEADER + 4 {
            (self.wait)();
        }
        let position = self.sender.ring.position();
        self.sender.ring.write(&[0; HEADER]);
        self.frame = Some((position, 0));
        (position, 0)
    }

    fn close(&mut self, more: bool) {
        if let Some((position, len)) = self.frame.take() {
            let ring = &mut self.sender.ring;
            ring.pad(padding(len));
            ring.patch(position, &header(self.kind, more, len));
            ring.publish();
            (self.sender.bell)();
        }
    }
}

/// Kind and flags, then the length: little endian.
fn header_words(kind: Kind, more: bool, len: usize) -> [u32; 2] {
    let flags = if more { FLAG_MORE } else { 0 };
    [u32::from(kind as u8) | u32::from(flags) << 8, len as u32]
}

fn header(kind: Kind, more: bool, len: usize) -> [u8; HEADER] {
    let [[a, b, c, d], [e, f, g, h]] = header_words(kind, more, len).map(u32::to_le_bytes);
    [a, b, c, d, e, f, g, h]
}

fn padding(len: usize) -> usize {
    len.wrapping_neg() & 3
}

/// A received frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: Kind,
    /// Whether the message continues in the next frame.
    pub more: bool,
    /// Length of the payload in bytes.
    pub len: usize,
}

/// Receiving end of one direction.
pub struct Receiver<'a> {
    ring: Consumer<'a>,
    /// Unread payload bytes of the current frame, and the padding after them.
    remaining: usize,
    padding: usize,
    /// Rings the other core's bell, if it may be waiting for space.
    bell: fn(),
}

impl<'a> Receiver<'a> {
    fn new(ring: Consumer<'a>, bell: fn()) -> Self {
        Self {
            ring,
            remaining: 0,
            padding: 0,
            bell,
        }
    }

    /// Consumes bytes. A sender can be waiting only if the ring is nearly full.
    fn skip(&mut self, len: usize, available: usize) {
        let crowded = available > CAPACITY / 2;
        // A message's payload and padding fill the free space exactly, which must end on a word.
        self.ring.skip_words(len);
        if crowded {
            (self.bell)();
        }
    }

    /// Moves to the next frame, dropping the unread rest of the current one; `None` if nothing has
    /// arrived.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, Corrupt> {
        let mut available = self.ring.available()?;
        if self.remaining + self.padding > 0 {
            self.skip(self.remaining + self.padding, available);
            (self.remaining, self.padding) = (0, 0);
            available = self.ring.available()?;
        }
        if available == 0 {
            return Ok(None);
        }
        if available < HEADER {
            return Err(Corrupt);
        }
        let [kind_and_flags, len] = self.ring.peek_words();
        let [kind, flags, ..] = kind_and_flags.to_le_bytes();
        let len = len as usize;
        let kind = Kind::try_from(kind).map_err(|_| Corrupt)?;
        if len > FRAME_MAX || HEADER + len + padding(len) > available {
            return Err(Corrupt);
        }
        self.ring.skip(HEADER);
        (self.remaining, self.padding) = (len, padding(len));
        Ok(Some(Frame {
            kind,
            more: flags & FLAG_MORE != 0,
            len,
        }))
    }

    /// Unread payload bytes of the current frame.
    pub fn remaining(&self) -> usize {
        self.remaining
    }

    /// Reads from the current frame's payload; returns the number of bytes, which is less than
    /// `bytes` only at its end.
    pub fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Corrupt> {
        let len = bytes.len().min(self.remaining);
        let available = self.ring.available()?;
        if available < len {
            return Err(Corrupt);
        }
        self.ring.copy(&mut bytes[..len]);
        self.remaining -= len;
        let padding = if self.remaining == 0 {
            core::mem::take(&mut self.padding)
        } else {
            0
        };
        self.skip(len + padding, available);
        Ok(len)
    }
}

#[cfg(test)]
mod tests;
