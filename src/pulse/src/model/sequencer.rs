//! A channel's gate sequencer: takes words from the input FIFO, writes tables, and passes segments
//! to the engines.
//!
//! In each cycle it writes the entries of one programming word, passes one segment on, or reads
//! `reads` entries of the memory map. The engines see its segments in the next cycle. An empty gate
//! takes one read.

use super::tables::BeyondTheEnd;
use super::{Config, Queue, Status, Tables};
use crate::word::{decode, Branch, Decoded, RunFormat, Slots};
use crate::{Segment, Word};
use kairos_contracts::pulse as facts;

/// Receiver of a sequencer's segments: a channel's engines.
pub trait Segments {
    /// Whether all FIFOs in the mask have room for another segment.
    fn has_room(&self, parameters: u8) -> bool;
    /// Pushes a segment to the parameters in the mask, which must have room.
    fn push(&mut self, parameters: u8, segment: Segment);
}

/// A channel's tables and sequencer state.
#[derive(Clone, Debug)]
pub struct Sequencer {
    /// The channel's input FIFO.
    pub input: Queue<Word>,
    /// The channel's tables.
    pub tables: Tables,
    format: RunFormat,
    reads: usize,
    timeout: u64,
    now: Option<Decoded>,
    /// For a word that runs gates: the next slot, and the remaining entries of the running gate.
    slot: usize,
    entries: Option<(u16, u16)>,
    /// Whether a result has been inserted into the running word's addresses.
    chosen: bool,
    waited: u64,
    /// A result not yet taken by a branch.
    result: Option<u8>,
    /// The result kept for words that continue a branch.
    kept: u8,
}

impl Sequencer {
    /// Creates the sequencer in the state after power-up.
    pub fn new(config: &Config) -> Self {
        Self {
            input: Queue::new(config.input_fifo),
            tables: Tables::new(config),
            format: config.run_format,
            reads: config.reads,
            timeout: config.branch_timeout,
            now: None,
            slot: 0,
            entries: None,
            chosen: false,
            waited: 0,
            result: None,
            kept: 0,
        }
    }

    /// Sets a measurement result; only the latest one is kept.
    pub fn result(&mut self, state: u8) {
        self.result = Some(state & ((1 << facts::BRANCH_STATE_BITS) - 1));
    }

    /// Whether no word is being processed or queued.
    pub fn is_idle(&self) -> bool {
        self.now.is_none() && self.input.is_empty()
    }

    /// Whether a branch waits for its result. A counted word without gates does nothing, and does
    /// not wait either.
    pub fn waits_for_result(&self) -> bool {
        match &self.now {
            Some(Decoded::Run { branch, ids }) => self.must_wait(*branch, ids),
            _ => false,
        }
    }

    fn must_wait(&self, branch: Branch, ids: &Slots<u16>) -> bool {
        let empty = self.format == RunFormat::Counted && ids.items().is_empty();
        branch == Branch::Wait && !self.chosen && !empty
    }

    /// Number of cycles, including this one, in which it only waits; 1 if it may act.
    pub fn quiet(&self, channel: &impl Segments) -> u64 {
        let can = match &self.now {
            None => !self.input.is_empty(),
            Some(Decoded::Bypass { parameters, .. }) => channel.has_room(*parameters),
            Some(Decoded::Run { ids, .. }) if !self.waits_for_result() => self.can_read(ids, channel),
            Some(Decoded::Run { .. }) if self.result.is_none() && self.timeout == 0 => false,
            Some(Decoded::Run { .. }) if self.result.is_none() => return (self.timeout - self.waited).max(1),
            Some(_) => true,
        };
        if can {
            1
        } else {
            u64::MAX
        }
    }

    fn can_read(&self, ids: &Slots<u16>, channel: &impl Segments) -> bool {
        match self.entries {
            Some((next, _)) => channel.has_room(self.tables.map(next).parameters),
            None => self.slot <= ids.items().len(),
        }
    }

