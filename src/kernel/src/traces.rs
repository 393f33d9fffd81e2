//! The store of DMA traces: named recordings that persist until they are erased, replaced, or the device reboots.
//!
//! A kernel can be killed at any instruction, so the memory makes sense after any prefix of the stores here. It is a chain of
//! blocks, each {state, size, length of the name, place of the trace, duration in two words, two unused, name, trace}; sizes
//! and places are in units of 128 bytes, which is what the gateware wants traces aligned to. A recording grows inside a free
//! block. When it ends, what is left over becomes a free block first, then the block gets its size, and last its state. A
//! trace never moves, so its address can be its handle.

use core::sync::atomic::{compiler_fence, Ordering};

use kairos_proto::dma::{encode, ALIGNMENT, END};

const FREE: u32 = 0;
const USED: u32 = 0x5452_4143;
const STATE: usize = 0;
const SIZE: usize = 1;
const NAME_LENGTH: usize = 2;
const PLACE: usize = 3;
const DURATION: usize = 4;
const NAME: usize = 8;
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
    /// Where it begins, in bytes from the start of the memory.
    pub offset: usize,
}

/// A recording under way. It is not in the store before it has ended.
#[derive(Clone, Copy, Debug)]
pub struct Recording {
    block: usize,
    /// The next word, and the end of the room for them.
    at: usize,
    end: usize,
    /// Time of the newest event.
    before: i64,
    full: bool,
}

/// The store in its memory, whose start is aligned to 128 bytes.
pub struct Traces<'m> {
    words: &'m mut [u32],
}

/// Keeps the stores before it in front of those behind it.
fn order() {
    compiler_fence(Ordering::SeqCst);
}

impl<'m> Traces<'m> {
    /// An empty store. `words` has at least a unit.
    pub fn new(words: &'m mut [u32]) -> Self {
        words[STATE] = FREE;
        words[SIZE] = (words.len() / UNIT) as u32;
        Self { words }
    }

    /// The store that is in `words`, made by [`Traces::new`].
    pub fn attach(words: &'m mut [u32]) -> Self {
        Self { words }
    }

