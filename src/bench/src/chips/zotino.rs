//! The Zotino card: an AD5372 with LEDs.

use serde::Deserialize;

use super::ad53xx_chip::AD5372;
use super::serial_dac::{self, SerialDac};
use crate::assemble::outputs::OutputKinds;
use crate::numbers::Positive;
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings};

/// A Zotino in a bench file. Missing values are those of the device database, or else defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Section {
    /// Reference in volts; default 5.
    vref: Option<Positive>,
}

impl BenchSection for Section {
    fn model(settings: &Settings<Self>) -> Result<CardModel, Rejected> {
        let options = serial_dac::Options {
            chip: AD5372,
            leds: true,
            shares: false,
            vref: settings.get(|section| section.vref).map_or(5.0, |vref| vref.0),
            wired: ["ldac", "clr"].map(|line| settings.has(line)),
            selected: true,
        };
        let outputs = OutputKinds::volts(options.chip.channels);
        Ok(CardModel::new(SerialDac::new(options), &serial_dac::INPUTS, outputs).answering(&serial_dac::ANSWERS))
    }
}