    /// Ends `cycles` cycles, of which only the last one may have any effect.
    pub fn finish(&mut self, cycles: u64, channel: &mut impl Segments, status: &mut Status) {
        self.waited += cycles - 1;
        if self.now.is_none() {
            let Some(word) = self.input.pop() else { return };
            (self.slot, self.entries, self.chosen, self.waited) = (0, None, false, 0);
            self.now = decode(&word, self.format);
        }
        let done = match self.now {
            None => {
                status.errors |= facts::ERROR_MODE;
                true
            }
            Some(Decoded::Bypass { parameters, segment }) => {
                let fits = channel.has_room(parameters);
                if fits {
                    channel.push(parameters, segment);
                }
                fits
            }
            Some(Decoded::Run { branch, ids }) => match self.upper(branch, &ids, status) {
                Some(upper) => self.run(upper, &ids, channel, status),
                None => false,
            },
            Some(program) => {
                self.program(&program, status);
                true
            }
        };
        if done {
            self.now = None;
        }
    }

    fn program(&mut self, word: &Decoded, status: &mut Status) {
        let tables = &mut self.tables;
        let (written, excess) = match word {
            Decoded::Plut { address, segment } => (tables.write_pulse(*address, *segment), false),
            Decoded::Mlut(slots) => (each(slots, |entry| tables.write_map(entry)), slots.excess),
            Decoded::Glut(slots) => (each(slots, |entry| tables.write_gate(entry)), slots.excess),
            Decoded::Run { .. } | Decoded::Bypass { .. } => (Ok(()), false),
        };
        if written.is_err() {
            status.errors |= facts::ERROR_ADDRESS;
        }
        if excess {
            status.errors |= facts::ERROR_COUNT;
        }
    }

    /// Upper address bits of a word's gates; `None` while the result is missing.
    fn upper(&mut self, branch: Branch, ids: &Slots<u16>, status: &mut Status) -> Option<u16> {
        if branch == Branch::None {
            return Some(0);
        }
        if self.must_wait(branch, ids) {
            let late = self.timeout != 0 && self.waited >= self.timeout;
            let there = self.result.is_some();
            let Some(result) = self.result.take().or(late.then_some(0)) else {
                self.waited += 1;
                return None;
            };
            // A result that arrives in the last cycle is in time.
            if late && !there {
                status.errors |= facts::ERROR_BRANCH_TIMEOUT;
            }
            (self.kept, self.chosen) = (result, true);
        }
        Some(1 << facts::BRANCH_AT | u16::from(self.kept) << facts::BRANCH_STATE_AT)
    }

    /// Reads entries of the memory map. Returns whether the word is complete.
    fn run(&mut self, upper: u16, ids: &Slots<u16>, channel: &mut impl Segments, status: &mut Status) -> bool {
        if ids.excess {
            status.errors |= facts::ERROR_COUNT;
        }
        for _ in 0..self.reads {
            let (next, last) = match self.entries.take() {
                Some(entries) => entries,
                None => {
                    let Some(&id) = ids.items().get(self.slot) else {
                        return true;
                    };
                    self.slot += 1;
                    let gate = self.tables.gate(id | upper);
                    (gate.first, gate.last)
                }
            };
            if next <= last {
                let entry = self.tables.map(next);
                if !channel.has_room(entry.parameters) {
                    self.entries = Some((next, last));
                    return false;
                }
                channel.push(entry.parameters, self.tables.pulse(entry.plut));
                self.entries = (next < last).then_some((next + 1, last));
            }
        }
        self.entries.is_none() && self.slot >= ids.items().len()
    }
}

fn each<T: Copy + Default>(
    slots: &Slots<T>,
    write: impl FnMut(T) -> Result<(), BeyondTheEnd>,
) -> Result<(), BeyondTheEnd> {
    let written = slots.items().iter().copied().map(write);
    written.fold(Ok(()), Result::and)
}
