//! Packs a gate set into the tables of each channel; gates that do not fit are streamed.

use super::stream::{by_start, merge, Timed};
use super::{encode, Encoded, Error, Gate, Kind, Pulse};
use crate::units::Rates;
use crate::word::{self, GateEntry, MapEntry, RunFormat};
use crate::{Segment, Word};
use alloc::{collections::BTreeMap, string::String, vec::Vec};
use kairos_contracts::pulse as facts;

/// Table sizes and other properties of a core.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Channels of the board.
    pub channels: usize,
    /// Clock and samples per cycle.
    pub rates: Rates,
    /// Number of entries built of each table.
    pub gates: usize,
    pub map: usize,
    pub pulses: usize,
    /// Format of the gate ids in a word.
    pub run_format: RunFormat,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            channels: facts::CHANNELS,
            rates: Rates::REFERENCE,
            // The upper half is for branches; one id is reserved in wide words.
            gates: (1 << facts::GATE_ID_BITS) - 1,
            map: 1 << facts::MLUT_ADDRESS_BITS,
            pulses: 1 << facts::PLUT_ADDRESS_BITS,
            run_format: RunFormat::Counted,
        }
    }
}

/// A gate on a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Its pulses, in order.
    pub pulses: Vec<Encoded>,
    /// Its duration.
    pub cycles: u64,
    /// Its id, or `None` if it has to be streamed.
    pub id: Option<u16>,
}

/// Contents of a channel's tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelImage {
    /// Segments by address.
    pub pulses: Vec<Segment>,
    /// Entries of the memory map by address: parameters and segment.
    pub map: Vec<(u8, u16)>,
    /// Gates by id: first and last entry of the map.
    pub gates: Vec<(u16, u16)>,
    /// Gates selected by results, by address in the gate table.
    pub branches: BTreeMap<u16, (u16, u16)>,
    /// Ids of pauses, by duration in cycles.
    pub(super) idle: BTreeMap<u64, Option<u16>>,
    known_pulses: BTreeMap<Segment, u16>,
    known_ranges: BTreeMap<Vec<(u8, u16)>, (u16, u16)>,
}

/// A segment that is not merged with equal ones: it can be overwritten individually.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Owned {
    pub channel: u8,
    pub parameter: u8,
    /// Address in the pulse table.
    pub address: u16,
    pub segment: Segment,
}

/// The range of a gate without segments.
pub const EMPTY: (u16, u16) = (1, 0);

/// A gate set as stored in the core.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    pub limits: Limits,
    pub channels: Vec<ChannelImage>,
    /// Gates by name and channel.
    pub gates: BTreeMap<String, BTreeMap<u8, Placed>>,
    /// Names in the order in which they were defined.
    pub names: Vec<String>,
}

impl Image {
    /// Packs gates in order as far as the tables have room; the others are streamed.
    pub fn new(gates: &[Gate], limits: Limits) -> Result<Self, Error> {
        let mut image = Self {
            channels: (0..limits.channels).map(|_| ChannelImage::default()).collect(),
            limits,
            gates: BTreeMap::new(),
            names: Vec::new(),
        };
        for gate in gates {
            image.add(gate)?;
        }
        Ok(image)
    }

    /// Adds a gate.
    pub fn add(&mut self, gate: &Gate) -> Result<(), Error> {
        let named = |error: Error| error.of_gate(&gate.name);
        if self.gates.contains_key(&gate.name) {
            return Err(named(Error::new(Kind::Twice)));
        }
        let mut placed = self.encoded(gate)?;
        for (&channel, gate) in &mut placed {
            gate.id = self.channels[usize::from(channel)].place(gate, &self.limits);
        }
        self.gates.insert(gate.name.clone(), placed);
        self.names.push(gate.name.clone());
        Ok(())
    }

