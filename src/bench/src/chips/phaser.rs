//! The Phaser card with its base gateware on a fast link: registers, and five oscillators and a
//! digital upconverter for each of two RF channels.
//!
//! The outputs are the tones at the DAC, five per channel, relative to the frequency of the
//! analogue upconverter. The upconverter, the DAC's own settings and the attenuators are on the
//! card's SPI bus, which no driver uses, so they are not modelled.

use kairos_contracts::chips::phaser::{self as chip, cfg, duc_cfg, frame, tone};
use kairos_contracts::chips::Register;
use serde::Deserialize;
use serde_json::{json, Map, Value};

use super::fastlink::{self, Geometry, Received, Receiver};
use super::reported::named;
use crate::assemble::gives::Gives;
use crate::model::{Change, Model, Outbox};
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings};
use crate::signal::{turns_of, Ns, Signal, Tone};

const CHANNELS: usize = chip::CHANNELS as usize;
const OSCILLATORS: usize = chip::OSCILLATORS as usize;
/// Number of tones, which are ordered by channel, then by oscillator.
pub const TONES: usize = CHANNELS * OSCILLATORS;
const MISO: usize = TONES;
const REGISTERS: usize = 0x80;
/// Geometry of its frames.
const GEOMETRY: Geometry = Geometry {
    words: chip::FRAME_WORDS,
    word_bits: chip::FRAME_WORD_BITS,
    pattern: chip::CLOCK_PATTERN,
    crc: chip::CRC,
    bit: 8 / chip::BITS_PER_CYCLE as Ns,
};
const HARDWARE: u8 = 4;
/// Read-only registers.
const FIXED: [Register; 7] = [
    chip::BOARD_ID,
    chip::HW_REV,
    chip::GW_REV,
    chip::STA,
    chip::CRC_ERR,
    chip::SPI_DATR,
    chip::DAC_DATA,
];

/// A frequency and its phase accumulator.
#[derive(Debug, Clone, Copy, Default)]
struct Accumulator {
    hz: f64,
    turns: f64,
    since: Ns,
}

impl Accumulator {
    fn at(&self, at: Ns) -> f64 {
        (self.turns + turns_of(self.hz, at - self.since)).rem_euclid(1.0)
    }

    /// Changes the frequency, continuing from the current phase or from zero.
    fn set(&mut self, at: Ns, hz: f64, clear: bool) {
        let turns = if clear { 0.0 } else { self.at(at) };
        *self = Self { hz, turns, since: at };
    }
}

/// An RF channel.
#[derive(Default)]
struct Channel {
    upconverter: Accumulator,
    /// Settings in effect, and since when new ones await the strobe.
    configuration: u32,
    phase: f64,
    waits: Option<Ns>,
    oscillators: [Accumulator; OSCILLATORS],
    words: [[u32; 2]; OSCILLATORS],
    /// The last tone sent, and its time.
    tones: [(Tone, Ns); OSCILLATORS],
}

/// The card.
pub struct Phaser {
    link: Receiver,
    registers: [u8; REGISTERS],
    channels: [Channel; CHANNELS],
    frames: u64,
    miso: bool,
}

/// The frequency in Hz of a signed frequency word.
fn hertz(word: u32, rate: f64) -> f64 {
    f64::from(word as i32) / f64::from(chip::FREQUENCY_STEPS) * rate
}

impl Phaser {
    /// The state after power-up: the DAC is in reset.
    pub fn new() -> Self {
        let mut registers = [0; REGISTERS];
        registers[usize::from(chip::BOARD_ID.address)] = chip::BOARD as u8;
        registers[usize::from(chip::HW_REV.address)] = HARDWARE;
        registers[usize::from(chip::GW_REV.address)] = chip::gw_rev::GATEWARE_BASE as u8;
        Self {
            link: Receiver::new(GEOMETRY),
            registers,
            channels: std::array::from_fn(|_| Channel {
                tones: [(Tone::OFF, 0); OSCILLATORS],
                ..Channel::default()
            }),
            frames: 0,
            miso: false,
        }
    }

