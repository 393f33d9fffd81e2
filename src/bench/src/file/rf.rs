//! Where tones come from that no card makes: chips alone on a bus, converters, sources.

use serde::Deserialize;
use toml::Spanned;

use super::Power;
use crate::numbers::{Natural, Positive};

/// A converter at an output of a pulse core.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Converter {
    /// Power of a sine of full scale.
    pub full_scale_dbm: Power,
}

/// A DDS AD9834. What is not said here says the device database, or else `Default`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ad9834 {
    /// Hz of its clock, 75 MHz if nothing is said; 0: none.
    pub clock_hz: Option<Natural>,
    /// Power of its sine.
    pub full_scale_dbm: Power,
}

/// An attenuator HMC542B.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hmc542b {
    /// What is at its input: `CARD.chN`, or a part that gives a tone.
    pub tone: Option<Spanned<String>>,
}

/// A source of one tone, such as a synthesiser that a laboratory sets by hand.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RfSource {
    pub hz: Positive,
    #[serde(default)]
    pub dbm: Power,
    /// A pin that the device drives: it is on while that is high; for ever if nothing is said.
    pub switch: Option<Spanned<String>>,
}
