//! Sources of tones other than cards: converters, one for each output of a pulse core, and RF
//! sources.

use std::collections::BTreeMap;

use kairos_contracts::pulse::TONES;

use super::cards::named;
use super::outputs::{Kind, OutputKinds};
use super::{listed, Bench, Done};
use crate::chips::converter::{Converter, Options};
use crate::file::File;
use crate::pad::{board_name, Output};
use crate::physics::source::RfSource;

impl Bench<'_> {
    /// Adds a converter for each output of the device, with its settings in the file.
    pub(super) fn converters(&mut self, file: &File, outputs: &[Output]) -> Done {
        let known = by_name(outputs);
        if let Some(name) = file.converter.keys().find(|name| !known.contains_key(name.get_ref())) {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            let text = format!(
                "no output of a pulse core is called {}; available: {}",
                name.get_ref(),
                listed(&names)
            );
            return self.fail(name.span(), &text);
        }
        for (name, output) in known {
            let (named_at, said) = named(&file.converter, &name);
            let options = Options {
                full_scale_dbm: said.map_or(0.0, |said| said.full_scale_dbm.0 .0),
                sample_hz: output.sample_hz,
            };
            let mut output_kinds = OutputKinds::default();
            for tone in 0..TONES {
                output_kinds.add(&format!("tone{tone}"), Kind::Tone);
            }
            self.add(
                &named_at,
                "converter",
                TONES,
                output_kinds,
                Box::new(Converter::new(options)),
            )?;
            self.note_driver(self.pins.device_at(output.channel));
            self.draw(&output.core, &name, &format!("output {}", output.number));
        }
        Ok(())
    }

    /// Wires converters to their pulse cores, but only those that feed another part or appear in
    /// the file: following a pulse core costs time.
    pub(super) fn follow(&mut self, file: &File, outputs: &[Output]) {
        for (name, output) in by_name(outputs) {
            let model = self.parts[name.as_str()].model;
            if file.converter.contains_key(name.as_str()) || self.engine.feeds(model) {
                for tone in 0..TONES {
                    self.engine.wire_pin(output.tones + tone as u16, model, tone);
                }
            }
        }
    }

    /// Adds the RF sources, each of a single tone.
    pub(super) fn sources(&mut self, file: &File) -> Done {
        for (name, said) in &file.source {
            let made = RfSource::new(said.hz.0, said.dbm.0 .0, said.switch.is_none());
            let switch = said.switch.as_ref().map(|pin| self.source_pin(pin)).transpose()?;
            let model = self.add(name, "RF source", 1, OutputKinds::only(Kind::Tone, 1), Box::new(made))?;
            if let Some(pad) = switch {
                self.engine.wire_pin(pad, model, 0);
                self.draw(&self.shown(pad), name.get_ref(), "switch");
            }
        }
        Ok(())
    }
}

/// Outputs by their names in a bench file: `pulse0_out1`, prefixed with the board's name if several
/// boards have a core of that name.
fn by_name(outputs: &[Output]) -> BTreeMap<String, &Output> {
    let short = |output: &Output| format!("{}_out{}", output.core, output.number);
    let name = |output: &Output| {
        let several = outputs.iter().filter(|other| short(other) == short(output)).count() > 1;
        let board = board_name(output.board);
        if several {
            format!("{board}_{}", short(output))
        } else {
            short(output)
        }
    };
    outputs.iter().map(|output| (name(output), output)).collect()
}

#[cfg(test)]
#[path = "converters_tests.rs"]
mod tests;