    /// A register of several bytes, of a channel.
    fn get(&self, register: Register, channel: usize) -> u32 {
        let first = usize::from(register.address) + channel * chip::UPCONVERTER_SPACING as usize;
        let bytes = &self.registers[first..first + register.width.div_ceil(8) as usize];
        bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte))
    }

    /// The values of the registers that can be written, by their addresses.
    fn named(&self) -> Map<String, Value> {
        let is_fixed = |address: usize| {
            FIXED.iter().any(|register| {
                let first = usize::from(register.address);
                (first..first + register.width.div_ceil(8) as usize).contains(&address)
            })
        };
        let addresses = (0..REGISTERS).filter(|address| !is_fixed(*address));
        addresses
            .map(|address| (format!("{address:#04x}"), self.registers[address].into()))
            .collect()
    }

    fn read(&mut self, at: Ns, address: usize) -> u8 {
        for n in 0..CHANNELS {
            let first = usize::from(chip::DAC_DATA.address) + n * chip::UPCONVERTER_SPACING as usize;
            if address == first {
                // Reading the first byte captures a sample for all of them.
                let sample = self.sample(at, n).to_be_bytes();
                self.registers[first..first + sample.len()].copy_from_slice(&sample);
            }
        }
        self.registers[address]
    }

    /// The sample at the DAC: I in the lower 16 bits, Q in the upper ones.
    fn sample(&self, at: Ns, n: usize) -> u32 {
        let channel = &self.channels[n];
        if duc_cfg::SOURCE.get(channel.configuration) != 0 {
            return self.get(chip::DAC_TEST, n);
        }
        let part = |of: fn(f64) -> f64| {
            let each = channel.words.iter().enumerate().map(|(m, words)| {
                let turns = self.turns(at, n, m);
                f64::from(tone::ASF.get(words[1])) * of(turns * std::f64::consts::TAU)
            });
            each.sum::<f64>().round().clamp(-32768.0, 32767.0) as i16 as u16
        };
        u32::from(part(f64::sin)) << 16 | u32::from(part(f64::cos))
    }

    fn turns(&self, at: Ns, n: usize, oscillator: usize) -> f64 {
        let channel = &self.channels[n];
        let own = f64::from(tone::POW.get(channel.words[oscillator][1])) / 65536.0;
        (channel.upconverter.at(at) + channel.phase + channel.oscillators[oscillator].at(at) + own).rem_euclid(1.0)
    }

    fn write(&mut self, at: Ns, address: usize, byte: u8, out: &mut Outbox) {
        let spacing = chip::UPCONVERTER_SPACING as usize;
        let within = |register: &Register, n: usize| {
            let first = usize::from(register.address) + n * spacing;
            (first..first + register.width.div_ceil(8) as usize).contains(&address)
        };
        let fixed = |register: &Register| {
            let channels = if *register == chip::DAC_DATA { CHANNELS } else { 1 };
            (0..channels).any(|n| within(register, n))
        };
        if FIXED.iter().any(fixed) {
            return out.warn(format!("its register {address:#04x} cannot be written"));
        }
        self.registers[address] = byte;
        for n in 0..CHANNELS {
            if [chip::DUC_CFG, chip::DUC_F, chip::DUC_P]
                .iter()
                .any(|register| within(register, n))
            {
                self.channels[n].waits.get_or_insert(at);
            }
        }
        match address as u8 {
            address if address == chip::DUC_STB.address => self.strobe(at),
            address if address == chip::SPI_DATW.address => {
                out.warn("a byte for its SPI bus: the chips on it are not modelled");
            }
            _ => {}
        }
    }

    /// Puts the settings of the upconverters in effect.
    fn strobe(&mut self, at: Ns) {
        for n in 0..CHANNELS {
            let configuration = self.get(chip::DUC_CFG, n);
            let hz = hertz(self.get(chip::DUC_F, n), chip::UPCONVERTER_RATE);
            let phase = f64::from(self.get(chip::DUC_P, n)) / 65536.0;
            let channel = &mut self.channels[n];
            let clear = [duc_cfg::CLR, duc_cfg::CLR_ONCE]
                .iter()
                .any(|field| field.get(configuration) != 0);
            let held = duc_cfg::CLR.get(configuration) != 0;
            channel.upconverter.set(at, if held { 0.0 } else { hz }, clear);
            (channel.configuration, channel.phase, channel.waits) = (configuration, phase, None);
        }
    }

    fn is_off(&self) -> bool {
        let lines = self.get(chip::CFG, 0);
        cfg::DAC_RESETB.get(lines) == 0 || cfg::DAC_SLEEP.get(lines) != 0 || cfg::DAC_TXENA.get(lines) == 0
    }

    /// Handles new words for a channel's oscillators.
    fn tune(&mut self, at: Ns, n: usize, words: [[u32; 2]; OSCILLATORS], out: &mut Outbox) {
        let off = self.is_off();
        let channel = &mut self.channels[n];
        let before = std::mem::replace(&mut channel.words, words);
        for (m, [frequency, output]) in words.into_iter().enumerate() {
            if before[m] == words[m] {
                continue;
            }
            let held = tone::CLR.get(output) != 0;
            let hz = if held {
                0.0
            } else {
                hertz(frequency, chip::OSCILLATOR_RATE)
            };
            channel.oscillators[m].set(at, hz, held);
        }
        let sum = |words: &[[u32; 2]; OSCILLATORS]| words.iter().map(|word| tone::ASF.get(word[1])).sum::<u32>();
        if sum(&words) > 0x7fff && sum(&before) <= 0x7fff {
            let part = f64::from(sum(&words)) / 32767.0;
            out.warn(format!(
                "channel {n}: its oscillators add up to {part:.2} of full scale: it clips"
            ));
        }
        if off && sum(&words) > 0 && sum(&before) == 0 {
            out.warn(format!(
                "channel {n}: it has a tone, but the DAC is in reset, asleep or off (set_cfg)"
            ));
        }
    }

    /// Sends the tones that have changed.
    fn sound(&mut self, at: Ns, out: &mut Outbox) {
        let off = self.is_off();
        for n in 0..CHANNELS {
            let silent = off || duc_cfg::SOURCE.get(self.channels[n].configuration) != 0;
            for m in 0..OSCILLATORS {
                let amplitude = f64::from(tone::ASF.get(self.channels[n].words[m][1])) / 32767.0;
                let turns = self.turns(at, n, m);
                let channel = &mut self.channels[n];
                let now = match silent || amplitude == 0.0 {
                    true => Tone::OFF,
                    false => Tone {
                        hz: channel.upconverter.hz + channel.oscillators[m].hz,
                        dbm: 20.0 * amplitude.log10(),
                        turns,
                    },
                };
                let (before, since) = channel.tones[m];
                if !before.goes_on(at - since, &now) {
                    channel.tones[m] = (now, at);
                    out.send(n * OSCILLATORS + m, Signal::Tone(now));
                }
            }
        }
    }

    /// Sends the answer to a read in the next frame: one bit per word, from the second word on.
    fn answer(&mut self, byte: u8, out: &mut Outbox) {
        let word = Ns::from(chip::FRAME_WORD_BITS) * GEOMETRY.bit;
        for n in 0..=u8::BITS as Ns {
            let bit = n < 8 && byte >> (7 - n) & 1 != 0;
            if bit != self.miso {
                self.miso = bit;
                out.send_after((n + 1) * word, MISO, Signal::Level(bit));
            }
        }
    }
}

