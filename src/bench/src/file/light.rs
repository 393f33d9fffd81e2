//! Bench file entries for ions with motion, detectors of light, and the mains.

use serde::Deserialize;
use toml::Spanned;

use super::{Rate, Repump};
use crate::numbers::{Finite, Fraction, Natural, Positive};

/// One or two four-level ions and a mode of their motion.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crystal {
    /// 1 or 2.
    #[serde(default = "one")]
    pub ions: Spanned<usize>,
    pub mode: Spanned<Mode>,
    /// Light that drives the qubits.
    #[serde(default)]
    pub drive: Vec<Drive>,
    /// Light that both states of the ground level scatter.
    pub cooling: Option<Beam>,
    /// Light that one of them scatters.
    pub pumping: Option<Beam>,
    /// Light that empties the upper level.
    pub repump: Option<Repump>,
    /// Coherence time; default infinite.
    pub coherence_s: Option<Spanned<Positive>>,
    /// Lifetime of the upper level; default infinite.
    pub lifetime_s: Option<Positive>,
    /// Linewidth of the short-lived level; default: that of calcium at 397 nm.
    #[serde(default = "linewidth")]
    pub linewidth_hz: Spanned<Positive>,
    /// Fraction of its decays to the lower qubit state; all others but `to_upper` end in the ground
    /// level's other state.
    #[serde(default = "half")]
    pub to_lower: Spanned<Fraction>,
    /// Fraction of its decays to the upper level.
    #[serde(default = "none")]
    pub to_upper: Fraction,
}

/// A mode of motion.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    pub hz: Positive,
    /// Lamb-Dicke parameter of the qubits' light.
    pub eta: Natural,
    /// Lamb-Dicke parameter of the cooling light; 0: no cooling or heating.
    #[serde(default)]
    pub eta_cooling: Rate,
    /// Heating rate in quanta per second.
    #[serde(default)]
    pub heating_hz: Rate,
    /// Mean quanta at power-up.
    #[serde(default)]
    pub quanta: Rate,
    /// Number of motional states simulated.
    #[serde(default = "states")]
    pub states: Spanned<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drive {
    /// A modulator.
    pub light: Spanned<String>,
    /// Rabi frequency at the modulator's full power, of an ion at rest.
    pub rabi_hz: Positive,
    /// Frequency of the modulator's tone at which the light is resonant.
    pub resonance_hz: Positive,
    /// Illuminated ions, counted from 0; default all.
    pub ions: Option<Spanned<Vec<usize>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beam {
    /// A modulator.
    pub light: Spanned<String>,
    /// Saturation parameter at the modulator's full power.
    #[serde(default = "saturated")]
    pub saturation: Positive,
    /// Frequency of the modulator's tone at which the light is resonant.
    pub resonance_hz: Positive,
}

/// A detector that turns light into a voltage.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Photodiode {
    /// Modulators.
    pub sees: Vec<Spanned<String>>,
    /// Voltage at the full power of one of them.
    pub volts: Finite,
    /// Voltage in the dark.
    #[serde(default)]
    pub dark_volts: super::Volts,
    #[serde(default)]
    pub delay_ns: u32,
}

/// Pulses at the zero crossings of the mains.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Input pin of the device.
    pub pin: Spanned<String>,
    #[serde(default = "mains")]
    pub hz: Spanned<Positive>,
    /// Standard deviation of an edge from its nominal time.
    #[serde(default = "steady")]
    pub jitter_ns: Spanned<Rate>,
    /// Length of a pulse.
    #[serde(default = "pulse")]
    pub pulse_ns: Spanned<u32>,
}

/// The beat of a pulsed laser's repetition rate with a reference.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comb {
    /// Input pin of the device.
    pub pin: Spanned<String>,
    /// Output pin that lets the light through while it is high; default: always.
    pub switch: Option<Spanned<String>>,
    /// Nominal frequency of the beat.
    pub beat_hz: Spanned<Positive>,
    /// How much higher it is at power-up.
    #[serde(default)]
    pub offset_hz: super::OrZero,
    #[serde(default)]
    pub drift_hz_per_s: super::OrZero,
    /// Peak deviation of a sinusoidal sway, and its rate.
    #[serde(default)]
    pub sway_hz: super::OrZero,
    #[serde(default)]
    pub sway_rate_hz: super::OrZero,
}

fn one() -> Spanned<usize> {
    Spanned::new(0..0, 1)
}

fn states() -> Spanned<usize> {
    Spanned::new(0..0, 12)
}

fn linewidth() -> Spanned<Positive> {
    Spanned::new(0..0, Positive(21.6e6))
}

fn half() -> Spanned<Fraction> {
    Spanned::new(0..0, Fraction(0.5))
}

fn none() -> Fraction {
    Fraction(0.0)
}

fn saturated() -> Positive {
    Positive(1.0)
}

fn steady() -> Spanned<Rate> {
    Spanned::new(0..0, Rate::default())
}

fn mains() -> Spanned<Positive> {
    Spanned::new(0..0, Positive(50.0))
}

fn pulse() -> Spanned<u32> {
    Spanned::new(0..0, 1_000_000)
}

/// A camera that observes ions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// The card to which the camera is connected.
    pub grabber: Spanned<String>,
    /// Columns and rows.
    #[serde(default = "pixels")]
    pub width: Spanned<usize>,
    #[serde(default = "pixels")]
    pub height: Spanned<usize>,
    #[serde(default)]
    pub sees: Vec<Seen>,
    /// Standard deviation of an ion's image in pixels.
    #[serde(default = "spread")]
    pub spread: Positive,
    /// Counts per scattered photon, over all pixels.
    #[serde(default = "all")]
    pub efficiency: Fraction,
    /// Dark counts per pixel and frame.
    #[serde(default)]
    pub dark: Rate,
    pub exposure_s: Positive,
    /// A pin whose rising edge starts an exposure…
    pub trigger: Option<Spanned<String>>,
    /// …or the frame rate of a free-running camera; one on CoaXPress without either is triggered over its link.
    pub hz: Option<Spanned<Positive>>,
    /// Bits of a pixel on CoaXPress: 8, 10, 12, 14 or 16; default 8.
    pub pixel_bits: Option<Spanned<u32>>,
    /// Bits per second on CoaXPress: the highest rate, and that at which the camera begins.
    pub line_hz: Option<Spanned<Positive>>,
    pub discovery_hz: Option<Spanned<Positive>>,
}

/// An ion and the position of its image: column and row, in pixels from the corner.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    pub ion: Spanned<String>,
    /// Index of the ion in a crystal.
    #[serde(default = "first")]
    pub number: Spanned<usize>,
    pub x: Finite,
    pub y: Finite,
}

fn first() -> Spanned<usize> {
    Spanned::new(0..0, 0)
}

fn pixels() -> Spanned<usize> {
    Spanned::new(0..0, 16)
}

fn spread() -> Positive {
    Positive(1.0)
}

fn all() -> Fraction {
    Fraction(1.0)
}
