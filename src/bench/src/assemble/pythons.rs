//! Models of the user's own, and what they are wired to.

use std::path::Path;

use rand::Rng;
use toml::Spanned;

use super::{listed, Bench, Done};
use crate::file::{self, File};
use crate::python::{Options, Python};

/// What an output is that a Sampler may measure.
const VOLTS: &str = "volts";

/// Where a signal comes from.
enum From {
    /// A pin.
    Pin(u16),
    /// An output of a part, and the part's name.
    Part(usize, usize, String),
}

impl Bench<'_> {
    pub(super) fn pythons(&mut self, file: &File) -> Done {
        file.python.iter().try_for_each(|(name, said)| self.python(name, said))
    }

    fn python(&mut self, name: &Spanned<String>, said: &file::Python) -> Done {
        let sources = said.inputs.values().map(|from| self.source(from));
        let sources = sources.collect::<Result<Vec<From>, String>>()?;
        // Voltages first, as other parts have them.
        let (volts, pins): (Vec<_>, Vec<_>) = said.outputs.iter().partition(|(_, to)| to.get_ref() == VOLTS);
        let outputs = volts.iter().chain(&pins);
        let beside = Path::new(self.source.name).parent().unwrap_or(Path::new(""));
        let options = Options {
            file: &beside.join(said.file.get_ref()),
            class: said.class.as_deref(),
            inputs: said.inputs.keys().cloned().collect(),
            outputs: outputs
                .map(|(output, to)| (output.to_string(), to.get_ref() == VOLTS))
                .collect(),
            arguments: said.arguments.clone(),
            seed: self.random(name.get_ref()).next_u64() >> 1,
            timeout_s: said.timeout_s.0,
        };
        let made = Python::new(&options).or_else(|error| self.fail(said.file.span(), &error))?;
        let model = self.add(name, "Python", said.outputs.len(), Box::new(made))?;
        if let Some(known) = self.parts.get_mut(name.get_ref()) {
            known.volts = volts.len();
        }
        for (input, (from, (label, at))) in sources.into_iter().zip(&said.inputs).enumerate() {
            match from {
                From::Pin(pad) => {
                    self.engine.wire_pin(pad, model, input);
                    self.draw(at.get_ref(), name.get_ref(), label);
                }
                From::Part(part, output, of) => self.join((part, output), model, input, [&of, name.get_ref()], label),
            }
        }
        for (output, (_, pin)) in pins.into_iter().enumerate() {
            self.drive(pin, (model, volts.len() + output), name.get_ref())?;
        }
        Ok(())
    }

    /// What a name of an input is of.
    fn source(&self, name: &Spanned<String>) -> Result<From, String> {
        let text = name.get_ref();
        if self.pads.contains_key(text.as_str()) {
            return self.source_pin(name).map(From::Pin);
        }
        let card = text.split_once(".ch").map_or(text.as_str(), |(card, _)| card);
        match self.parts.get(card) {
            Some(known) if known.tones > 0 => self.tone(name).map(|(part, output, of)| From::Part(part, output, of)),
            Some(known) if known.volts > 0 => self.volt(name).map(|(part, output, of)| From::Part(part, output, of)),
            Some(known) => Ok(From::Part(known.model, 0, card.into())),
            None => {
                let parts: Vec<&str> = self.parts.keys().map(String::as_str).collect();
                let text = format!("there is no pin and no part {text}; parts are {}", listed(&parts));
                self.fail(name.span(), &text)
            }
        }
    }
}