impl Default for Phaser {
    fn default() -> Self {
        Self::new()
    }
}

impl Model for Phaser {
    fn input(&mut self, at: Ns, changes: &[Change], _out: &mut Outbox) {
        self.link.receive(at, changes);
    }

    fn next(&self) -> Option<Ns> {
        self.link.next()
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        let bits = match self.link.act(at) {
            Received::Payload(bits) => bits,
            Received::Nothing => return,
            Received::Spoiled => {
                let errors = &mut self.registers[usize::from(chip::CRC_ERR.address)];
                *errors = errors.saturating_add(1);
                return out.warn(fastlink::SPOILED);
            }
        };
        self.frames += 1;
        let width = chip::FRAME.width as usize;
        let head = fastlink::word(&bits, 0, width) as u32;
        let words =
            std::array::from_fn(|m| [0, 1].map(|kind| fastlink::word(&bits, width + 64 * m + 32 * kind, 32) as u32));
        let n = frame::CHANNEL.get(head) as usize;
        let tuned = words != self.channels[n].words;
        if tuned {
            self.tune(at, n, words, out);
        }
        let address = frame::REGISTER.get(head) as usize;
        let written = frame::REQUEST.get(head) != 0 && frame::WRITE.get(head) != 0;
        match frame::REQUEST.get(head) {
            0 => {}
            _ if written => self.write(at, address, frame::DATA.get(head) as u8, out),
            _ => {
                let byte = self.read(at, address);
                self.answer(byte, out);
            }
        }
        if tuned || written {
            self.sound(at, out);
        }
    }

    fn report(&self, _at: Ns) -> Value {
        let lines = self.get(chip::CFG, 0);
        let mut report = json!({
            "card": "Phaser",
            "leds": self.get(chip::LED, 0),
            "fan": f64::from(self.get(chip::FAN, 0)) / 255.0,
            "configuration": lines,
            "sync_delay": self.get(chip::SYNC_DLY, 0),
            "frames": self.frames,
            "crc_errors": self.get(chip::CRC_ERR, 0),
            "registers": self.named(),
        });
        for (n, channel) in self.channels.iter().enumerate() {
            let oscillator = |m: usize| {
                json!({
                    "frequency_hz": hertz(channel.words[m][0], chip::OSCILLATOR_RATE),
                    "amplitude": f64::from(tone::ASF.get(channel.words[m][1])) / 32767.0,
                    "phase_turns": f64::from(tone::POW.get(channel.words[m][1])) / 65536.0,
                })
            };
            report[format!("channel{n}")] = json!({
                "upconverter_hz": channel.upconverter.hz,
                "upconverter_turns": channel.phase,
                "source": duc_cfg::SOURCE.get(channel.configuration),
                "oscillators": (0..OSCILLATORS).map(oscillator).collect::<Vec<_>>(),
                "registers": named("TONE", &channel.words.map(|[frequency, word]| {
                    u64::from(frequency) << 32 | u64::from(word)
                })),
            });
        }
        report
    }

    fn unfinished(&self) -> Vec<(Ns, String)> {
        let waiting = self.channels.iter().enumerate();
        let warnings = waiting.filter_map(|(n, channel)| {
            let text = format!("channel {n}: settings of its upconverter were not applied: no duc_stb followed");
            channel.waits.map(|since| (since, text))
        });
        warnings.collect()
    }
}

/// A Phaser in a bench file, which has no settings.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Section {}

impl BenchSection for Section {
    fn model(_: &Settings<Self>) -> Result<CardModel, Rejected> {
        Ok(CardModel::new(Phaser::new(), &fastlink::INPUTS, Gives::tones(TONES)).answering(&["miso"]))
    }
}

#[cfg(test)]
#[path = "phaser_tests.rs"]
mod tests;
