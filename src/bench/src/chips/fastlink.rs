//! The receiver of a fast link (`phy/fastlink.py` of the gateware): a clock lane, data lanes, and
//! frames with a CRC.
//!
//! A word is found by the levels of its clock lane, a frame by its markers, which are on the lowest
//! data lane at the ends of words. Between frames the link may be idle: in simulation it is, unless
//! there is something new.

use std::collections::VecDeque;

use crate::model::Change;
use crate::signal::{Ns, Signal};

/// Data lanes of a link.
pub const LANES: usize = 6;
/// Names of its lines, beginning with the clock lane.
pub const INPUTS: [&str; LANES + 1] = ["clk", "mosi0", "mosi1", "mosi2", "mosi3", "mosi4", "mosi5"];
/// Warning about an invalid frame.
pub const SPOILED: &str = "a frame with a wrong CRC: it is ignored";

/// The geometry of a frame.
#[derive(Debug, Clone, Copy)]
pub struct Geometry {
    /// Words per frame.
    pub words: u32,
    /// Bits per word on a lane.
    pub word_bits: u32,
    /// Levels of the clock lane in a word, the first one highest.
    pub pattern: u32,
    /// Polynomial of the CRC.
    pub crc: u32,
    /// Duration of a bit on a lane.
    pub bit: Ns,
}

impl Geometry {
    /// Duration of a frame.
    pub fn frame(&self) -> Ns {
        Ns::from(self.words * self.word_bits) * self.bit
    }

    fn word(&self) -> Ns {
        Ns::from(self.word_bits) * self.bit
    }

    /// The bit in a word at which the clock lane rises last.
    fn rise(&self) -> u32 {
        let starts = self.pattern & !(self.pattern >> 1);
        self.word_bits - 1 - starts.trailing_zeros()
    }

    /// Bits of the CRC.
    pub fn crc_width(&self) -> u32 {
        self.crc.ilog2()
    }

    /// The bit of a word's end that is a marker, and which; words are counted from the last one.
    fn marker(&self, word: u32) -> Option<bool> {
        (1..=self.words / 2 + 1).contains(&word).then_some(word == 1)
    }

    /// The bits of a frame (bit 6 s + l is on lane l, s bits before the end) that its payload
    /// has, in order.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.words).flat_map(move |word| {
            let bits = self.word_bits as usize * LANES;
            let skipped = match word {
                0 => self.crc_width() as usize,
                _ => usize::from(self.marker(word).is_some()),
            };
            let first = word as usize * bits;
            first + skipped..first + bits
        })
    }
}

/// What a receiver has received.
#[derive(Debug, PartialEq, Eq)]
pub enum Received {
    /// No whole frame yet.
    Nothing,
    /// The payload of a frame, from bit 0 on.
    Payload(Vec<bool>),
    /// A frame with a wrong CRC.
    Spoiled,
}

/// A lane: changes that have not been sampled, and the level before them.
#[derive(Debug, Default)]
struct Lane {
    changes: VecDeque<(Ns, bool)>,
    level: bool,
}

impl Lane {
    fn at(&mut self, time: Ns) -> bool {
        while let Some((_, level)) = self.changes.pop_front_if(|change| change.0 <= time) {
            self.level = level;
        }
        self.level
    }
}

/// The receiver of a link.
pub struct Receiver {
    geometry: Geometry,
    /// In the order of [`INPUTS`].
    lanes: [Lane; LANES + 1],
    clock: bool,
    /// Ends of words, if the rising edges of the clock lane are those within words.
    ends: VecDeque<Ns>,
    /// Levels of the data lanes in the words of the frame so far.
    words: VecDeque<Vec<[bool; LANES]>>,
    /// End of the last one.
    ended: Ns,
}

impl Receiver {
    /// An idle receiver.
    pub fn new(geometry: Geometry) -> Self {
        Self {
            geometry,
            lanes: Default::default(),
            clock: false,
            ends: VecDeque::new(),
            words: VecDeque::new(),
            ended: 0,
        }
    }

    /// Handles changes of lines, by their numbers in [`INPUTS`].
    pub fn receive(&mut self, at: Ns, changes: &[Change]) {
        for (input, signal) in changes {
            if let Signal::Level(level) = signal {
                self.lanes[*input].changes.push_back((at, *level));
                if *input == 0 && *level && !self.clock {
                    let rest = self.geometry.word_bits - self.geometry.rise();
                    self.ends.push_back(at + Ns::from(rest) * self.geometry.bit);
                }
                if *input == 0 {
                    self.clock = *level;
                }
            }
        }
    }

    /// The time at which the word in progress may be complete.
    pub fn next(&self) -> Option<Ns> {
        self.ends.front().copied()
    }

    /// Takes the word that ends at this time.
    pub fn act(&mut self, at: Ns) -> Received {
        self.ends.pop_front();
        let Some(start) = at.checked_sub(self.geometry.word()) else {
            return Received::Nothing;
        };
        if start < self.ended {
            return Received::Nothing;
        }
        let Some(word) = self.word(start) else {
            return Received::Nothing;
        };
        if start != self.ended {
            self.words.clear();
        }
        self.ended = at;
        self.words.push_back(word);
        if self.words.len() > self.geometry.words as usize {
            self.words.pop_front();
        }
        match self.is_frame() {
            true => self.frame(),
            false => Received::Nothing,
        }
    }

