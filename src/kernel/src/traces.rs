//! The store of DMA traces: named recordings that persist until they are erased, replaced, or the
//! device reboots.
//!
//! A kernel can be killed at any instruction, so the memory is consistent after any prefix of the
//! stores here. It is a chain of blocks, each {state, size, length of the name, place of the trace,
//! duration in two words, words of the trace, number, name, trace}; sizes and places are in units
//! of 128 bytes, the alignment that the gateware requires of traces. A recording grows inside a
//! free block. When it ends, the rest first becomes a free block, then the block gets its size, and
//! finally its state. A trace never moves, so its address can be its handle.

use core::sync::atomic::{compiler_fence, Ordering};

use kairos_contracts::link::DESTINATION_MASTER;
use kairos_proto::dma::{decode, encode, ALIGNMENT, END};

const FREE: u32 = 0;
const USED: u32 = 0x5452_4143;
const STATE: usize = 0;
const SIZE: usize = 1;
const NAME_LENGTH: usize = 2;
const PLACE: usize = 3;
const DURATION: usize = 4;
const LENGTH: usize = 6;
/// Number of a trace that was split, and of its parts; 0 for none.
const NUMBER: usize = 7;
const NAME: usize = 8;
/// Name length of a part, which has no name; its duration field holds its board's destination.
const PART: u32 = u32::MAX;
/// Words in a unit.
const UNIT: usize = ALIGNMENT / 4;

/// There is no room for a recording, or it has become too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// A stored trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Time cursor at the end of the recording, in machine units.
    pub duration: i64,
    /// Its start, in bytes from the start of the memory.
    pub offset: usize,
    /// The number under which it was split; 0 if it is whole.
    pub number: u32,
}

/// The part of a trace that one board plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub destination: u8,
    /// Its start, in bytes from the start of the memory, and its length.
    pub offset: usize,
    pub bytes: usize,
}

/// A recording in progress. It is not in the store until it has ended.
#[derive(Clone, Copy, Debug)]
pub struct Recording {
    block: usize,
    /// The next word, and the end of the available ones.
    at: usize,
    end: usize,
    /// Time of the newest event, and the number of events.
    before: i64,
    events: u32,
    full: bool,
}

impl Recording {
    /// The place of the next event, in bytes from the start of the memory.
    pub fn place(&self) -> usize {
        self.at * 4
    }

    /// Number of events, and the time of the newest one.
    pub fn length(&self) -> (u32, i64) {
        (self.events, self.before)
    }
}

/// The store in its memory, whose start is aligned to 128 bytes.
pub struct Traces<'m> {
    words: &'m mut [u32],
}

/// Keeps earlier stores before later ones.
fn order() {
    compiler_fence(Ordering::SeqCst);
}

impl<'m> Traces<'m> {
    /// Creates an empty store. `words` must have at least a unit.
    pub fn new(words: &'m mut [u32]) -> Self {
        words[STATE] = FREE;
        words[SIZE] = (words.len() / UNIT) as u32;
        Self { words }
    }

    /// Attaches to the store in `words`, made by [`Traces::new`].
    pub fn attach(words: &'m mut [u32]) -> Self {
        Self { words }
    }

