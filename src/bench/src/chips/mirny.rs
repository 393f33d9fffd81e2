//! The Mirny card: logic (CPLD) with a serial port, attenuators and switches, four ADF5356, and
//! optionally an Almazny mezzanine.
//!
//! A message begins with a 7-bit destination: registers of the logic, a synthesiser, an attenuator,
//! or a shift register of the Almazny, whose outputs are reported but produce no signal here.

use kairos_contracts::chips::mirny::{self as words, attenuator, control, message, status, SOURCES};
use kairos_contracts::chips::{almazny, Register};
use serde::Deserialize;
use serde_json::{json, Map, Value};

use super::adf5356::Adf5356;
use super::hmc542b::attenuation_db;
use super::reported::named;
use super::shift::{Sent, Shift, UnselectedMessage};
use crate::assemble::outputs::OutputKinds;
use crate::file::MirnyRevision;
use crate::model::{set_levels, Change, Model, Outbox};
use crate::numbers::Natural;
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings};
use crate::signal::{Ns, Signal, Tone};

/// Channels of the card.
pub const CHANNELS: usize = 4;
/// Number of the output to the bus, which follows those of the channels.
pub const MISO: usize = CHANNELS;
/// Names of the inputs, as in the device's channels.
pub const INPUTS: [&str; 7] = ["clk", "mosi", "cs0", "sw0", "sw1", "sw2", "sw3"];
const CLK: usize = 0;
const MOSI: usize = 1;
const CS: usize = 2;
const SW0: usize = 3;
/// Kinds of destinations, four of each, in the first 7 bits of a message.
const KINDS: [Kind; 4] = [Kind::Register, Kind::Synthesiser, Kind::Attenuator, Kind::Almazny];
const HEAD: u32 = 8;

/// The kind of a message's destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Register,
    Synthesiser,
    Attenuator,
    Almazny,
}

impl Kind {
    /// Bits of a message, including its head.
    fn width(self) -> u32 {
        match self {
            Self::Register => words::MESSAGE.width,
            Self::Synthesiser => HEAD + 32,
            Self::Attenuator => words::ATTENUATOR.width,
            Self::Almazny => HEAD + almazny::CHANNEL.width,
        }
    }
}

/// The Almazny mezzanine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Almazny {
    /// Revision 1.1.
    #[serde(rename = "v1.1")]
    Legacy,
    /// Revision 1.2 and later.
    #[serde(rename = "v1.2")]
    Channels,
}

/// Attenuation of an Almazny in dB; its shift registers take the highest bit last.
fn attenuated(mirrored: u32) -> f64 {
    let steps = mirrored.reverse_bits() >> (u32::BITS - almazny::ATT_BITS);
    f64::from(steps) / f64::from(almazny::ATT_STEPS)
}

/// Options of a card and its external clocks.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Hz of the reference that each value of `clk_sel` selects; 0: none.
    pub clocks: [f64; 4],
    /// Hardware revision, 0 to 3.
    pub revision: u32,
    /// The mezzanine.
    pub almazny: Option<Almazny>,
}

/// The card.
pub struct Mirny {
    options: Options,
    lines: [bool; INPUTS.len()],
    shift: Shift,
    unselected_message: UnselectedMessage,
    sent: Sent,
    control: u32,
    attenuators: [u32; CHANNELS],
    almazny: [u32; CHANNELS],
    chips: [Adf5356; CHANNELS],
    tones: [Tone; CHANNELS],
    miso: bool,
    now: Ns,
}

