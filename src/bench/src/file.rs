//! `bench.toml`: what is wired to the pins, as its owner writes it. Each error is a line with its
//! place in the file.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use toml::Spanned;

use crate::chips::ad53xx;
use crate::chips::mirny;
use crate::chips::urukul::{self, Chip, Revision};
use crate::numbers::{Finite, Fraction, Natural, Positive};

mod adc;
mod light;
mod revisions;
mod rf;
mod source;

pub use adc::{Inputs, Novogorny, Sampler, Wire};
pub use light::{Beam, Camera, Crystal, Drive, Line, Photodiode};
pub use revisions::{MirnyRevision, SamplerRevision};
pub use rf::{Ad9834, Converter, Hmc542b, RfSource};
pub use source::{text_of, Source};

/// Parts of a kind, by their names.
pub type Parts<T> = BTreeMap<Spanned<String>, T>;

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Of all random numbers.
    #[serde(default)]
    pub seed: u64,
    /// Cards with four DDS channels.
    #[serde(default)]
    pub urukul: Parts<Urukul>,
    /// Cards with 32 DAC channels.
    #[serde(default)]
    pub zotino: Parts<Zotino>,
    /// DAC chips alone on a bus.
    #[serde(default)]
    pub ad53xx: Parts<Ad53xx>,
    /// Cards with 32 DAC channels on a fast link.
    #[serde(default)]
    pub fastino: Parts<Fastino>,
    /// Cards with four synthesisers.
    #[serde(default)]
    pub mirny: Parts<Mirny>,
    /// Cards with eight ADC channels.
    #[serde(default)]
    pub sampler: Parts<Sampler>,
    /// Cards with eight ADC channels that are converted one after the other.
    #[serde(default)]
    pub novogorny: Parts<Novogorny>,
    /// DDS chips alone on a bus.
    #[serde(default)]
    pub ad9834: Parts<Ad9834>,
    /// Attenuators alone on a bus.
    #[serde(default)]
    pub hmc542b: Parts<Hmc542b>,
    /// Buses with AD9914 chips.
    #[serde(default)]
    pub ddsbus: Parts<DdsBus>,
    /// Cards with two RF channels of five oscillators.
    #[serde(default)]
    pub phaser: Parts<Phaser>,
    /// Cards with 16 DAC channels, of which relays and ADC are modelled.
    #[serde(default)]
    pub shuttler: Parts<Shuttler>,
    /// Converters at outputs of pulse cores.
    #[serde(default)]
    pub converter: Parts<Converter>,
    /// Sources of one tone.
    #[serde(default)]
    pub source: Parts<RfSource>,
    /// Modulators.
    #[serde(default)]
    pub aom: Parts<Aom>,
    /// Ions.
    #[serde(default)]
    pub ion: Parts<Ion>,
    /// Ions with motion.
    #[serde(default)]
    pub crystal: Parts<Crystal>,
    /// Detectors of photons.
    #[serde(default)]
    pub photomultiplier: Parts<Photomultiplier>,
    /// Detectors of light.
    #[serde(default)]
    pub photodiode: Parts<Photodiode>,
    /// Cameras at grabbers.
    #[serde(default)]
    pub camera: Parts<Camera>,
    /// Triggers of the mains.
    #[serde(default)]
    pub line: Parts<Line>,
    /// Cables from pin to pin.
    #[serde(default)]
    pub loopback: Parts<Loopback>,
    /// Models of the user's own.
    #[serde(default)]
    pub python: Parts<Python>,
}

/// A card Urukul. What is not said here says the device database, or else `Default`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Urukul {
    /// `ad9910` or `ad9912`.
    pub dds: Option<Chip>,
    /// 8 or 9.
    pub proto_rev: Option<Revision>,
    /// Hz of the card's oscillator.
    pub oscillator_hz: Option<Natural>,
    /// Hz of what is plugged in; 0: nothing.
    pub sma_hz: Option<Natural>,
    /// Likewise.
    pub mmcx_hz: Option<Natural>,
    /// How much later than the clock that of the synchronisation is at the chips, in ps.
    pub sync_skew_ps: Option<[Natural; urukul::CHANNELS]>,
}

impl Urukul {
    /// What is on the card, where `own` is what the device database says.
    pub fn options(&self, own: &Self) -> urukul::Options {
        let hz = |said: Option<Natural>, own: Option<Natural>, else_hz| said.or(own).map_or(else_hz, |hz| hz.0);
        urukul::Options {
            servo: None,
            chip: self.dds.or(own.dds).unwrap_or(Chip::Ad9910),
            revision: self.proto_rev.or(own.proto_rev).unwrap_or(Revision::Nine),
            clocks: [
                hz(self.oscillator_hz, own.oscillator_hz, 100e6),
                hz(self.sma_hz, own.sma_hz, 0.0),
                hz(self.mmcx_hz, own.mmcx_hz, 125e6),
            ],
            sync_skew_ps: self
                .sync_skew_ps
                .map_or([300.0; urukul::CHANNELS], |skew| skew.map(|ps| ps.0)),
        }
    }
}

/// A card Zotino.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Zotino {
    /// Reference in volts: 5 if nothing is said.
    pub vref: Option<Positive>,
}

/// A DAC of the kind AD53xx. What is not said here says the device database, or else `Default`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ad53xx {
    /// Which of them: `ad5370` if nothing is said.
    pub chip: Option<ad53xx::Kind>,
    /// Reference in volts: 5 if nothing is said.
    pub vref: Option<Positive>,
    /// Number of the line of the bus that selects it: 0 if nothing is said.
    pub select: Option<u32>,
}

/// A card Fastino: nothing can be said of it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fastino {}

