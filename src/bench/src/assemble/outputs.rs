//! The outputs of parts (tones, voltages, light, photons) and their names in a bench file.

use std::collections::BTreeMap;

use toml::Spanned;

use super::{listed, Bench};

/// The kind of an output that other parts can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A radio frequency.
    Tone,
    /// A voltage.
    Volts,
    /// A laser beam.
    Light,
    /// Scattered photons.
    Photons,
}

impl Kind {
    /// All kinds, in the order of a part's outputs.
    pub const ALL: [Self; 4] = [Self::Tone, Self::Volts, Self::Light, Self::Photons];

    /// Looks up the bench file's name of a kind.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The bench file's name of the kind.
    pub fn name(self) -> &'static str {
        ["tone", "volts", "light", "photons"][self as usize]
    }

    fn said(self) -> &'static str {
        ["a tone", "a voltage", "light", "photons"][self as usize]
    }
}

/// The number of outputs of each kind of a part, and the names of named outputs. Other outputs
/// follow these.
#[derive(Debug, Default)]
pub struct OutputKinds {
    counts: [usize; 4],
    names: BTreeMap<String, (Kind, usize)>,
}

impl OutputKinds {
    /// Creates outputs of tones.
    pub fn tones(count: usize) -> Self {
        Self::only(Kind::Tone, count)
    }

    /// Creates outputs of voltages.
    pub fn volts(count: usize) -> Self {
        Self::only(Kind::Volts, count)
    }

    /// Creates outputs of a single kind.
    pub fn only(kind: Kind, count: usize) -> Self {
        let mut this = Self::default();
        this.counts[kind as usize] = count;
        this
    }

    /// Adds a named output.
    pub fn add(&mut self, name: &str, kind: Kind) {
        let count = &mut self.counts[kind as usize];
        self.names.insert(name.into(), (kind, *count));
        *count += 1;
    }

    /// The number of outputs of a kind.
    pub fn count(&self, kind: Kind) -> usize {
        self.counts[kind as usize]
    }

    /// The number of the first output of a kind.
    pub fn first(&self, kind: Kind) -> usize {
        self.counts[..kind as usize].iter().sum()
    }

    /// The number of outputs of all kinds.
    pub fn total(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The numbers of the named outputs.
    pub fn names(&self) -> BTreeMap<&str, usize> {
        let names = self.names.iter();
        names
            .map(|(name, (kind, index))| (name.as_str(), self.first(*kind) + index))
            .collect()
    }

    /// The bench file's name of an output.
    pub fn name_of(&self, output: usize) -> String {
        let names = self.names();
        let name = names.iter().find(|(_, number)| **number == output);
        name.map_or_else(|| format!("ch{output}"), |(name, _)| (*name).into())
    }

    /// The kind of the output with this name, else of the first output.
    pub fn kind_of(&self, name: Option<&str>) -> Option<Kind> {
        let named = name.and_then(|name| self.names.get(name)).map(|(kind, _)| *kind);
        named.or_else(|| Kind::ALL.into_iter().find(|kind| self.count(*kind) > 0))
    }

    /// The index of an output among those of its kind, from its name, from `chN`, or without a name
    /// if there is only one.
    fn index(&self, kind: Kind, name: Option<&str>) -> Option<usize> {
        let count = self.count(kind);
        let index = match name {
            None => (count == 1).then_some(0),
            Some(name) => match self.names.get(name) {
                Some((named, index)) => (*named == kind).then_some(*index),
                None => name.strip_prefix("ch").and_then(|number| number.parse().ok()),
            },
        };
        index.filter(|index| *index < count)
    }
}

/// An output: the number of the model, the number of its output, and the part's name.
pub type Output = (usize, usize, String);

impl Bench<'_> {
    /// The name of a part's output in diagrams.
    pub(super) fn called(&self, part: &str, output: usize) -> String {
        self.parts
            .get(part)
            .map_or_else(String::new, |known| known.output_kinds.name_of(output))
    }

    /// Splits a bench file's name of an output, `PART`, `PART.chN` or `PART.NAME`, into part and
    /// output.
    pub(super) fn split<'t>(&self, text: &'t str) -> (&'t str, Option<&'t str>) {
        match text.rsplit_once('.') {
            Some((part, output)) if !self.parts.contains_key(text) => (part, Some(output)),
            _ => (text, None),
        }
    }

    /// Looks up an output of a kind.
    pub(super) fn output(&self, name: &Spanned<String>, kind: Kind) -> Result<Output, String> {
        let text = name.get_ref();
        let (part, output) = self.split(text);
        let Some(known) = self.parts.get(part).filter(|known| known.output_kinds.count(kind) > 0) else {
            let parts = self
                .parts
                .iter()
                .filter(|(_, known)| known.output_kinds.count(kind) > 0);
            let parts: Vec<&str> = parts.map(|(name, _)| name.as_str()).collect();
            let (said, parts) = (kind.said(), listed(&parts));
            let text = match self.parts.get(part) {
                Some(known) => format!(
                    "{part} is not a part that gives {said}: {}; available: {parts}",
                    known.kind
                ),
                None => {
                    let part = if part.is_empty() { "''" } else { part };
                    format!("there is no part {part} that gives {said}; available: {parts}")
                }
            };
            return self.fail(name.span(), &text);
        };
        match known.output_kinds.index(kind, output) {
            Some(index) => Ok((known.model, known.output_kinds.first(kind) + index, part.into())),
            None => {
                let first = known.output_kinds.first(kind);
                let last = first + known.output_kinds.count(kind) - 1;
                let [first, last] = [first, last].map(|output| self.called(part, output));
                self.fail(
                    name.span(),
                    &format!("{text} is not a channel: use {part}.{first} to {part}.{last}"),
                )
            }
        }
    }
}
