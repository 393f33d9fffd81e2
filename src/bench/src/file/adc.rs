//! Cards with ADCs, and what is at their inputs: nothing, 0 V, if nothing is said.

use serde::Deserialize;
use toml::Spanned;

use super::SamplerRevision;
use crate::numbers::{Finite, Positive};

/// What is at an input for voltages.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "an input has volts, or a channel that gives them, such as \"zotino0.ch3\""
)]
pub enum Wire {
    /// So many volts, for ever.
    Volts(Finite),
    /// What gives a voltage: `CARD.chN`.
    From(String),
}

/// A card with eight inputs, and what else can be said of it.
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
            /// What is at each input.
            pub fn inputs(&self) -> Inputs<'_> {
                let Self { ch0, ch1, ch2, ch3, ch4, ch5, ch6, ch7, .. } = self;
                [ch0, ch1, ch2, ch3, ch4, ch5, ch6, ch7].map(Option::as_ref)
            }
        }
    };
}

/// Of such a card.
pub type Inputs<'a> = [Option<&'a Spanned<Wire>>; 8];

card! {
    /// A card Sampler.
    Sampler {
        /// Hardware revision: `v2.1`, whose range is 10 V, or a later one with 10.24 V.
        hw_rev: Option<SamplerRevision>
    }
}

card! {
    /// A card Novogorny.
    Novogorny {
        /// Reference of its ADC in volts: 5 if nothing is said.
        vref: Option<Positive>
    }
}
