//! What the library records of the outputs whose samples it does not make: those of pulse cores, of
//! Shuttlers and of Songbirds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An output of a pulse core, as described by the library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// Name of the core.
    pub name: String,
    /// RTIO channel number of the core.
    pub channel: u32,
    /// Number of the output in the core.
    pub output: u32,
}

/// A card whose waveforms the library shows, as described by it.
#[derive(Debug, Clone, Deserialize)]
pub struct Waveforms {
    /// `shuttler`, `songbird` or `mtdds`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// RTIO channel number of its settings.
    pub channel: u32,
    /// Number of its outputs, or tones, or groups of words.
    pub outputs: u16,
    /// What the bench has to know of it.
    #[serde(default)]
    pub parameters: BTreeMap<String, u32>,
}

/// The recording of the outputs of pulse cores, Shuttlers and Songbirds, in the format of docs/interfaces.md section 6.
pub struct Shown<'a> {
    /// The recording.
    pub words: &'a [u64],
    /// Whether the recording is complete, that is, its buffer had room.
    pub complete: bool,
}

/// Place of the cycle in the word before the changed fields.
const CYCLE_AT: u32 = 16;

impl Shown<'_> {
    /// The words of the first `outputs` outputs: those of the pulse cores, in the order of time. The counter of
    /// a satellite steps back when it takes over the time of the upstream board; what was recorded before that then
    /// has the first time after it.
    pub fn of_cores(&self, outputs: usize) -> Vec<u64> {
        let (mut kept, mut left, mut heads) = (Vec::new(), self.words, Vec::new());
        while let Some(&head) = left.first() {
            let end = 1 + (head & 0xfff).count_ones() as usize;
            let (entry, rest) = left.split_at(end.min(left.len()));
            if ((head >> 12 & 0xf) as usize) < outputs {
                heads.push(kept.len());
                kept.extend_from_slice(entry);
            }
            left = rest;
        }
        let mut following = u64::MAX >> CYCLE_AT;
        for place in heads.into_iter().rev() {
            following = following.min(kept[place] >> CYCLE_AT);
            kept[place] = following << CYCLE_AT | kept[place] & ((1 << CYCLE_AT) - 1);
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_shuttlers_and_pulse_cores_are_kept_apart() {
        let head = |output: u64, mask: u64| 9 << 16 | output << 12 | mask;
        let words: [u64; 7] = [head(0, 5), 1, 2, head(2, 1), 3, head(1, 1), 4];
        let shown = Shown {
            words: &words,
            complete: true,
        };
        assert_eq!(shown.of_cores(2), vec![head(0, 5), 1, 2, head(1, 1), 4]);
        assert!(shown.of_cores(0).is_empty());
    }

    #[test]
    fn words_before_a_step_back_of_the_counter_get_its_first_time() {
        let head = |cycle: u64, output: u64| cycle << 16 | output << 12 | 1;
        let words = [head(3, 0), 1, head(9, 1), 2, head(4, 0), 3, head(6, 1), 4];
        let shown = Shown {
            words: &words,
            complete: true,
        };
        let moved = vec![head(3, 0), 1, head(4, 1), 2, head(4, 0), 3, head(6, 1), 4];
        assert_eq!(shown.of_cores(2), moved);
    }
}