    /// The data lanes in a word, if the clock lane has its levels.
    fn word(&mut self, start: Ns) -> Option<Vec<[bool; LANES]>> {
        let (bits, pattern) = (self.geometry.word_bits, self.geometry.pattern);
        // What was before is not looked at again.
        self.lanes.iter_mut().for_each(|lane| {
            lane.at(start);
        });
        let middle = |n: u32| start + Ns::from(n) * self.geometry.bit + self.geometry.bit / 2;
        // The clock lane is looked at without taking its changes: this may be no word.
        let clock = &self.lanes[0];
        let level = |time: Ns| {
            let before = clock.changes.iter().take_while(|change| change.0 <= time).last();
            before.map_or(clock.level, |change| change.1)
        };
        let matches = (0..bits).all(|n| level(middle(n)) == (pattern >> (bits - 1 - n) & 1 != 0));
        if !matches {
            return None;
        }
        let word = (0..bits).map(|n| {
            let levels: [bool; LANES + 1] = std::array::from_fn(|lane| self.lanes[lane].at(middle(n)));
            std::array::from_fn(|lane| levels[lane + 1])
        });
        Some(word.collect())
    }

    fn is_frame(&self) -> bool {
        let count = self.words.len();
        count == self.geometry.words as usize
            && self.words.iter().rev().enumerate().all(|(word, levels)| {
                let marked = levels.last().is_some_and(|lanes| lanes[0]);
                self.geometry.marker(word as u32).is_none_or(|marker| marker == marked)
            })
    }

    fn frame(&mut self) -> Received {
        // In order of time, of a bit time the highest lane first
        let sent = std::mem::take(&mut self.words);
        let bits: Vec<bool> = sent
            .into_iter()
            .flatten()
            .flat_map(|lanes| lanes.into_iter().rev())
            .collect();
        let crc = self.geometry.crc;
        let rest = bits.iter().fold(0u32, |rest, bit| {
            let next = rest << 1 | u32::from(*bit);
            let whole = next.leading_zeros() == crc.leading_zeros();
            if whole {
                next ^ crc
            } else {
                next
            }
        });
        if rest != 0 {
            return Received::Spoiled;
        }
        let last = bits.len() - 1;
        Received::Payload(self.geometry.places().map(|place| bits[last - place]).collect())
    }
}

/// Extracts a word of `width` bits from a payload, least significant bit first.
pub fn word(bits: &[bool], from: usize, width: usize) -> u64 {
    let of = bits[from..from + width].iter().rev();
    of.fold(0, |word, bit| word << 1 | u64::from(*bit))
}

#[cfg(test)]
pub mod sending {
    //! The other end of a link, for tests.

    use super::*;

    /// The bits of a frame, bit 0 first, from its hexadecimal digits.
    pub fn bits_of(geometry: &Geometry, digits: &str) -> Vec<bool> {
        let nibbles = digits.chars().rev().map(|digit| digit.to_digit(16).unwrap());
        let mut bits: Vec<bool> = nibbles
            .flat_map(|nibble| (0..4).map(move |n| nibble >> n & 1 != 0))
            .collect();
        bits.resize((geometry.words * geometry.word_bits) as usize * LANES, false);
        bits
    }

    /// The levels of all lines in each bit time of a frame with this payload, whose CRC may be wrong.
    pub fn levels(geometry: &Geometry, payload: &[bool], good: bool) -> Vec<[bool; LANES + 1]> {
        let bits = (geometry.words * geometry.word_bits) as usize * LANES;
        let mut frame = vec![false; bits];
        frame[geometry.word_bits as usize * LANES] = true;
        for (n, place) in geometry.places().enumerate() {
            frame[place] = payload.get(n).copied().unwrap_or_default();
        }
        let width = geometry.crc_width();
        let crc = frame[width as usize..].iter().rev().fold(0u32, |crc, bit| {
            let feedback = (crc >> (width - 1) & 1 != 0) != *bit;
            (crc << 1 ^ if feedback { geometry.crc } else { 0 }) & ((1 << width) - 1)
        });
        let crc = crc ^ u32::from(!good);
        (0..width).for_each(|n| frame[n as usize] = crc >> n & 1 != 0);
        levels_of(geometry, &frame)
    }

    /// The levels of all lines in each bit time of a frame.
    pub fn levels_of(geometry: &Geometry, frame: &[bool]) -> Vec<[bool; LANES + 1]> {
        let times = frame.chunks(LANES).rev().enumerate();
        times
            .map(|(time, lanes)| {
                let place = time as u32 % geometry.word_bits;
                let mut now = [geometry.pattern >> (geometry.word_bits - 1 - place) & 1 != 0; LANES + 1];
                now[1..].copy_from_slice(lanes);
                now
            })
            .collect()
    }

    /// Changes of the lines during a frame from `start` on, and their return to low at its end.
    pub fn changes(geometry: &Geometry, start: Ns, payload: &[bool], good: bool) -> Vec<(Ns, Vec<Change>)> {
        changes_of(geometry, start, levels(geometry, payload, good))
    }

    /// Changes of the lines with these levels from `start` on, and their return to low.
    pub fn changes_of(geometry: &Geometry, start: Ns, levels: Vec<[bool; LANES + 1]>) -> Vec<(Ns, Vec<Change>)> {
        let mut before = [false; LANES + 1];
        let mut found = Vec::new();
        for (n, now) in levels.into_iter().chain([[false; LANES + 1]]).enumerate() {
            let changed = (0..now.len()).filter(|line| now[*line] != before[*line]);
            let changes: Vec<Change> = changed.map(|line| (line, Signal::Level(now[line]))).collect();
            if !changes.is_empty() {
                found.push((start + n as Ns * geometry.bit, changes));
            }
            before = now;
        }
        found
    }
}
