//! DMA traces in the compact format that the gateware plays (`docs/interfaces.md`, section 10). The
//! recorded format of the wire protocols is for readers of other devices' traces; this firmware
//! writes compact traces only.

use kairos_contracts::rtio::{DmaFormat, TraceWord, DMA_SHORT_DATA_BITS};

pub use kairos_contracts::rtio::DMA_ALIGNMENT as ALIGNMENT;
/// Value of the register `dma_format` for the compact format.
pub const COMPACT: u32 = DmaFormat::Compact as u32;
/// The 32-bit words that end a trace.
pub const END: [u32; 2] = [TraceWord::End as u32, 0];

const SHORT: u32 = TraceWord::Short as u32;
const LONG: u32 = TraceWord::Long as u32;
const TIME: u32 = TraceWord::Time as u32;
/// Most words of an event.
const DATA_MAX: usize = 16;
/// Exclusive upper bound of a short event's data.
const SHORT_DATA: u32 = 1 << DMA_SHORT_DATA_BITS;

/// Passes the words of an event to `out`: an even number of them, little endian in memory.
///
/// `target`: channel << 8 | address. `before`: time of the previous event, 0 for the first one.
/// `words`: 1 to 16.
#[inline]
pub fn encode(
    before: i64,
    target: u32,
    time: i64,
    words: impl ExactSizeIterator<Item = u32>,
    mut out: impl FnMut(u32),
) {
    let difference = time.wrapping_sub(before);
    let delta = match i32::try_from(difference) {
        Ok(delta) => delta as u32,
        Err(_) => {
            let difference = difference as u64;
            [TIME, 0, difference as u32, (difference >> 32) as u32]
                .into_iter()
                .for_each(&mut out);
            0
        }
    };
    let (channel, address) = (target >> 8, target & 0xff);
    let count = words.len();
    let mut words = words;
    let first = words.next().unwrap_or(0);
    if count == 1 && first < SHORT_DATA && channel >> 16 == 0 {
        out(SHORT | first << 2 | channel << 8 | address << 24);
        out(delta);
        return;
    }
    [LONG | (count as u32) << 2 | channel << 8, address, delta, first]
        .into_iter()
        .for_each(&mut out);
    words.for_each(&mut out);
    if count.is_multiple_of(2) {
        out(0);
    }
}

/// An event of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// channel << 8 | address
    pub target: u32,
    pub time: i64,
    data: [u32; DATA_MAX],
    count: usize,
}

impl Event {
    pub fn words(&self) -> &[u32] {
        &self.data[..self.count]
    }

    /// The board whose channel it is for.
    pub fn destination(&self) -> u8 {
        (self.target >> 24) as u8
    }
}

