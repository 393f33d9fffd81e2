//! The wires of a bench: from outputs of models and pins of the device to inputs and pins.

use std::collections::{BTreeMap, BTreeSet};

/// Simultaneous changes from several boards reach a model in the order of the boards, whichever was
/// run first: the bits from this one up in a change's sequence number hold its origin.
const ORIGIN: u32 = 48;
/// Origin of a change that a model sent.
const MODEL: usize = 0xff;

/// Destination of a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// An input of a model.
    Input {
        /// Number of the model.
        model: usize,
        /// Number of the input there.
        input: usize,
    },
    /// A pin of the device.
    Pin(u16),
}

impl End {
    /// Whether the end is an input of this model.
    pub(super) fn is_input_of(self, model: usize) -> bool {
        matches!(self, Self::Input { model: other, .. } if other == model)
    }
}

/// Where a change comes from: a board, or a model. It is the same for all with a single board.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Origin(usize);

impl Origin {
    /// The sequence number of a change that is the `count`-th one sent.
    pub(super) fn number(self, count: u64) -> u64 {
        (self.0 as u64) << ORIGIN | count
    }
}

/// All wires. Models are numbered in the order in which they were added; pads are numbered
/// consecutively over all boards.
#[derive(Default)]
pub(super) struct Wiring {
    /// By pad, the ends of the wires from it.
    pins: BTreeMap<u16, Vec<End>>,
    /// By model and output, the ends of the wires from it.
    outputs: Vec<Vec<Vec<End>>>,
    /// The number of each board's first pad, in order, if there are several boards.
    starts: Vec<u16>,
}

impl Wiring {
    /// The wiring of these boards, still without models.
    pub(super) fn of_boards(starts: Vec<u16>) -> Self {
        Self {
            starts,
            ..Self::default()
        }
    }

    /// Adds a model with `outputs` outputs.
    pub(super) fn add_model(&mut self, outputs: usize) {
        self.outputs.push(vec![Vec::new(); outputs]);
    }

    /// Connects an output of a model to an input or to a pin.
    pub(super) fn wire(&mut self, model: usize, output: usize, to: End) {
        self.outputs[model][output].push(to);
    }

    /// Connects a pin of the device to an input or to a pin.
    pub(super) fn wire_pin(&mut self, pad: u16, to: End) {
        self.pins.entry(pad).or_default().push(to);
    }

    /// The ends of the wires from an output of a model.
    pub(super) fn ends_of_output(&self, model: usize, output: usize) -> &[End] {
        &self.outputs[model][output]
    }

    /// The ends of the wires from a pin.
    pub(super) fn ends_of_pin(&self, pad: u16) -> &[End] {
        self.pins.get(&pad).map_or(&[], Vec::as_slice)
    }

    /// The ends of the wires from all outputs of a model.
    pub(super) fn ends_of_model(&self, model: usize) -> impl Iterator<Item = End> + '_ {
        self.outputs[model].iter().flatten().copied()
    }

    /// All wires from pins.
    pub(super) fn pins(&self) -> impl Iterator<Item = (u16, End)> + '_ {
        let pins = self.pins.iter();
        pins.flat_map(|(pad, ends)| ends.iter().map(|end| (*pad, *end)))
    }

    /// All wires from outputs: (model, output, end).
    pub(super) fn outputs(&self) -> impl Iterator<Item = (usize, usize, End)> + '_ {
        let models = self.outputs.iter().enumerate();
        models.flat_map(|(model, outputs)| {
            let outputs = outputs.iter().enumerate();
            outputs.flat_map(move |(output, ends)| ends.iter().map(move |end| (model, output, *end)))
        })
    }

    /// Number of outputs of a model.
    pub(super) fn count(&self, model: usize) -> usize {
        self.outputs[model].len()
    }

    /// The index of the board that a pad belongs to.
    pub(super) fn board_of(&self, pad: u16) -> usize {
        self.starts.partition_point(|start| *start <= pad).saturating_sub(1)
    }

    /// The origin of a change at a pin.
    pub(super) fn origin_of_pin(&self, pad: u16) -> Origin {
        self.origin(self.board_of(pad))
    }

    /// The origin of a change that a model sends.
    pub(super) fn origin_of_models(&self) -> Origin {
        self.origin(MODEL)
    }

    fn origin(&self, origin: usize) -> Origin {
        Origin(if self.starts.len() > 1 { origin } else { 0 })
    }

    /// The models that drive pins of the device, by pad.
    pub(super) fn drivers(&self) -> BTreeMap<u16, usize> {
        let driven = self.outputs().filter_map(|(model, _, end)| match end {
            End::Pin(pad) => Some((pad, model)),
            End::Input { .. } => None,
        });
        driven.collect()
    }

    /// The pins of the device through which a model is reached: those wired to it, in either
    /// direction, or, if there are none, those of the models upstream.
    pub(super) fn pads_of(&self, model: usize) -> Vec<u16> {
        let mut reached = BTreeSet::from([model]);
        loop {
            let pads: Vec<u16> = reached.iter().flat_map(|model| self.own_pads(*model)).collect();
            let known = reached.len();
            let upstream = self.outputs().filter(|(_, _, end)| match end {
                End::Input { model, .. } => reached.contains(model),
                End::Pin(_) => false,
            });
            let upstream: Vec<usize> = upstream.map(|(model, ..)| model).collect();
            reached.extend(upstream);
            if !pads.is_empty() || reached.len() == known {
                return pads;
            }
        }
    }

    /// The pins wired to the model itself.
    fn own_pads(&self, model: usize) -> impl Iterator<Item = u16> + '_ {
        let leads = move |end: &End| end.is_input_of(model);
        let wired = self.pins.iter().filter(move |(_, ends)| ends.iter().any(leads));
        let driven = self.ends_of_model(model).filter_map(|end| match end {
            End::Pin(pad) => Some(pad),
            End::Input { .. } => None,
        });
        wired.map(|(pad, _)| *pad).chain(driven)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_without_pins_is_reached_through_models_upstream() {
        let mut wiring = Wiring::default();
        let [chip, light, ion, detector] = [0, 1, 2, 3];
        (0..4).for_each(|_| wiring.add_model(1));
        wiring.wire_pin(3, End::Input { model: chip, input: 0 });
        wiring.wire_pin(5, End::Input { model: chip, input: 1 });
        for (from, to) in [(chip, light), (light, ion), (ion, detector), (ion, light)] {
            wiring.wire(from, 0, End::Input { model: to, input: 0 });
        }
        wiring.wire(detector, 0, End::Pin(7));
        for (model, pads) in [
            (chip, vec![3, 5]),
            (light, vec![3, 5]),
            (ion, vec![3, 5]),
            (detector, vec![7]),
        ] {
            assert_eq!(wiring.pads_of(model), pads);
        }
        assert_eq!(wiring.drivers(), BTreeMap::from([(7, detector)]));
    }

    #[test]
    fn origin_distinguishes_boards_only_if_there_are_several() {
        let several = Wiring::of_boards(vec![0, 10]);
        assert_eq!([9, 10, 50].map(|pad| several.board_of(pad)), [0, 1, 1]);
        let numbers = [
            several.origin_of_pin(3),
            several.origin_of_pin(12),
            several.origin_of_models(),
        ];
        let numbers = numbers.map(|origin| origin.number(5));
        assert_eq!(numbers, [5, 1 << ORIGIN | 5, (MODEL as u64) << ORIGIN | 5]);
        let single = Wiring::of_boards(vec![0]);
        assert_eq!(single.origin_of_pin(3), single.origin_of_models());
    }
}
