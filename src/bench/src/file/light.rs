//! What a bench file says of ions with motion, of what measures light, and of the mains.

use serde::Deserialize;
use toml::Spanned;

use super::{Rate, Repump};
use crate::numbers::{Finite, Fraction, Natural, Positive};

/// One ion or two with four levels, and a mode of their motion.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crystal {
    /// 1 or 2.
    #[serde(default = "one")]
    pub ions: Spanned<usize>,
    pub mode: Spanned<Mode>,
    /// Light that turns qubits.
    #[serde(default)]
    pub drive: Vec<Drive>,
    /// Light that is scattered from both states of the ground level.
    pub cooling: Option<Beam>,
    /// Light that is scattered from one of them.
    pub pumping: Option<Beam>,
    /// Light that empties the upper level.
    pub repump: Option<Repump>,
    /// Time in which coherence is lost; for ever if nothing is said.
    pub coherence_s: Option<Spanned<Positive>>,
    /// Of the upper level; for ever if nothing is said.
    pub lifetime_s: Option<Positive>,
    /// Of the short-lived level: that of calcium at 397 nm if nothing is said.
    #[serde(default = "linewidth")]
    pub linewidth_hz: Spanned<Positive>,
    /// Part of its decays that end in the lower qubit state; the rest but `to_upper` ends in the
    /// ground level's other state.
    #[serde(default = "half")]
    pub to_lower: Spanned<Fraction>,
    /// Part that ends in the upper level.
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
    /// Of the cooling light; 0: it neither cools nor heats.
    #[serde(default)]
    pub eta_cooling: Rate,
    /// Quanta per second.
    #[serde(default)]
    pub heating_hz: Rate,
    /// Mean quanta at power-up.
    #[serde(default)]
    pub quanta: Rate,
    /// States that are kept.
    #[serde(default = "states")]
    pub states: Spanned<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drive {
    /// A modulator.
    pub light: Spanned<String>,
    /// At the modulator's full power, of an ion that rests.
    pub rabi_hz: Positive,
    /// Frequency of the modulator's tone at which the light is resonant.
    pub resonance_hz: Positive,
    /// Ions in it, from 0 on; all if nothing is said.
    pub ions: Option<Spanned<Vec<usize>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beam {
    /// A modulator.
    pub light: Spanned<String>,
    /// Saturation parameter at its full power.
    #[serde(default = "saturated")]
    pub saturation: Positive,
    /// Frequency of the modulator's tone at which the light is resonant.
    pub resonance_hz: Positive,
}

/// What turns light into a voltage.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Photodiode {
    /// Modulators.
    pub sees: Vec<Spanned<String>>,
    /// At the full power of one of them.
    pub volts: Finite,
    /// In the dark.
    #[serde(default)]
    pub dark_volts: super::Volts,
    #[serde(default)]
    pub delay_ns: u32,
}

/// Pulses at the zero crossings of the mains.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Of the device.
    pub pin: Spanned<String>,
    #[serde(default = "mains")]
    pub hz: Spanned<Positive>,
    /// Standard deviation of an edge, from what the frequency says.
    #[serde(default = "steady")]
    pub jitter_ns: Spanned<Rate>,
    /// Length of a pulse.
    #[serde(default = "pulse")]
    pub pulse_ns: Spanned<u32>,
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

/// What looks at ions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// The card that it is plugged into.
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
    /// Counts for each scattered photon, over all pixels.
    #[serde(default = "all")]
    pub efficiency: Fraction,
    /// Counts of a pixel in a frame in the dark.
    #[serde(default)]
    pub dark: Rate,
    pub exposure_s: Positive,
    /// A pin whose rising edge begins an exposure…
    pub trigger: Option<Spanned<String>>,
    /// …or so many frames per second.
    pub hz: Option<Spanned<Positive>>,
}

/// An ion, and where its image is: column and row, in pixels from the corner.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    pub ion: Spanned<String>,
    /// Which one of a crystal.
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
