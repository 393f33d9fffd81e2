//! Tones of a core's outputs while they are being recorded, for a bench in the same run. Bit-exact
//! samples, including crosstalk compensation, are computed afterwards by [`super::Recording`].

use super::machine::Block;
use super::recording::{put, show, Fields, EVENT, FIELDS, LEVELS, MASK, RESET};
use super::settings::Now;
use super::synthesis::{Synthesiser, Tone};
use alloc::vec::Vec;
use kairos_contracts::pulse::TONES;

/// State of an output, as of a cycle.
struct Output {
    core: usize,
    /// Whether it is the core's first output, which carries the core's events.
    first: bool,
    cycle: u64,
    fields: Fields,
    block: Block,
    synthesiser: Synthesiser,
    now: Now,
    /// The cycle from which the settings are those after a reset.
    reset: Option<u64>,
}

/// Follows a recording (see [`super::Recording`] for its format).
pub struct Follower {
    outputs: Vec<Output>,
    per_cycle: u64,
}

impl Follower {
    /// Creates a follower. `cores`: the core of each output, those of one core in order.
    pub fn new(cores: &[usize], samples_per_cycle: u32) -> Self {
        let output = |(n, &core): (usize, &usize)| {
            let channel = cores[..n].iter().filter(|&&other| other == core).count();
            let mut block = Block::default();
            show(&mut block, &[0; FIELDS]);
            Output {
                core,
                first: channel == 0,
                cycle: 0,
                fields: [0; FIELDS],
                block,
                synthesiser: Synthesiser::new(samples_per_cycle),
                now: Now::new(channel),
                reset: None,
            }
        };
        Self {
            outputs: cores.iter().enumerate().map(output).collect(),
            per_cycle: samples_per_cycle.into(),
        }
    }

    /// Consumes the next words of the recording, and calls `see` whenever the tones of an output
    /// change, with its number, the cycle, and both tones. Returns the number of words consumed:
    /// all except an incomplete last entry.
    pub fn take(&mut self, words: &[u64], mut see: impl FnMut(usize, u64, [Tone; TONES])) -> usize {
        let mut left = words;
        while let Some((&head, rest)) = left.split_first() {
            let (cycle, number) = (head >> 16, (head >> 12 & 0xf) as usize);
            let Some((fields, rest)) = rest.split_at_checked((head & MASK).count_ones() as usize) else {
                break;
            };
            if head & EVENT != 0 {
                if let Some(event) = fields.last() {
                    self.set(number, cycle, *event, &mut see);
                }
            }
            self.show(number, cycle, head, fields, &mut see);
            left = rest;
        }
        words.len() - left.len()
    }

    /// Applies an event of a core, which may affect any of its outputs.
    fn set(&mut self, number: usize, cycle: u64, event: u64, see: &mut impl FnMut(usize, u64, [Tone; TONES])) {
        let Some(core) = self.outputs.get(number).map(|output| output.core) else {
            return;
        };
        for (n, output) in self.outputs.iter_mut().enumerate() {
            if output.core == core {
                output.pass(cycle, self.per_cycle);
                output.now.take(cycle, event, self.per_cycle);
                see(n, cycle, output.tones());
            }
        }
    }

    fn show(
        &mut self,
        number: usize,
        cycle: u64,
        head: u64,
        words: &[u64],
        see: &mut impl FnMut(usize, u64, [Tone; TONES]),
    ) {
        let Some(output) = self.outputs.get_mut(number) else {
            return;
        };
        output.pass(cycle, self.per_cycle);
        put(&mut output.fields, head, &mut words.iter().copied());
        show(&mut output.block, &output.fields);
        // Synchronisation to the global phase takes effect now.
        let counter = output.now.counter(self.per_cycle);
        output.synthesiser.skip(&output.block, 0, counter);
        output.block.sync = [false; TONES];
        see(number, cycle, output.tones());
        if output.first && output.fields[LEVELS] as u64 & RESET != 0 {
            let core = output.core;
            for other in self.outputs.iter_mut().filter(|other| other.core == core) {
                other.reset = Some(cycle + 1);
            }
        }
    }
}

impl Output {
    /// Advances to a cycle.
    fn pass(&mut self, cycle: u64, per_cycle: u64) {
        let cycles = cycle.saturating_sub(self.cycle);
        self.synthesiser.skip(&self.block, cycles, 0);
        if cycles > 0 && self.fields[LEVELS] as u64 & RESET != 0 {
            self.synthesiser.reset();
        }
        self.cycle += cycles;
        if let Some(at) = self.reset.take_if(|at| *at <= self.cycle) {
            self.now.reset(at, per_cycle);
        }
        self.now.pass(self.cycle, per_cycle);
    }

    fn tones(&mut self) -> [Tone; TONES] {
        self.synthesiser.harmonics = self.now.harmonics;
        self.synthesiser.tones(&self.block, &self.now.forward)
    }
}
