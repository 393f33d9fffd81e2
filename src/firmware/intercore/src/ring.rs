//! Single-producer single-consumer byte ring between two cores that run separately linked images.
//!
//! Two free-running indices, each written by one side only, and a power-of-two buffer. The producer
//! may write ahead of the published index and publishes a whole frame at once, so the consumer
//! never sees a partial one. No read-modify-write instruction, no lock, no `sev`; loads acquire,
//! stores release.
//!
//! The consumer does not trust the indices: user code on the other core can overwrite this memory,
//! which must never make this core read out of bounds ([`Consumer::available`] reports
//! [`Corrupt`]).

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering};

pub use kairos_contracts::intercore::CAPACITY;

const MASK: u32 = CAPACITY as u32 - 1;

/// An index on a cache line of its own, to avoid false sharing.
#[repr(C, align(32))]
struct Index(AtomicU32);

/// The shared part. All zero is a valid, empty ring.
#[repr(C)]
pub struct Ring {
    /// Bytes ever published, written by the producer.
    head: Index,
    /// Bytes ever consumed, written by the consumer.
    tail: Index,
    buffer: UnsafeCell<[u8; CAPACITY]>,
}

// SAFETY: the buffer is accessed through raw copies only, by the producer between head and tail +
// CAPACITY, by the consumer between tail and head; the indices are atomic. `producer` and
// `consumer` require that there is one of each.
unsafe impl Sync for Ring {}

/// The indices are invalid: the other side has been overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt;

impl Ring {
    /// Empties the ring.
    ///
    /// # Safety
    /// Neither side may be using it, and each must take a new end before using it again.
    pub unsafe fn reset(&self) {
        self.head.0.store(0, Ordering::Relaxed);
        self.tail.0.store(0, Ordering::Release);
    }

    /// The writing end.
    ///
    /// # Safety
    /// There must be no other writing end in use, on either core.
    pub unsafe fn producer(&self) -> Producer<'_> {
        let head = self.head.0.load(Ordering::Relaxed);
        Producer {
            ring: self,
            write: head,
        }
    }

    /// The reading end.
    ///
    /// # Safety
    /// There must be no other reading end in use, on either core.
    pub unsafe fn consumer(&self) -> Consumer<'_> {
        let tail = self.tail.0.load(Ordering::Relaxed);
        Consumer { ring: self, read: tail }
    }

    /// Splits a range of the ring at free-running `index` into at most two pieces: start, and
    /// length of the first.
    fn pieces(index: u32, len: usize) -> (usize, usize) {
        let at = (index & MASK) as usize;
        (at, len.min(CAPACITY - at))
    }
}

/// Writing end of a [`Ring`].
pub struct Producer<'a> {
    ring: &'a Ring,
    /// Index of the next byte; ahead of the published head while a frame is being written.
    write: u32,
}

