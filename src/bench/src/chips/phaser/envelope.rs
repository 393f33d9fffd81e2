//! The envelope of a pulse of Miqro: samples of a window, each held for a number of periods of 4 ns, and summed
//! `order` times over as many, so that steps become slopes, parabolas or cubics.
//!
//! With its head a window begins from zero, otherwise from what is left of the one before; with its tail it returns
//! to zero, otherwise its last sample stays. The card's arithmetic is not published: here it is exact, and the result is
//! limited to 16 bits.

use kairos_contracts::chips::phaser::miqro_header;

/// Values within a sample.
const STEPS: u32 = 16;
/// Of I and Q.
pub const FULL: i64 = 1 << 15;

/// A value: I and Q.
type Pair = [i64; 2];

/// A sum of the last values.
#[derive(Debug, Clone)]
struct Sum {
    values: Vec<Pair>,
    place: usize,
    sum: Pair,
}

impl Sum {
    fn new(length: u32) -> Self {
        Self {
            values: vec![[0; 2]; length as usize],
            place: 0,
            sum: [0; 2],
        }
    }

    fn next(&mut self, value: Pair) -> Pair {
        let oldest = std::mem::replace(&mut self.values[self.place], value);
        self.place = (self.place + 1) % self.values.len();
        self.sum = std::array::from_fn(|part| self.sum[part] + value[part] - oldest[part]);
        self.sum
    }
}

/// An envelope; at first silence.
#[derive(Debug, Clone, Default)]
pub struct Envelope {
    samples: Vec<Pair>,
    rate: u32,
    shift: u32,
    sums: Vec<Sum>,
    tail: bool,
    /// Period of the next value, if there will be one, and periods that the sums have taken.
    next: Option<u32>,
    taken: u32,
    value: Pair,
}

impl Envelope {
    /// Begins a window: its header, and its samples (I in the lower 16 bits, Q in the upper ones).
    pub fn begin(&mut self, header: u32, samples: impl Iterator<Item = u32>) {
        let rate = miqro_header::RATE.get(header) + 1;
        let order = miqro_header::ORDER.get(header) as usize;
        if miqro_header::HEAD.get(header) != 0 || rate != self.rate || order != self.sums.len() {
            self.sums = vec![Sum::new(rate); order];
        }
        let signed = |word: u32| [word as i16, (word >> 16) as i16].map(i64::from);
        self.samples = samples.map(signed).collect();
        (self.rate, self.shift) = (rate, miqro_header::SHIFT.get(header));
        self.tail = miqro_header::TAIL.get(header) != 0;
        (self.next, self.taken) = (Some(0), 0);
    }

    /// Periods from its beginning until the last change.
    pub fn length(&self) -> u32 {
        (self.samples.len() + self.sums.len()) as u32 * self.rate
    }

    /// Period of the next value.
    pub fn next(&self) -> Option<u32> {
        self.next
    }

    /// Computes the next value.
    pub fn advance(&mut self) {
        let Some(at) = self.next else { return };
        while self.taken <= at {
            let last = if self.tail { None } else { self.samples.last() };
            let sample = self.samples.get((self.taken / self.rate) as usize).or(last);
            let held = sample.copied().unwrap_or_default();
            let sum = self.sums.iter_mut().fold(held, |value, sum| sum.next(value));
            self.value = sum.map(|part| part.checked_shr(self.shift).unwrap_or_default().clamp(-FULL, FULL - 1));
            self.taken += 1;
        }
        let step = match self.sums.len() {
            0 => self.rate,
            _ => self.rate.div_ceil(STEPS),
        };
        let sample = (at / self.rate + 1) * self.rate;
        self.next = (at < self.length()).then(|| (at + step).min(sample));
    }

    /// I and Q, of `FULL`.
    pub fn value(&self) -> Pair {
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(rate: u32, shift: u32, order: u32, head: u32, tail: u32) -> u32 {
        let fields = [
            (miqro_header::RATE, rate - 1),
            (miqro_header::SHIFT, shift),
            (miqro_header::ORDER, order),
            (miqro_header::HEAD, head),
            (miqro_header::TAIL, tail),
        ];
        fields
            .into_iter()
            .fold(0, |word, (field, value)| field.put(word, value))
    }

    /// Times in periods, and I.
    fn played(envelope: &mut Envelope, header: u32, samples: &[i16]) -> Vec<(u32, i64)> {
        envelope.begin(header, samples.iter().map(|sample| u32::from(*sample as u16)));
        let mut found = Vec::new();
        while let Some(at) = envelope.next() {
            envelope.advance();
            found.push((at, envelope.value()[0]));
        }
        found
    }

    #[test]
    fn samples_are_held_without_interpolation() {
        let found = played(&mut Envelope::default(), header(10, 0, 0, 1, 1), &[100, -50]);
        assert_eq!(found, [(0, 100), (10, -50), (20, 0)]);
        let found = played(&mut Envelope::default(), header(10, 0, 0, 1, 0), &[100, -50]);
        assert_eq!(found.last(), Some(&(20, -50)), "without a tail the last one stays");
    }

    #[test]
    fn first_order_rises_and_falls_in_straight_lines() {
        let found = played(&mut Envelope::default(), header(4, 2, 1, 1, 1), &[400, 400]);
        let expected = [100, 200, 300, 400, 400, 400, 400, 400, 300, 200, 100, 0, 0];
        assert_eq!(found, (0..).zip(expected).collect::<Vec<_>>());
    }

    #[test]
    fn window_without_head_goes_on_from_the_one_before() {
        let mut envelope = Envelope::default();
        played(&mut envelope, header(4, 2, 1, 1, 0), &[400]);
        let found = played(&mut envelope, header(4, 2, 1, 0, 1), &[800]);
        assert_eq!(found[..4], [(0, 500), (1, 600), (2, 700), (3, 800)]);
        let found = played(&mut envelope, header(4, 2, 1, 1, 1), &[800]);
        assert_eq!(found[0], (0, 200));
    }

    #[test]
    fn every_order_reaches_its_gain_and_returns_to_zero() {
        for (order, shift) in [(0, 0), (1, 3), (2, 6), (3, 9)] {
            let found = played(&mut Envelope::default(), header(8, shift, order, 1, 1), &[1000; 5]);
            assert!(found.contains(&(8 * order, 1000)), "{order} {found:?}");
            assert_eq!(found.last(), Some(&(8 * (5 + order), 0)));
        }
        let found = played(&mut Envelope::default(), header(64, 0, 1, 1, 1), &[1000]);
        assert_eq!(found.iter().map(|(_, value)| *value).max(), Some(FULL - 1), "limited");
        assert_eq!(found.len(), 2 * 16 + 1);
    }
}
