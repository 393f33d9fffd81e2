//! Assembly of cards that measure voltages: ADCs, and the wires to their inputs.

use toml::Spanned;

use super::cards::Made;
use super::gives::{Gives, Kind};
use super::{Bench, Done};
use crate::cards::Found;
use crate::chips::novogorny::{self, Novogorny};
use crate::chips::sampler::{self, Sampler};
use crate::file::{self, File, Inputs, SamplerRevision, Wire};

impl Bench<'_> {
    /// Adds all such cards; the sources of their inputs must already be assembled.
    pub(super) fn measured(&mut self, file: &File, found: &[Found]) -> Done {
        for card in found {
            match card.kind.as_str() {
                "sampler" => self.sampler(file, card)?,
                "novogorny" => self.novogorny(file, card)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn sampler(&mut self, file: &File, card: &Found) -> Done {
        let (name, said, own) = self.said(&file.sampler, card)?;
        let revision = said.and_then(|said| said.hw_rev).or(own.hw_rev);
        let span = sampler::SPANS[usize::from(revision != Some(SamplerRevision::First))];
        let inputs = said.map(file::Sampler::inputs).unwrap_or_default();
        let made = Made {
            kind: "Sampler",
            model: Box::new(Sampler::new(span, volts(inputs))),
            inputs: &sampler::INPUTS,
            gives: Gives::default(),
            answers: &sampler::ANSWERS,
        };
        self.measuring(&name, card, made, inputs)
    }

    fn novogorny(&mut self, file: &File, card: &Found) -> Done {
        let (name, said, own) = self.said(&file.novogorny, card)?;
        let vref = said.and_then(|said| said.vref).or(own.vref);
        let inputs = said.map(file::Novogorny::inputs).unwrap_or_default();
        let made = Made {
            kind: "Novogorny",
            model: Box::new(Novogorny::new(vref.map_or(5.0, |vref| vref.0), volts(inputs))),
            inputs: &novogorny::INPUTS,
            gives: Gives::default(),
            answers: &novogorny::ANSWERS,
        };
        self.measuring(&name, card, made, inputs)
    }

    /// Adds a card whose voltage inputs follow its lines, and the wires to them.
    fn measuring(&mut self, name: &Spanned<String>, card: &Found, made: Made, inputs: Inputs) -> Done {
        let first = made.inputs.len();
        let model = self.card(name, card, made)?;
        for (n, input) in inputs.into_iter().enumerate() {
            let Some((span, Wire::From(from))) = input.map(|wire| (wire.span(), wire.get_ref())) else {
                continue;
            };
            let (source, output, of) = self.output(&Spanned::new(span, from.clone()), Kind::Volts)?;
            let label = format!("{from} to ch{n}");
            self.join((source, output), model, first + n, [&of, name.get_ref()], &label);
        }
        Ok(())
    }
}

/// The voltages of constant inputs; others are at 0 V.
fn volts(inputs: Inputs) -> [f64; 8] {
    inputs.map(|input| match input.map(Spanned::get_ref) {
        Some(Wire::Volts(volts)) => volts.0,
        _ => 0.0,
    })
}
