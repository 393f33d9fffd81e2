//! Voltage inputs in a bench file; an unspecified one is at 0 V.

use serde::Deserialize;
use toml::Spanned;

use crate::assemble::outputs::Kind;
use crate::numbers::Finite;
use crate::section::Source;

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

/// The sources of the inputs of a card.
#[derive(Debug, Default)]
pub struct Inputs<'a>(pub [Option<&'a Spanned<Wire>>; 8]);

impl Inputs<'_> {
    /// The voltages of constant inputs; others are at 0 V.
    pub fn volts(&self) -> [f64; 8] {
        self.0.map(|input| match input.map(Spanned::get_ref) {
            Some(Wire::Volts(volts)) => volts.0,
            _ => 0.0,
        })
    }

    /// The inputs from other parts; `first` is the model's number of the first input.
    pub fn sources(&self, first: usize) -> Vec<Source> {
        let wires = self.0.iter().enumerate();
        wires
            .filter_map(|(n, input)| {
                let wire = (*input)?;
                let Wire::From(from) = wire.get_ref() else { return None };
                Some(Source {
                    input: first + n,
                    from: Spanned::new(wire.span(), from.clone()),
                    kind: Kind::Volts,
                    label: Some(format!("{from} to ch{n}")),
                })
            })
            .collect()
    }
}

/// Defines the section of a card with eight inputs and one further setting.
macro_rules! section_with_inputs {
    ($(#[$doc:meta])* $name:ident { $(#[$about:meta])* $field:ident: $type:ty }) => {
        $(#[$doc])*
        #[derive(Debug, Default, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $(#[$about])*
            $field: $type,
            ch0: Option<toml::Spanned<crate::file::Wire>>,
            ch1: Option<toml::Spanned<crate::file::Wire>>,
            ch2: Option<toml::Spanned<crate::file::Wire>>,
            ch3: Option<toml::Spanned<crate::file::Wire>>,
            ch4: Option<toml::Spanned<crate::file::Wire>>,
            ch5: Option<toml::Spanned<crate::file::Wire>>,
            ch6: Option<toml::Spanned<crate::file::Wire>>,
            ch7: Option<toml::Spanned<crate::file::Wire>>,
        }

        impl $name {
            fn inputs(&self) -> crate::file::Inputs<'_> {
                let Self { ch0, ch1, ch2, ch3, ch4, ch5, ch6, ch7, .. } = self;
                crate::file::Inputs([ch0, ch1, ch2, ch3, ch4, ch5, ch6, ch7].map(Option::as_ref))
            }
        }
    };
}
pub(crate) use section_with_inputs;
