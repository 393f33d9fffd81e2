//! Samples from recorded engine outputs: where the sample-generating logic is omitted, as in the
//! emulator, samples are computed here on demand.
//!
//! A recording contains, for each cycle in which an output changes, a word `cycle << 16 | output <<
//! 12 | mask` and the fields in the mask: values of the parameters, frames as applied to both
//! tones, levels, and for a core's first output an event that changes settings of sample generation
//! ([`Settings`]). The global sample counter in a cycle is the cycle number times the samples per
//! cycle, unless it is set.

use super::machine::{Block, Run};
use super::settings::Settings;
use super::{saturate, FeedForward, Iq, Sine, Synthesiser, PARAMETERS};
use crate::wrap;
use alloc::{vec, vec::Vec};
use kairos_contracts::pulse::{TONES, VALUE_BITS};

/// Number of fields of an output: eight parameters, frames as applied to both tones, and levels.
pub const FIELDS: usize = PARAMETERS + TONES + 1;
pub(super) const LEVELS: usize = FIELDS - 1;
/// The bit of an event in the mask, above those of the fields.
pub(super) const EVENT: u64 = 1 << FIELDS;
pub(super) const MASK: u64 = 2 * EVENT - 1;
/// Bits of the levels: for each tone, its phase is set to the global phase; feed-forward is added
/// to it; the core is reset.
const SYNC: u64 = 1;
const FORWARD: u64 = 1 << TONES;
pub(super) const RESET: u64 = 1 << (4 * TONES);

/// Fields, 40 bits signed; the last one is a bit mask.
pub type Fields = [i64; FIELDS];

/// An output: its core, its channel there, and its recorded words.
#[derive(Clone)]
struct Output {
    core: usize,
    channel: usize,
    words: Vec<u64>,
}

/// Recorded outputs of cores.
#[derive(Clone)]
pub struct Recording {
    outputs: Vec<Output>,
    /// Settings of each core.
    settings: Vec<Settings>,
    samples_per_cycle: u32,
    sine: Sine,
}

impl Recording {
    /// Parses a recording. `cores`: the core of each output (those of one core in order, numbered
    /// from 0). `None` if the words are not in the format, or name other outputs.
    pub fn new(words: &[u64], cores: &[usize], samples_per_cycle: u32) -> Option<Self> {
        let channels = |core: usize| cores.iter().filter(|&&other| other == core).count();
        let mut settings: Vec<Settings> = (0..cores.len()).map(|core| Settings::new(channels(core))).collect();
        let output = |(n, &core): (usize, &usize)| Output {
            core,
            channel: cores[..n].iter().filter(|&&other| other == core).count(),
            words: Vec::new(),
        };
        let mut outputs: Vec<Output> = cores.iter().enumerate().map(output).collect();
        let mut before = vec![0; cores.len()];
        let mut left = words;
        while let Some((&head, rest)) = left.split_first() {
            let count = (head & MASK).count_ones() as usize;
            let (mut fields, rest) = (rest.get(..count)?, &rest[count..]);
            let (cycle, number) = (head >> 16, (head >> 12 & 0xf) as usize);
            let Output { core, channel, words } = outputs.get_mut(number)?;
            let settings = settings.get_mut(*core)?;
            if core::mem::replace(&mut before[number], cycle) > cycle {
                return None;
            }
            let mut event = None;
            if head & EVENT != 0 {
                (event, fields) = fields.split_last().map(|(event, fields)| (Some(*event), fields))?;
            }
            let mask = head & MASK & !EVENT;
            let levels = fields
                .last()
                .filter(|_| mask >> LEVELS != 0)
                .copied()
                .unwrap_or_default();
            match event {
                Some(event) if *channel != 0 || !settings.add(cycle, event) => return None,
                _ => (),
            }
            if *channel == 0 && levels & RESET != 0 {
                settings.reset(cycle + 1);
            }
            if mask != 0 {
                words.push(head & !EVENT);
                words.extend(fields);
            }
            left = rest;
        }
        Some(Self {
            outputs,
            settings,
            samples_per_cycle,
            sine: Sine::new(),
        })
    }

    /// The first and last cycle in which an output changed, if it ever did.
    pub fn span(&self, output: usize) -> Option<(u64, u64)> {
        let mut span = None;
        self.pieces(output, u64::MAX, |from, _, _| {
            span = Some((span.map_or(from, |(first, _)| first), from));
        });
        span
    }

    /// Calls `see` at each change of a field of an output, with the cycle and the new value.
    pub fn changes(&self, output: usize, field: usize, mut see: impl FnMut(u64, i64)) {
        let mut last = 0;
        self.pieces(output, u64::MAX, |cycle, _, fields| {
            let now = fields[field.min(LEVELS)];
            if core::mem::replace(&mut last, now) != now {
                see(cycle, now);
            }
        });
    }

    /// Calls `see` for each interval in which the fields of an output are constant, from its first
    /// change up to cycle `until`: start, end, fields.
    fn pieces(&self, output: usize, until: u64, mut see: impl FnMut(u64, u64, &Fields)) {
        let mut fields = [0; FIELDS];
        let mut words = self.outputs[output].words.iter().copied();
        let mut begin = None;
        while let Some(head) = words.next() {
            let cycle = (head >> 16).min(until);
            if let Some(begin) = begin.filter(|&begin| begin < cycle) {
                see(begin, cycle, &fields);
            }
            put(&mut fields, head, &mut words);
            begin = Some(cycle);
            if cycle == until {
                return;
            }
        }
        if let Some(begin) = begin {
            see(begin, until, &fields);
        }
    }