    /// Positions of the blocks, as long as they are valid: a kernel can write anywhere.
    fn blocks(&self) -> impl Iterator<Item = usize> + '_ {
        let mut next = 0;
        core::iter::from_fn(move || {
            let block = next;
            let size = self.size(block)?;
            next = block + size;
            Some(block)
        })
    }

    /// The size in words of the block at a position, if valid.
    fn size(&self, block: usize) -> Option<usize> {
        let size = (*self.words.get(block + SIZE)? as usize).checked_mul(UNIT)?;
        (size >= UNIT && block.checked_add(size)? <= self.words.len()).then_some(size)
    }

    fn name_is(&self, block: usize, name: &[u8]) -> bool {
        self.words[block + NAME_LENGTH] as usize == name.len()
            && words_of(name)
                .zip(&self.words[block + NAME..])
                .all(|(word, &stored)| word == stored)
    }

    fn block_of(&self, name: &[u8]) -> Option<usize> {
        self.blocks()
            .find(|&block| self.words[block + STATE] == USED && self.name_is(block, name))
    }

    fn trace(&self, block: usize) -> Trace {
        let duration = &self.words[block + DURATION..];
        Trace {
            duration: (u64::from(duration[1]) << 32 | u64::from(duration[0])) as i64,
            offset: (block + self.words[block + PLACE] as usize * UNIT) * 4,
            number: self.words[block + NUMBER],
        }
    }

    /// Blocks of parts, each with the number of its trace.
    fn part_blocks(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.blocks()
            .filter(|block| self.words[block + STATE] == USED && self.words[block + NAME_LENGTH] == PART)
            .map(|block| (block, self.words[block + NUMBER]))
    }

    /// The parts of the trace that was split under `number`.
    pub fn parts(&self, number: u32) -> impl Iterator<Item = Part> + '_ {
        let blocks = self.part_blocks().filter(move |(_, of)| *of == number);
        blocks.map(|(block, _)| Part {
            destination: self.words[block + DURATION] as u8,
            offset: self.trace(block).offset,
            bytes: self.words[block + LENGTH] as usize * 4,
        })
    }

    /// Erases the parts of the trace that was split under `number`.
    fn erase_parts(&mut self, number: u32) {
        while let Some((block, _)) = {
            let mut blocks = self.part_blocks();
            blocks.find(|(_, of)| *of == number)
        } {
            self.words[block + STATE] = FREE;
        }
    }

    /// Splits the trace `name` by the boards of its events, under `number`, which is not 0. Its own
    /// block keeps no events. `cards` has a bit for each destination whose events this board plays.
    /// `copied` receives the old and new place of each event, in bytes from the start of the memory.
    ///
    /// # Errors
    /// [`Full`] if there is no room; the trace is erased.
    pub fn take_apart(
        &mut self,
        name: &[u8],
        number: u32,
        cards: u32,
        copied: impl Fn(usize, usize),
    ) -> Result<(), Full> {
        // Left by a kernel that was killed here.
        self.erase_parts(number);
        let Some(block) = self.block_of(name) else {
            return Ok(());
        };
        let start = block + self.words[block + PLACE] as usize * UNIT;
        let end = start + self.words[block + LENGTH] as usize;
        let mut destinations = [0u32; 8];
        let player = |destination: u8| match cards.checked_shr(destination.into()) {
            Some(bits) if bits & 1 != 0 => DESTINATION_MASTER,
            _ => destination,
        };
        self.each_event(start, end, |_, event, _| {
            let destination = player(event.destination());
            destinations[usize::from(destination) / 32] |= 1 << (destination % 32);
        });
        for destination in 0..=u8::MAX {
            if destinations[usize::from(destination) / 32] >> (destination % 32) & 1 == 0 {
                continue;
            }
            let is_played = |event: u8| player(event) == destination;
            if self
                .copy_part((start, end), destination, is_played, number, &copied)
                .is_err()
            {
                self.erase_parts(number);
                self.erase(name);
                return Err(Full);
            }
        }
        self.words[start..start + END.len()].copy_from_slice(&END);
        (self.words[block + LENGTH], self.words[block + NUMBER]) = (END.len() as u32, number);
        self.shorten(block, start + END.len());
        Ok(())
    }

    fn copy_part(
        &mut self,
        (start, end): (usize, usize),
        destination: u8,
        is_played: impl Fn(u8) -> bool,
        number: u32,
        copied: impl Fn(usize, usize),
    ) -> Result<(), Full> {
        let mut recording = self.allocate(&[])?;
        self.each_event(start, end, |traces, event, at| {
            if is_played(event.destination()) {
                copied(at * 4, recording.place());
                // If one does not fit, `finish` says so.
                let _ = traces.event(&mut recording, event.target, event.time, event.words().iter().copied());
            }
        });
        self.words[recording.block + NAME_LENGTH] = PART;
        self.words[recording.block + NUMBER] = number;
        self.finish(recording, i64::from(destination))
    }

    /// Calls `action` for each event with its position.
    fn each_event(
        &mut self,
        start: usize,
        end: usize,
        mut action: impl FnMut(&mut Self, &kairos_proto::dma::Event, usize),
    ) {
        let (mut at, mut now) = (start, 0);
        while let Some((event, next)) = decode(&self.words[..end], at, now) {
            action(self, &event, at);
            (at, now) = (next, event.time);
        }
    }

    /// Turns the space of a block after `end` into a free block.
    fn shorten(&mut self, block: usize, end: usize) {
        let taken = (end - block).div_ceil(UNIT);
        if let Some(rest) = self.words[block + SIZE]
            .checked_sub(taken as u32)
            .filter(|&rest| rest > 0)
        {
            let next = block + taken * UNIT;
            (self.words[next + STATE], self.words[next + SIZE]) = (FREE, rest);
            order();
            self.words[block + SIZE] = taken as u32;
        }
    }

    /// The trace `name`.
    pub fn find(&self, name: &[u8]) -> Option<Trace> {
        self.block_of(name).map(|block| self.trace(block))
    }

    /// Whether a trace begins at `offset`.
    pub fn is_trace(&self, offset: usize) -> bool {
        self.named_at(offset).is_some()
    }

    /// The number under which the trace at `offset` was split, 0 if it is whole.
    pub fn named_at(&self, offset: usize) -> Option<u32> {
        let mut blocks = self.blocks();
        let block = blocks.find(|block| {
            let named = self.words[block + STATE] == USED && self.words[block + NAME_LENGTH] != PART;
            named && self.trace(*block).offset == offset
        });
        block.map(|block| self.words[block + NUMBER])
    }

    /// Erases the trace `name`, if there is one. Returns the number under which it was split, if it
    /// was.
    pub fn erase(&mut self, name: &[u8]) -> Option<u32> {
        let block = self.block_of(name)?;
        let number = self.words[block + NUMBER];
        self.words[block + STATE] = FREE;
        if number == 0 {
            return None;
        }
        self.erase_parts(number);
        Some(number)
    }

    /// Merges free neighbours, and returns the largest free block with its size.
    fn largest(&mut self) -> Option<(usize, usize)> {
        let mut largest = None;
        let mut block = 0;
        while let Some(mut size) = self.size(block) {
            if self.words[block + STATE] != USED {
                while let Some(more) = self.size(block + size) {
                    if self.words[block + size + STATE] == USED {
                        break;
                    }
                    size += more;
                    self.words[block + SIZE] = (size / UNIT) as u32;
                }
                if largest.is_none_or(|(_, other)| size > other) {
                    largest = Some((block, size));
                }
            }
            block += size;
        }
        largest
    }

    /// Begins a recording in the largest free block; a trace of the same name is erased.
    ///
    /// # Errors
    /// [`Full`] if there is not even room for the name.
    pub fn begin(&mut self, name: &[u8]) -> Result<Recording, Full> {
        self.erase(name);
        self.allocate(name)
    }

    fn allocate(&mut self, name: &[u8]) -> Result<Recording, Full> {
        let (block, size) = self.largest().ok_or(Full)?;
        let place = (NAME + name.len().div_ceil(4)).div_ceil(UNIT);
        let at = block + place * UNIT;
        // The end marker always fits.
        let end = (block + size).saturating_sub(END.len());
        if at > end {
            return Err(Full);
        }
        self.words[block + NAME_LENGTH] = name.len() as u32;
        self.words[block + PLACE] = place as u32;
        self.words[block + NUMBER] = 0;
        for (word, to) in words_of(name).zip(&mut self.words[block + NAME..]) {
            *to = word;
        }
        Ok(Recording {
            block,
            at,
            end,
            before: 0,
            events: 0,
            full: false,
        })
    }

    /// Appends an event of 1 to 16 words at `time`.
    ///
    /// # Errors
    /// [`Full`] if it does not fit: it and all later ones are lost, which [`Traces::finish`] reports
    /// too.
    pub fn event(
        &mut self,
        recording: &mut Recording,
        target: u32,
        time: i64,
        words: impl ExactSizeIterator<Item = u32>,
    ) -> Result<(), Full> {
        // A time, the head and the words.
        if recording.full || recording.end - recording.at < 8 + words.len() {
            recording.full = true;
            return Err(Full);
        }
        let mut at = recording.at;
        encode(recording.before, target, time, words, |word| {
            self.words[at] = word;
            at += 1;
        });
        (recording.at, recording.before) = (at, time);
        recording.events += 1;
        Ok(())
    }

    /// Ends a recording and stores it.
    ///
    /// # Errors
    /// [`Full`] if it has become too long; it is dropped.
    pub fn finish(&mut self, recording: Recording, duration: i64) -> Result<(), Full> {
        let Recording { block, at, full, .. } = recording;
        if full {
            return Err(Full);
        }
        self.words[at..at + END.len()].copy_from_slice(&END);
        let duration = duration as u64;
        self.words[block + DURATION] = duration as u32;
        self.words[block + DURATION + 1] = (duration >> 32) as u32;
        let start = block + self.words[block + PLACE] as usize * UNIT;
        self.words[block + LENGTH] = (at + END.len() - start) as u32;
        self.shorten(block, at + END.len());
        order();
        self.words[block + STATE] = USED;
        order();
        Ok(())
    }
}

/// The words of a name, padded with zeros.
fn words_of(name: &[u8]) -> impl Iterator<Item = u32> + '_ {
    name.chunks(4).map(|bytes| {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(word)
    })
}

#[cfg(test)]
mod tests;
