//! Bench file entries for cards with ADCs, and their inputs; an unspecified input is at 0 V.

use serde::Deserialize;
use toml::Spanned;

use super::SamplerRevision;
use crate::numbers::{Finite, Positive};

/// The source of a voltage input.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "an input has volts, or a channel that gives them, such as \"zotino0.ch3\""
)]
pub enum Wire {
    /// A constant voltage.
    Volts(Finite),
    /// A channel that outputs a voltage: `CARD.chN`.
    From(String),
}

/// Defines a card with eight inputs and one further option.
macro_rules! card {
    ($(#[$doc:meta])* $name:ident { $(#[$said:meta])* $field:ident: $type:ty }) => {
        $(#[$doc])*
        #[derive(Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $(#[$said])*
            pub $field: $type,
            pub ch0: Option<Spanned<Wire>>,
            pub ch1: Option<Spanned<Wire>>,
            pub ch2: Option<Spanned<Wire>>,
            pub ch3: Option<Spanned<Wire>>,
            pub ch4: Option<Spanned<Wire>>,
            pub ch5: Option<Spanned<Wire>>,
            pub ch6: Option<Spanned<Wire>>,
            pub ch7: Option<Spanned<Wire>>,
        }

        impl $name {
            /// The source of each input.
            pub fn inputs(&self) -> Inputs<'_> {
                let Self { ch0, ch1, ch2, ch3, ch4, ch5, ch6, ch7, .. } = self;
                [ch0, ch1, ch2, ch3, ch4, ch5, ch6, ch7].map(Option::as_ref)
            }
        }
    };
}

/// The sources of the inputs of such a card.
pub type Inputs<'a> = [Option<&'a Spanned<Wire>>; 8];

card! {
    /// A Sampler card.
    Sampler {
        /// Hardware revision: `v2.1`, whose range is 10 V, or a later one with 10.24 V.
        hw_rev: Option<SamplerRevision>
    }
}

card! {
    /// A Novogorny card.
    Novogorny {
        /// Reference of its ADC in volts; default 5.
        vref: Option<Positive>
    }
}
