//! Shift registers of serial buses: input at one clock edge, output at the other.

use crate::model::Outbox;

/// An input shift register, most significant bit first, for messages of any length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shift {
    /// The received bits, the latest in bit 0.
    pub bits: u64,
    /// Number of received bits.
    pub count: u32,
}

impl Shift {
    /// Shifts in a bit.
    pub fn take(&mut self, bit: bool) {
        self.bits = self.bits << 1 | u64::from(bit);
        self.count += 1;
    }

    /// Takes the message once it has `width` bits, which clears the register.
    pub fn message(&mut self, width: u32) -> Option<u64> {
        if self.count < width {
            return None;
        }
        let bits = self.bits & mask(width);
        *self = Self::default();
        Some(bits)
    }
}

/// An output word, most significant bit first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sent {
    word: u64,
    left: u32,
}

impl Sent {
    /// Loads a word of `width` bits.
    pub fn new(word: u64, width: u32) -> Self {
        Self { word, left: width }
    }

    /// Shifts out the next bit; zeros after the last.
    pub fn take(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        let bit = self.word >> self.left & 1 != 0;
        if self.left == 0 {
            self.word = 0;
        }
        bit
    }
}

/// A mask of `width` ones.
pub const fn mask(width: u32) -> u64 {
    match width {
        64.. => u64::MAX,
        _ => (1 << width) - 1,
    }
}

/// Counts clock edges while no chip is selected: a few are a change of the clock's idle level, more
/// are a message.
#[derive(Debug, Default)]
pub struct UnselectedMessage(u32);

impl UnselectedMessage {
    const MESSAGE: u32 = 8;

    /// Counts a bit that no chip receives.
    pub fn bit(&mut self, out: &mut Outbox) {
        self.0 += 1;
        if self.0 == Self::MESSAGE {
            out.warn("a message without a chip select: no chip receives it; check the chip select (cs)");
        }
    }

    /// Resets the count when the chip select changes.
    pub fn end(&mut self) {
        self.0 = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shifted_word_arrives_after_its_last_bit(word: u64, width in 1u32..=64) {
            let mut sent = Sent::new(word & mask(width), width);
            let mut shift = Shift::default();
            for bit in 0..width {
                prop_assert_eq!(shift.message(width), None, "after {} bits", bit);
                shift.take(sent.take());
            }
            prop_assert_eq!(shift.message(width), Some(word & mask(width)));
            prop_assert!(!sent.take());
        }
    }
}
