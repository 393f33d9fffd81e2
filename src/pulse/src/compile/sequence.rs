//! Sequences of gates: words that run gates in the tables and stream the others.

use super::image::{ChannelImage, EMPTY};
use super::stream::{merge_timed, stream, Timed};
use super::{encode, Encoded, Error, Image, Kind, Limits, Placed, Pulse};
use crate::word::{self, Branch};
use crate::{Segment, Word};
use alloc::{collections::BTreeMap, string::String, vec, vec::Vec};
use kairos_contracts::pulse as facts;

/// A step of a sequence.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Gates in parallel, by name. Channels that none of them uses pause.
    Gates(Vec<String>),
    /// Waits for a result, which selects one of these cases, each a list of gates one after
    /// another, by name. All are padded to the longest; results without a case pause.
    Branch(Vec<Vec<String>>),
}

/// Steps one after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sequence {
    pub steps: Vec<Step>,
    /// Participating channels; those that no gate uses pause throughout.
    pub channels: u8,
    /// Append zeros, and zeros that wait for the trigger, so that the channels do not underflow.
    pub close: bool,
}

/// Duration of each of the two pulses of zeros at the end, in s.
const CLOSING: f64 = 0.3e-6;

/// Words of a channel so far.
struct Track {
    channel: u8,
    /// Cycles so far.
    at: u64,
    ids: Vec<u16>,
    branch: Branch,
    /// Start of the gates in `ids`.
    start: u64,
    words: Vec<Timed>,
    /// Number of gates in branches.
    chosen: u16,
}

impl Track {
    fn new(channel: u8) -> Self {
        Self {
            channel,
            at: 0,
            ids: Vec::new(),
            branch: Branch::None,
            start: 0,
            words: Vec::new(),
            chosen: 0,
        }
    }

    fn flush(&mut self, limits: &Limits) {
        if !self.ids.is_empty() {
            self.words.push(Timed {
                start: self.start,
                order: 0,
                word: word::run(1 << self.channel, self.branch, &self.ids, limits.run_format),
            });
            self.ids.clear();
        }
    }

    fn run(&mut self, id: u16, cycles: u64, limits: &Limits) {
        if self.ids.is_empty() {
            self.start = self.at;
        }
        self.ids.push(id);
        self.at += cycles;
        if self.ids.len() == limits.run_format.slots() {
            self.flush(limits);
            if self.branch == Branch::Wait {
                self.branch = Branch::Continue;
            }
        }
    }

    fn play(&mut self, gate: &Placed, limits: &Limits) {
        if let Some(id) = gate.id {
            return self.run(id, gate.cycles, limits);
        }
        self.flush(limits);
        for pulse in &gate.pulses {
            self.words.extend(stream(self.channel, pulse, self.at));
            self.at += pulse.segments[0].iter().map(|segment| segment.tau).sum::<u64>();
        }
    }
}

impl Image {
    /// Makes the words that run a sequence. Pauses that it needs are added to the tables, so call
    /// [`Image::programming`] afterwards.
    pub fn sequence(&mut self, sequence: &Sequence) -> Result<Vec<Word>, Error> {
        Ok(self.timed(sequence)?.into_iter().map(|(_, word)| word).collect())
    }

    /// Makes the same words, each with the cycle of the sequence in which its content starts.
    pub fn timed(&mut self, sequence: &Sequence) -> Result<Vec<(u64, Word)>, Error> {
        let channels = (0..self.limits.channels as u8).filter(|c| sequence.channels >> c & 1 != 0);
        let mut tracks: Vec<Track> = channels.map(Track::new).collect();
        for step in &sequence.steps {
            match step {
                Step::Gates(names) => self.beside(names, &mut tracks)?,
                Step::Branch(cases) => self.branch(cases, &mut tracks)?,
            }
        }
        let mut words = Vec::new();
        for track in &mut tracks {
            if sequence.close {
                let cycles = self.limits.rates.cycles(CLOSING).unwrap_or_default();
                self.pause(track, cycles)?;
                track.flush(&self.limits);
                let last = Pulse {
                    wait: true,
                    ..Pulse::idle(track.channel, cycles)
                };
                track
                    .words
                    .extend(stream(track.channel, &encode(&last, &self.limits.rates)?, track.at));
            }
            track.flush(&self.limits);
            words.append(&mut track.words);
        }
        Ok(merge_timed(words))
    }

    fn gate(&self, name: &str) -> Result<&BTreeMap<u8, Placed>, Error> {
        let unknown = || Error::new(Kind::UnknownGate).of_gate(name);
        self.gates.get(name).ok_or_else(unknown)
    }

    /// Plays gates in parallel; all channels are synchronous afterwards.
    fn beside(&mut self, names: &[String], tracks: &mut [Track]) -> Result<(), Error> {
        let mut longest = 0;
        let mut used = 0u8;
        for name in names {
            for (&channel, placed) in self.gate(name)? {
                if used >> channel & 1 != 0 {
                    return Err(Error::new(Kind::Overlap).of_gate(name).on_channel(channel));
                }
                used |= 1 << channel;
                longest = longest.max(placed.cycles);
            }
        }
        for track in tracks {
            let before = track.at;
            for name in names {
                if let Some(placed) = self.gate(name)?.get(&track.channel) {
                    track.play(placed, &self.limits);
                }
            }
            let left = longest - (track.at - before);
            self.pause(track, left)?;
        }
        Ok(())
    }

