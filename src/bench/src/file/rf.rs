//! Bench file entries for sources of tones other than cards: chips alone on a bus, converters,
//! sources.

use serde::Deserialize;
use toml::Spanned;

use super::Power;
use crate::numbers::{Natural, Positive};

/// A converter at an output of a pulse core.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Converter {
    /// Power of a full-scale sine.
    pub full_scale_dbm: Power,
}

/// An AD9834 DDS. Missing values are those of the device database, or else defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ad9834 {
    /// Hz of its clock, default 75 MHz; 0: none.
    pub clock_hz: Option<Natural>,
    /// Power of its sine.
    pub full_scale_dbm: Power,
}

/// An HMC542B attenuator.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hmc542b {
    /// Source of its input: `CARD.chN`, or a part that outputs a tone.
    pub tone: Option<Spanned<String>>,
}

/// A source of a single tone, such as a synthesiser set by hand.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RfSource {
    pub hz: Positive,
    #[serde(default)]
    pub dbm: Power,
    /// A pin that the device drives and that enables the tone while high; default: always on.
    pub switch: Option<Spanned<String>>,
}
