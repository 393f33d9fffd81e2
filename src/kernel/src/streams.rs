//! Words for the pulse core that its reader fetches from memory: each stream is a list of
//! descriptors followed by its words, in uncached memory, since the HP port does not see the
//! caches.
//!
//! Streams are stored consecutively, and from the start again where there is no room: a stream
//! remains until the memory has wrapped around to it.

/// Alignment of the list, and the unit in which it is read (`kairos_gateware/dma/stream.py`).
const BLOCK: usize = 128;
/// Integers per word.
pub const WORD: usize = 8;
/// Integers in the block of the list: one descriptor {address, words, 0, 0}, and one of no words.
const HEAD: usize = BLOCK / 4;

/// Stores a stream of `words` in `memory`, aligned to 128 bytes and at address `base`, after the
/// previous end `next` (integers). Returns the address of its list, and its end; `None` if it does
/// not fit.
pub fn put(memory: &mut [u32], base: u32, next: usize, words: &[u32]) -> Option<(u32, usize)> {
    let length = HEAD + words.len().next_multiple_of(HEAD);
    // Whole blocks are read, so all of the last one must be in the memory.
    let start = if next + length <= memory.len() { next } else { 0 };
    let place = memory.get_mut(start..start + length)?;
    let address = base + 4 * start as u32;
    let (list, content) = place.split_at_mut(HEAD);
    list.fill(0);
    list[..2].copy_from_slice(&[address + BLOCK as u32, (words.len() / WORD) as u32]);
    content[..words.len()].copy_from_slice(words);
    Some((address, start + length))
}

/// Number of words in the longest stream for `bytes` bytes of memory.
pub const fn most(bytes: usize) -> usize {
    (bytes / 4 - HEAD) / WORD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_followed_by_its_words() {
        let mut memory = [0xffff_ffff; 4 * HEAD];
        let words: Vec<u32> = (1..=16).collect();
        assert_eq!(put(&mut memory, 0x1000, 0, &words), Some((0x1000, 2 * HEAD)));
        // One descriptor, then one of no words.
        assert_eq!(memory[..8], [0x1080, 2, 0, 0, 0, 0, 0, 0]);
        assert_eq!(memory[HEAD..][..16], words[..]);
        assert_eq!(memory[HEAD + 16], 0xffff_ffff);
        assert_eq!(put(&mut memory, 0x1000, 2 * HEAD, &words), Some((0x1100, 4 * HEAD)));
        assert_eq!(memory[2 * HEAD..][..2], [0x1180, 2]);
    }

    #[test]
    fn full_ring_wraps_to_its_start() {
        let mut memory = [0; 4 * HEAD];
        let most = 3 * HEAD;
        assert_eq!(put(&mut memory, 0x80, HEAD, &vec![7; most]), Some((0x80, 4 * HEAD)));
        assert_eq!(memory[..2], [0x100, (most / WORD) as u32]);
        assert_eq!(put(&mut memory, 0x80, 0, &vec![7; most + 1]), None);
        assert_eq!(super::most(4 * BLOCK), most / WORD);
        assert_eq!(
            put(&mut memory, 0x80, 3 * HEAD, &[]),
            Some((0x80 + 3 * BLOCK as u32, 4 * HEAD))
        );
    }
}
