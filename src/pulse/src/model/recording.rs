//! Samples of what engines were recorded to show: where the logic that makes samples is left out, as in the emulator, they
//! are made here, when somebody wants them.
//!
//! A recording has, for each cycle in which an output shows something new, a word `cycle << 16 | output << 12 | mask` and the
//! fields of the mask: values of the parameters, frames as applied to both tones, levels. The global counter of samples in a
//! cycle is its number times the samples in a cycle.

use super::machine::{Block, Run};
use super::{saturate, FeedForward, Sine, Synthesiser, PARAMETERS};
use crate::wrap;
use alloc::{vec, vec::Vec};
use kairos_contracts::pulse::{TONES, VALUE_BITS};

/// What an output shows: eight parameters, frames as applied to both tones, and levels.
pub const FIELDS: usize = PARAMETERS + TONES + 1;
const LEVELS: usize = FIELDS - 1;
const FIELDS_MASK: u64 = (1 << FIELDS) - 1;
/// Bits of the levels: for each tone, it begins at the global phase; the core is reset.
const SYNC: u64 = 1;
const RESET: u64 = 1 << (4 * TONES);

/// Fields in some cycles, 40 bits signed; the last one has bits.
pub type Fields = [i64; FIELDS];

/// What the outputs of a core have shown.
#[derive(Clone)]
pub struct Recording {
    outputs: Vec<Vec<u64>>,
    samples_per_cycle: u32,
    sine: Sine,
}

impl Recording {
    /// Of the words of a recording; none if they are not in the format, or name other outputs.
    pub fn new(words: &[u64], outputs: usize, samples_per_cycle: u32) -> Option<Self> {
        let mut of_output: Vec<(u64, Vec<u64>)> = vec![(0, Vec::new()); outputs];
        let mut left = words;
        while let Some((&head, rest)) = left.split_first() {
            let count = (head & FIELDS_MASK).count_ones() as usize;
            let fields = rest.get(..count)?;
            let (before, rows) = of_output.get_mut((head >> 12 & 0xf) as usize)?;
            let cycle = head >> 16;
            if cycle < *before || head >> FIELDS & 1 != 0 {
                return None;
            }
            *before = cycle;
            rows.push(head);
            rows.extend(fields);
            left = &rest[count..];
        }
        Some(Self {
            outputs: of_output.into_iter().map(|(_, rows)| rows).collect(),
            samples_per_cycle,
            sine: Sine::new(),
        })
    }

    /// The cycles in which an output showed something new for the first and for the last time, if it ever did.
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

    /// Shows the fields of an output from its first change up to cycle `until`, as long as they stay: from, to, fields.
    fn pieces(&self, output: usize, until: u64, mut see: impl FnMut(u64, u64, &Fields)) {
        let mut fields = [0; FIELDS];
        let mut words = self.outputs[output].iter().copied();
        let mut begin = None;
        while let Some(head) = words.next() {
            let cycle = (head >> 16).min(until);
            if let Some(begin) = begin.filter(|&begin| begin < cycle) {
                see(begin, cycle, &fields);
            }
            for (n, field) in fields.iter_mut().enumerate().filter(|(n, _)| head >> n & 1 != 0) {
                let word = words.next().unwrap_or_default() as i64;
                *field = if n == LEVELS { word } else { wrap(word, VALUE_BITS) };
            }
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
        let until = from + cycles;
        let (mut sums, mut limited) = (Vec::new(), false);
        let mut synthesiser = Synthesiser::new(self.samples_per_cycle);
        let mut block = Block::default();
        let mut at = from;
        let silence = |cycles: u64, out: &mut Vec<i16>| {
            out.resize(out.len() + (cycles * u64::from(self.samples_per_cycle)) as usize, 0);
        };
        self.pieces(output, until, |begin, end, fields| {
            show(&mut block, fields);
            let counter = |cycle: u64| cycle.wrapping_mul(self.samples_per_cycle.into());
            let unheard = from.clamp(begin, end);
            if unheard > begin {
                synthesiser.skip(&block, unheard - begin, counter(begin));
                // The first cycle is over.
                block.sync = [false; TONES];
            }
            if end > unheard {
                silence(unheard - at, out);
                block.cycles = end - unheard;
                synthesiser.real(&block, counter(unheard), &FeedForward::default(), &self.sine, &mut sums);
                out.extend(sums.drain(..).map(|sum| {
                    let (sample, too_far) = saturate(sum);
                    limited |= too_far;
                    sample
                }));
                at = end;
            }
            if fields[LEVELS] as u64 & RESET != 0 {
                synthesiser.reset();
            }
        });
        silence(until - at, out);
        limited
    }
}

/// Makes a block show these fields.
fn show(block: &mut Block, fields: &Fields) {
    for (run, &value) in block.values.iter_mut().chain(&mut block.applied).zip(fields) {
        *run = Run::of(value);
    }
    let levels = fields[LEVELS] as u64;
    block.sync = core::array::from_fn(|tone| levels & SYNC << tone != 0);
}
