//! The arithmetic of a spline engine: three sums per cycle, which wrap at the widths of the core's
//! registers.

use crate::{wrap, Segment};
use kairos_contracts::pulse::{V1_BITS, V2_BITS, VALUE_BITS};

/// Value and differences of a running segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spline {
    value: i64,
    first: i64,
    second: i128,
    third: i64,
    shift: u32,
}

impl Spline {
    /// Starts a segment.
    pub fn new(segment: &Segment) -> Self {
        let [value, first, second, third] = segment.u;
        Self {
            value,
            first,
            second: second.into(),
            third,
            shift: segment.shift.into(),
        }
    }

    /// The parameter's value in this cycle, 40 bits.
    pub const fn value(&self) -> i64 {
        self.value
    }

    /// Whether the value no longer changes.
    pub const fn is_constant(&self) -> bool {
        self.first == 0 && self.second == 0 && self.third == 0
    }

    /// Advances by one cycle. Each sum uses the values from before it.
    #[inline]
    pub fn advance(&mut self) {
        self.value = wrap(self.value.wrapping_add(self.first >> self.shift), VALUE_BITS);
        self.first = wrap((self.first as i128 + (self.second >> self.shift)) as i64, V1_BITS);
        let unused = 128 - V2_BITS as u32;
        self.second = ((self.second + (self.third >> self.shift) as i128) << unused) >> unused;
    }

    /// Advances by a number of cycles.
    pub fn skip(&mut self, cycles: u64) {
        let mut values = [0; 64];
        let mut left = cycles;
        while left != 0 {
            let some = left.min(values.len() as u64);
            self.fill(&mut values[..some as usize]);
            left -= some;
        }
    }

    /// Writes the values of as many cycles as `out` is long, and advances past them.
    pub fn fill(&mut self, out: &mut [i64]) {
        let cycles = out.len() as i128;
        let Some(mut second) = self.narrow(cycles) else {
            for value in out {
                *value = self.value;
                self.advance();
            }
            return;
        };
        // 64 bits are sufficient for all of these cycles; the first difference is wrapped like the
        // value.
        let (mut value, mut first, shift) = (self.value, self.first, self.shift);
        let step = self.third >> shift;
        for to in out {
            *to = wrap(value, VALUE_BITS);
            value = value.wrapping_add(first >> shift);
            first = wrap(first.wrapping_add(second >> shift), V1_BITS);
            second += step;
        }
        (self.value, self.first, self.second) = (wrap(value, VALUE_BITS), first, second.into());
    }

    /// The second difference, if it fits into 64 bits for this many cycles and need not wrap.
    fn narrow(&self, cycles: i128) -> Option<i64> {
        let last = self.second + cycles * (self.third >> self.shift) as i128;
        (self.second.abs().max(last.abs()) < 1 << 62).then_some(self.second as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values<const N: usize>(u: [i64; 4], shift: u8) -> [i64; N] {
        let mut spline = Spline::new(&Segment {
            u,
            shift,
            tau: N as u64,
            flags: 0,
        });
        core::array::from_fn(|_| {
            let value = spline.value();
            spline.advance();
            value
        })
    }

    #[test]
    fn check_17_to_21_differences_give_expected_values() {
        assert_eq!(values([0, 8, 0, 0], 0), [0, 8, 16, 24]);
        assert_eq!(values([0, 3, 0, 0], 1), [0, 1, 2, 3, 4, 5]);
        assert_eq!(values([0, -3, 0, 0], 1), [0, -2, -4, -6, -8, -10]);
        assert_eq!(values([10, 0, 4, 0], 1), [10, 10, 11, 13, 16, 20]);
        assert_eq!(values([0, 0, 0, 64], 2), [0, 0, 0, 1, 4, 10, 20, 35]);
    }

    #[test]
    fn check_22_values_wrap_at_their_width() {
        let values: [i64; 3] = values([0x7f_ffff_fff0, 0x10, 0, 0], 0);
        assert_eq!(
            values.map(|v| v & 0xff_ffff_ffff),
            [0x7f_ffff_fff0, 0x80_0000_0000, 0x80_0000_0010]
        );
    }

    proptest! {
        /// Filling many cycles at once equals advancing one by one.
        #[test]
        fn filling_many_cycles_equals_advancing(u in prop::array::uniform4(-1i64 << 39..1 << 39), shift in 0u8..32, cycles in 1usize..300) {
            let mut filled = Spline::new(&Segment { u, shift, tau: 0, flags: 0 });
            let mut advanced = filled;
            let mut out = std::vec![0; cycles];
            filled.fill(&mut out);
            for value in out {
                prop_assert_eq!(value, advanced.value());
                advanced.advance();
            }
            prop_assert_eq!(filled, advanced);
        }
    }
}
