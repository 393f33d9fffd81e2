//! The far end of a fast link (`phy/fastlink.py` of the gateware): a clock lane, data lanes, frames
//! with a CRC.
//!
//! A frame begins where the clock lane is high for a bit less than else.

use std::collections::VecDeque;

use crate::model::{Change, Outbox};
use crate::signal::{Ns, Signal};

/// Data lanes of a link.
pub const LANES: usize = 6;
/// Names of its lines, the clock lane first.
pub const INPUTS: [&str; LANES + 1] = ["clk", "mosi0", "mosi1", "mosi2", "mosi3", "mosi4", "mosi5"];
/// What there is to be told of a frame that is none.
pub const SPOILED: &str = "a frame with a wrong CRC: it is ignored";

/// What a frame is.
#[derive(Debug, Clone, Copy)]
pub struct Geometry {
    /// Words of a frame, and bits of a word on a lane.
    pub words: u32,
    /// Likewise.
    pub word_bits: u32,
    /// Bits for which the clock lane is high in a word; one less in the first one of a frame.
    pub high: u32,
    /// Polynomial of the CRC.
    pub crc: u32,
    /// Length of a bit on a lane.
    pub bit: Ns,
}

impl Geometry {
    fn bits(&self) -> usize {
        (self.words * self.word_bits) as usize
    }

    /// Length of a frame.
    pub fn frame(&self) -> Ns {
        self.bits() as Ns * self.bit
    }
}

/// What has come over a link.
pub struct Receiver {
    geometry: Geometry,
    /// By lane: changes since the frame before.
    lanes: [VecDeque<(Ns, bool)>; LANES],
    levels: [bool; LANES],
    /// When the clock lane rose.
    rose: Ns,
    clock: bool,
    /// When a frame that has begun ends.
    ends: Option<Ns>,
}

impl Receiver {
    /// At rest.
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

    /// Lines have changed, by their numbers in [`INPUTS`].
    pub fn hear(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        for (input, signal) in changes {
            if let Signal::Level(level) = signal {
                out.warnings.extend(self.line(at, *input, *level).map(String::from));
            }
        }
    }

    /// A line has changed: what is wrong with that.
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
        early.then_some("a frame begins before the one before has come whole")
    }

    /// When a frame has come whole.
    pub fn next(&self) -> Option<Ns> {
        self.ends
    }

    /// The bits of the frame that ends at this time, in the order in which they were sent, its CRC
    /// behind them; none if that is wrong.
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

/// So many bits of a frame as a word, the first one lowest.
pub fn word(bits: &[bool], from: usize, width: usize) -> u64 {
    let of = bits[from..from + width].iter().rev();
    of.fold(0, |word, bit| word << 1 | u64::from(*bit))
}
