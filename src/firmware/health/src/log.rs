//! The ring that keeps the newest lines of the log. Whole lines are dropped, and their bytes
//! counted.

/// Up to `N` bytes of text, in lines terminated by line feeds.
pub struct Ring<const N: usize> {
    text: [u8; N],
    /// Bytes ever pushed before the kept text, and in total.
    start: u64,
    end: u64,
    /// Bytes dropped since the last [`Self::clear`].
    dropped: u64,
}

impl<const N: usize> Default for Ring<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Ring<N> {
    /// An empty ring. All zero, so that a static one takes no space in the image.
    pub const fn new() -> Self {
        Self {
            text: [0; N],
            start: 0,
            end: 0,
            dropped: 0,
        }
    }

    pub fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Bytes dropped, before they were read, since the last `clear`.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Appends text, dropping the oldest lines as needed.
    pub fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.len() == N {
                self.drop_line();
            }
            self.text[(self.end % N as u64) as usize] = *byte;
            self.end += 1;
        }
    }

    fn drop_line(&mut self) {
        while self.start < self.end {
            let byte = self.text[(self.start % N as u64) as usize];
            self.start += 1;
            self.dropped += 1;
            if byte == b'\n' {
                break;
            }
        }
    }

    /// Copies as much of the oldest text as fits to `out`; returns its length.
    pub fn peek(&self, out: &mut [u8]) -> usize {
        let length = self.len().min(out.len());
        let first = (self.start % N as u64) as usize;
        let part = length.min(N - first);
        out[..part].copy_from_slice(&self.text[first..first + part]);
        out[part..length].copy_from_slice(&self.text[..length - part]);
        length
    }

    /// The oldest byte.
    pub fn front(&self) -> Option<u8> {
        (!self.is_empty()).then(|| self.text[(self.start % N as u64) as usize])
    }

    /// Removes the oldest byte.
    pub fn pop(&mut self) {
        if !self.is_empty() {
            self.start += 1;
        }
    }

    /// Empties the ring and resets the count of dropped bytes.
    pub fn clear(&mut self) {
        self.start = self.end;
        self.dropped = 0;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::{format, string::String, vec::Vec};

    proptest! {
        #[test]
        fn full_buffer_keeps_newest_complete_lines(lengths in proptest::collection::vec(0usize..20, 0..60)) {
            let mut ring = Ring::<64>::new();
            let mut all = String::new();
            for (n, length) in lengths.iter().enumerate() {
                let line = format!("{n}{}\n", "x".repeat(*length));
                ring.push(line.as_bytes());
                all += &line;
                prop_assert_eq!(ring.dropped() as usize + ring.len(), all.len());
            }
            let mut kept = [0; 64];
            let length = ring.peek(&mut kept);
            prop_assert!(all.as_bytes().ends_with(&kept[..length]));
            let dropped = all.len() - length;
            prop_assert!(dropped == 0 || all.as_bytes()[dropped - 1] == b'\n');
            // No more was dropped than the last line needed.
            prop_assert!(dropped == 0 || length + 23 + 23 > 64);
        }
    }

    #[test]
    fn line_longer_than_ring_is_dropped_and_counted() {
        let mut ring = Ring::<8>::new();
        ring.push(b"0123456789\n");
        assert_eq!((ring.len(), ring.dropped()), (3, 8));
        ring.clear();
        assert_eq!((ring.is_empty(), ring.dropped(), ring.front()), (true, 0, None));
        ring.push(b"ab\n");
        let mut taken = Vec::new();
        while let Some(byte) = ring.front() {
            taken.push(byte);
            ring.pop();
        }
        assert_eq!((taken.as_slice(), ring.dropped()), (&b"ab\n"[..], 0));
    }
}
