//! Piecewise linear sequences of numbers over cycles, for RAM, ramp and keying. All queries have
//! closed forms, so an unobserved sequence costs nothing.

/// Equal steps of equal duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The number in its first step.
    pub first: i64,
    /// The increment per step.
    pub step: i64,
    /// Number of steps.
    pub steps: u64,
    /// Cycles per step.
    pub every: u64,
}

impl Piece {
    fn cycles(&self) -> u64 {
        self.steps.saturating_mul(self.every)
    }

    fn value(&self, cycle: u64) -> i64 {
        self.first + self.step * (cycle / self.every) as i64
    }

    /// The sum of the numbers over its first `cycles` cycles.
    fn sum(&self, cycles: u64) -> i128 {
        let (steps, rest) = (cycles / self.every, cycles % self.every);
        let n = i128::from(steps);
        let whole = n * i128::from(self.first) + i128::from(self.step) * (n * (n - 1) / 2);
        whole * i128::from(self.every) + i128::from(rest) * i128::from(self.value(cycles))
    }
}

/// `next` reports about `TOLD` changes of a piece with more steps, or more than that so that they
/// are at most `LONGEST` cycles apart.
const REPORTS_PER_RAMP: u64 = 256;
const LONGEST: u64 = 1000;

/// Consecutive pieces and their continuation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Course {
    start: u64,
    pieces: Vec<Piece>,
    /// Cycles from the start to the end of each piece, and the sum of the numbers to there.
    ends: Vec<(u64, i128)>,
    then: Then,
}

/// The continuation after the last piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Holds this number.
    Stay(i64),
    /// Repeats from the piece with this index.
    Again(usize),
}

impl Course {
    /// A sequence that starts in a cycle.
    pub fn new(start: u64, pieces: Vec<Piece>, then: Then) -> Self {
        let mut end = (0, 0);
        let ends = pieces.iter().map(|piece| {
            end = (end.0 + piece.cycles(), end.1 + piece.sum(piece.cycles()));
            end
        });
        let ends = ends.collect();
        Self {
            start,
            pieces,
            ends,
            then,
        }
    }

    /// A constant.
    pub fn still(value: i64) -> Self {
        Self::new(0, Vec::new(), Then::Stay(value))
    }

    /// Applies a function to all numbers.
    pub fn map(&self, of: impl Fn(i64) -> i64) -> Self {
        let mut firsts = Vec::new();
        let mut pieces = Vec::new();
        for piece in &self.pieces {
            firsts.push(pieces.len());
            let single = |n| Piece {
                first: of(piece.first + piece.step * n as i64),
                step: 0,
                steps: 1,
                every: piece.every,
            };
            pieces.extend((0..piece.steps).map(single));
        }
        let then = match self.then {
            Then::Stay(value) => Then::Stay(of(value)),
            Then::Again(piece) => Then::Again(firsts[piece]),
        };
        Self::new(self.start, pieces, then)
    }

    /// Cycles and sum before a piece.
    fn before(&self, piece: usize) -> (u64, i128) {
        piece.checked_sub(1).map_or((0, 0), |last| self.ends[last])
    }

    fn total(&self) -> (u64, i128) {
        self.before(self.pieces.len())
    }

    /// Cycles since the start without completed repetitions, the number of these, and the length
    /// and sum of each.
    fn fold(&self, cycle: u64) -> (u64, u64, (u64, i128)) {
        let offset = cycle.saturating_sub(self.start);
        let (total, Then::Again(piece)) = (self.total(), self.then) else {
            return (offset, 0, (0, 0));
        };
        let before = self.before(piece);
        let round = (total.0 - before.0, total.1 - before.1);
        if offset < total.0 || round.0 == 0 {
            return (offset.min(total.0.saturating_sub(1)), 0, round);
        }
        let rounds = (offset - before.0) / round.0;
        (offset - rounds * round.0, rounds, round)
    }

    /// The piece that contains an offset in cycles; `None` after the last.
    fn piece(&self, offset: u64) -> Option<usize> {
        let index = self.ends.partition_point(|end| end.0 <= offset);
        (index < self.pieces.len()).then_some(index)
    }

