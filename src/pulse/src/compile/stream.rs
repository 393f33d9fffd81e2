//! Orders words by time, and merges equal ones for several channels or parameters.

use super::Encoded;
use crate::{word, Segment, Word};
use alloc::{collections::BTreeMap, vec::Vec};
use kairos_contracts::pulse as facts;

/// A word with its start time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// Cycle in which its content starts.
    pub start: u64,
    /// Order among words with the same start: for streamed segments the lowest parameter.
    pub order: u8,
    /// The word, including its channel mask.
    pub word: Word,
}

/// Segments in the order in which they start: start, parameter, segment. Those that start together
/// are in the order of parameters.
pub fn by_start(encoded: &Encoded, start: u64) -> Vec<(u64, u8, Segment)> {
    let mut all = Vec::with_capacity(encoded.segments.iter().map(Vec::len).sum());
    for (p, segments) in encoded.segments.iter().enumerate() {
        let mut at = start;
        for segment in segments {
            all.push((at, p as u8, *segment));
            at += segment.tau;
        }
    }
    all.sort_by_key(|&(start, p, _)| (start, p));
    all
}

/// Words that stream the segments of a channel's pulse, bypassing the tables. Equal segments of
/// parameters that start together share a word.
pub fn stream(channel: u8, encoded: &Encoded, start: u64) -> Vec<Timed> {
    let all = by_start(encoded, start);
    let mut words: Vec<Timed> = Vec::new();
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        let mut merged: Vec<(u8, u8, Segment)> = Vec::new();
        for &(_, p, segment) in group {
            match merged.iter_mut().find(|(.., other)| *other == segment) {
                Some((mask, ..)) => *mask |= 1 << p,
                None => merged.push((1 << p, p, segment)),
            }
        }
        words.extend(merged.into_iter().map(|(mask, order, segment)| Timed {
            start: group[0].0,
            order,
            word: word::bypass(1 << channel, mask, &segment),
        }));
    }
    words
}

/// Merges words of several channels in the order of time; those that start together and differ only
/// in the channel become one. Words of one channel keep their order, which is that of their starts.
pub fn merge(words: Vec<Timed>) -> Vec<Word> {
    merge_timed(words).into_iter().map(|(_, word)| word).collect()
}

/// Merges words in the same way, each with the cycle in which its content starts.
pub fn merge_timed(mut words: Vec<Timed>) -> Vec<(u64, Word)> {
    words.sort_by_key(|timed| (timed.start, timed.order));
    let mut out: Vec<(u64, Word)> = Vec::with_capacity(words.len());
    for group in words.chunk_by(|a, b| a.start == b.start) {
        let first = out.len();
        let mut seen: BTreeMap<Word, usize> = BTreeMap::new();
        // Position in `out` of the last word of each channel of this group: no word may be placed
        // before it.
        let mut last = [first; facts::CHANNELS];
        for timed in group {
            let channels = word::channels(&timed.word);
            let body = without_channels(&timed.word);
            let newest = (0..facts::CHANNELS)
                .filter(|&c| channels >> c & 1 != 0)
                .map(|c| last[c])
                .max();
            let place = match seen.get(&body) {
                Some(&place) if Some(place) >= newest && word::channels(&out[place].1) & channels == 0 => place,
                _ => {
                    out.push((timed.start, body));
                    seen.insert(body, out.len() - 1);
                    out.len() - 1
                }
            };
            out[place].1 = out[place]
                .1
                .with(facts::CHANNEL_MASK_AT, facts::CHANNEL_MASK_BITS, channels.into());
            (0..facts::CHANNELS)
                .filter(|&c| channels >> c & 1 != 0)
                .for_each(|c| last[c] = place);
        }
    }
    out
}

fn without_channels(word: &Word) -> Word {
    let mut limbs = word.0;
    limbs[3] &= u64::MAX >> facts::CHANNEL_MASK_BITS;
    Word(limbs)
}
