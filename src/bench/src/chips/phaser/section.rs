//! What a bench file or a device database says of a Phaser.

use kairos_contracts::chips::phaser::gw_rev;
use serde::Deserialize;
use toml::Spanned;

use super::super::fastlink;
use super::servos::Servos;
use super::{Phaser, CHANNELS};
use crate::assemble::outputs::OutputKinds;
use crate::file::{Inputs, Wire};
use crate::numbers::Positive;
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings};

/// A Phaser in a bench file, or its settings in a device database.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Section {
    /// Number of its gateware.
    gw_rev: Option<u32>,
    /// Whether it has no upconverters.
    baseband: bool,
    /// Voltages at the inputs of its servos.
    adc0: Option<Spanned<Wire>>,
    adc1: Option<Spanned<Wire>>,
    /// Their voltage of full scale.
    adc_full_scale: Option<Positive>,
}

impl BenchSection for Section {
    fn model(settings: &Settings<Self>) -> Result<CardModel, Rejected> {
        let gateware = settings.get(|section| section.gw_rev).unwrap_or(gw_rev::GATEWARE_BASE);
        let baseband = settings.in_file.is_some_and(|section| section.baseband);
        let mut model = Phaser::new(gateware, baseband);
        let mut inputs = Inputs::default();
        if let Some(section) = settings.in_file {
            (inputs.0[0], inputs.0[1]) = (section.adc0.as_ref(), section.adc1.as_ref());
        }
        let full = settings
            .in_file
            .and_then(|section| section.adc_full_scale)
            .map_or(1.0, |volts| volts.0);
        let volts = inputs.volts();
        model.servos = Servos::new(std::array::from_fn::<_, CHANNELS, _>(|n| volts[n]), full);
        let output_kinds = OutputKinds::tones(CHANNELS * model.outputs);
        let card = CardModel::new(model, &fastlink::INPUTS, output_kinds).answering(&["miso"]);
        Ok(CardModel {
            sources: inputs.sources(fastlink::INPUTS.len()),
            ..card
        })
    }
}
