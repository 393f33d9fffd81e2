//! Outputs of pulse cores for a bench that uses them: follows the library's recording as it grows.

use std::ops::Range;

use kairos_bench::engine::Engine;
use kairos_bench::signal::CORE_LATENCY;
use kairos_contracts::pulse::TONES;
use kairos_pulse::model::{Follower, Tone};

use super::library::{Info, Shown};
use crate::machine::time::NS_PER_PL_CYCLE;

/// Cycles that the logic may be run before the bench must receive the output of its pulse cores: it
/// reaches the converters' connectors only after this latency.
pub const AHEAD: u64 = CORE_LATENCY / NS_PER_PL_CYCLE;

/// Numbers of the tones of a board's pulse cores, after those of its pads, which begin with
/// `first`.
pub fn numbers(info: &Info, first: u16) -> Range<u16> {
    let pads = info.pads.iter().map(|pad| pad.index as u16 + 1).max().unwrap_or(0);
    first + pads..first + pads + (TONES * info.outputs.len()) as u16
}

/// The tones of a board's pulse cores.
pub struct Tones {
    follower: Follower,
    /// Number of words of the recording consumed.
    taken: usize,
    /// Engine number of the first tone.
    first: u16,
    /// Last state, by output and tone.
    last: Vec<[Tone; TONES]>,
}

impl Tones {
    /// Creates the tones of a board whose pads are numbered from `first` on.
    pub fn new(info: &Info, first: u16) -> Self {
        let mut cores: Vec<u32> = info.outputs.iter().map(|output| output.channel).collect();
        cores.dedup();
        let of = |channel: u32| cores.iter().position(|core| *core == channel).unwrap_or(0);
        let of: Vec<usize> = info.outputs.iter().map(|output| of(output.channel)).collect();
        Self {
            follower: Follower::new(&of, info.samples_per_cycle),
            taken: 0,
            first: numbers(info, first).start,
            last: vec![Default::default(); of.len()],
        }
    }

    /// Passes new output to the bench. `origin`: the cycle in which the coarse counter was 0.
    /// Returns whether there was any.
    pub fn observe(&mut self, shown: &Shown<'_>, origin: u64, engine: &mut Engine) -> bool {
        let Some(new) = shown.words.get(self.taken..).filter(|new| !new.is_empty()) else {
            return false;
        };
        let Self {
            follower, first, last, ..
        } = self;
        self.taken += follower.take(new, |output, cycle, tones| {
            let at = cycle.wrapping_add(origin) * NS_PER_PL_CYCLE;
            for (tone, now) in tones.into_iter().enumerate() {
                // Phase changes of a tone that is off are inaudible.
                let before = std::mem::replace(&mut last[output][tone], now);
                if before.amplitude != 0 || now.amplitude != 0 {
                    engine.tone(at, *first + (output * TONES + tone) as u16, now);
                }
            }
        });
        true
    }
}
