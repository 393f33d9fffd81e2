//! The receiver of a fast link (`phy/fastlink.py` of the gateware): a clock lane, data lanes, and
//! frames with a CRC.
//!
//! A frame begins with a clock lane pulse that is one bit shorter than the others.

use std::collections::VecDeque;

use crate::model::{Change, Outbox};
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
    /// Bits per word for which the clock lane is high; one less in the first word of a frame.
    pub high: u32,
    /// Polynomial of the CRC.
    pub crc: u32,
    /// Duration of a bit on a lane.
    pub bit: Ns,
}

impl Geometry {
    fn bits(&self) -> usize {
        (self.words * self.word_bits) as usize
    }

    /// Duration of a frame.
    pub fn frame(&self) -> Ns {
        self.bits() as Ns * self.bit
    }
}

/// The receiver of a link.
pub struct Receiver {
    geometry: Geometry,
    /// By lane: changes since the previous frame.
    lanes: [VecDeque<(Ns, bool)>; LANES],
    levels: [bool; LANES],
    /// Time of the clock lane's last rising edge.
    rose: Ns,
    clock: bool,
    /// End of the frame in progress.
    ends: Option<Ns>,
}

impl Receiver {
    /// An idle receiver.
    pub fn new(geometry: Geometry) -> Self {
        Self {
            geometry,
            lanes: Default::default(),
            levels: [false; LANES],
            rose: 0,
            clock: false,
            ends: None,
        }
    }

    /// Handles changes of lines, by their numbers in [`INPUTS`].
    pub fn receive(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        for (input, signal) in changes {
            if let Signal::Level(level) = signal {
                out.warnings.extend(self.line(at, *input, *level).map(String::from));
            }
        }
    }

    /// Handles a change of a line; returns a warning if it is invalid.
    fn line(&mut self, at: Ns, input: usize, level: bool) -> Option<&'static str> {
        if input > 0 {
            self.lanes[input - 1].push_back((at, level));
            return None;
        }
        let was = std::mem::replace(&mut self.clock, level);
        if level {
            self.rose = at;
            return None;
        }
        let mark = Ns::from(self.geometry.high - 1) * self.geometry.bit;
        if !was || at - self.rose != mark {
            return None;
        }
        let early = self.ends.replace(self.rose + self.geometry.frame()).is_some();
        early.then_some("a frame begins before the previous one is complete")
    }

    /// The time at which the frame in progress is complete.
    pub fn next(&self) -> Option<Ns> {
        self.ends
    }

    /// Takes the bits of the frame that ends at this time, in order of transmission, including the
    /// CRC at the end; `None` if the CRC is wrong.
    pub fn frame(&mut self, at: Ns) -> Option<Vec<bool>> {
        self.ends = None;
        let (start, bit) = (at - self.geometry.frame(), self.geometry.bit);
        let mut sent = vec![false; self.geometry.bits() * LANES];
        for lane in 0..LANES {
            for n in 0..self.geometry.bits() {
                let middle = start + n as Ns * bit + bit / 2;
                while let Some((_, level)) = self.lanes[lane].pop_front_if(|change| change.0 <= middle) {
                    self.levels[lane] = level;
                }
                sent[n * LANES + lane] = self.levels[lane];
            }
        }
        let crc = self.geometry.crc;
        let rest = sent.iter().fold(0u32, |rest, bit| {
            let next = rest << 1 | u32::from(*bit);
            let whole = next.leading_zeros() == crc.leading_zeros();
            if whole {
                next ^ crc
            } else {
                next
            }
        });
        (rest == 0).then_some(sent)
    }
}

/// Extracts a word of `width` bits from a frame, least significant bit first.
pub fn word(bits: &[bool], from: usize, width: usize) -> u64 {
    let of = bits[from..from + width].iter().rev();
    of.fold(0, |word, bit| word << 1 | u64::from(*bit))
}
