//! Bench file entries for sources of tones other than cards: converters, sources.

use serde::Deserialize;
use toml::Spanned;

use super::Power;
use crate::numbers::Positive;

/// A converter at an output of a pulse core.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Converter {
    /// Power of a full-scale sine.
    pub full_scale_dbm: Power,
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