    /// The number in a cycle.
    pub fn value(&self, cycle: u64) -> i64 {
        let offset = self.fold(cycle).0;
        match (self.piece(offset), self.then) {
            (Some(index), _) => self.pieces[index].value(offset - self.before(index).0),
            (None, Then::Stay(value)) => value,
            (None, Then::Again(_)) => 0,
        }
    }

    /// The sum of the numbers from the start to a cycle, exclusive.
    pub fn sum(&self, cycle: u64) -> i128 {
        let (offset, rounds, round) = self.fold(cycle);
        let whole = round.1 * i128::from(rounds);
        match (self.piece(offset), self.then) {
            (Some(index), _) => {
                let before = self.before(index);
                whole + before.1 + self.pieces[index].sum(offset - before.0)
            }
            (None, Then::Stay(value)) => {
                let total = self.total();
                total.1 + i128::from(value) * i128::from(offset - total.0)
            }
            (None, Then::Again(_)) => whole,
        }
    }

    /// The cycle of the next change after a cycle; not every one of many small steps is reported.
    pub fn next(&self, cycle: u64) -> Option<u64> {
        if cycle < self.start {
            return Some(self.start);
        }
        let offset = self.fold(cycle).0;
        let index = self.piece(offset)?;
        let (piece, inside) = (&self.pieces[index], offset - self.before(index).0);
        let steps_per_report = match piece.step {
            0 => piece.steps,
            _ => (piece.steps / REPORTS_PER_RAMP).min(LONGEST / piece.every).max(1),
        };
        let next = (inside / piece.every / steps_per_report + 1) * steps_per_report;
        Some(cycle + next.min(piece.steps) * piece.every - inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces() -> impl Strategy<Value = Vec<Piece>> {
        let piece = (-50i64..50, -5i64..5, 1u64..6, 1u64..5);
        let made = piece.prop_map(|(first, step, steps, every)| Piece {
            first,
            step,
            steps,
            every,
        });
        prop::collection::vec(made, 1..5)
    }

    fn then() -> impl Strategy<Value = Option<i64>> {
        prop::option::of(-9i64..9)
    }

    proptest! {
        /// Compares with an explicit list of the number in each cycle.
        #[test]
        fn closed_forms_equal_the_listed_numbers(start in 0u64..20, pieces in pieces(), again in 0usize..5, stay in then()) {
            let again = again % pieces.len();
            let then = stay.map_or(Then::Again(again), Then::Stay);
            let all = |from: usize| -> Vec<i64> {
                let one = |p: &Piece| (0..p.steps * p.every).map(|n| p.value(n)).collect::<Vec<_>>();
                pieces[from..].iter().flat_map(one).collect()
            };
            let mut numbers = all(0);
            while numbers.len() < 300 {
                match then {
                    Then::Stay(value) => numbers.push(value),
                    Then::Again(piece) => numbers.extend(all(piece)),
                }
            }
            let course = Course::new(start, pieces.clone(), then);
            let squared = course.map(|value| value * value);
            let mut sum = 0;
            for (n, number) in numbers.iter().enumerate() {
                let cycle = start + n as u64;
                prop_assert_eq!(course.value(cycle), *number, "in {}", n);
                prop_assert_eq!(squared.value(cycle), number * number);
                prop_assert_eq!(course.sum(cycle), sum, "to {}", n);
                sum += i128::from(*number);
                let next = course.next(cycle).map_or(numbers.len(), |next| (next - start) as usize);
                let same = numbers[n..next.min(numbers.len())].iter().all(|later| later == number);
                prop_assert!(same, "{} to {}", n, next);
            }
        }
    }

    #[test]
    fn long_ramp_is_reported_in_parts() {
        let ramp = Piece {
            first: 0,
            step: 3,
            steps: 1 << 20,
            every: 4,
        };
        let course = Course::new(8, vec![ramp], Then::Stay(1));
        assert_eq!(course.next(3), Some(8));
        assert_eq!((course.next(8), course.next(9)), (Some(1008), Some(1008)));
        assert_eq!(course.next(8 + (4 << 20)), None);
    }
}
