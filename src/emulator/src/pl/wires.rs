//! Signals of the logic besides its ports: input pads, EMIO lines, clocks that it measures.

use super::{Pl, SETTLE};
use crate::machine::memory::Memory;
use crate::machine::time::{Cycles, NS_PER_PL_CYCLE};

/// The logic counts every fourth period of a measured clock (`soc/clock.py`)…
const CLOCK_PRESCALE: u64 = 4;
/// …during this number of its own cycles.
const CLOCK_WINDOW: u64 = 1 << 20;
const PL_HZ: u64 = 1_000_000_000 / NS_PER_PL_CYCLE;

impl Pl {
    /// Drives an input pad with a constant level from `now` on.
    pub fn set_pad(&mut self, index: usize, level: bool, now: Cycles, memory: &Memory) -> Result<(), String> {
        if !self.library.info.pads.iter().any(|p| p.index == index) {
            return Err(format!("there is no pad {index}"));
        }
        self.come_to(now, memory);
        self.inputs.pads_i[index] = if level { 0xff } else { 0 };
        self.settle = SETTLE;
        Ok(())
    }

    /// Sets the processing system's outputs on its EMIO lines from `now` on.
    pub fn set_lines(&mut self, lines: u64, now: Cycles, memory: &Memory) {
        self.come_to(now, memory);
        self.inputs.emio_o = lines;
        self.settle = SETTLE;
    }

    /// The processing system's outputs on the EMIO lines.
    pub fn lines_set(&self) -> u64 {
        self.inputs.emio_o
    }

    /// The logic's outputs on the EMIO lines to the processing system, in the latest cycle.
    pub fn lines(&self) -> u64 {
        self.outputs.emio_i
    }

    /// Whether the logic measures clocks.
    pub fn measures_clocks(&self) -> bool {
        !self.library.info.clocks.is_empty()
    }

    /// Sets the frequency in Hz of a clock measured by the logic, from `now` on.
    pub fn set_clock(&mut self, name: &str, frequency: u64, now: Cycles, memory: &Memory) {
        let Some(pads) = self.library.info.clocks.get(name) else {
            return;
        };
        let count = (frequency * CLOCK_WINDOW / (CLOCK_PRESCALE * PL_HZ)).to_le_bytes();
        if pads
            .iter()
            .zip(count)
            .all(|(pad, byte)| self.inputs.pads_i[*pad] == byte)
        {
            return;
        }
        let pads = pads.clone();
        self.come_to(now, memory);
        for (pad, byte) in pads.into_iter().zip(count) {
            self.inputs.pads_i[pad] = byte;
        }
        self.settle = SETTLE;
    }
}
