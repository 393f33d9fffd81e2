//! What the library records of the outputs whose samples it does not make: those of pulse cores and
//! of Shuttlers.

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

/// A Shuttler, as described by the library.
#[derive(Debug, Clone, Deserialize)]
pub struct Shuttler {
    /// Its name.
    pub name: String,
    /// RTIO channel number of its settings.
    pub channel: u32,
}

/// The recording of the outputs of pulse cores and Shuttlers, in the format of docs/interfaces.md section 6.
pub struct Shown<'a> {
    /// The recording.
    pub words: &'a [u64],
    /// Whether the recording is complete, that is, its buffer had room.
    pub complete: bool,
}

impl Shown<'_> {
    /// The words of the first `outputs` outputs: those of the pulse cores.
    pub fn of_cores(&self, outputs: usize) -> Vec<u64> {
        let (mut kept, mut left) = (Vec::new(), self.words);
        while let Some(&head) = left.first() {
            let end = 1 + (head & 0xfff).count_ones() as usize;
            let (entry, rest) = left.split_at(end.min(left.len()));
            if ((head >> 12 & 0xf) as usize) < outputs {
                kept.extend_from_slice(entry);
            }
            left = rest;
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
}
