//! Assembly of user-defined models and their wires.

use std::path::Path;

use rand::Rng;
use toml::Spanned;

use super::outputs::{Kind, Output, OutputKinds};
use super::{listed, Bench, Done};
use crate::file::{self, File};
use crate::pad::Missing;
use crate::python::{Options, Python};

/// The source of a signal.
enum From {
    /// A pin.
    Pin(u16),
    /// An output of a part.
    Part(Output),
}

impl Bench<'_> {
    /// Adds the models and the pins that they drive.
    pub(super) fn pythons(&mut self, file: &File) -> Done {
        file.python.iter().try_for_each(|(name, said)| self.python(name, said))
    }

    fn python(&mut self, name: &Spanned<String>, said: &file::Python) -> Done {
        // Outputs in the usual order: by kind, then pins.
        let kind_of = |to: &Spanned<String>| Kind::named(to.get_ref());
        let mut outputs: Vec<_> = said
            .outputs
            .iter()
            .map(|(output, to)| (output, to, kind_of(to)))
            .collect();
        outputs.sort_by_key(|(_, _, kind)| kind.map_or(Kind::ALL.len(), |kind| kind as usize));
        let beside = Path::new(self.source.name).parent().unwrap_or(Path::new(""));
        let path = beside.join(said.file.get_ref());
        if !path.is_file() {
            return self.fail(said.file.span(), &format!("there is no file {}", path.display()));
        }
        let options = Options {
            file: &path,
            class: said.class.as_deref(),
            inputs: said.inputs.keys().cloned().collect(),
            outputs: outputs
                .iter()
                .map(|(output, _, kind)| (output.to_string(), *kind))
                .collect(),
            arguments: said.arguments.clone(),
            seed: self.random(name.get_ref()).next_u64() >> 1,
            timeout_s: said.timeout_s.0,
        };
        let made = Python::new(&options).or_else(|error| self.fail(said.file.span(), &error))?;
        let mut output_kinds = OutputKinds::default();
        for (output, _, kind) in &outputs {
            kind.iter().for_each(|kind| output_kinds.add(output, *kind));
        }
        let model = self.add(name, "Python", outputs.len(), output_kinds, Box::new(made))?;
        for (output, (_, pin, kind)) in outputs.into_iter().enumerate() {
            if kind.is_none() {
                self.drive(pin, (model, output), name.get_ref())?;
            }
        }
        Ok(())
    }

    /// Connects the inputs of the models, once all parts exist.
    pub(super) fn connect_model_inputs(&mut self, file: &File) -> Done {
        for (name, said) in &file.python {
            let model = self.parts.get(name.get_ref()).map_or(0, |known| known.model);
            for (input, (label, at)) in said.inputs.iter().enumerate() {
                match self.source(at)? {
                    From::Pin(pad) => {
                        self.engine.wire_pin(pad, model, input);
                        self.draw(&self.shown(pad), name.get_ref(), label);
                    }
                    From::Part((part, output, of)) => {
                        self.join((part, output), model, input, [&of, name.get_ref()], label);
                    }
                }
            }
        }
        Ok(())
    }

    /// Resolves the name of an input's source.
    fn source(&self, name: &Spanned<String>) -> Result<From, String> {
        let text = name.get_ref();
        if !self.parts.contains_key(text) && self.pins.find(text) != Err(Missing::Unknown) {
            return self.source_pin(name).map(From::Pin);
        }
        let (part, output) = self.split(text);
        match self.parts.get(part).map(|known| known.output_kinds.kind_of(output)) {
            Some(Some(kind)) => self.output(name, kind).map(From::Part),
            Some(None) => self.fail(name.span(), &format!("{part} gives nothing that a model can receive")),
            None => {
                let parts: Vec<&str> = self.parts.keys().map(String::as_str).collect();
                let text = format!("there is no pin and no part {text}; parts are {}", listed(&parts));
                self.fail(name.span(), &text)
            }
        }
    }
}
