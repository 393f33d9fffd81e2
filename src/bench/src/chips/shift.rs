//! Bits on a serial bus: what comes in at one edge of the clock, what goes out at the other.

use crate::model::Outbox;

/// A shift register, the highest bit first, as long as a message is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shift {
    /// The bits that have come, the newest lowest.
    pub bits: u64,
    /// How many.
    pub count: u32,
}

impl Shift {
    /// A bit comes.
    pub fn take(&mut self, bit: bool) {
        self.bits = self.bits << 1 | u64::from(bit);
        self.count += 1;
    }

    /// The message, once it has so many bits; it begins anew then.
    pub fn message(&mut self, width: u32) -> Option<u64> {
        if self.count < width {
            return None;
        }
        let bits = self.bits & mask(width);
        *self = Self::default();
        Some(bits)
    }
}

/// A word that goes out, the highest bit first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sent {
    word: u64,
    left: u32,
}

impl Sent {
    /// This word, of so many bits.
    pub fn new(word: u64, width: u32) -> Self {
        Self { word, left: width }
    }

    /// The next bit; zeros behind the last.
    pub fn take(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        let bit = self.word >> self.left & 1 != 0;
        if self.left == 0 {
            self.word = 0;
        }
        bit
    }
}

/// So many ones.
pub const fn mask(width: u32) -> u64 {
    match width {
        64.. => u64::MAX,
        _ => (1 << width) - 1,
    }
}

/// Bits on a bus while no chip is selected: a few are a clock that changes its idle level, more a message.
#[derive(Debug, Default)]
pub struct Unheard(u32);

impl Unheard {
    const MESSAGE: u32 = 8;

    /// A bit that nobody hears.
    pub fn bit(&mut self, out: &mut Outbox) {
        self.0 += 1;
        if self.0 == Self::MESSAGE {
            out.warn("a message without a chip select: nobody hears it: look at the chip select (cs)");
        }
    }

    /// A chip is selected, or no longer.
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
        fn what_goes_out_comes_in(word: u64, width in 1u32..=64) {
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