impl Mirny {
    /// The state after power-up: attenuators at maximum.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            lines: [false; INPUTS.len()],
            shift: Shift::default(),
            unselected_message: UnselectedMessage::default(),
            sent: Sent::default(),
            control: 0,
            attenuators: [0; CHANNELS],
            almazny: [0; CHANNELS],
            chips: std::array::from_fn(|_| Adf5356::new(options.clocks[0])),
            tones: [Tone::OFF; CHANNELS],
            miso: false,
            now: 0,
        }
    }

    fn read(&self, at: Ns, register: Option<Register>) -> u32 {
        match register.map(|register| register.address) {
            Some(0) => {
                let word = status::HW_REV.put(0, self.options.revision);
                let of = |word, n: usize| status::MUXOUT.at(n as u32).put(word, self.chips[n].muxout(at).into());
                (0..CHANNELS).fold(word, of)
            }
            Some(_) => self.control,
            None => 0,
        }
    }

    /// The values of the registers of the card's own logic and of its shift registers, by name.
    fn named(&self) -> Map<String, Value> {
        let mut found = named("ATTENUATOR", &self.attenuators);
        found.insert("CONTROL".into(), self.control.into());
        if self.options.almazny.is_some() {
            found.append(&mut named("ALMAZNY", &self.almazny));
        }
        found
    }

    /// The register of the logic with this number.
    fn register(number: u64) -> Option<Register> {
        let all = [words::STATUS, words::CONTROL];
        all.into_iter().find(|register| u64::from(register.address) == number)
    }

    /// The kind of a destination.
    fn kind(destination: u64) -> Option<Kind> {
        KINDS.get(destination as usize / CHANNELS).copied()
    }

    /// Executes the received message as chip select is released.
    fn take(&mut self, at: Ns, out: &mut Outbox) {
        let Shift { bits, count } = std::mem::take(&mut self.shift);
        if count < HEAD {
            if count > 0 {
                out.warn(format!("a message of {count} bits: its header alone has {HEAD}"));
            }
            return;
        }
        let destination = bits >> (count - HEAD + 1) & 0x7f;
        let Some(kind) = Self::kind(destination) else {
            return out.warn(format!("a message for number {destination}, which does not exist"));
        };
        if count != kind.width() {
            let width = kind.width();
            return out.warn(format!(
                "a message of {count} bits for number {destination}, which takes {width}: ignored"
            ));
        }
        let n = destination as usize % CHANNELS;
        match kind {
            Kind::Register => self.configure(bits as u32, out),
            Kind::Synthesiser => out.warn_of(n, self.chips[n].write(at, bits as u32)),
            Kind::Attenuator => self.attenuators[n] = attenuator::ATT.get(bits as u32),
            Kind::Almazny if self.options.almazny.is_none() => {
                out.warn(format!(
                    "a message for channel {n} of an Almazny, which is not present (almazny)"
                ));
            }
            Kind::Almazny => self.almazny[n] = bits as u32 & 0xff,
        }
    }

    fn configure(&mut self, word: u32, out: &mut Outbox) {
        if message::WRITE.get(word) == 0 {
            return;
        }
        match Self::register(message::REGISTER.get(word).into()) {
            Some(words::CONTROL) => {
                self.control = message::DATA.get(word);
                let hz = self.options.clocks[control::CLK_SEL.get(self.control) as usize];
                self.chips.iter_mut().for_each(|chip| chip.set_reference(hz));
            }
            _ => out.warn(format!(
                "its register {} cannot be written",
                message::REGISTER.get(word)
            )),
        }
    }

    fn rise(&mut self, at: Ns) {
        self.shift.take(self.lines[MOSI]);
        let word = self.shift.bits as u32;
        if self.shift.count == HEAD && word & 1 == 0 && word >> 1 < CHANNELS as u32 {
            let value = self.read(at, Self::register(u64::from(word >> 1)));
            self.sent = Sent::new(value.into(), 16);
        }
    }

    fn attenuation(&self, n: usize) -> f64 {
        attenuation_db(self.attenuators[n])
    }

    /// Sends the tones of channels that have changed.
    fn sound(&mut self, at: Ns, out: &mut Outbox) {
        for n in 0..CHANNELS {
            let open = !self.lines[SW0 + n];
            self.chips[n].gain_db = if open { f64::NEG_INFINITY } else { -self.attenuation(n) };
            let tone = self.chips[n].tone(at);
            if tone != self.tones[n] {
                self.tones[n] = tone;
                out.send(n, Signal::Tone(tone));
            }
        }
    }

    /// Settings of a channel of the mezzanine.
    fn on_top(&self, n: usize) -> Value {
        let word = self.almazny[n];
        match self.options.almazny {
            None => Value::Null,
            Some(Almazny::Legacy) => {
                let on = control::ALMAZNY_OE.get(self.control) != 0;
                json!({
                    "attenuation_db": attenuated(almazny::legacy::REVERSED_ATT.get(word)),
                    "output": on && almazny::legacy::RF_SWITCH.get(word) != 0,
                })
            }
            Some(Almazny::Channels) => json!({
                "attenuation_db": attenuated(almazny::channel::REVERSED_ATT.get(word)),
                "output": almazny::channel::ENABLE.get(word) != 0,
                "led": almazny::channel::LED.get(word) != 0,
            }),
        }
    }
}

