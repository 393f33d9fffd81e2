//! A Phaser whose gateware, a satellite's, adds up tones: its DAC, upconverters and attenuators, each on an SPI bus of its
//! own, and the tones of both RF channels.
//!
//! The settings of the tones arrive as the words that the gateware shows (section 6 of docs/interfaces.md), after the
//! latency of its logic; their phases are those of the integers that it accumulates. The outputs are the tones at the
//! connectors: tone, mixer of the DAC and local oscillator add up, unless the card has no upconverters.

use kairos_contracts::chips::phaser;
use kairos_contracts::chips::phaser_mtdds::{self as card, source};
use serde::Deserialize;
use serde_json::{json, Value};

use super::dac34h84::{Dac34h84, TEST_WORDS};
use super::hmc542b::Hmc542b;
use super::phaser::Accumulator;
use super::reported::named;
use super::shuttler::FIELDS;
use super::trf372017::Trf372017;
use crate::assemble::outputs::OutputKinds;
use crate::model::{set_levels, Change, Model, Outbox};
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings};
use crate::signal::{Ns, Signal, Tone};

const CHANNELS: usize = phaser::CHANNELS as usize;
/// Names of the input lines: pins of the chips, then their buses.
pub const INPUTS: [&str; 22] = [
    "txena",
    "resetb",
    "sleep",
    "attrst0",
    "attrst1",
    "save0",
    "save1",
    "dac_clk",
    "dac_mosi",
    "dac_cs0",
    "lo0_clk",
    "lo0_mosi",
    "lo0_cs0",
    "lo1_clk",
    "lo1_mosi",
    "lo1_cs0",
    "att0_clk",
    "att0_mosi",
    "att0_cs0",
    "att1_clk",
    "att1_mosi",
    "att1_cs0",
];
const TXENA: usize = 0;
const RESETB: usize = 1;
const SLEEP: usize = 2;
const ATTENUATOR_RESET: usize = 3;
const SAVE: usize = 5;
const BUSES: usize = 7;
const BUS_LINES: usize = 3;
/// Names of the output lines.
pub const ANSWERS: [&str; 6] = ["alarm", "locked0", "locked1", "dac_miso", "lo0_miso", "lo1_miso"];
const MISO: usize = 3;
const CYCLE: Ns = 8;
/// The reference of the upconverters, Hz.
const REFERENCE: f64 = super::trf372017::REFERENCE;
/// Words before those of the tones: sources, test words.
const COMMON_WORDS: usize = 2;
/// Places of a tone's settings in its word.
const PHASE: u32 = card::FTW_BITS;
const AMPLITUDE: u32 = PHASE + card::POW_BITS;
const CLEAR: u32 = AMPLITUDE + card::ASF.width;
const FULL_SCALE: u32 = (1 << card::ASF.width) - 1;

/// Options of the card.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Tones of an RF channel.
    pub tones: usize,
    /// Samples in a cycle.
    pub samples: u32,
    /// Whether it has upconverters.
    pub upconverters: bool,
}

/// A tone's settings, and its accumulator.
#[derive(Debug, Clone, Copy)]
struct Playing {
    word: u64,
    /// The accumulator in the cycle that begins at `since`.
    accumulator: u32,
    since: Ns,
    /// The last tone sent, and its time.
    sent: (Tone, Ns),
}

impl Playing {
    const NEW: Self = Self {
        word: 0,
        accumulator: 0,
        since: 0,
        sent: (Tone::OFF, 0),
    };

    fn ftw(&self) -> u32 {
        match self.word >> CLEAR & 1 {
            0 => self.word as u32,
            _ => 0,
        }
    }

    fn phase(&self) -> u32 {
        (self.word >> PHASE) as u32 & 0xffff
    }

    fn amplitude(&self) -> u32 {
        (self.word >> AMPLITUDE) as u32 & FULL_SCALE
    }

    fn hz(&self, rate: f64) -> f64 {
        f64::from(self.ftw() as i32) / 2f64.powi(card::FTW_BITS as i32) * rate
    }

    /// Takes other settings, in the cycle that begins at `at`.
    fn take(&mut self, at: Ns, word: u64, samples: u32) {
        self.accumulator = self.at(at, samples);
        (self.word, self.since) = (word, at);
        if word >> CLEAR & 1 != 0 {
            self.accumulator = 0;
        }
    }

    /// The accumulator in the cycle of a time.
    fn at(&self, at: Ns, samples: u32) -> u32 {
        let cycles = ((at - self.since) / CYCLE) as u32;
        let steps = self.ftw().wrapping_mul(samples).wrapping_mul(cycles);
        self.accumulator.wrapping_add(steps)
    }

    /// The phase at a time, in turns.
    fn turns(&self, at: Ns, samples: u32, rate: f64) -> f64 {
        let phase = self.at(at, samples).wrapping_add(self.phase() << 16);
        let passed = (at - self.since) % CYCLE;
        f64::from(phase) / 2f64.powi(32) + self.hz(rate) * passed as f64 * 1e-9
    }
}

