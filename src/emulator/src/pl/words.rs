//! Outputs of Shuttlers and Songbirds for a bench: follows the words that the library records of them, as it
//! grows.

use std::ops::Range;

use kairos_bench::chips::shuttler::FIELDS;
use kairos_bench::engine::Engine;
use kairos_bench::signal::WAVEFORM_LATENCY;

use super::library::{Info, Shown};
use super::tones;
use crate::machine::time::NS_PER_PL_CYCLE;

/// Cycles that the logic may be run before the bench must receive the words: they count at the
/// connectors only after this latency.
pub const AHEAD: u64 = WAVEFORM_LATENCY / NS_PER_PL_CYCLE;

/// The fields announced by a head.
const MASK: u64 = (1 << FIELDS) - 1;

/// Numbers of the words of a board's Shuttlers and Songbirds, after those of its tones; its pads begin
/// with `first`.
pub fn numbers(info: &Info, first: u16) -> Range<u16> {
    let first = tones::numbers(info, first).end;
    first..first + FIELDS as u16 * outputs(info)
}

/// Number of all their outputs.
fn outputs(info: &Info) -> u16 {
    info.waveforms.iter().map(|card| card.outputs).sum()
}

/// The words of a board's Shuttlers and Songbirds.
pub struct Words {
    /// Number of words of the recording consumed.
    taken: usize,
    /// Number of the first output in the recording: those of pulse cores precede it.
    before: usize,
    /// Engine number of the first word.
    first: u16,
    /// Last words, by output.
    last: Vec<[u64; FIELDS]>,
}

impl Words {
    /// Creates the words of a board whose pads are numbered from `first` on.
    pub fn new(info: &Info, first: u16) -> Self {
        Self {
            taken: 0,
            before: info.outputs.len(),
            first: numbers(info, first).start,
            last: vec![[0; FIELDS]; usize::from(outputs(info))],
        }
    }

    /// Passes new words to the bench. `origin`: the cycle in which the coarse counter was 0. Returns
    /// whether there were any.
    pub fn observe(&mut self, shown: &Shown<'_>, origin: u64, engine: &mut Engine) -> bool {
        let mut received = false;
        let mut left = shown.words.get(self.taken..).unwrap_or_default();
        while let Some((&head, rest)) = left.split_first() {
            let Some((fields, rest)) = rest.split_at_checked((head & MASK).count_ones() as usize) else {
                break;
            };
            let at = (head >> 16).wrapping_add(origin) * NS_PER_PL_CYCLE;
            let output = (head >> 12 & 0xf) as usize;
            let own = output
                .checked_sub(self.before)
                .filter(|output| *output < self.last.len());
            if let Some(output) = own {
                let announced = (0..FIELDS).filter(|field| head >> field & 1 != 0);
                for (field, word) in announced.zip(fields) {
                    self.last[output][field] = *word;
                    engine.word(at, self.number(output, field), *word);
                }
                received = true;
            }
            self.taken += 1 + fields.len();
            left = rest;
        }
        received
    }

    fn number(&self, output: usize, field: usize) -> u16 {
        self.first + (output * FIELDS + field) as u16
    }

    /// Begins with a new recording, in which all words are 0, at cycle `cycle`.
    pub fn restart(&mut self, cycle: u64, engine: &mut Engine) {
        self.taken = 0;
        for output in 0..self.last.len() {
            let before = std::mem::take(&mut self.last[output]);
            for field in (0..FIELDS).filter(|field| before[*field] != 0) {
                engine.word(cycle * NS_PER_PL_CYCLE, self.number(output, field), 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kairos_bench::assemble::{assemble, Device};
    use kairos_bench::file::Source;
    use kairos_bench::pad::Waveforms;
    use serde_json::json;

    fn info() -> Info {
        let output = |n: u32| json!({ "name": "pulse0", "channel": 1, "output": n });
        serde_json::from_value(json!({
            "variant": "some",
            "pads": [{ "index": 0, "name": "ttl0", "channel": 0, "direction": "out" }],
            "outputs": [output(0), output(1)],
            "samples_per_cycle": 8,
            "waveforms": [{ "kind": "shuttler", "name": "shuttler0", "channel": 2, "outputs": 16 }],
        }))
        .expect("a description")
    }

    fn engine(info: &Info) -> Engine {
        let waveforms = [Waveforms {
            board: 0,
            kind: "shuttler".into(),
            channel: 2,
            name: "shuttler0".into(),
            words: numbers(info, 10).start,
            outputs: 16,
            parameters: Default::default(),
        }];
        let device = Device {
            pads: &[],
            outputs: &[],
            waveforms: &waveforms,
            cards: &[],
            names: &Default::default(),
        };
        let source = Source {
            name: "bench.toml",
            text: "",
        };
        assemble(source, &device, &[]).expect("a bench").engine
    }

    #[test]
    fn output_words_reach_the_card_after_the_latency() {
        let info = info();
        assert_eq!(numbers(&info, 10), 15..15 + 192);
        let (mut words, mut engine) = (Words::new(&info, 10), engine(&info));
        let head = |cycle: u64, output: u64, mask: u64| cycle << 16 | output << 12 | mask;
        // A pulse core's output, the Shuttler's outputs 0 and 3, and an incomplete entry.
        let level = 0x2000u64 << 32;
        let mut recorded = vec![head(5, 1, 0b11), 7, 8, head(7, 2, 0x801), level, 1 << 32];
        recorded.extend([head(9, 5, 0x801), level, 1 << 32, head(20, 5, 0x801), 0]);
        let mut observe = |recorded: &[u64], engine: &mut Engine| {
            let shown = Shown {
                words: recorded,
                complete: true,
            };
            words.observe(&shown, 100, engine)
        };
        assert!(observe(&recorded, &mut engine));
        engine.run(10_000);
        let volts = |engine: &Engine, n: usize| engine.volts("shuttler0", 16 + n).expect("an output");
        let at = |cycle: u64| (100 + cycle) * 8 + WAVEFORM_LATENCY;
        assert_eq!(volts(&engine, 0), json!([[at(7), 2.5]]));
        assert_eq!(volts(&engine, 3), json!([[at(9), 2.5]]));
        assert!(!observe(&recorded, &mut engine));
        recorded.push(2 << 32);
        assert!(observe(&recorded, &mut engine));
        // The logic is reconfigured.
        words.restart(2000, &mut engine);
        engine.run(20_000);
        assert_eq!(volts(&engine, 3)[1], json!([at(20), 0.0]));
        assert_eq!(volts(&engine, 0)[1], json!([16_000 + WAVEFORM_LATENCY, 0.0]));
    }
}
