//! Where tones come from that no card makes.

use serde::Deserialize;
use toml::Spanned;

use super::Power;
use crate::numbers::Positive;

/// A converter at an output of a pulse core.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Converter {
    /// Power of a sine of full scale.
    pub full_scale_dbm: Power,
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
