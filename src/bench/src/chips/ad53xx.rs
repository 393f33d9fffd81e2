//! A DAC AD5360 to AD5373 on a bus of its own, or one of several on it.

use serde::Deserialize;

use super::ad53xx_chip::{Kind, AD5370};
use super::serial_dac::{self, SerialDac};
use crate::assemble::outputs::OutputKinds;
use crate::cards::Found;
use crate::numbers::Positive;
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings};

/// A DAC of the family in a bench file. Missing values are those of the device database, or else
/// defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Section {
    /// Member of the family; default `ad5370`.
    chip: Option<Kind>,
    /// Reference in volts; default 5.
    vref: Option<Positive>,
    /// Number of the chip select line of the bus; default 0.
    select: Option<u32>,
}

impl BenchSection for Section {
    /// One line of the bus selects the chip, the others select other chips.
    fn model(settings: &Settings<Self>) -> Result<CardModel, Rejected> {
        let card = settings.card;
        let select = settings.get(|section| section.select).unwrap_or(0);
        let select = card.lines.get(&format!("cs{select}")).copied();
        let mut lines = card.lines.clone();
        lines.retain(|line, _| !line.starts_with("cs"));
        lines.extend(select.map(|pad| ("cs0".to_string(), pad)));
        let on_bus = |other: &&Found| other.lines.get("clk") == card.lines.get("clk");
        let options = serial_dac::Options {
            chip: settings.get(|section| section.chip).unwrap_or(AD5370),
            leds: false,
            shares: settings.cards.iter().filter(on_bus).count() > 1,
            vref: settings.get(|section| section.vref).map_or(5.0, |vref| vref.0),
            wired: ["ldac", "clr"].map(|line| settings.has(line)),
            selected: select.is_some(),
        };
        let outputs = OutputKinds::volts(options.chip.channels);
        let model = CardModel::new(SerialDac::new(options), &serial_dac::INPUTS, outputs);
        Ok(CardModel {
            lines: Some(lines),
            ..model.answering(&serial_dac::ANSWERS)
        })
    }
}
