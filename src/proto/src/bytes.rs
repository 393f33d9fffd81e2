//! Reads little-endian integers from bytes. No read panics: where the bytes are too few, it returns
//! `None`, or the lengths are compared by the compiler.

/// The 16-bit number at offset `at`.
#[inline]
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let (_, rest) = bytes.split_at_checked(at)?;
    rest.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}

/// The 32-bit number at offset `at`.
#[inline]
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let (_, rest) = bytes.split_at_checked(at)?;
    rest.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// All of an array as 32-bit numbers. An array of another length does not compile.
#[inline]
pub const fn words<const BYTES: usize, const WORDS: usize>(bytes: &[u8; BYTES]) -> [u32; WORDS] {
    const { assert!(BYTES == 4 * WORDS) };
    let mut words = [0; WORDS];
    let mut index = 0;
    while index < WORDS {
        let at = 4 * index;
        words[index] = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        index += 1;
    }
    words
}

/// The signed 64-bit number of which `low` and `high` are the halves.
#[inline]
pub const fn long(low: u32, high: u32) -> i64 {
    (low as u64 | (high as u64) << 32) as i64
}

/// Reads consecutive fields.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// The next `length` bytes.
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub fn byte(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    /// The next 32-bit number.
    pub fn word(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// The next signed 64-bit number.
    pub fn long(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BYTES: [u8; 8] = [0x78, 0x56, 0x34, 0x12, 0xff, 0xff, 0xff, 0xff];

    #[test]
    fn fields_are_read_as_little_endian() {
        assert_eq!(
            (u16_at(&BYTES, 1), u32_at(&BYTES, 0)),
            (Some(0x3456), Some(0x1234_5678))
        );
        assert_eq!(words(&BYTES), [0x1234_5678, u32::MAX]);
        assert_eq!(long(0x1234_5678, u32::MAX), i64::from_le_bytes(BYTES));
        let mut reader = Reader(&BYTES);
        assert_eq!(
            (reader.byte(), reader.take(2), reader.byte()),
            (Some(0x78), Some(&BYTES[1..3]), Some(0x12))
        );
        assert_eq!((reader.word(), reader.word()), (Some(u32::MAX), None));
        assert_eq!(Reader(&BYTES).long(), Some(i64::from_le_bytes(BYTES)));
    }

    #[test]
    fn incomplete_field_leaves_the_reader_unchanged() {
        let mut reader = Reader(&BYTES[..3]);
        assert_eq!((reader.word(), reader.long(), reader.take(4)), (None, None, None));
        assert_eq!(reader.take(3), Some(&BYTES[..3]));
    }

    proptest! {
        #[test]
        fn read_beyond_the_bytes_returns_none(length in 0..8usize, at in prop_oneof![0..12usize, Just(usize::MAX)]) {
            let bytes = &BYTES[..length];
            prop_assert_eq!(u16_at(bytes, at).is_some(), at <= length && length - at >= 2);
            prop_assert_eq!(u32_at(bytes, at).is_some(), at <= length && length - at >= 4);
        }
    }
}