/// The card.
pub struct Mtdds {
    options: Options,
    lines: [bool; BUSES],
    dac: Dac34h84,
    oscillators: [Trf372017; CHANNELS],
    attenuators: [Hmc542b; CHANNELS],
    /// Sources of the samples, and the words of a test.
    sources: u32,
    test_words: u64,
    tones: Vec<Playing>,
    /// The mixers of DAC and upconverter together, of each RF channel.
    carriers: [Accumulator; CHANNELS],
    answers: [bool; ANSWERS.len()],
}

impl Mtdds {
    /// The state after power-up: everything is in reset.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            lines: [false; BUSES],
            dac: Dac34h84::new(),
            oscillators: std::array::from_fn(|_| Trf372017::new(REFERENCE)),
            attenuators: std::array::from_fn(|_| Hmc542b::new()),
            sources: 0,
            test_words: 0,
            tones: vec![Playing::NEW; CHANNELS * options.tones],
            carriers: Default::default(),
            answers: [false; ANSWERS.len()],
        }
    }

    fn rate(&self) -> f64 {
        f64::from(self.options.samples) / CYCLE as f64 * 1e9
    }

    fn of_channel(&self, n: usize) -> &[Playing] {
        &self.tones[n * self.options.tones..][..self.options.tones]
    }

    fn source(&self, n: usize) -> u32 {
        source::SOURCE.at(n as u32).get(self.sources)
    }

    fn is_locked(&self, n: usize) -> bool {
        self.options.upconverters && !self.lines[SAVE + n] && self.oscillators[n].chip.is_locked()
    }

    /// Frequency of an RF channel's local oscillator; 0 if it is off, or does not lock.
    fn local(&self, n: usize) -> f64 {
        match self.is_locked(n) {
            true => self.oscillators[n].chip.hz().1,
            false => 0.0,
        }
    }

    fn is_off(&self) -> bool {
        !self.lines[RESETB] || self.lines[SLEEP] || !self.lines[TXENA]
    }

    /// Passes changes of its lines to a chip, and returns the level of its output `miso` if that changes.
    fn pass(
        chip: &mut dyn Model,
        place: usize,
        at: Ns,
        changes: &[Change],
        miso: usize,
        out: &mut Outbox,
    ) -> Option<bool> {
        let first = BUSES + place * BUS_LINES;
        let own = changes.iter().filter_map(|(input, signal)| {
            let line = input.checked_sub(first).filter(|line| *line < BUS_LINES)?;
            Some((line, *signal))
        });
        let own: Vec<Change> = own.collect();
        if own.is_empty() {
            return None;
        }
        let mut from = Outbox::default();
        chip.input(at, &own, &mut from);
        out.warnings.append(&mut from.warnings);
        let mut levels = from.sent.into_iter().filter(|(_, output, _)| *output == miso);
        levels.next_back().and_then(|(_, _, signal)| match signal {
            Signal::Level(level) => Some(level),
            _ => None,
        })
    }

    fn chips(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let mut levels = [None; 1 + CHANNELS];
        levels[0] = Self::pass(&mut self.dac, 0, at, changes, 0, out);
        for n in 0..CHANNELS {
            // Its output of the local oscillator comes first
            levels[1 + n] = Self::pass(&mut self.oscillators[n], 1 + n, at, changes, 1, out);
            Self::pass(&mut self.attenuators[n], 1 + CHANNELS + n, at, changes, usize::MAX, out);
        }
        for (n, level) in levels.into_iter().enumerate() {
            if let Some(level) = level {
                self.answer(MISO + n, level, out);
            }
        }
        if !self.lines[RESETB] {
            self.dac.reset();
        }
        for n in 0..CHANNELS {
            if !self.lines[ATTENUATOR_RESET + n] {
                self.attenuators[n].reset();
            }
        }
    }

    fn answer(&mut self, answer: usize, level: bool, out: &mut Outbox) {
        if self.answers[answer] != level {
            self.answers[answer] = level;
            out.send(self.tones.len() + answer, Signal::Level(level));
        }
    }

    /// Handles new words of the gateware, all of the same time.
    fn show(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let sums = |this: &Self| [0, 1].map(|n| this.of_channel(n).iter().map(Playing::amplitude).sum::<u32>());
        let before = sums(self);
        for (input, signal) in changes {
            let (Some(place), Signal::Word(word)) = (input.checked_sub(INPUTS.len()), signal) else {
                continue;
            };
            match place {
                0 => self.sources = *word as u32,
                1 => self.test_words = *word,
                _ => {
                    if let Some(tone) = self.tones.get_mut(place - COMMON_WORDS) {
                        tone.take(at, *word, self.options.samples);
                    }
                }
            }
        }
        for (n, (before, sum)) in before.into_iter().zip(sums(self)).enumerate() {
            if sum > FULL_SCALE && before <= FULL_SCALE {
                let part = f64::from(sum) / f64::from(FULL_SCALE);
                out.warn(format!(
                    "RF channel {n}: its tones add up to {part:.2} of full scale: it clips"
                ));
            }
            if sum > 0 && before == 0 {
                self.check_path(n, out);
            }
        }
    }

    /// Warns of what keeps an RF channel's tones from the connector.
    fn check_path(&self, n: usize, out: &mut Outbox) {
        let what = if self.is_off() {
            "the DAC is in reset, asleep or off (set_dac_ctrl)"
        } else if self.source(n) != card::SOURCE_TONES {
            "the DAC gets the test words (select_dac_source)"
        } else if self.options.upconverters && self.local(n) == 0.0 {
            "its upconverter is off or has not locked (init)"
        } else {
            return;
        };
        out.warn(format!("RF channel {n}: it has a tone, but {what}"));
    }

    /// The words of a test, if both RF channels send them.
    fn test(&self) -> Option<[u16; TEST_WORDS]> {
        let sends = (0..CHANNELS).all(|n| self.source(n) == card::SOURCE_TEST);
        sends.then(|| std::array::from_fn(|n| (self.test_words >> (16 * n)) as u16))
    }

    /// Sends the tones and the levels that have changed.
    fn renew(&mut self, at: Ns, out: &mut Outbox) {
        let (rate, samples, off) = (self.rate(), self.options.samples, self.is_off());
        for n in 0..CHANNELS {
            let (mixed, mixed_turns) = self.dac.dac.mixing(n);
            let local = self.local(n);
            let silent = off || self.options.upconverters && local == 0.0 || self.source(n) != card::SOURCE_TONES;
            let attenuation = self.attenuators[n].attenuation();
            if self.carriers[n].hz != mixed + local {
                self.carriers[n].set(at, mixed + local, false);
            }
            for m in n * self.options.tones..(n + 1) * self.options.tones {
                let tone = &mut self.tones[m];
                let amplitude = f64::from(tone.amplitude()) / f64::from(FULL_SCALE);
                let now = match silent || amplitude == 0.0 {
                    true => Tone::OFF,
                    false => Tone {
                        hz: tone.hz(rate) + self.carriers[n].hz,
                        dbm: 20.0 * amplitude.log10() - attenuation,
                        turns: (tone.turns(at, samples, rate) + self.carriers[n].at(at) + mixed_turns).rem_euclid(1.0),
                    },
                };
                let (before, since) = tone.sent;
                if !before.goes_on(at - since, &now) {
                    tone.sent = (now, at);
                    out.send(m, Signal::Tone(now));
                }
            }
        }
        for n in 0..CHANNELS {
            self.answer(1 + n, self.is_locked(n), out);
        }
        let alarm = self.lines[RESETB] && self.dac.dac.latched(self.dac.test) != 0;
        self.answer(0, alarm, out);
    }
}