    /// Segments of a gate that are not merged with equal ones, as far as the gate is in the tables:
    /// those of each channel and parameter in playing order. `None` if there is no such gate.
    pub fn owned(&self, name: &str) -> Option<Vec<Owned>> {
        let mut owned = Vec::new();
        for (&channel, placed) in self.gates.get(name)? {
            let tables = &self.channels[usize::from(channel)];
            let Some(id) = placed.id else { continue };
            let first = usize::from(tables.gates[usize::from(id)].0);
            for (k, entry) in packed(placed).into_iter().enumerate().filter(|(_, entry)| entry.own) {
                owned.push(Owned {
                    channel,
                    parameter: entry.parameters.trailing_zeros() as u8,
                    address: tables.map[first + k].1,
                    segment: entry.segment,
                });
            }
        }
        Some(owned)
    }

    /// Where a gate is in the tables of each channel: channel, id, and first entry of the map. `None` if there is no
    /// such gate, or it does not fit.
    pub fn places(&self, name: &str) -> Option<Vec<(u8, u16, u16)>> {
        let place = |(&channel, placed): (&u8, &Placed)| {
            let id = placed.id?;
            let (first, _) = self.channels[usize::from(channel)].gates[usize::from(id)];
            Some((channel, id, first))
        };
        self.gates.get(name)?.iter().map(place).collect()
    }

    /// A gate's segments on each channel, not yet placed.
    pub(super) fn encoded(&self, gate: &Gate) -> Result<BTreeMap<u8, Placed>, Error> {
        let mut placed: BTreeMap<u8, Placed> = BTreeMap::new();
        for pulse in &gate.pulses {
            let encoded = self.encode(pulse).map_err(|error| error.of_gate(&gate.name))?;
            let of_channel = placed.entry(pulse.channel).or_insert_with(|| Placed {
                pulses: Vec::new(),
                cycles: 0,
                id: None,
            });
            of_channel.cycles += pulse.cycles;
            of_channel.pulses.push(encoded);
        }
        Ok(placed)
    }

    fn encode(&self, pulse: &Pulse) -> Result<Encoded, Error> {
        if usize::from(pulse.channel) >= self.limits.channels {
            let channels = self.limits.channels;
            return Err(Error::new(Kind::NoChannel { channels }).on_channel(pulse.channel));
        }
        encode(pulse, &self.limits.rates)
    }

    /// Words that program empty tables.
    pub fn programming(&self) -> Vec<Word> {
        self.changes(&[])
    }

    /// Words that program what differs from `old`, a core's tables by channel.
    pub fn changes(&self, old: &[ChannelImage]) -> Vec<Word> {
        let empty = ChannelImage::default();
        let mut words = Vec::new();
        for (c, new) in self.channels.iter().enumerate() {
            let old = old.get(c).unwrap_or(&empty);
            new.changes(old, 1 << c, &mut words);
        }
        merge(words)
    }
}

/// Words are ordered by kind: first segments, then the map, then gates.
const KINDS: [u64; 3] = [0, 1, 2];

impl ChannelImage {
    /// Creates an image from filled tables.
    pub(super) fn with_tables(pulses: Vec<Segment>, map: Vec<(u8, u16)>, gates: Vec<(u16, u16)>) -> Self {
        let known_pulses = pulses
            .iter()
            .enumerate()
            .map(|(at, segment)| (*segment, at as u16))
            .collect();
        let range = |&(first, last): &(u16, u16)| {
            map.get(first.into()..=last.into())
                .map(|entries| (entries.to_vec(), (first, last)))
        };
        Self {
            known_ranges: gates
                .iter()
                .filter(|range| **range != EMPTY)
                .filter_map(range)
                .collect(),
            branches: BTreeMap::new(),
            idle: BTreeMap::new(),
            known_pulses,
            pulses,
            map,
            gates,
        }
    }

    /// Address of a segment in the table.
    pub(super) fn known_at(&self, segment: &Segment) -> Option<u16> {
        self.known_pulses.get(segment).copied()
    }

