//! The Phaser card on a fast link: registers, the SPI bus with its chips, and for each of two RF channels a
//! digital upconverter, a servo, and the samples of five oscillators, or the pulses of sixteen (Miqro).
//!
//! The outputs are the tones at the connectors, one per oscillator: oscillator, digital upconverter, mixer of
//! the DAC and local oscillator add up, unless the card is one without analogue upconverters. Simulations
//! send samples only where they are to be compared with what they have announced (`phy/phaser.py`), so the
//! tones are those that were announced.

use std::collections::VecDeque;

use kairos_contracts::chips::phaser::{self as chip, cfg, duc_cfg, frame, gw_rev, hw_rev, miqro_address, sta, tone};
use kairos_contracts::chips::Register;
use serde_json::{json, Map, Value};

use super::fastlink::{self, Geometry, Received, Receiver};
use super::measuring::set_volts;
use super::reported::named;
use crate::model::{Change, Model, Outbox};
use crate::signal::{turns_of, Ns, Signal, Tone};

use bus::{Bus, Transfer};
use oscillators::{Word, Words};
use pulses::Generator;
use servos::Servos;

mod bus;
mod envelope;
mod oscillators;
mod pulses;
mod section;
mod servos;
mod tones;

pub use section::Section;

const CHANNELS: usize = chip::CHANNELS as usize;
const OSCILLATORS: usize = chip::OSCILLATORS as usize;
const REGISTERS: usize = 0x80;
/// Geometry of its frames.
const GEOMETRY: Geometry = Geometry {
    words: chip::FRAME_WORDS,
    word_bits: chip::FRAME_WORD_BITS,
    pattern: chip::CLOCK_PATTERN,
    crc: chip::CRC,
    bit: 8 / chip::BITS_PER_CYCLE as Ns,
};
const HARDWARE: u32 = 4;
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
pub(super) struct Accumulator {
    pub(super) hz: f64,
    turns: f64,
    since: Ns,
}

impl Accumulator {
    pub(super) fn at(&self, at: Ns) -> f64 {
        (self.turns + turns_of(self.hz, at - self.since)).rem_euclid(1.0)
    }