    /// Positions of the blocks, as far as they make sense: a kernel can write anywhere.
    fn blocks(&self) -> impl Iterator<Item = usize> + '_ {
        let mut next = 0;
        core::iter::from_fn(move || {
            let block = next;
            let size = self.size(block)?;
            next = block + size;
            Some(block)
        })
    }

    /// Words of the block at a position, if there can be one.
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
        }
    }

    /// The trace called `name`.
    pub fn find(&self, name: &[u8]) -> Option<Trace> {
        self.block_of(name).map(|block| self.trace(block))
    }

    /// Whether a trace begins at `offset`.
    pub fn is_trace(&self, offset: usize) -> bool {
        self.blocks()
            .any(|block| self.words[block + STATE] == USED && self.trace(block).offset == offset)
    }

    /// Forgets the trace called `name`, if there is one.
    pub fn erase(&mut self, name: &[u8]) {
        if let Some(block) = self.block_of(name) {
            self.words[block + STATE] = FREE;
        }
    }

    /// Joins free neighbours, and returns the largest free block with its size.
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
    /// [`Full`] when there is not even room for the name.
    pub fn begin(&mut self, name: &[u8]) -> Result<Recording, Full> {
        self.erase(name);
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
        for (word, to) in words_of(name).zip(&mut self.words[block + NAME..]) {
            *to = word;
        }
        Ok(Recording {
            block,
            at,
            end,
            before: 0,
            full: false,
        })
    }

    /// Appends an event of 1 to 16 words at `time`. One that finds no room is lost, and so is what follows;
    /// [`Traces::finish`] says so.
    pub fn event(
        &mut self,
        recording: &mut Recording,
        target: u32,
        time: i64,
        words: impl ExactSizeIterator<Item = u32>,
    ) {
        // A time, the head and the words.
        if recording.full || recording.end - recording.at < 8 + words.len() {
            recording.full = true;
            return;
        }
        let mut at = recording.at;
        encode(recording.before, target, time, words, |word| {
            self.words[at] = word;
            at += 1;
        });
        (recording.at, recording.before) = (at, time);
    }

    /// Ends a recording and stores it.
    ///
    /// # Errors
    /// [`Full`] when it has become too long; it is dropped.
    pub fn finish(&mut self, recording: Recording, duration: i64) -> Result<(), Full> {
        let Recording { block, at, full, .. } = recording;
        if full {
            return Err(Full);
        }
        self.words[at..at + END.len()].copy_from_slice(&END);
        let duration = duration as u64;
        self.words[block + DURATION] = duration as u32;
        self.words[block + DURATION + 1] = (duration >> 32) as u32;
        let all = self.words[block + SIZE];
        let taken = (at + END.len() - block).div_ceil(UNIT);
        if let Some(rest) = all.checked_sub(taken as u32).filter(|&rest| rest > 0) {
            let next = block + taken * UNIT;
            (self.words[next + STATE], self.words[next + SIZE]) = (FREE, rest);
            order();
            self.words[block + SIZE] = taken as u32;
        }
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
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn record(traces: &mut Traces, name: &[u8], count: u32) -> Result<(), Full> {
        let mut recording = traces.begin(name)?;
        for n in 0..count {
            traces.event(&mut recording, 4 << 8, i64::from(n) * 8, [n & 1].into_iter());
        }
        traces.finish(recording, i64::from(count) * 8)
    }

    fn events(words: &[u32], trace: Trace) -> usize {
        assert_eq!(trace.offset % ALIGNMENT, 0);
        let trace = &words[trace.offset / 4..];
        trace.chunks(2).take_while(|chunk| **chunk != END).count()
    }

    #[test]
    fn a_recording_that_is_too_long_is_dropped_and_the_memory_is_free_again() {
        let mut words = vec![0xffff_ffff; 20 * UNIT];
        let mut traces = Traces::new(&mut words);
        assert_eq!(record(&mut traces, b"long", 1000), Err(Full));
        assert_eq!(traces.find(b"long"), None);
        for _ in 0..3 {
            record(&mut traces, b"fits", 250).unwrap();
            assert_eq!(record(&mut traces, b"second", 200), Err(Full));
        }
        assert_eq!(traces.find(b"fits").unwrap().duration, 2000);
        traces.erase(b"fits");
        record(&mut traces, &[b'n'; 200], 200).unwrap();
        assert!(traces.begin(&[b'n'; 5000]).is_err());
    }

    #[test]
    fn nonsense_in_memory_ends_the_search() {
        for size in [0, 3, 0xffff_ffff] {
            let mut words = vec![0; 4 * UNIT];
            let mut traces = Traces::new(&mut words);
            record(&mut traces, b"a", 1).unwrap();
            words[UNIT * 2 + SIZE] = size;
            let mut traces = Traces::attach(&mut words);
            assert!(traces.find(b"a").is_some() && traces.find(b"b").is_none());
            traces.erase(b"a");
            assert!(record(&mut traces, b"c", 1).is_ok());
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Record(String, u32),
        Erase(String),
        /// A kernel is killed in the middle of a recording.
        Abandon(String, u32),
    }

    fn step() -> impl Strategy<Value = Step> {
        let name = "[abc]{0,40}";
        prop_oneof![
            (name, 0u32..200).prop_map(|(name, count)| Step::Record(name, count)),
            name.prop_map(Step::Erase),
            (name, 0u32..200).prop_map(|(name, count)| Step::Abandon(name, count)),
        ]
    }

    proptest! {
        #[test]
        fn behaves_as_a_map_and_traces_stay_where_they_are(steps in prop::collection::vec(step(), 1..60)) {
            let mut words = vec![0xdead_beef; 60 * UNIT];
            let _ = Traces::new(&mut words);
            let mut model: HashMap<String, (u32, usize)> = HashMap::new();
            for step in steps {
                // Attached anew, as after a restart.
                let mut traces = Traces::attach(&mut words);
                match step {
                    Step::Record(name, count) => {
                        model.remove(&name);
                        if record(&mut traces, name.as_bytes(), count).is_ok() {
                            let offset = traces.find(name.as_bytes()).unwrap().offset;
                            model.insert(name, (count, offset));
                        }
                    }
                    Step::Erase(name) => {
                        traces.erase(name.as_bytes());
                        model.remove(&name);
                    }
                    Step::Abandon(name, count) => {
                        model.remove(&name);
                        if let Ok(mut recording) = traces.begin(name.as_bytes()) {
                            (0..count).for_each(|n| {
                                traces.event(&mut recording, 0x100, -1, vec![n; 1 + n as usize % 16].into_iter());
                            });
                        }
                    }
                }
                let traces = Traces::attach(&mut words);
                let found: Vec<_> = model.iter().map(|(name, &(count, offset))| {
                    (traces.find(name.as_bytes()), count, offset)
                }).collect();
                prop_assert!(!traces.is_trace(4));
                for (trace, count, offset) in found {
                    let trace = trace.unwrap();
                    prop_assert_eq!((trace.duration, trace.offset), (i64::from(count) * 8, offset));
                    prop_assert!(Traces::attach(&mut words).is_trace(offset));
                    prop_assert_eq!(events(&words, trace), count as usize);
                }
            }
        }
    }
}