impl Model for Mirny {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let before = self.lines;
        set_levels(&mut self.lines, changes);
        self.now = at;
        let miso = self.miso;
        if before[CS] != self.lines[CS] {
            self.unselected_message.end();
        }
        match (before[CS], self.lines[CS]) {
            (true, false) => self.take(at, out),
            (false, true) => (self.shift, self.sent) = Default::default(),
            _ => {}
        }
        match (before[CLK], self.lines[CLK]) {
            (false, true) if self.lines[CS] => self.rise(at),
            (false, true) => self.unselected_message.bit(out),
            (true, false) => self.miso = self.sent.take(),
            _ => {}
        }
        if before[CS] != self.lines[CS] || before[SW0..] != self.lines[SW0..] {
            self.sound(at, out);
        }
        let answer = self.miso;
        if answer != miso {
            out.send(MISO, Signal::Level(answer));
        }
    }

    fn next(&self) -> Option<Ns> {
        self.chips.iter().filter_map(|chip| chip.next(self.now)).min()
    }

    /// A synthesiser locks.
    fn act(&mut self, at: Ns, out: &mut Outbox) {
        self.now = at;
        self.sound(at, out);
    }

    fn report(&self, at: Ns) -> Value {
        let channel = |n: usize| {
            let mut chip = self.chips[n].report(at);
            chip["attenuation_db"] = self.attenuation(n).into();
            chip["switch"] = self.lines[SW0 + n].into();
            chip["almazny"] = self.on_top(n);
            chip
        };
        json!({
            "card": "Mirny",
            "control": self.control,
            "registers": self.named(),
            "ch0": channel(0), "ch1": channel(1), "ch2": channel(2), "ch3": channel(3),
        })
    }
}

/// A Mirny in a bench file. Missing values are those of the device database, or else defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Section {
    /// Hz of the reference that each value of `clk_sel` selects; 0: none.
    clocks_hz: Option<[Natural; 4]>,
    /// Hardware revision as read from the card: 3 is v1.0, 2 (the default) v1.1.
    hw_rev: Option<MirnyRevision>,
    /// Mezzanine: `v1.1` or `v1.2`.
    almazny: Option<Almazny>,
}

impl BenchSection for Section {
    fn model(settings: &Settings<Self>) -> Result<CardModel, Rejected> {
        let clocks = settings.get(|section| section.clocks_hz);
        let options = Options {
            clocks: clocks.map_or([100e6, 0.0, 0.0, 0.0], |clocks| clocks.map(|hz| hz.0)),
            revision: settings
                .get(|section| section.hw_rev)
                .map_or(SOURCES[1][0] as u32, MirnyRevision::number),
            almazny: settings.get(|section| section.almazny),
        };
        Ok(CardModel::new(Mirny::new(options), &INPUTS, OutputKinds::tones(CHANNELS)).answering(&["miso"]))
    }
}

#[cfg(test)]
#[path = "mirny_tests.rs"]
mod tests;