/// Decodes the event at a position of `trace`; returns it and the position after it, or `None` at
/// the end or for an invalid event. `before`: time of the previous event, 0 for the first one.
pub fn decode(trace: &[u32], mut at: usize, before: i64) -> Option<(Event, usize)> {
    let mut time = before;
    let head = loop {
        let &[head, next] = trace.get(at..at + 2)?.first_chunk()?;
        if head != TIME || next != 0 {
            break head;
        }
        let &[low, high] = trace.get(at + 2..at + 4)?.first_chunk()?;
        time = time.wrapping_add((u64::from(high) << 32 | u64::from(low)) as i64);
        at += 4;
    };
    let mut data = [0; DATA_MAX];
    let later = |delta: u32| time.wrapping_add(i64::from(delta as i32));
    let (target, time, count, end) = match head & 3 {
        SHORT => {
            data[0] = head >> 2 & 63;
            (head & 0x00ff_ff00 | head >> 24, later(trace[at + 1]), 1, at + 2)
        }
        LONG => {
            let count = (head >> 2 & 63) as usize;
            let words = trace.get(at + 3..at + 3 + count)?;
            data.get_mut(..count)?.copy_from_slice(words);
            let target = head & 0xffff_ff00 | trace[at + 1];
            (target, later(trace[at + 2]), count, at + 2 * (2 + count / 2))
        }
        _ => return None,
    };
    let event = Event {
        target,
        time,
        data,
        count,
    };
    Some((event, end))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    type Event = (u32, i64, Vec<u32>);

    fn trace(events: &[Event]) -> Vec<u32> {
        let mut out = Vec::new();
        let mut before = 0;
        for (target, time, words) in events {
            encode(before, *target, *time, words.iter().copied(), |word| out.push(word));
            before = *time;
        }
        out.extend(END);
        out
    }

    /// Decodes by the table of `docs/interfaces.md`, section 10.
    fn decode(trace: &[u32]) -> Vec<Event> {
        let (mut events, mut now, mut at) = (Vec::new(), 0i64, 0);
        loop {
            let head = trace[at];
            let mut event = |target, delta: u32, words: &[u32]| {
                now = now.wrapping_add(i64::from(delta as i32));
                events.push((target, now, words.to_vec()));
            };
            match head & 3 {
                0 => {
                    assert_eq!(trace[at..], END);
                    return events;
                }
                1 => {
                    event(head & 0x00ff_ff00 | head >> 24, trace[at + 1], &[head >> 2 & 63]);
                    at += 2;
                }
                2 => {
                    let count = (head >> 2 & 63) as usize;
                    let target = head & 0xffff_ff00 | trace[at + 1];
                    event(target, trace[at + 2], &trace[at + 3..at + 3 + count]);
                    at += 2 * (2 + count / 2);
                }
                _ => {
                    assert_eq!((head, trace[at + 1]), (TIME, 0));
                    now = now.wrapping_add((u64::from(trace[at + 3]) << 32 | u64::from(trace[at + 2])) as i64);
                    at += 4;
                }
            }
        }
    }

    #[test]
    fn compact_trace_has_the_documented_words() {
        // As written by `kairos_gateware.dma.format.compact`.
        let short = trace(&[(0x0001_0203, 5, [0x2a].into())]);
        assert_eq!(short, [1 | 0x2a << 2 | 0x0102 << 8 | 3 << 24, 5, 0, 0]);
        let long = trace(&[(0x0004_0205, -1, [0x1234, 2].into())]);
        assert_eq!(long, [2 | 2 << 2 | 0x0402 << 8, 5, 0xffff_ffff, 0x1234, 2, 0, 0, 0]);
        let far = trace(&[(0x0100, 1 << 40, [1].into())]);
        assert_eq!(far, [3, 0, 0, 1 << 8, 1 | 1 << 2 | 1 << 8, 0, 0, 0]);
    }

    /// Reads a trace with [`super::decode`].
    fn read(trace: &[u32]) -> Vec<Event> {
        let (mut events, mut now, mut at) = (Vec::new(), 0, 0);
        while let Some((event, next)) = super::decode(trace, at, now) {
            (at, now) = (next, event.time);
            events.push((event.target, event.time, Vec::from(event.words())));
        }
        assert_eq!(trace[at..], END);
        events
    }

    proptest! {
        #[test]
        fn arbitrary_trace_never_panics(words in proptest::collection::vec(any::<u32>(), 0..40), at in 0usize..50) {
            let _ = super::decode(&words, at, 0);
        }

        #[test]
        fn events_in_a_trace_round_trip(events in proptest::collection::vec(
            (any::<u32>(), any::<i64>(), proptest::collection::vec(any::<u32>(), 1..17)), 0..20)
        ) {
            let trace = trace(&events);
            prop_assert_eq!(read(&trace), decode(&trace));
            prop_assert_eq!(decode(&trace), events);
        }

        #[test]
        fn events_of_typical_experiments_round_trip(events in proptest::collection::vec(
            (0u32..0x0010_0000, -100_000i64..100_000, proptest::collection::vec(0u32..70, 1..3)), 0..20)
        ) {
            prop_assert_eq!(decode(&trace(&events)), events);
        }
    }
}
