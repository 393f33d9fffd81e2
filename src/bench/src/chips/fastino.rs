//! The card Fastino: 32 DACs of 16 bits at the end of a fast link, which tells it the state of all of them in each frame.
//!
//! A frame begins where the clock lane is high for a bit less than else; a bit lasts for half a cycle of the device. Outputs change
//! when a frame has come whole and its CRC is right. The card's interpolators keep their settings, but do not interpolate.

use std::collections::VecDeque;

use kairos_contracts::chips::fastino::{self as words, cfg, frame};
use serde_json::{json, Value};

use crate::model::{Change, Model, Outbox};
use crate::signal::{Ns, Signal};

/// DACs of the card.
pub const CHANNELS: usize = words::DAC.count as usize;
/// Names of the lines that it hears.
pub const INPUTS: [&str; 7] = ["clk", "mosi0", "mosi1", "mosi2", "mosi3", "mosi4", "mosi5"];
const LANES: usize = words::LANES as usize;
/// A bit on a lane, and a frame.
const BIT: Ns = 8 / words::BITS_PER_CYCLE as Ns;
const BITS: u32 = words::FRAME_WORDS * words::FRAME_WORD_BITS;
const FRAME: Ns = BITS as Ns * BIT;
/// High time of the clock lane in the first word of a frame.
const MARK: Ns = (words::CLOCK_HIGH as Ns - 1) * BIT;
/// Bits of a frame without those of the CRC.
const CRC_WIDTH: u32 = u32::BITS - 1 - words::CRC.leading_zeros();

/// The card.
pub struct Fastino {
    /// By lane: changes since the frame before.
    lanes: [VecDeque<(Ns, bool)>; LANES],
    levels: [bool; LANES],
    /// When the clock lane rose.
    rose: Ns,
    clock: bool,
    /// When a frame that has begun ends.
    ends: Option<Ns>,
    codes: [u16; CHANNELS],
    volts: [f64; CHANNELS],
    interpolators: [u64; CHANNELS],
    configuration: u32,
    leds: u64,
    frames: u64,
}

impl Fastino {
    /// After power-up: all at 0 V.
    pub fn new() -> Self {
        Self {
            lanes: Default::default(),
            levels: [false; LANES],
            rose: 0,
            clock: false,
            ends: None,
            codes: [0x8000; CHANNELS],
            volts: [0.0; CHANNELS],
            interpolators: [0; CHANNELS],
            configuration: 0,
            leds: 0,
            frames: 0,
        }
    }

    /// The bits of a frame that began at a time, in the order in which they were sent; those behind it stay.
    fn bits(&mut self, start: Ns) -> Vec<bool> {
        let mut sent = vec![false; BITS as usize * LANES];
        for lane in 0..LANES {
            for bit in 0..BITS as usize {
                let middle = start + bit as Ns * BIT + BIT / 2;
                while let Some((_, level)) = self.lanes[lane].pop_front_if(|change| change.0 <= middle) {
                    self.levels[lane] = level;
                }
                sent[bit * LANES + lane] = self.levels[lane];
            }
        }
        sent
    }

    /// A frame has come.
    fn take(&mut self, bits: &[bool], out: &mut Outbox) {
        let rest = bits.iter().fold(0, |rest, bit| {
            let next = rest << 1 | u32::from(*bit);
            if next >> CRC_WIDTH != 0 {
                next ^ words::CRC
            } else {
                next
            }
        });
        if rest != 0 {
            return out.warn("a frame with a wrong CRC: it is ignored");
        }
        self.frames += 1;
        let word = |from: usize, width: usize| {
            let of = bits[from..from + width].iter().rev();
            of.fold(0u64, |word, bit| word << 1 | u64::from(*bit))
        };
        let header = word(0, words::FRAME.width as usize);
        let mask = frame::MASK.get(header);
        let before = self.configuration;
        self.configuration = frame::CONFIGURATION.get(header) as u32;
        self.leds = frame::LEDS.get(header);
        for n in (0..CHANNELS).filter(|n| mask >> n & 1 != 0) {
            match frame::KIND.get(header) {
                frame::KIND_UPDATE => self.codes[n] = word(words::FRAME.width as usize + 16 * n, 16) as u16,
                _ => self.interpolators[n] = frame::INTERPOLATOR.get(header),
            }
        }
        let on = |field: kairos_contracts::chips::WideField| field.get(self.configuration.into()) != 0;
        if on(cfg::DAC_CLR) || on(cfg::CARD_RESET) {
            self.codes = [0x8000; CHANNELS];
        }
        if on(cfg::CARD_RESET) && before != self.configuration {
            self.interpolators = [0; CHANNELS];
        }
        let down = on(cfg::AFE_POWER_DOWN);
        for n in 0..CHANNELS {
            let volts = if down {
                0.0
            } else {
                (f64::from(self.codes[n]) - 32768.0) / 3276.8
            };
            if volts != self.volts[n] {
                self.volts[n] = volts;
                out.send(n, Signal::Volts(volts));
            }
        }
    }
}

impl Default for Fastino {
    fn default() -> Self {
        Self::new()
    }
}

impl Model for Fastino {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        for (input, signal) in changes {
            let Signal::Level(level) = signal else { continue };
            match input {
                0 if *level => (self.clock, self.rose) = (true, at),
                0 => {
                    let first = self.clock && at - self.rose == MARK;
                    self.clock = false;
                    if first && self.ends.is_some() {
                        out.warn("a frame begins before the one before has come whole");
                    }
                    if first {
                        self.ends = Some(self.rose + FRAME);
                    }
                }
                lane => self.lanes[lane - 1].push_back((at, *level)),
            }
        }
    }

    fn next(&self) -> Option<Ns> {
        self.ends
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        self.ends = None;
        let bits = self.bits(at - FRAME);
        self.take(&bits, out);
    }

    fn report(&self, _at: Ns) -> Value {
        let mut report = json!({
            "card": "Fastino",
            "configuration": self.configuration,
            "leds": self.leds,
            "frames": self.frames,
        });
        for n in 0..CHANNELS {
            report[format!("ch{n}")] = json!({
                "volts": self.volts[n],
                "code": self.codes[n],
                "interpolator": self.interpolators[n],
            });
        }
        report
    }
}

#[cfg(test)]
#[path = "fastino_tests.rs"]
mod tests;
