//! Samples of what engines were recorded to show: where the logic that makes samples is left out,
//! as in the emulator, they are made here, when somebody wants them.
//!
//! A recording has, for each cycle in which an output shows something new, a word
//! `cycle << 16 | output << 12 | mask` and the fields of the mask: values of the parameters, frames
//! as applied to both tones, levels, and of a core's first output an event that has set how samples
//! are made ([`Settings`]). The global counter of samples in a cycle is its number times the
//! samples in a cycle, as long as nothing sets it.

use super::machine::{Block, Run};
use super::settings::Settings;
use super::{saturate, FeedForward, Iq, Sine, Synthesiser, PARAMETERS};
use crate::wrap;
use alloc::{vec, vec::Vec};
use kairos_contracts::pulse::{TONES, VALUE_BITS};

/// What an output shows: eight parameters, frames as applied to both tones, and levels.
pub const FIELDS: usize = PARAMETERS + TONES + 1;
pub(super) const LEVELS: usize = FIELDS - 1;
/// The bit of an event in the mask, behind those of the fields.
pub(super) const EVENT: u64 = 1 << FIELDS;
pub(super) const MASK: u64 = 2 * EVENT - 1;
/// Bits of the levels: for each tone, it begins at the global phase; it takes the feed-forward; the
/// core is reset.
const SYNC: u64 = 1;
const FORWARD: u64 = 1 << TONES;
pub(super) const RESET: u64 = 1 << (4 * TONES);

/// Fields in some cycles, 40 bits signed; the last one has bits.
pub type Fields = [i64; FIELDS];

/// An output: its core, its channel there, and what it has shown.
#[derive(Clone)]
struct Output {
    core: usize,
    channel: usize,
    words: Vec<u64>,
}

/// What the outputs of cores have shown.
#[derive(Clone)]
pub struct Recording {
    outputs: Vec<Output>,
    /// By the number of a core.
    settings: Vec<Settings>,
    samples_per_cycle: u32,
    sine: Sine,
}

impl Recording {
    /// Of the words of a recording, and the core that each output is of (those of one core in turn,
    /// numbered from 0); none if they are not in the format, or name other outputs.
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

    /// The cycles in which an output showed something new for the first and for the last time, if
    /// it ever did.
    pub fn span(&self, output: usize) -> Option<(u64, u64)> {
        let mut span = None;
        self.pieces(output, u64::MAX, |from, _, _| {
            span = Some((span.map_or(from, |(first, _)| first), from));
        });
        span
    }

    /// Shows when a field of an output changes: the cycle, and what it is from there on.
    pub fn changes(&self, output: usize, field: usize, mut see: impl FnMut(u64, i64)) {
        let mut last = 0;
        self.pieces(output, u64::MAX, |cycle, _, fields| {
            let now = fields[field.min(LEVELS)];
            if core::mem::replace(&mut last, now) != now {
                see(cycle, now);
            }
        });
    }

    /// Shows the fields of an output from its first change up to cycle `until`, as long as they
    /// stay: from, to, fields.
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

    /// Fields of an output in some cycles, as long as they stay: number of cycles, fields.
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

    /// Adds the samples of an output in some cycles to `out`. True if one was limited to full scale.
    pub fn samples(&self, output: usize, from: u64, cycles: u64, out: &mut Vec<i16>) -> bool {
        let Output { core, channel, .. } = self.outputs[output];
        let mut sums = if self.settings[core].couples() {
            self.compensated(core, channel, from, cycles)
        } else {
            let mut sums = Vec::new();
            self.render(output, from, from + cycles, &mut sums, Synthesiser::real);
            sums
        };
        let mut limited = false;
        out.extend(sums.drain(..).map(|sum| {
            let (sample, too_far) = saturate(sum);
            limited |= too_far;
            sample
        }));
        limited
    }

    /// Sums of a channel with what it takes of its neighbours.
    fn compensated(&self, core: usize, channel: usize, from: u64, cycles: u64) -> Vec<i32> {
        let before = from.saturating_sub(Settings::REACH);
        // Before the begin of time there was nothing.
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

    /// Adds sums of an output's tones from a cycle to another, as `make` makes them of what the
    /// engines showed.
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
                // What comes before `from` is not heard, and nothing is set within a stretch.
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
                // The first cycle is over.
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

/// Takes the fields that a head announces.
pub(super) fn put(fields: &mut Fields, head: u64, words: &mut impl Iterator<Item = u64>) {
    for (n, field) in fields.iter_mut().enumerate().filter(|(n, _)| head >> n & 1 != 0) {
        let word = words.next().unwrap_or_default() as i64;
        *field = if n == LEVELS { word } else { wrap(word, VALUE_BITS) };
    }
}

/// Makes a block show these fields.
pub(super) fn show(block: &mut Block, fields: &Fields) {
    for (run, &value) in block.values.iter_mut().chain(&mut block.applied).zip(fields) {
        *run = Run::of(value);
    }
    let levels = fields[LEVELS] as u64;
    block.sync = core::array::from_fn(|tone| levels & SYNC << tone != 0);
    block.feed_forward = core::array::from_fn(|tone| levels & FORWARD << tone != 0);
}