    /// A pause. It may be shorter than a user's segments (the core takes one cycle), since a longer
    /// gate is played before it or beside it.
    fn idle(&mut self, channel: u8, cycles: u64) -> Result<Placed, Error> {
        let encoded = if cycles < facts::SEGMENT_CYCLES_MIN.into() {
            Encoded {
                segments: core::array::from_fn(|_| vec![Segment::constant(0, cycles)]),
                ..Encoded::default()
            }
        } else {
            encode(&Pulse::idle(channel, cycles), &self.limits.rates)?
        };
        let mut gate = Placed {
            pulses: vec![encoded],
            cycles,
            id: None,
        };
        let tables: &mut ChannelImage = &mut self.channels[usize::from(channel)];
        gate.id = match tables.idle.get(&cycles) {
            Some(&id) => id,
            None => tables.place(&gate, &self.limits),
        };
        tables.idle.insert(cycles, gate.id);
        Ok(gate)
    }

    fn pause(&mut self, track: &mut Track, cycles: u64) -> Result<(), Error> {
        if cycles != 0 {
            track.play(&self.idle(track.channel, cycles)?, &self.limits);
        }
        Ok(())
    }

    fn branch(&mut self, cases: &[Vec<String>], tracks: &mut [Track]) -> Result<(), Error> {
        let results = 1usize << facts::BRANCH_STATE_BITS;
        if cases.len() > results {
            return Err(Error::new(Kind::Cases { cases: cases.len() }));
        }
        let longest = self.longest(cases)?;
        for track in tracks {
            track.flush(&self.limits);
            let mut rows: Vec<Vec<(u16, u16)>> = Vec::with_capacity(results);
            for n in 0..results {
                rows.push(self.case(cases.get(n).map_or(&[], Vec::as_slice), longest, track.channel)?);
            }
            let gates = rows.iter().map(Vec::len).max().unwrap_or_default();
            let first = track.chosen;
            track.chosen += gates as u16;
            if usize::from(track.chosen) > facts::BRANCH_GATES {
                let gates = track.chosen.into();
                return Err(Error::new(Kind::Branches { gates }).on_channel(track.channel));
            }
            let tables = &mut self.channels[usize::from(track.channel)];
            for (result, row) in rows.iter().enumerate() {
                for i in 0..gates {
                    let upper = 1u16 << facts::BRANCH_AT | (result as u16) << facts::BRANCH_STATE_AT;
                    tables
                        .branches
                        .insert(upper + first + i as u16, row.get(i).copied().unwrap_or(EMPTY));
                }
            }
            track.branch = Branch::Wait;
            let start = track.at;
            for i in 0..gates as u16 {
                track.run(first + i, 0, &self.limits);
            }
            track.flush(&self.limits);
            (track.branch, track.at) = (Branch::None, start + longest);
        }
        Ok(())
    }

    /// Duration to which all cases are padded: that of the longest.
    fn longest(&self, cases: &[Vec<String>]) -> Result<u64, Error> {
        let mut longest = 0;
        for case in cases {
            let mut length = 0;
            for name in case {
                length += self
                    .gate(name)?
                    .values()
                    .map(|placed| placed.cycles)
                    .max()
                    .unwrap_or_default();
            }
            longest = longest.max(length);
        }
        Ok(longest)
    }

    /// Ranges of the memory map that a case plays on a channel.
    fn case(&mut self, names: &[String], cycles: u64, channel: u8) -> Result<Vec<(u16, u16)>, Error> {
        let mut ranges = Vec::new();
        let mut left = cycles;
        for name in names {
            let gate = self.gate(name)?;
            let step = gate.values().map(|placed| placed.cycles).max().unwrap_or_default();
            let placed = gate.get(&channel).cloned();
            let played = placed.as_ref().map_or(0, |placed| placed.cycles);
            if let Some(placed) = placed {
                ranges.push(self.range(&placed, channel, name)?);
            }
            if step > played {
                let pause = self.idle(channel, step - played).map_err(|error| error.of_gate(name))?;
                ranges.push(self.range(&pause, channel, name)?);
            }
            left -= step;
        }
        if left != 0 {
            let pause = self.idle(channel, left)?;
            ranges.push(self.range(&pause, channel, "of a pause")?);
        }
        Ok(ranges)
    }

    fn range(&self, gate: &Placed, channel: u8, name: &str) -> Result<(u16, u16), Error> {
        let missing = || Error::new(Kind::NotInTables).of_gate(name).on_channel(channel);
        let id = gate.id.ok_or_else(missing)?;
        Ok(self.channels[usize::from(channel)].gates[usize::from(id)])
    }
}