/// A bus with AD9914 chips. What is not said here says the device database, or else `Default`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DdsBus {
    /// Hz of the system clock of all chips, 3 GHz if nothing is said; 0: none.
    pub clock_hz: Option<Natural>,
    /// Whether a signal is at their inputs SYNC_IN.
    pub sync_in: Option<bool>,
}

/// A card Phaser: nothing can be said of it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Phaser {}

/// A card Shuttler, and what is at the inputs of its ADC: nothing, 0 V.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Shuttler {
    /// Volts at VIN0, VIN1 and so on, up to 16 of them.
    pub adc_volts: Option<Spanned<Vec<Finite>>>,
}

/// A card Mirny. What is not said here says the device database, or else `Default`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mirny {
    /// Hz of the reference that each number of `clk_sel` selects; 0: nothing is there.
    pub clocks_hz: Option<[Natural; 4]>,
    /// Hardware revision, as the card tells it: 0 to 3.
    pub hw_rev: Option<MirnyRevision>,
    /// What is on top: `v1.1` or `v1.2`.
    pub almazny: Option<mirny::Almazny>,
}

impl Mirny {
    /// What is on the card, where `own` is what the device database says.
    pub fn options(&self, own: &Self) -> mirny::Options {
        let clocks = self.clocks_hz.or(own.clocks_hz);
        mirny::Options {
            clocks: clocks.map_or([100e6, 0.0, 0.0, 0.0], |clocks| clocks.map(|hz| hz.0)),
            revision: self.hw_rev.or(own.hw_rev).map_or(0, MirnyRevision::number),
            almazny: self.almazny.or(own.almazny),
        }
    }
}

/// A modulator.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aom {
    /// `CARD.chN`.
    pub tone: Spanned<String>,
    pub centre_hz: Positive,
    #[serde(default = "bandwidth")]
    pub bandwidth_hz: Positive,
    #[serde(default)]
    pub saturation_dbm: Power,
    #[serde(default = "one")]
    pub passes: Spanned<i32>,
    #[serde(default)]
    pub delay_ns: u32,
}

/// In dBm; 0 if nothing is said.
pub type Power = OrZero;
/// In volts; 0 if nothing is said.
pub type Volts = OrZero;

/// 0 if nothing is said.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub struct OrZero(pub Finite);

impl Default for OrZero {
    fn default() -> Self {
        Self(Finite(0.0))
    }
}

fn bandwidth() -> Positive {
    Positive(30e6)
}

fn one() -> Spanned<i32> {
    Spanned::new(0..0, 1)
}

/// An ion with two levels.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ion {
    /// Light of the transition.
    pub drive: Option<Transition>,
    /// Light that the lower level scatters.
    pub detection: Option<Scattering>,
    /// Light that empties the upper level.
    pub repump: Option<Repump>,
    /// Time in which coherence is lost; for ever if nothing is said.
    pub coherence_s: Option<Positive>,
    /// Of the upper level; for ever if nothing is said.
    pub lifetime_s: Option<Positive>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transition {
    /// A modulator.
    pub light: Spanned<String>,
    /// At the modulator's full power.
    pub rabi_hz: Positive,
    /// Frequency of the modulator's tone at which the light is resonant.
    pub resonance_hz: Positive,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scattering {
    /// A modulator.
    pub light: Spanned<String>,
    /// Photons per second at its full power.
    pub photons_hz: Positive,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repump {
    /// A modulator.
    pub light: Spanned<String>,
    /// Rate at its full power, 1/s.
    pub rate_hz: Positive,
}

/// A detector.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Photomultiplier {
    /// Of the device.
    pub pin: Spanned<String>,
    /// Ions and crystals.
    #[serde(default)]
    pub sees: Vec<Spanned<String>>,
    #[serde(default = "all")]
    pub efficiency: Fraction,
    #[serde(default)]
    pub dark_hz: Rate,
    #[serde(default = "pulse")]
    pub pulse_ns: Spanned<u32>,
    #[serde(default)]
    pub dead_ns: Option<Spanned<u32>>,
    /// Probability that a count is followed by another one…
    #[serde(default)]
    pub afterpulses: Part,
    /// …after this time in the mean.
    #[serde(default = "afterpulse")]
    pub afterpulse_ns: Positive,
}

/// 0 if nothing is said.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub struct Part(pub Fraction);

impl Default for Part {
    fn default() -> Self {
        Self(Fraction(0.0))
    }
}

fn afterpulse() -> Positive {
    Positive(500.0)
}

/// 0 if nothing is said.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub struct Rate(pub Natural);

impl Default for Rate {
    fn default() -> Self {
        Self(Natural(0.0))
    }
}

fn all() -> Fraction {
    Fraction(1.0)
}

fn pulse() -> Spanned<u32> {
    Spanned::new(0..0, 20)
}

/// A cable.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loopback {
    /// A pin that the device drives.
    pub from: Spanned<String>,
    /// One that it reads.
    pub to: Spanned<String>,
    #[serde(default)]
    pub delay_ns: u32,
    #[serde(default)]
    pub jitter_ns: Rate,
}

/// A model in Python.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Python {
    /// Relative to the bench file.
    pub file: Spanned<String>,
    /// Derived from `kairos.bench.Model`; the only one of the file if nothing is said.
    pub class: Option<String>,
    /// By name: a pin that the device drives, a channel of a card, a modulator, an ion, a photodiode.
    #[serde(default)]
    pub inputs: BTreeMap<String, Spanned<String>>,
    /// By name: a pin that the device reads, or what it gives to other parts: `tone`, `volts`,
    /// `light`, `photons`.
    #[serde(default)]
    pub outputs: BTreeMap<String, Spanned<String>>,
    /// Keyword arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// After which it is taken to hang.
    #[serde(default = "patience")]
    pub timeout_s: Positive,
}

fn patience() -> Positive {
    Positive(10.0)
}
