//! Assembly of the inputs of recorded runs.

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::outputs::OutputKinds;
use super::{Bench, Done};
use crate::engine::End;
use crate::file::{read_at_most, File};
use crate::physics::recorded::{Due, Recorded};

/// Maximum size in bytes of a file with the inputs of a run.
const RECORDING_MAX: u64 = 1 << 30;

/// A pin: the channel of the device, and of a bus the last part of the line's name.
type Pin = (u32, Option<String>);

/// A file with the inputs of a run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    /// Outputs of the device that the inputs follow.
    anchors: Vec<Pin>,
    inputs: Vec<Pin>,
    changes: Vec<Due>,
}

/// A recording, with the pads of its anchors and inputs.
pub(super) struct Recording {
    name: Spanned<String>,
    anchors: Vec<u16>,
    inputs: Vec<u16>,
    changes: Vec<Due>,
}

impl Bench<'_> {
    /// Reads all recordings, and notes the pins that they drive.
    pub(super) fn recordings(&mut self, file: &File) -> Result<Vec<Recording>, String> {
        let beside = Path::new(self.source.name).parent().unwrap_or(Path::new(""));
        let mut found = vec![];
        for (name, said) in &file.recorded {
            let path = beside.join(said.file.get_ref());
            let text = read_at_most(&path, RECORDING_MAX)
                .or_else(|error| self.fail(said.file.span(), &format!("{} cannot be read: {error}", path.display())))?;
            let content: Content = serde_json::from_slice(&text)
                .or_else(|error| self.fail(said.file.span(), &format!("{}: {error}", path.display())))?;
            let pads = |pins: &[Pin]| -> Result<Vec<u16>, String> {
                let found = pins.iter().map(|pin| self.placed(pin).ok_or(pin));
                let found: Result<_, _> = found.collect();
                found.or_else(|(channel, _)| {
                    let text = format!("the device has no such pin of channel {channel}");
                    self.fail(said.file.span(), &text)
                })
            };
            let (anchors, inputs) = (pads(&content.anchors)?, pads(&content.inputs)?);
            if content
                .changes
                .iter()
                .any(|due| due.anchor >= anchors.len() || due.input >= inputs.len())
            {
                return self.fail(said.file.span(), "a change names a pin that is not listed");
            }
            found.push(Recording {
                name: name.clone(),
                anchors,
                inputs,
                changes: content.changes,
            });
        }
        self.replaced = found.iter().flat_map(|one| one.inputs.iter().copied()).collect();
        Ok(found)
    }

    fn placed(&self, (channel, line): &Pin) -> Option<u16> {
        let mut pads = self.pins.all().filter(|pad| pad.channel == *channel);
        let found = match line {
            Some(line) => pads.find(|pad| pad.name.rsplit('_').next() == Some(line.as_str())),
            None => pads.next(),
        };
        found.map(|pad| pad.index)
    }

    /// Adds the recordings and their wires.
    pub(super) fn play(&mut self, recordings: Vec<Recording>) -> Done {
        for one in recordings {
            let made = Recorded::new(one.changes, one.anchors.len());
            let model = self.add(
                &one.name,
                "recorded",
                one.inputs.len(),
                OutputKinds::default(),
                Box::new(made),
            )?;
            for (input, pad) in one.anchors.into_iter().enumerate() {
                self.engine.wire_pin(pad, model, input);
            }
            for (output, pad) in one.inputs.into_iter().enumerate() {
                self.driven.insert(pad, one.name.get_ref().clone());
                self.engine.wire(model, output, End::Pin(pad));
            }
        }
        Ok(())
    }
}
