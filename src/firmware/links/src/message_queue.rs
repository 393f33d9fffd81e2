//! Messages received from other boards that wait to be processed, in one memory area.

use core::mem::size_of;

use kairos_proto::kernel_message::{Header, HEADER_LENGTH};

/// Bytes before a payload: the encoded [`Entry`].
const PREFIX: usize = HEADER_LENGTH + 2 * size_of::<u32>();
/// Where in it the stream and the number of received bytes are.
const STREAM: usize = HEADER_LENGTH;
const FILLED: usize = STREAM + size_of::<u32>();

/// Received messages, oldest first.
pub struct MessageQueue<'m> {
    memory: &'m mut [u8],
    used: usize,
}

/// Position of a message, valid until one is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(usize);

/// What the queue stores in front of a payload.
struct Entry {
    header: Header,
    /// Destination of the board whose stream it arrived on.
    stream: u8,
    /// Bytes of the payload received so far.
    filled: usize,
}

impl Entry {
    fn end(&self, handle: Handle) -> usize {
        handle.0 + PREFIX + self.header.length as usize
    }

    fn is_complete(&self) -> bool {
        self.filled == self.header.length as usize
    }
}

impl<'m> MessageQueue<'m> {
    pub fn new(memory: &'m mut [u8]) -> Self {
        Self { memory, used: 0 }
    }

    /// Longest payload that is accepted; half of the memory, so that one message does not keep all
    /// others out.
    pub fn longest(&self) -> usize {
        self.memory.len() / 2 - PREFIX
    }

    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// Whether there is space for a message now.
    pub fn has_space(&self, header: &Header) -> bool {
        self.used + PREFIX + header.length as usize <= self.memory.len()
    }

    /// Reserves space for a message that arrives on `stream`; false if there is none yet.
    pub fn begin(&mut self, stream: u8, header: &Header) -> bool {
        if !self.has_space(header) {
            return false;
        }
        let start = self.used;
        self.used += PREFIX + header.length as usize;
        self.memory[start..start + HEADER_LENGTH].copy_from_slice(&header.encode());
        self.put(start + STREAM, u32::from(stream));
        self.put(start + FILLED, 0);
        true
    }

    /// The space for the next payload bytes from `stream`; empty if the payload is complete, or
    /// none has begun.
    pub fn space(&mut self, stream: u8) -> &mut [u8] {
        match self.incomplete(stream) {
            Some((handle, entry)) => {
                let end = entry.end(handle);
                &mut self.memory[handle.0 + PREFIX + entry.filled..end]
            }
            None => &mut [],
        }
    }

    /// Records that `count` bytes have been stored there.
    pub fn filled(&mut self, stream: u8, count: usize) {
        if let Some((handle, entry)) = self.incomplete(stream) {
            self.put(handle.0 + FILLED, (entry.filled + count) as u32);
        }
    }

    /// Discards the incomplete message of a stream that is lost.
    pub fn discard_incomplete(&mut self, stream: u8) {
        if let Some((handle, _)) = self.incomplete(stream) {
            self.remove(handle);
        }
    }

    /// The oldest message that is complete and wanted.
    pub fn find(&self, mut wanted: impl FnMut(&Header) -> bool) -> Option<(Handle, Header)> {
        let mut entries = self.entries();
        entries.find_map(|(handle, Entry { header, filled, .. })| {
            (filled == header.length as usize && wanted(&header)).then_some((handle, header))
        })
    }

    /// The destination of the board whose stream it arrived on.
    pub fn stream(&self, handle: Handle) -> u8 {
        self.word(handle.0 + STREAM) as u8
    }

    /// The payload of a message found by [`Self::find`].
    pub fn payload(&self, handle: Handle) -> &[u8] {
        let end = self.entry(handle).map_or(0, |entry| entry.end(handle));
        self.memory.get(handle.0 + PREFIX..end).unwrap_or(&[])
    }

    /// Removes a processed message. All other handles become invalid.
    pub fn remove(&mut self, handle: Handle) {
        if let Some(entry) = self.entry(handle) {
            let end = entry.end(handle);
            self.memory.copy_within(end..self.used, handle.0);
            self.used -= end - handle.0;
        }
    }

    /// Removes all complete messages that are not wanted.
    pub fn retain(&mut self, wanted: impl Fn(&Header) -> bool) {
        while let Some((handle, _)) = self.find(|header| !wanted(header)) {
            self.remove(handle);
        }
    }

    /// Removes unwanted complete messages before a position.
    pub fn remove_before(&mut self, position: Handle, unwanted: impl Fn(&Header) -> bool) {
        let mut end = position.0;
        while let Some((older, header)) = self.find(&unwanted).filter(|(older, _)| older.0 < end) {
            end -= PREFIX + header.length as usize;
            self.remove(older);
        }
    }

