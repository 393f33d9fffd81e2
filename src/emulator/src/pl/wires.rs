//! Signals of the logic besides its ports: input pads, those wired to a bench, EMIO lines, clocks
//! that it measures, links.

use super::bench_pins::BenchPins;
use super::link::End;
use super::skipping::{AFTER_INPUT, AFTER_WORD};
use super::Pl;
use crate::machine::memory::Memory;
use crate::machine::time::{self, Cycles, NS_PER_PL_CYCLE};

/// The logic counts every fourth period of a measured clock (`soc/clock.py`)…
const CLOCK_PRESCALE: u64 = 4;
/// …during this number of its own cycles.
const CLOCK_WINDOW: u64 = 1 << 20;
const PL_HZ: u64 = 1_000_000_000 / NS_PER_PL_CYCLE;

impl Pl {
    /// Drives an input pad with a constant level from `now` on.
    pub fn set_pad(&mut self, index: usize, level: bool, now: Cycles, memory: &Memory) -> Result<(), String> {
        if !self.logic.info().pads.iter().any(|p| p.index == index) {
            return Err(format!("there is no pad {index}"));
        }
        self.come_to(now, memory);
        self.logic.inputs_mut().pads_i[index] = if level { 0xff } else { 0 };
        self.skipping.require(AFTER_INPUT);
        Ok(())
    }

    /// Sets the processing system's outputs on its EMIO lines from `now` on.
    pub fn set_lines(&mut self, lines: u64, now: Cycles, memory: &Memory) {
        self.come_to(now, memory);
        self.logic.inputs_mut().emio_o = lines;
        self.skipping.require(AFTER_INPUT);
    }

    /// The processing system's outputs on the EMIO lines.
    pub fn lines_set(&self) -> u64 {
        self.logic.inputs().emio_o
    }

    /// The logic's outputs on the EMIO lines to the processing system, in the latest cycle.
    pub fn lines(&self) -> u64 {
        self.logic.outputs().emio_i
    }

    /// Whether the logic measures clocks.
    pub fn measures_clocks(&self) -> bool {
        !self.logic.info().clocks.is_empty()
    }

    /// Sets the frequency in Hz of a clock measured by the logic, from `now` on.
    pub fn set_clock(&mut self, name: &str, frequency: u64, now: Cycles, memory: &Memory) {
        let Some(pads) = self.logic.info().clocks.get(name) else {
            return;
        };
        let count = (frequency * CLOCK_WINDOW / (CLOCK_PRESCALE * PL_HZ)).to_le_bytes();
        if pads
            .iter()
            .zip(count)
            .all(|(pad, byte)| self.logic.inputs().pads_i[*pad] == byte)
        {
            return;
        }
        let pads = pads.clone();
        self.come_to(now, memory);
        for (pad, byte) in pads.into_iter().zip(count) {
            self.logic.inputs_mut().pads_i[pad] = byte;
        }
        self.skipping.require(AFTER_INPUT);
    }

    /// Switches the power of the cards, on a board that can.
    pub fn set_card_power(&mut self, on: bool, now: Cycles, memory: &Memory) {
        if self.bench.as_ref().is_some_and(|bench| bench.needs_power(on)) {
            self.come_to(now, memory);
            if let Some(bench) = &mut self.bench {
                bench.set_power(on, self.cycle * NS_PER_PL_CYCLE);
            }
        }
    }

    /// Lets the bench drive the inputs for the next cycle.
    pub(super) fn drive_bench_inputs(&mut self) {
        if let Some(bench) = &mut self.bench {
            if bench.due(self.cycle) == self.cycle && bench.deliver(self.cycle, self.logic.inputs_mut()) {
                self.skipping.require(AFTER_INPUT);
            }
        }
    }

    /// The first cycle that has to be run for the bench.
    pub(super) fn bench_due(&self) -> u64 {
        self.bench.as_ref().map_or(u64::MAX, |bench| bench.due(self.cycle))
    }

    /// When the bench next acts: of interest to a core that waits for an input.
    pub fn bench_next(&self) -> Option<Cycles> {
        self.after_cycle(self.bench.as_ref().and_then(BenchPins::next))
    }

    /// When the next activity in progress at the bench ends; a run does not end before.
    pub fn bench_under_way(&self) -> Option<Cycles> {
        self.after_cycle(self.bench.as_ref().and_then(BenchPins::under_way))
    }

    /// The end of a cycle, or of the next one if that is later.
    fn after_cycle(&self, cycle: Option<u64>) -> Option<Cycles> {
        cycle.map(|cycle| time::from_pl(cycle.max(self.cycle) + 1))
    }

    /// Connects an end to the link of this name. The error is a one-line message for the user.
    pub(super) fn connect(&mut self, end: End, name: &str) -> Result<(), String> {
        let info = self.logic.info();
        let index = info.links.iter().position(|link| link == name);
        let index = index.ok_or_else(|| format!("its gateware {} has no link {name}", info.variant))?;
        if !self.ends.connect(index, end, self.logic.inputs_mut()) {
            return Err(format!("its link {name} is connected already"));
        }
        self.update_plugs();
        Ok(())
    }

    /// Updates the inputs that show the logic which links are plugged in.
    pub fn update_plugs(&mut self) {
        if self.ends.update_plugs(self.cycle, self.logic.inputs_mut()) {
            self.skipping.require(AFTER_INPUT);
        }
    }

    /// Puts the words that arrive in the next cycle on the link inputs.
    pub(super) fn receive_words(&mut self) {
        // The input changes for one cycle only; the logic reports activity one cycle later
        if self.ends.receive(self.cycle, self.logic.inputs_mut()) {
            self.skipping.require(AFTER_WORD);
        }
    }
}