impl Model for Mtdds {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        set_levels(&mut self.lines, changes);
        self.chips(at, changes, out);
        self.show(at, changes, out);
        self.dac.test = self.test();
        self.renew(at, out);
    }

    fn report(&self, at: Ns) -> Value {
        let rate = self.rate();
        let mut report = json!({
            "card": "Phaser as a satellite",
            "on": !self.is_off(),
            "dac": { "locked": self.dac.dac.is_locked(), "registers": named("CONFIG", &self.dac.dac.registers) },
        });
        for n in 0..CHANNELS {
            let tone = |tone: &Playing| {
                json!({
                    "frequency_hz": tone.hz(rate),
                    "amplitude": f64::from(tone.amplitude()) / f64::from(FULL_SCALE),
                    "phase_turns": f64::from(tone.phase()) / 65536.0,
                    "turns": tone.turns(at.max(tone.since), self.options.samples, rate).rem_euclid(1.0),
                    "cleared": tone.word >> CLEAR & 1 != 0,
                })
            };
            report[format!("channel{n}")] = json!({
                "source": self.source(n),
                "attenuation_db": self.attenuators[n].attenuation(),
                "mixer_hz": self.dac.dac.mixing(n).0,
                "local_oscillator_hz": self.local(n),
                "locked": self.is_locked(n),
                "upconverter": { "registers": named("REGISTER", &self.oscillators[n].chip.registers) },
                "tones": self.of_channel(n).iter().map(tone).collect::<Vec<_>>(),
            });
        }
        report
    }
}

/// A Phaser as a satellite in a bench file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Section {}

impl BenchSection for Section {
    fn model(settings: &Settings<Self>) -> Result<CardModel, Rejected> {
        let of = |name: &str, usual: u32| settings.card.parameters.get(name).copied().unwrap_or(usual);
        let options = Options {
            tones: of("tones", card::USUAL_TONES) as usize,
            samples: of("samples", card::LEAST_SAMPLES),
            upconverters: settings.has("lo0_clk"),
        };
        let made = CardModel::new(
            Mtdds::new(options),
            &INPUTS,
            OutputKinds::tones(CHANNELS * options.tones),
        );
        Ok(CardModel {
            words: usize::from(settings.card.outputs) * FIELDS,
            ..made.answering(&ANSWERS)
        })
    }
}

#[cfg(test)]
#[path = "mtdds_tests.rs"]
mod tests;