impl Producer<'_> {
    /// Bytes that [`write`](Self::write) would accept now.
    pub fn free(&self) -> usize {
        let used = self.write.wrapping_sub(self.ring.tail.0.load(Ordering::Acquire)) as usize;
        // An invalid tail counts as "full": supervision then restarts the consumer's side.
        CAPACITY.saturating_sub(used)
    }

    /// Whether the consumer's index is valid.
    pub fn intact(&self) -> bool {
        self.write.wrapping_sub(self.ring.tail.0.load(Ordering::Acquire)) as usize <= CAPACITY
    }

    /// Writes as much of `bytes` as fits, unpublished, and returns the number of bytes.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        let len = bytes.len().min(self.free());
        self.put(self.write, &bytes[..len]);
        self.write = self.write.wrapping_add(len as u32);
        len
    }

    /// Writes `words`, `bytes`, and zeros up to a whole word, unpublished. Only whole words may
    /// have been written before, and the caller must have checked that there is room
    /// ([`free`](Self::free)).
    pub fn write_words(&mut self, words: [u32; 2], bytes: &[u8]) {
        for word in words {
            self.put_word(self.write, word);
            self.write = self.write.wrapping_add(4);
        }
        let rest = bytes.len() & 3;
        if rest != 0 {
            self.put_word(self.write.wrapping_add((bytes.len() - rest) as u32), 0);
        }
        self.put(self.write, bytes);
        self.write = self.write.wrapping_add((bytes.len() as u32).wrapping_add(3) & !3);
    }

    /// Writes `len` zeros, less than a word, if there is room.
    pub fn pad(&mut self, len: usize) {
        if len > 0 {
            self.write(&[0; 3][..len]);
        }
    }

    /// Position of the next byte, for [`patch`](Self::patch).
    pub fn position(&self) -> u32 {
        self.write
    }

    /// Overwrites bytes that were written at `position` and are not published yet.
    pub fn patch(&mut self, position: u32, bytes: &[u8]) {
        debug_assert!(self.write.wrapping_sub(position) as usize >= bytes.len());
        self.put(position, bytes);
    }

    /// Publishes everything written so far to the consumer.
    pub fn publish(&mut self) {
        self.ring.head.0.store(self.write, Ordering::Release);
    }

    fn put_word(&mut self, index: u32, word: u32) {
        let at = (index & MASK & !3) as usize;
        let base = self.ring.buffer.get() as *mut u8;
        // SAFETY: a word inside the buffer, which begins on a cache line, in the producer's part
        // (see `Sync`).
        unsafe { base.add(at).cast::<u32>().write(word.to_le()) };
    }

    fn put(&mut self, index: u32, bytes: &[u8]) {
        let (at, first) = Ring::pieces(index, bytes.len());
        let base = self.ring.buffer.get() as *mut u8;
        // SAFETY: both pieces lie inside the buffer, in the producer's part (see `Sync`).
        unsafe {
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), base.add(at), first);
            if first < bytes.len() {
                core::ptr::copy_nonoverlapping(bytes.as_ptr().add(first), base, bytes.len() - first);
            }
        }
    }
}

/// Reading end of a [`Ring`].
pub struct Consumer<'a> {
    ring: &'a Ring,
    read: u32,
}

