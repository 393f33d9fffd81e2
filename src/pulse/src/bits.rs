//! Words of 256 bits, and integers of arbitrary width.

use kairos_contracts::pulse::WORD_BYTES;

/// A word of the stream. `0[0]` holds bits 63..0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Word(pub [u64; 4]);

impl Word {
    /// Reads a word from its bytes on the wire, least significant first.
    pub fn from_bytes(bytes: &[u8; WORD_BYTES]) -> Self {
        let limb = |n: usize| u64::from_le_bytes(core::array::from_fn(|byte| bytes[8 * n + byte]));
        Self(core::array::from_fn(limb))
    }

    /// The bytes on the wire.
    pub fn to_bytes(self) -> [u8; WORD_BYTES] {
        core::array::from_fn(|n| (self.0[n / 8] >> (8 * (n % 8))) as u8)
    }

    /// Extracts `bits` (at most 64) bits from bit `at` on.
    #[inline]
    pub fn get(&self, at: usize, bits: usize) -> u64 {
        let (limb, shift) = (at / 64, at % 64);
        let mut value = self.0[limb] >> shift;
        if shift + bits > 64 {
            value |= self.0[limb + 1] << (64 - shift);
        }
        value & mask(bits)
    }

    /// Extracts bits as a number in two's complement.
    #[inline]
    pub fn get_signed(&self, at: usize, bits: usize) -> i64 {
        wrap(self.get(at, bits) as i64, bits)
    }

    /// Inserts the low `bits` bits of `value` from bit `at` on, where the word must be zero.
    #[inline]
    #[must_use]
    pub fn with(mut self, at: usize, bits: usize, value: u64) -> Self {
        let value = value & mask(bits);
        let (limb, shift) = (at / 64, at % 64);
        self.0[limb] |= value << shift;
        if shift + bits > 64 {
            self.0[limb + 1] |= value >> (64 - shift);
        }
        self
    }
}

const fn mask(bits: usize) -> u64 {
    u64::MAX >> (64 - bits)
}

/// The low `bits` bits (1 to 64) of a number, as two's complement.
#[inline]
pub const fn wrap(value: i64, bits: usize) -> i64 {
    let unused = 64 - bits as u32;
    (value << unused) >> unused
}
