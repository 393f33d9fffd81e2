//! The Fastino card: 32 DACs of 16 bits on a fast link, each of whose frames carries the state of
//! all DACs.
//!
//! A bit lasts for half a device cycle. Outputs change when a complete frame with a correct CRC has
//! been received. The card's interpolators keep their settings but do not interpolate.

use kairos_contracts::chips::fastino::{self as words, cfg, frame};
use serde::Deserialize;
use serde_json::{json, Value};

use super::fastlink::{self, Geometry, Received, Receiver};
use crate::assemble::outputs::OutputKinds;
use crate::model::{Change, Model, Outbox};
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings};
use crate::signal::{Ns, Signal};

/// Number of DACs.
pub const CHANNELS: usize = words::DAC.count as usize;
/// Geometry of its frames.
const GEOMETRY: Geometry = Geometry {
    words: words::FRAME_WORDS,
    word_bits: words::FRAME_WORD_BITS,
    pattern: words::CLOCK_PATTERN,
    crc: words::CRC,
    bit: 8 / words::BITS_PER_CYCLE as Ns,
};

/// The card.
pub struct Fastino {
    link: Receiver,
    codes: [u16; CHANNELS],
    volts: [f64; CHANNELS],
    interpolators: [u64; CHANNELS],
    configuration: u32,
    leds: u64,
    frames: u64,
}

impl Fastino {
    /// The state after power-up: all outputs at 0 V.
    pub fn new() -> Self {
        Self {
            link: Receiver::new(GEOMETRY),
            codes: [0x8000; CHANNELS],
            volts: [0.0; CHANNELS],
            interpolators: [0; CHANNELS],
            configuration: 0,
            leds: 0,
            frames: 0,
        }
    }

    /// Handles a received frame.
    fn take(&mut self, bits: &[bool], out: &mut Outbox) {
        self.frames += 1;
        let word = |from, width| fastlink::word(bits, from, width);
        let header = word(0, words::FRAME.width as usize);
        let mask = frame::MASK.get(header);
        let before = self.configuration;
        self.configuration = frame::CONFIGURATION.get(header) as u32;
        self.leds = frame::LEDS.get(header);
        for n in (0..CHANNELS).filter(|n| mask >> n & 1 != 0) {
            let value = word(words::FRAME.width as usize + 16 * n, 16);
            match frame::KIND.get(header) {
                frame::KIND_CODES => self.codes[n] = value as u16,
                _ => self.interpolators[n] = value,
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
    fn input(&mut self, at: Ns, changes: &[Change], _out: &mut Outbox) {
        self.link.receive(at, changes);
    }

    fn next(&self) -> Option<Ns> {
        self.link.next()
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        match self.link.act(at) {
            Received::Payload(bits) => self.take(&bits, out),
            Received::Spoiled => out.warn(fastlink::SPOILED),
            Received::Nothing => {}
        }
    }

    fn report(&self, _at: Ns) -> Value {
        let mut report = json!({
            "card": "Fastino",
            "configuration": self.configuration,
            "leds": self.leds,
            "frames": self.frames,
            "registers": { "CFG": self.configuration, "LEDS": self.leds },
        });
        for n in 0..CHANNELS {
            report[format!("ch{n}")] = json!({
                "volts": self.volts[n],
                "code": self.codes[n],
                "interpolator": self.interpolators[n],
                "registers": { "DAC": self.codes[n], "CIC": self.interpolators[n] },
            });
        }
        report
    }
}

/// A Fastino in a bench file, which has no settings.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Section {}

impl BenchSection for Section {
    fn model(_: &Settings<Self>) -> Result<CardModel, Rejected> {
        Ok(CardModel::new(Fastino::new(), &fastlink::INPUTS, OutputKinds::volts(CHANNELS)).answering(&["miso"]))
    }
}

#[cfg(test)]
#[path = "fastino_tests.rs"]
mod tests;