    /// Changes the frequency, continuing from the current phase or from zero.
    pub(super) fn set(&mut self, at: Ns, hz: f64, clear: bool) {
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
    words: Words,
    /// The last announcement, and the end of its frame.
    announced: Option<(Ns, Words)>,
    /// The mixers of DAC and upconverter together.
    carrier: Accumulator,
    /// The last tone sent of each output, and its time.
    tones: Vec<(Tone, Ns)>,
}

/// The card.
pub struct Phaser {
    link: Receiver,
    registers: [u8; REGISTERS],
    channels: [Channel; CHANNELS],
    frames: u64,
    miso: bool,
    bus: Bus,
    generators: [Generator; CHANNELS],
    servos: Servos<CHANNELS>,
    /// Tones of a channel.
    outputs: usize,
    /// Changes of oscillators that will take effect, by time: channel, oscillator, and what it does then.
    due: VecDeque<(Ns, usize, usize, Accumulator, Word)>,
}

/// The frequency in Hz of a signed frequency word.
fn hertz(word: u32, rate: f64) -> f64 {
    f64::from(word as i32) / f64::from(chip::FREQUENCY_STEPS) * rate
}

impl Phaser {
    /// The state after power-up: the DAC is in reset. `gateware`: number of the card's; `baseband`: without
    /// upconverters.
    pub fn new(gateware: u32, baseband: bool) -> Self {
        let outputs = match gateware {
            gw_rev::GATEWARE_MIQRO => pulses::OSCILLATORS,
            _ => OSCILLATORS,
        };
        let mut registers = [0; REGISTERS];
        registers[usize::from(chip::BOARD_ID.address)] = chip::BOARD as u8;
        registers[usize::from(chip::HW_REV.address)] = hw_rev::BASEBAND.put(HARDWARE, baseband.into()) as u8;
        registers[usize::from(chip::GW_REV.address)] = gateware as u8;
        Self {
            link: Receiver::new(GEOMETRY),
            registers,
            channels: std::array::from_fn(|_| Channel {
                tones: vec![(Tone::OFF, 0); outputs],
                ..Channel::default()
            }),
            frames: 0,
            miso: false,
            bus: Bus::new(),
            generators: std::array::from_fn(|_| Generator::new()),
            servos: Servos::new([0.0; CHANNELS], 1.0),
            outputs,
            due: VecDeque::new(),
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

    /// The words of a channel's oscillators, and the setting of its attenuator.
    fn of_channel(&self, n: usize) -> Map<String, Value> {
        let words = self.channels[n].words;
        let mut found = named(
            "TONE",
            &words.map(|word| u64::from(word.ftw) << 32 | u64::from(word.output)),
        );
        found.insert("ATT".into(), self.bus.setting(n).into());
        found
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
        if address == usize::from(chip::STA.address) {
            let alarm = sta::DAC_ALARM.put(0, self.bus.alarms(self.test_words()).into());
            let idle = sta::SPI_IDLE.put(alarm, self.bus.is_idle(at).into());
            return (0..CHANNELS).fold(idle, |word, n| {
                sta::LOCKED.at(n as u32).put(word, self.is_locked(n).into())
            }) as u8;
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
            let each = channel.words.iter().enumerate().map(|(m, word)| {
                let turns = self.turns(at, n, m);
                f64::from(tone::ASF.get(word.output)) * of(turns * std::f64::consts::TAU)
            });
            // Samples have 14 bits of 16
            let sum = (each.sum::<f64>().round().clamp(-32768.0, 32764.0) * (1.0 - 1.0 / 16384.0)) as i64;
            self.servos.applied(n, &self.registers, sum) as u16
        };
        u32::from(part(f64::sin)) << 16 | u32::from(part(f64::cos))
    }

    /// The words that the channels send instead of samples, if both do.
    fn test_words(&self) -> Option<[u16; 2 * CHANNELS]> {
        let sends = |channel: &Channel| duc_cfg::SOURCE.get(channel.configuration) != 0;
        self.channels
            .iter()
            .all(sends)
            .then(|| std::array::from_fn(|n| (self.get(chip::DAC_TEST, n / 2) >> (16 * (n % 2))) as u16))
    }

    fn has_upconverters(&self) -> bool {
        hw_rev::BASEBAND.get(self.get(chip::HW_REV, 0)) == 0
    }

    /// Whether a channel's upconverter is powered and has locked.
    fn is_locked(&self, n: usize) -> bool {
        let saves = [cfg::TRF0_PS, cfg::TRF1_PS][n].get(self.get(chip::CFG, 0)) != 0;
        self.has_upconverters() && !saves && self.bus.upconverters[n].chip.is_locked()
    }

    fn turns(&self, at: Ns, n: usize, oscillator: usize) -> f64 {
        let channel = &self.channels[n];
        let own = f64::from(tone::POW.get(channel.words[oscillator].output)) / 65536.0;
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
        if servos::REGISTERS.contains(&address) {
            self.servos.plan(at, &self.registers);
            let wrong = (0..CHANNELS).filter_map(|n| {
                Some(format!(
                    "channel {n}: {}",
                    servos::warning(&self.registers, n, address)?
                ))
            });
            out.warnings.extend(wrong);
        }
        match address as u8 {
            address if address == chip::DUC_STB.address => self.strobe(at),
            address if address == chip::CFG.address => self.reset(),
            address if address == chip::SPI_DATW.address => {
                let by = Transfer {
                    select: self.get(chip::SPI_SEL, 0),
                    divlen: self.get(chip::SPI_DIVLEN, 0),
                    flags: self.get(chip::SPI_CFG, 0),
                };
                let read = self.bus.transfer(at, &by, byte, self.test_words(), out);
                self.registers[usize::from(chip::SPI_DATR.address)] = read;
            }
            address if address == chip::MIQRO_DATA.address + 3 => {
                let first = self.get(chip::MIQRO_ADDRESS, 0);
                let n = miqro_address::CHANNEL.get(first) as usize;
                self.generators[n].store(first, self.get(chip::MIQRO_DATA, 0));
                let next = (first as u16).wrapping_add(1).to_be_bytes();
                let place = usize::from(chip::MIQRO_ADDRESS.address);
                self.registers[place..place + 2].copy_from_slice(&next);
            }
            _ => {}
        }
    }

    /// Resets the chips whose lines say so.
    fn reset(&mut self) {
        let lines = self.get(chip::CFG, 0);
        if cfg::DAC_RESETB.get(lines) == 0 {
            self.bus.reset_dac();
        }
        for (n, field) in [cfg::ATT0_RSTN, cfg::ATT1_RSTN].into_iter().enumerate() {
            if field.get(lines) == 0 {
                self.bus.reset_attenuator(n);
            }
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

    fn is_miqro(&self) -> bool {
        gw_rev::GATEWARE.get(self.get(chip::GW_REV, 0)) == gw_rev::GATEWARE_MIQRO
    }

    fn is_off(&self) -> bool {
        let lines = self.get(chip::CFG, 0);
        cfg::DAC_RESETB.get(lines) == 0 || cfg::DAC_SLEEP.get(lines) != 0 || cfg::DAC_TXENA.get(lines) == 0
    }

    /// Takes a frame.
    fn take(&mut self, at: Ns, bits: &[bool], out: &mut Outbox) {
        self.frames += 1;
        let width = chip::FRAME.width as usize;
        let head = fastlink::word(bits, 0, width) as u32;
        match frame::KIND.get(head) {
            frame::KIND_ANNOUNCED => {
                let (n, cycles, words) = oscillators::announced(bits, width);
                self.channels[n].announced = Some((at, words));
                let first = at + Ns::from(chip::ANNOUNCED_NS);
                for (m, word) in words.into_iter().enumerate() {
                    let (since, accumulator) = oscillators::changed(&words, m, cycles, first);
                    let place = self.due.partition_point(|(before, ..)| *before <= since);
                    self.due.insert(place, (since.max(at), n, m, accumulator, word));
                }
            }
            frame::KIND_SAMPLES => self.compare(at, bits, width, out),
            frame::KIND_PULSES => {
                let loaded = at.saturating_sub(2 * GEOMETRY.frame());
                for n in 0..CHANNELS {
                    let warning = self.generators[n].take(at, loaded, bits, width + n * chip::MIQRO_BITS as usize);
                    out.warnings.extend(warning.map(|text| format!("channel {n}: {text}")));
                }
            }
            kind => out.warn(format!("a frame of type {kind}, which it does not have")),
        }
        let address = frame::REGISTER.get(head) as usize;
        if frame::WRITE.get(head) != 0 {
            self.write(at, address, frame::DATA.get(head) as u8, out);
            self.sound(at, out);
        } else {
            let byte = self.read(at, address);
            self.answer(byte, out);
        }
    }

    /// Sends the answer to a read in the next frame: one bit per word, from the second word on.
    fn answer(&mut self, byte: u8, out: &mut Outbox) {
        let word = Ns::from(chip::FRAME_WORD_BITS) * GEOMETRY.bit;
        for n in 0..=u8::BITS as Ns {
            let bit = n < 8 && byte >> (7 - n) & 1 != 0;
            if bit != self.miso {
                self.miso = bit;
                out.send_after((n + 1) * word, CHANNELS * self.outputs, Signal::Level(bit));
            }
        }
    }
}

impl Default for Phaser {
    fn default() -> Self {
        Self::new(gw_rev::GATEWARE_BASE, false)
    }
}

impl Model for Phaser {
    fn input(&mut self, at: Ns, changes: &[Change], _out: &mut Outbox) {
        self.link.receive(at, changes);
        if changes.iter().any(|(input, _)| *input >= fastlink::INPUTS.len()) {
            set_volts(self.servos.volts(), fastlink::INPUTS.len(), changes);
            self.servos.plan(at, &self.registers);
        }
    }

    fn next(&self) -> Option<Ns> {
        let due = self.due.front().map(|(at, ..)| *at);
        let pulses = self.generators.iter().map(Generator::next);
        let others = [self.link.next(), self.servos.due(), due].into_iter();
        others.chain(pulses).flatten().min()
    }

    fn under_way(&self) -> Option<Ns> {
        let pulses = self.generators.iter().filter_map(Generator::end);
        self.due.back().map(|(at, ..)| *at).into_iter().chain(pulses).max()
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        while let Some((_, n, m, accumulator, word)) = self.due.pop_front_if(|(due, ..)| *due <= at) {
            let mut words = self.channels[n].words;
            words[m] = word;
            self.tune(n, words, out);
            self.channels[n].oscillators[m] = accumulator;
            self.sound(at, out);
        }
        if self.servos.due().is_some_and(|due| due <= at) {
            self.servos.update(at, &self.registers);
            self.sound(at, out);
        }
        for n in 0..CHANNELS {
            if self.generators[n].next().is_some_and(|next| next <= at) {
                self.play(at, n, out);
            }
        }
        if self.link.next().is_none_or(|next| next > at) {
            return;
        }
        match self.link.act(at) {
            Received::Payload(bits) => self.take(at, &bits, out),
            Received::Nothing => {}
            Received::Spoiled => {
                let errors = &mut self.registers[usize::from(chip::CRC_ERR.address)];
                *errors = errors.wrapping_add(1);
                out.warn(fastlink::SPOILED);
            }
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
            "dac": { "locked": self.bus.dac.is_locked(), "registers": named("CONFIG", &self.bus.dac.registers) },
        });
        for (n, channel) in self.channels.iter().enumerate() {
            let oscillator = |m: usize| {
                json!({
                    "frequency_hz": hertz(channel.words[m].ftw, chip::OSCILLATOR_RATE),
                    "amplitude": f64::from(tone::ASF.get(channel.words[m].output)) / 32767.0,
                    "phase_turns": f64::from(tone::POW.get(channel.words[m].output)) / 65536.0,
                })
            };
            report[format!("channel{n}")] = json!({
                "upconverter_hz": channel.upconverter.hz,
                "upconverter_turns": channel.phase,
                "source": duc_cfg::SOURCE.get(channel.configuration),
                "oscillators": (0..OSCILLATORS).map(oscillator).collect::<Vec<_>>(),
                "attenuation_db": self.bus.attenuation(n),
                "mixer_hz": self.bus.dac.mixing(n).0,
                "local_oscillator_hz": self.local(n),
                "locked": self.is_locked(n),
                "registers": self.of_channel(n),
                "upconverter": { "registers": named("REGISTER", &self.bus.upconverters[n].chip.registers) },
                "servo": self.servos.report(n, &self.registers),
            });
            if self.is_miqro() {
                report[format!("channel{n}")]["miqro"] = self.generators[n].report();
            }
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

#[cfg(test)]
#[path = "phaser_tests.rs"]
mod tests;
