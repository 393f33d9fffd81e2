//! What the bench file and the device database say of a card, and the model made of it.
//!
//! Each kind of card with a model (`src/contracts/cards`) has a [`Section`] in `chips/KIND.rs`; the
//! file format and the assembly follow from it.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;

use crate::assemble::outputs::{Kind, OutputKinds};
use crate::cards::Found;
use crate::model::Model;

/// The section of the bench file for a card of a kind: `[KIND.NAME]`. A device database has
/// settings of the same format.
pub trait Section: Default + DeserializeOwned {
    /// Makes the model of a card.
    fn model(settings: &Settings<Self>) -> Result<CardModel, Rejected>;
}

/// An invalid setting: its place in the file, and the text for the user.
pub type Rejected = (Range<usize>, String);

/// A card and its settings.
pub struct Settings<'a, T> {
    /// Its section in the file, if any.
    pub in_file: Option<&'a T>,
    /// From the device database.
    pub in_database: T,
    pub card: &'a Found,
    /// All cards of the device.
    pub cards: &'a [Found],
}

impl<T> Settings<'_, T> {
    /// A setting of the file, or else of the device database.
    pub fn get<V>(&self, setting: impl Fn(&T) -> Option<V>) -> Option<V> {
        self.in_file.and_then(&setting).or_else(|| setting(&self.in_database))
    }

    /// Whether the card has a line of this name.
    pub fn has(&self, line: &str) -> bool {
        self.card.lines.contains_key(line)
    }
}

/// The model of a card, with its inputs and outputs.
pub struct CardModel {
    pub model: Box<dyn Model>,
    /// Names of the lines that it receives, by input.
    pub inputs: &'static [&'static str],
    /// Pads by the names of lines, if not those of the card.
    pub lines: Option<BTreeMap<String, u16>>,
    /// Number of words of the outputs of a Shuttler or Songbird, which are the inputs after the lines.
    pub words: usize,
    /// Inputs from other parts.
    pub sources: Vec<Source>,
    /// Its outputs to other parts.
    pub outputs: OutputKinds,
    /// Names of the lines that it drives, which are the outputs after `outputs`.
    pub answers: &'static [&'static str],
}

impl CardModel {
    /// A model with these lines and outputs.
    pub fn new(model: impl Model + 'static, inputs: &'static [&'static str], outputs: OutputKinds) -> Self {
        Self {
            model: Box::new(model),
            inputs,
            lines: None,
            words: 0,
            sources: Vec::new(),
            outputs,
            answers: &[],
        }
    }

    /// Sets the lines that it drives.
    pub fn answering(self, answers: &'static [&'static str]) -> Self {
        Self { answers, ..self }
    }
}

/// An output of another part at an input.
pub struct Source {
    /// Number of the input.
    pub input: usize,
    /// Name of the output in the file.
    pub from: Spanned<String>,
    pub kind: Kind,
    /// Text at the connection in diagrams; by default the name of the output.
    pub label: Option<String>,
}
