//! Assembly of cards: each card that the device has pins for gets its model, with settings from the
//! bench file or else the device database.

use serde_json::Value;
use toml::Spanned;

use super::{listed, Bench, Done};
use crate::cards::Found;
use crate::engine::End;
use crate::file::{File, Parts};
use crate::section::{CardModel, Section, Settings, Source};

/// An input of a card from another part, which is connected once all parts exist.
pub(super) struct Pending {
    /// The card's name, and the number of its model.
    name: String,
    model: usize,
    source: Source,
}

/// Name and settings of a part that exists even if the file does not name it; the name has a place
/// if the file does.
pub(super) fn named<'a, T>(parts: &'a Parts<T>, name: &str) -> (Spanned<String>, Option<&'a T>) {
    match parts.get_key_value(name) {
        Some((place, said)) => (place.clone(), Some(said)),
        None => (Spanned::new(0..0, name.into()), None),
    }
}

/// Defines the assembly of the cards of a device, by their kinds.
macro_rules! assembly {
    ($($kind:ident $name:literal,)*) => {
        impl Bench<'_> {
            /// Adds all cards of the device.
            pub(super) fn cards(&mut self, file: &File, found: &[Found]) -> Done {
                $(self.known(stringify!($kind), &file.$kind, found)?;)*
                for card in found {
                    match card.kind.as_str() {
                        $(stringify!($kind) => self.section($name, &file.$kind, card, found)?,)*
                        // Other parts are wired to it: cameras to a grabber.
                        _ => {}
                    }
                }
                Ok(())
            }
        }
    };
}

kairos_contracts::with_card_models!(assembly);

impl Bench<'_> {
    /// Rejects cards in the file that the device does not have.
    fn known<T>(&self, kind: &str, cards: &Parts<T>, found: &[Found]) -> Done {
        let of_kind: Vec<&str> = found
            .iter()
            .filter(|card| card.kind == kind)
            .map(|card| card.name.as_str())
            .collect();
        match cards.keys().find(|name| !of_kind.contains(&name.get_ref().as_str())) {
            None => Ok(()),
            Some(name) => {
                let text = format!("the device has no card {}; it has {}", name.get_ref(), listed(&of_kind));
                self.fail(name.span(), &text)
            }
        }
    }

    /// Adds a card with the model that its section makes.
    fn section<T: Section>(&mut self, kind: &'static str, parts: &Parts<T>, card: &Found, cards: &[Found]) -> Done {
        let in_database = match &card.settings {
            Value::Null => T::default(),
            settings => serde_json::from_value(settings.clone())
                .map_err(|error| format!("{}: {error}", card.device.as_deref().unwrap_or(&card.name)))?,
        };
        let (name, in_file) = named(parts, &card.name);
        let settings = Settings {
            in_file,
            in_database,
            card,
            cards,
        };
        let model = T::model(&settings).or_else(|(span, text)| self.fail(span, &text))?;
        self.card(kind, &name, card, model)
    }

    /// Adds a card and the wires to its pins.
    fn card(&mut self, kind: &'static str, name: &Spanned<String>, card: &Found, made: CardModel) -> Done {
        let signals = made.outputs.total();
        let model = self.add(name, kind, signals + made.answers.len(), made.outputs, made.model)?;
        let name = name.get_ref();
        self.note_driver(card.device.as_deref());
        let lines = made.lines.as_ref().unwrap_or(&card.lines);
        for (input, line) in made.inputs.iter().enumerate() {
            if let Some(pad) = lines.get(*line) {
                self.engine.wire_pin(*pad, model, input);
            }
        }
        for (output, line) in made.answers.iter().enumerate() {
            if let Some(pad) = lines.get(*line).filter(|pad| !self.replaced.contains(pad)) {
                self.driven.insert(*pad, name.clone());
                self.engine.wire(model, signals + output, End::Pin(*pad));
            }
        }
        if let Some(first) = card.words {
            for word in 0..made.words {
                let input = made.inputs.len() + word;
                self.engine.wire_pin(first + word as u16, model, input);
            }
        }
        self.pending.extend(made.sources.into_iter().map(|source| Pending {
            name: name.clone(),
            model,
            source,
        }));
        // A servo has separate lines to its Urukuls and to its Sampler.
        let clocks = made
            .inputs
            .iter()
            .filter(|line| line.ends_with("clk") || **line == "sck");
        let pads = clocks.filter_map(|line| lines.get(*line));
        let mut buses: Vec<String> = pads.filter_map(|pad| self.bus_of(*pad)).collect();
        if buses.is_empty() {
            // A parallel bus has no clock: its lines are named after the card.
            buses.push(card.name.clone());
        }
        for bus in buses {
            self.draw(&bus, name, "");
        }
        Ok(())
    }

    /// Connects the inputs of cards from other parts, once all parts exist.
    pub(super) fn connect_cards(&mut self) -> Done {
        for Pending { name, model, source } in std::mem::take(&mut self.pending) {
            let (from, output, of) = self.output(&source.from, source.kind)?;
            if from == model {
                let text = format!("{name} cannot be its own source");
                return self.fail(source.from.span(), &text);
            }
            let label = source.label.unwrap_or_else(|| self.called(&of, output));
            self.join((from, output), model, source.input, [&of, &name], &label);
        }
        Ok(())
    }

    /// The bus that a pad belongs to, from the pad's name.
    fn bus_of(&self, pad: u16) -> Option<String> {
        let known = self.pins.name(self.pins.at(pad)?);
        known.rsplit_once('_').map(|(bus, _)| bus.to_string())
    }
}

#[cfg(test)]
#[path = "cards_tests.rs"]
mod tests;
