//! What the outputs of pulse cores show, for a bench that is driven with it: the library's recording
//! of them is followed while it grows.

use std::ops::Range;

use kairos_bench::engine::Engine;
use kairos_bench::signal::CORE_LATENCY;
use kairos_contracts::pulse::TONES;
use kairos_pulse::model::{Follower, Tone};

use super::library::{Info, Shown};
use crate::machine::time::NS_PER_PL_CYCLE;

/// Cycles that the logic may be run before the bench hears what its pulse cores have shown: all of it
/// is at the converters' connectors only behind these.
pub const AHEAD: u64 = CORE_LATENCY / NS_PER_PL_CYCLE;

/// The numbers of the tones of a board's pulse cores, behind those of its pads, which begin with
/// `first`.
pub fn places(info: &Info, first: u16) -> Range<u16> {
    let pads = info.pads.iter().map(|pad| pad.index as u16 + 1).max().unwrap_or(0);
    first + pads..first + pads + (TONES * info.outputs.len()) as u16
}

/// The tones of a board's pulse cores.
pub struct Tones {
    follower: Follower,
    /// Words that have been taken.
    taken: usize,
    /// Number of the first tone among the pads.
    first: u16,
    /// By output and tone, what it was last.
    last: Vec<[Tone; TONES]>,
}

impl Tones {
    /// Of a board whose pads have the numbers from `first` on.
    pub fn new(info: &Info, first: u16) -> Self {
        let mut cores: Vec<u32> = info.outputs.iter().map(|output| output.channel).collect();
        cores.dedup();
        let of = |channel: u32| cores.iter().position(|core| *core == channel).unwrap_or(0);
        let of: Vec<usize> = info.outputs.iter().map(|output| of(output.channel)).collect();
        Self {
            follower: Follower::new(&of, info.samples_per_cycle),
            taken: 0,
            first: places(info, first).start,
            last: vec![Default::default(); of.len()],
        }
    }

    /// Tells the bench what is new. `origin`: the cycle in which the coarse counter was 0. Returns
    /// whether there was anything.
    pub fn see(&mut self, shown: &Shown<'_>, origin: u64, engine: &mut Engine) -> bool {
        let Some(new) = shown.words.get(self.taken..).filter(|new| !new.is_empty()) else {
            return false;
        };
        let Self {
            follower, first, last, ..
        } = self;
        self.taken += follower.take(new, |output, cycle, tones| {
            let at = cycle.wrapping_add(origin) * NS_PER_PL_CYCLE;
            for (tone, now) in tones.into_iter().enumerate() {
                // Of a tone that is off nobody hears how it turns.
                let before = std::mem::replace(&mut last[output][tone], now);
                if before.amplitude != 0 || now.amplitude != 0 {
                    engine.tone(at, *first + (output * TONES + tone) as u16, now);
                }
            }
        });
        true
    }
}
