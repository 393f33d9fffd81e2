//! The format of `bench.toml`, which describes what is wired to the pins. Each error is a line with
//! its location in the file.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use toml::Spanned;

use crate::chips;
use crate::numbers::{Finite, Fraction, Natural, Positive};

mod adc;
mod light;
mod revisions;
mod rf;
mod source;

pub(crate) use adc::section_with_inputs;
pub use adc::{Inputs, Wire};
pub use light::{Beam, Camera, Comb, Crystal, Drive, Line, Photodiode};
pub use revisions::{MirnyRevision, SamplerRevision};
pub use rf::{Converter, RfSource};
pub use source::{load, read_at_most, Source};

/// Parts of a kind, by their names.
pub type Parts<T> = BTreeMap<Spanned<String>, T>;

/// Defines the contents of a file for the kinds of cards with a model.
macro_rules! file {
    ($($kind:ident $name:literal,)*) => {
        /// The contents of a bench file.
        #[derive(Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct File {
            /// Seed of all random numbers.
            #[serde(default)]
            pub seed: u64,
            $(
                #[doc = $name]
                #[serde(default)]
                pub $kind: Parts<chips::$kind::Section>,
            )*
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
            /// Beats of the repetition rates of pulsed lasers.
            #[serde(default)]
            pub comb: Parts<Comb>,
            /// Cables from pin to pin.
            #[serde(default)]
            pub loopback: Parts<Loopback>,
            /// Inputs of a recorded run.
            #[serde(default)]
            pub recorded: Parts<Recorded>,
            /// User-defined models.
            #[serde(default)]
            pub python: Parts<Python>,
        }
    };
}

kairos_contracts::with_card_models!(file);

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

/// Inputs of a recorded run, which come instead of those from cards.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// Relative to the bench file.
    pub file: Spanned<String>,
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
    #[serde(default = "default_timeout")]
    pub timeout_s: Positive,
}

fn default_timeout() -> Positive {
    Positive(10.0)
}