    /// Calls `see` for each interval with constant fields of an output in the given cycles: number
    /// of cycles, fields.
    pub fn fields(&self, output: usize, from: u64, cycles: u64, mut see: impl FnMut(u64, &Fields)) {
        let until = from + cycles;
        let mut at = from;
        self.pieces(output, until, |begin, end, fields| {
            if end > at {
                if begin > at {
                    see(begin - at, &[0; FIELDS]);
                }
                see(end - at.max(begin), fields);
                at = end;
            }
        });
        if until > at {
            see(until - at, &[0; FIELDS]);
        }
    }

    /// Appends the samples of an output in the given cycles to `out`. Returns whether any was
    /// clamped to full scale.
    pub fn samples(&self, output: usize, from: u64, cycles: u64, out: &mut Vec<i16>) -> bool {
        let Output { core, channel, .. } = self.outputs[output];
        let sums = if self.settings[core].couples() {
            self.compensated(core, channel, from, cycles)
        } else {
            let mut sums = Vec::new();
            self.render(output, from, from + cycles, &mut sums, Synthesiser::real);
            sums
        };
        limit(sums.into_iter(), out)
    }

    /// Likewise those of the imaginary part, which crosstalk compensation does not reach.
    pub fn imaginary(&self, output: usize, from: u64, cycles: u64, out: &mut Vec<i16>) -> bool {
        let mut signals = Vec::new();
        self.render(output, from, from + cycles, &mut signals, Synthesiser::complex);
        limit(signals.into_iter().map(|(_, imaginary)| imaginary), out)
    }

    /// Sums of a channel, including crosstalk compensation.
    fn compensated(&self, core: usize, channel: usize, from: u64, cycles: u64) -> Vec<i32> {
        let before = from.saturating_sub(Settings::REACH);
        // Before cycle 0 all signals are zero.
        let nothing = (Settings::REACH - (from - before)) as usize * self.samples_per_cycle as usize;
        let of_core = self
            .outputs
            .iter()
            .enumerate()
            .filter(|(_, output)| output.core == core);
        let signals: Vec<Vec<Iq>> = of_core
            .map(|(number, output)| {
                let mut signals = vec![(0, 0); nothing];
                if output.channel.abs_diff(channel) <= 2 {
                    self.render(number, before, from + cycles, &mut signals, Synthesiser::complex);
                }
                signals
            })
            .collect();
        self.settings[core].compensate(channel, from, cycles, &signals, self.samples_per_cycle as usize)
    }

    /// Appends the sums of an output's tones from one cycle to another, computed by `make` from the
    /// outputs of the engines.
    fn render<T: Clone + Default>(
        &self,
        output: usize,
        from: u64,
        until: u64,
        out: &mut Vec<T>,
        make: impl Fn(&mut Synthesiser, &Block, u64, &FeedForward, &Sine, &mut Vec<T>),
    ) {
        let per_cycle = u64::from(self.samples_per_cycle);
        let Output { core, channel, .. } = self.outputs[output];
        let mut state = self.settings[core].begin(channel);
        let mut synthesiser = Synthesiser::new(self.samples_per_cycle);
        let mut block = Block::default();
        let mut at = from;
        let silence = |cycles: u64, out: &mut Vec<T>| {
            out.resize(out.len() + (cycles * per_cycle) as usize, T::default());
        };
        self.pieces(output, until, |begin, end, fields| {
            show(&mut block, fields);
            let mut cycle = begin;
            while cycle < end {
                state.advance(cycle, per_cycle);
                synthesiser.harmonics = state.now.harmonics;
                // Before `from` only phases matter; no setting changes within a stretch.
                let bound = if cycle < from { from } else { u64::MAX };
                let stretch = end.min(state.until()).min(bound) - cycle;
                let counter = state.now.counter(per_cycle);
                if cycle < from {
                    synthesiser.skip(&block, stretch, counter);
                } else {
                    silence(cycle - at, out);
                    block.cycles = stretch;
                    make(&mut synthesiser, &block, counter, &state.now.forward, &self.sine, out);
                    at = cycle + stretch;
                }
                // Synchronisation applies in the first cycle only.
                block.sync = [false; TONES];
                cycle += stretch;
            }
            if fields[LEVELS] as u64 & RESET != 0 {
                synthesiser.reset();
            }
        });
        silence(until - at, out);
    }
}

/// Appends the samples for these sums. Returns whether any was clamped to full scale.
fn limit(sums: impl Iterator<Item = i32>, out: &mut Vec<i16>) -> bool {
    let mut limited = false;
    out.extend(sums.map(|sum| {
        let (sample, too_far) = saturate(sum);
        limited |= too_far;
        sample
    }));
    limited
}

/// Reads the fields announced by a head.
pub(super) fn put(fields: &mut Fields, head: u64, words: &mut impl Iterator<Item = u64>) {
    for (n, field) in fields.iter_mut().enumerate().filter(|(n, _)| head >> n & 1 != 0) {
        let word = words.next().unwrap_or_default() as i64;
        *field = if n == LEVELS { word } else { wrap(word, VALUE_BITS) };
    }
}

/// Sets the outputs of a block from fields.
pub(super) fn show(block: &mut Block, fields: &Fields) {
    for (run, &value) in block.values.iter_mut().chain(&mut block.applied).zip(fields) {
        *run = Run::of(value);
    }
    let levels = fields[LEVELS] as u64;
    block.sync = core::array::from_fn(|tone| levels & SYNC << tone != 0);
    block.feed_forward = core::array::from_fn(|tone| levels & FORWARD << tone != 0);
}