    fn entries(&self) -> impl Iterator<Item = (Handle, Entry)> + '_ {
        let mut next = Handle(0);
        core::iter::from_fn(move || {
            let handle = next;
            let entry = self.entry(handle)?;
            next = Handle(entry.end(handle));
            Some((handle, entry))
        })
    }

    /// The incomplete message of a stream.
    fn incomplete(&self, stream: u8) -> Option<(Handle, Entry)> {
        let mut entries = self.entries();
        entries.find(|(_, entry)| entry.stream == stream && !entry.is_complete())
    }

    fn entry(&self, handle: Handle) -> Option<Entry> {
        let bytes = self.memory.get(handle.0..self.used)?;
        Some(Entry {
            header: Header::decode(bytes.first_chunk()?)?,
            stream: self.stream(handle),
            filled: self.word(handle.0 + FILLED) as usize,
        })
    }

    fn put(&mut self, offset: usize, value: u32) {
        self.memory[offset..offset + size_of::<u32>()].copy_from_slice(&value.to_le_bytes());
    }

    fn word(&self, offset: usize) -> u32 {
        kairos_proto::bytes::u32_at(self.memory, offset).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use kairos_proto::kernel_message::KernelMessage;
    use std::vec;

    use super::*;

    fn message(number: u32, length: u32) -> Header {
        Header {
            kind: KernelMessage::Message,
            board: 1,
            number,
            length,
        }
    }

    fn put(queue: &mut MessageQueue, stream: u8, bytes: &[u8]) {
        queue.space(stream)[..bytes.len()].copy_from_slice(bytes);
        queue.filled(stream, bytes.len());
    }

    #[test]
    fn interleaved_messages_are_found_once_complete() {
        let mut memory = vec![0; 200];
        let mut queue = MessageQueue::new(&mut memory);
        assert!(queue.begin(1, &message(7, 5)));
        put(&mut queue, 1, b"ab");
        assert!(queue.begin(2, &message(8, 3)));
        put(&mut queue, 2, b"xyz");
        assert!(queue.begin(2, &Header::new(KernelMessage::Finished, 9)));
        assert_eq!(queue.space(2), b"");
        assert_eq!(queue.find(|header| header.number == 7), None);
        let (handle, header) = queue.find(|_| true).unwrap();
        assert_eq!((header, queue.payload(handle)), (message(8, 3), &b"xyz"[..]));
        assert_eq!(queue.stream(handle), 2);
        put(&mut queue, 1, b"cde");
        let (handle, _) = queue.find(|_| true).unwrap();
        assert_eq!(queue.payload(handle), b"abcde");
        queue.remove(handle);
        let has = |queue: &MessageQueue, number| queue.find(|header| header.number == number).is_some();
        assert_eq!([7, 8, 9].map(|number| has(&queue, number)), [false, true, true]);
        queue.retain(|header| header.kind == KernelMessage::Finished);
        assert_eq!([7, 8, 9].map(|number| has(&queue, number)), [false, false, true]);
    }

    #[test]
    fn remove_before_keeps_later_messages() {
        let mut memory = vec![0; 200];
        let mut queue = MessageQueue::new(&mut memory);
        for number in [7, 8, 7, 9, 7] {
            assert!(queue.begin(1, &Header::new(KernelMessage::Finished, number)));
        }
        let (handle, _) = queue.find(|header| header.number == 9).unwrap();
        queue.remove(handle);
        queue.remove_before(handle, |header| header.number == 7);
        let mut left = vec![];
        while let Some((handle, header)) = queue.find(|_| true) {
            queue.remove(handle);
            left.push(header.number);
        }
        assert_eq!(left, [8, 7]);
    }

    #[test]
    fn full_queue_rejects_messages_until_an_incomplete_one_is_discarded() {
        let mut memory = vec![0; 2 * PREFIX + 10];
        let mut queue = MessageQueue::new(&mut memory);
        let longest = message(1, 2 * PREFIX as u32);
        assert!(!queue.has_space(&longest) && !queue.begin(1, &longest));
        assert!(queue.begin(1, &message(1, 10)));
        put(&mut queue, 1, b"abc");
        assert!(queue.begin(2, &message(2, 0)));
        assert!(!queue.begin(2, &message(3, 0)));
        queue.discard_incomplete(1);
        assert!(queue.begin(2, &message(3, 10)));
        assert_eq!(queue.find(|_| true).unwrap().1.number, 2);
        queue.discard_incomplete(1);
        queue.clear();
        assert_eq!(queue.find(|_| true), None);
    }
}
