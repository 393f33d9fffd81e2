//! The format of `bench.toml`, which describes what is wired to the pins. Each error is a line with
//! its place in the file.

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

/// The contents of a bench file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Seed of all random numbers.
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
    /// Cards with eight ADC channels that are converted in sequence.
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
    /// Cards with two RF channels of five oscillators each.
    #[serde(default)]
    pub phaser: Parts<Phaser>,
    /// Cards with 16 DAC channels and their waveforms.
    #[serde(default)]
    pub shuttler: Parts<Shuttler>,
    /// Converters at outputs of pulse cores.
    #[serde(default)]
    pub converter: Parts<Converter>,
    /// Sources of a single tone.
    #[serde(default)]
    pub source: Parts<RfSource>,
    /// Acousto-optic modulators.
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
    /// Line triggers: pulses in phase with the mains.
    #[serde(default)]
    pub line: Parts<Line>,
    /// Cables from pin to pin.
    #[serde(default)]
    pub loopback: Parts<Loopback>,
    /// User-defined models.
    #[serde(default)]
    pub python: Parts<Python>,
}

/// A Urukul card. Missing values are those of the device database, or else defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Urukul {
    /// `ad9910` or `ad9912`.
    pub dds: Option<Chip>,
    /// 8 or 9.
    pub proto_rev: Option<Revision>,
    /// Hz of the card's oscillator.
    pub oscillator_hz: Option<Natural>,
    /// Hz of the clock at the SMA connector; 0: none.
    pub sma_hz: Option<Natural>,
    /// Hz of the clock at the MMCX connector; 0: none.
    pub mmcx_hz: Option<Natural>,
    /// Delay of the synchronisation clock against the reference clock at each chip, in ps.
    pub sync_skew_ps: Option<[Natural; urukul::CHANNELS]>,
}

impl Urukul {
    /// The options of the card, where `own` holds the values of the device database.
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

/// A Zotino card.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Zotino {
    /// Reference in volts; default 5.
    pub vref: Option<Positive>,
}

/// A DAC of the AD53xx family. Missing values are those of the device database, or else
/// defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ad53xx {
    /// Member of the family; default `ad5370`.
    pub chip: Option<ad53xx::Kind>,
    /// Reference in volts; default 5.
    pub vref: Option<Positive>,
    /// Number of the chip select line of the bus; default 0.
    pub select: Option<u32>,
}

/// A Fastino card, which has no options.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fastino {}

/// A bus with AD9914 chips. Missing values are those of the device database, or else defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DdsBus {
    /// Hz of the system clock of all chips, default 3 GHz; 0: none.
    pub clock_hz: Option<Natural>,
    /// Whether a signal is present at their SYNC_IN inputs.
    pub sync_in: Option<bool>,
}

/// A Phaser card, which has no options.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Phaser {}

/// A Shuttler card.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Shuttler {
    /// Volts at the ADC's VIN0, VIN1 and so on, up to 16 of them; default 0.
    pub adc_volts: Option<Spanned<Vec<Finite>>>,
    /// Time between renewals of a changing output; default 1000.
    pub update_ns: Option<Spanned<u32>>,
}

/// A Mirny card. Missing values are those of the device database, or else defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mirny {
    /// Hz of the reference that each value of `clk_sel` selects; 0: none.
    pub clocks_hz: Option<[Natural; 4]>,
    /// Hardware revision as read from the card: 0 to 3.
    pub hw_rev: Option<MirnyRevision>,
    /// Mezzanine: `v1.1` or `v1.2`.
    pub almazny: Option<mirny::Almazny>,
}

impl Mirny {
    /// The options of the card, where `own` holds the values of the device database.
    pub fn options(&self, own: &Self) -> mirny::Options {
        let clocks = self.clocks_hz.or(own.clocks_hz);
        mirny::Options {
            clocks: clocks.map_or([100e6, 0.0, 0.0, 0.0], |clocks| clocks.map(|hz| hz.0)),
            revision: self.hw_rev.or(own.hw_rev).map_or(0, MirnyRevision::number),
            almazny: self.almazny.or(own.almazny),
        }
    }
}

/// An acousto-optic modulator.
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

/// In dBm; default 0.
pub type Power = OrZero;
/// In volts; default 0.
pub type Volts = OrZero;

/// A number whose default is 0.
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

/// A two-level ion.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ion {
    /// Light that drives the transition.
    pub drive: Option<Transition>,
    /// Light that the lower level scatters.
    pub detection: Option<Scattering>,
    /// Light that empties the upper level.
    pub repump: Option<Repump>,
    /// Coherence time; default infinite.
    pub coherence_s: Option<Positive>,
    /// Lifetime of the upper level; default infinite.
    pub lifetime_s: Option<Positive>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transition {
    /// A modulator.
    pub light: Spanned<String>,
    /// Rabi frequency at the modulator's full power.
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

/// A photon detector.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Photomultiplier {
    /// Input pin of the device.
    pub pin: Spanned<String>,
    /// Ions and crystals that it detects.
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
    /// Probability that a count is followed by an afterpulse…
    #[serde(default)]
    pub afterpulses: Part,
    /// …and the mean delay of that.
    #[serde(default = "afterpulse")]
    pub afterpulse_ns: Positive,
}

/// A fraction whose default is 0.
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

/// A rate whose default is 0.
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
    /// A pin that the device reads.
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
    /// A class derived from `kairos.bench.Model`; default: the only one in the file.
    pub class: Option<String>,
    /// By name: a pin that the device drives, a channel of a card, a modulator, an ion or a
    /// photodiode.
    #[serde(default)]
    pub inputs: BTreeMap<String, Spanned<String>>,
    /// By name: a pin that the device reads, or a kind of signal for other parts: `tone`, `volts`,
    /// `light`, `photons`.
    #[serde(default)]
    pub outputs: BTreeMap<String, Spanned<String>>,
    /// Keyword arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// Time after which the model is considered hung.
    #[serde(default = "patience")]
    pub timeout_s: Positive,
}

fn patience() -> Positive {
    Positive(10.0)
}