    /// Places a gate in the tables, if all of it fits; returns its id.
    pub(super) fn place(&mut self, gate: &Placed, limits: &Limits) -> Option<u16> {
        if self.gates.len() >= limits.gates {
            return None;
        }
        let entries = packed(gate);
        let mut added: Vec<(Segment, bool)> = Vec::new();
        let mut addresses = Vec::with_capacity(entries.len());
        for Entry {
            parameters,
            segment,
            own,
        } in entries
        {
            let known = self.known_pulses.get(&segment).filter(|_| !own);
            let address = known.copied().map(usize::from).unwrap_or_else(|| {
                let same = |(other, theirs): &(Segment, bool)| !own && !theirs && *other == segment;
                let at = added.iter().position(same).unwrap_or_else(|| {
                    added.push((segment, own));
                    added.len() - 1
                });
                self.pulses.len() + at
            });
            addresses.push((parameters, address as u16));
        }
        let known = self.known_ranges.get(&addresses).copied();
        let map_needed = if known.is_some() { 0 } else { addresses.len() };
        if self.pulses.len() + added.len() > limits.pulses || self.map.len() + map_needed > limits.map {
            return None;
        }
        for (segment, own) in added {
            if !own {
                self.known_pulses.insert(segment, self.pulses.len() as u16);
            }
            self.pulses.push(segment);
        }
        let range = known.unwrap_or_else(|| {
            let first = self.map.len();
            self.map.extend(&addresses);
            // The range of a gate without segments ends before it begins.
            let range = match addresses.len() {
                0 => EMPTY,
                n => (first as u16, (first + n - 1) as u16),
            };
            self.known_ranges.insert(addresses, range);
            range
        });
        self.gates.push(range);
        Some((self.gates.len() - 1) as u16)
    }

    fn changes(&self, old: &Self, channel: u8, words: &mut Vec<Timed>) {
        let mut add = |kind: u64, word| {
            words.push(Timed {
                start: kind,
                order: 0,
                word,
            });
        };
        for (address, segment) in self.pulses.iter().enumerate() {
            if old.pulses.get(address) != Some(segment) {
                add(KINDS[0], word::program_plut(channel, address as u16, segment));
            }
        }
        let map: Vec<MapEntry> = differing(&self.map, &old.map)
            .map(|(address, &(parameters, plut))| MapEntry {
                address,
                parameters,
                plut,
            })
            .collect();
        for entries in map.chunks(facts::MLUT_SLOTS) {
            add(KINDS[1], word::program_mlut(channel, entries));
        }
        let branches = self
            .branches
            .iter()
            .filter(|(address, range)| old.branches.get(address) != Some(range));
        let gates: Vec<GateEntry> = differing(&self.gates, &old.gates)
            .chain(branches.map(|(&address, range)| (address, range)))
            .map(|(address, &(first, last))| GateEntry { address, first, last })
            .collect();
        for entries in gates.chunks(facts::GLUT_SLOTS) {
            add(KINDS[2], word::program_glut(channel, entries));
        }
    }
}

fn differing<'a, T: PartialEq>(new: &'a [T], old: &'a [T]) -> impl Iterator<Item = (u16, &'a T)> {
    let entries = new.iter().enumerate();
    entries
        .filter(|(address, entry)| old.get(*address) != Some(entry))
        .map(|(address, entry)| (address as u16, entry))
}

/// An entry of the memory map with its segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub parameters: u8,
    pub segment: Segment,
    /// Not merged with equal ones.
    pub own: bool,
}

/// Entries of the memory map for a gate: a parameter shares an entry with the same segment unless
/// that entry precedes the parameter's last one, which would change the order of its segments.
pub(super) fn packed(gate: &Placed) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut start = 0;
    for pulse in &gate.pulses {
        let first = entries.len();
        let mut newest = [first; facts::PARAMETERS];
        for (_, p, segment) in by_start(pulse, start) {
            let own = pulse.own >> p & 1 != 0;
            let p = usize::from(p);
            let free = |entry: &Entry| !own && !entry.own && entry.segment == segment && entry.parameters >> p & 1 == 0;
            let place = (newest[p]..entries.len()).find(|&place| free(&entries[place]));
            let place = place.unwrap_or_else(|| {
                entries.push(Entry {
                    parameters: 0,
                    segment,
                    own,
                });
                entries.len() - 1
            });
            entries[place].parameters |= 1 << p;
            newest[p] = place;
        }
        start += pulse.segments[0].iter().map(|segment| segment.tau).sum::<u64>();
    }
    entries
}