impl Consumer<'_> {
    /// Bytes that can be read now.
    pub fn available(&self) -> Result<usize, Corrupt> {
        let used = self.ring.head.0.load(Ordering::Acquire).wrapping_sub(self.read) as usize;
        if used > CAPACITY {
            return Err(Corrupt);
        }
        Ok(used)
    }

    /// Reads and consumes as many available bytes as fit into `bytes`; returns their number.
    pub fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Corrupt> {
        let len = self.peek(bytes)?;
        self.skip(len);
        Ok(len)
    }

    /// Like [`read`](Self::read), but leaves the bytes in the ring.
    pub fn peek(&self, bytes: &mut [u8]) -> Result<usize, Corrupt> {
        let len = bytes.len().min(self.available()?);
        self.copy(&mut bytes[..len]);
        Ok(len)
    }

    /// The next two words, which must be [`available`](Self::available). Only whole words may have
    /// been consumed before.
    pub fn peek_words(&self) -> [u32; 2] {
        [0, 4].map(|offset| {
            let at = (self.read.wrapping_add(offset) & MASK & !3) as usize;
            let base = self.ring.buffer.get() as *const u8;
            // SAFETY: a word inside the buffer, which begins on a cache line, in the consumer's
            // part (see `Sync`).
            u32::from_le(unsafe { base.add(at).cast::<u32>().read() })
        })
    }

    /// Fills `bytes` with the next bytes, which must be [`available`](Self::available).
    pub fn copy(&self, bytes: &mut [u8]) {
        let len = bytes.len();
        let (at, first) = Ring::pieces(self.read, len);
        let base = self.ring.buffer.get() as *const u8;
        // SAFETY: both pieces lie inside the buffer, in the published part that belongs to the
        // consumer (see `Sync`).
        unsafe {
            core::ptr::copy_nonoverlapping(base.add(at), bytes.as_mut_ptr(), first);
            if first < len {
                core::ptr::copy_nonoverlapping(base, bytes.as_mut_ptr().add(first), len - first);
            }
        }
    }

    /// Consumes `len` bytes, which must be [`available`](Self::available).
    pub fn skip(&mut self, len: usize) {
        self.read = self.read.wrapping_add(len as u32);
        self.ring.tail.0.store(self.read, Ordering::Release);
    }

    /// Like [`skip`](Self::skip), but frees whole words only: a partially read word is freed later.
    pub fn skip_words(&mut self, len: usize) {
        self.read = self.read.wrapping_add(len as u32);
        self.ring.tail.0.store(self.read & !3, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::boxed::Box;
    use std::collections::VecDeque;
    use std::vec::Vec;

    fn ring_at(start: u32) -> Box<Ring> {
        // SAFETY: all zero is a valid ring; on the heap because it is large.
        let ring: Box<Ring> = unsafe { Box::new_zeroed().assume_init() };
        ring.head.0.store(start, Ordering::Relaxed);
        ring.tail.0.store(start, Ordering::Relaxed);
        ring
    }

    #[test]
    fn unpublished_bytes_are_invisible_to_the_reader() {
        let ring = ring_at(0);
        // SAFETY: one end each.
        let (mut p, c) = unsafe { (ring.producer(), ring.consumer()) };
        p.write(b"abc");
        assert_eq!(c.available(), Ok(0));
        p.patch(p.position().wrapping_sub(3), b"x");
        p.publish();
        let mut got = [0; 8];
        assert_eq!(c.peek(&mut got), Ok(3));
        assert_eq!(&got[..3], b"xbc");
    }

    #[test]
    fn overwritten_index_is_an_error() {
        let ring = ring_at(0);
        // SAFETY: one end each.
        let (p, mut c) = unsafe { (ring.producer(), ring.consumer()) };
        ring.head.0.store(0xdead_beef, Ordering::Relaxed);
        assert_eq!(c.read(&mut [0; 16]), Err(Corrupt));
        ring.tail.0.store(0x1234_5678, Ordering::Relaxed);
        assert_eq!(p.free(), 0);
    }

    #[test]
    fn bytes_between_two_threads_keep_their_order() {
        let ring: &'static Ring = Box::leak(ring_at(u32::MAX - 1000));
        const TOTAL: usize = 4 << 20;
        let writer = std::thread::spawn(move || {
            // SAFETY: the only producer.
            let mut p = unsafe { ring.producer() };
            let mut n = 0usize;
            while n < TOTAL {
                let chunk: Vec<u8> = (n..(n + 1 + n % 997).min(TOTAL))
                    .map(|i| (i * 7 + i / 251) as u8)
                    .collect();
                let mut sent = 0;
                while sent < chunk.len() {
                    sent += p.write(&chunk[sent..]);
                    p.publish();
                    std::thread::yield_now();
                }
                n += chunk.len();
            }
        });
        // SAFETY: the only consumer.
        let mut c = unsafe { ring.consumer() };
        let mut buf = [0; 1500];
        let mut n = 0usize;
        while n < TOTAL {
            let len = c.read(&mut buf).unwrap();
            for byte in &buf[..len] {
                assert_eq!(*byte, (n * 7 + n / 251) as u8, "byte {n}");
                n += 1;
            }
            std::thread::yield_now();
        }
        writer.join().unwrap();
        assert_eq!(c.available(), Ok(0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Any sequence of partial writes and reads behaves as an unbounded queue limited to the
        /// capacity, wherever the indices start (the free-running counters wrap at 2^32, the buffer
        /// at its end).
        #[test]
        fn ring_behaves_as_a_queue(start in prop_oneof![any::<u32>(), Just(u32::MAX - 5), Just(MASK - 3)],
                              steps in prop::collection::vec((any::<bool>(), 0usize..200_000, any::<u8>()), 1..40)) {
            let ring = ring_at(start);
            // SAFETY: one end each.
            let (mut p, mut c) = unsafe { (ring.producer(), ring.consumer()) };
            let mut model = VecDeque::new();
            for (write, len, seed) in steps {
                if write {
                    let data: Vec<u8> = (0..len).map(|i| (i as u8).wrapping_mul(31).wrapping_add(seed)).collect();
                    let room = CAPACITY - model.len();
                    prop_assert_eq!(p.free(), room);
                    let n = p.write(&data);
                    prop_assert_eq!(n, len.min(room));
                    model.extend(&data[..n]);
                    p.publish();
                } else {
                    let mut data = std::vec![0; len];
                    let n = c.read(&mut data).unwrap();
                    prop_assert_eq!(n, len.min(model.len()));
                    let expected: Vec<u8> = model.drain(..n).collect();
                    prop_assert_eq!(&data[..n], &expected[..]);
                }
            }
        }
    }
}
