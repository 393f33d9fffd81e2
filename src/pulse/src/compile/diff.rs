//! Changes one gate set into another with few words, keeping table contents in place.
//!
//! A gate keeps its range of the memory map if its parameters are grouped as before. Its segments
//! keep their addresses: a changed one overwrites the old one unless another gate still needs that,
//! which takes one word and no change of map or gate table. The result is not proven to be minimal,
//! but changing a parameter of a gate takes one word per channel.

use super::image::{packed, ChannelImage, Entry, EMPTY};
use super::{Error, Gate, Image, Kind, Limits, Placed};
use crate::Segment;
use alloc::{collections::BTreeMap, string::String, vec, vec::Vec};

impl Image {
    /// Places a gate set such that few words change `self`, the contents of the core's tables, into
    /// it. Those words are `new.changes(&old.channels)`.
    pub fn successor(&self, gates: &[Gate]) -> Result<Self, Error> {
        let mut new = Self::new(&[], self.limits.clone())?;
        for gate in gates {
            if new.gates.contains_key(&gate.name) {
                return Err(Error::new(Kind::Twice).of_gate(&gate.name));
            }
            let mut encoded = new.encoded(gate)?;
            // Segments may be shared here, whatever the pulses request.
            for pulse in encoded.values_mut().flat_map(|placed| &mut placed.pulses) {
                pulse.own = 0;
            }
            new.gates.insert(gate.name.clone(), encoded);
            new.names.push(gate.name.clone());
        }
        for channel in 0..self.limits.channels as u8 {
            let wanted: Vec<(&String, &Placed)> = new
                .names
                .iter()
                .filter_map(|name| Some((name, new.gates[name].get(&channel)?)))
                .collect();
            let old_id = |name: &String| self.gates.get(name).and_then(|gate| gate.get(&channel)?.id);
            let old = &self.channels[usize::from(channel)];
            let mut move_to = Successor::new(old, &self.limits);
            let ids = move_to.place(&wanted, old_id);
            let names: Vec<String> = wanted.iter().map(|(name, _)| (*name).clone()).collect();
            new.channels[usize::from(channel)] = move_to.finish();
            for (name, id) in names.iter().zip(ids) {
                if let Some(placed) = new.gates.get_mut(name).and_then(|gate| gate.get_mut(&channel)) {
                    placed.id = id;
                }
            }
        }
        Ok(new)
    }
}

/// Tables of a channel during the change from one gate set to another.
struct Successor<'a> {
    old: &'a ChannelImage,
    limits: &'a Limits,
    pulses: Vec<Segment>,
    pulse_used: Vec<bool>,
    /// Addresses of segments that are kept or written.
    known: BTreeMap<Segment, u16>,
    map: Vec<(u8, u16)>,
    map_used: Vec<bool>,
    gates: Vec<(u16, u16)>,
    gate_used: Vec<bool>,
}

impl<'a> Successor<'a> {
    fn new(old: &'a ChannelImage, limits: &'a Limits) -> Self {
        Self {
            old,
            limits,
            pulses: old.pulses.clone(),
            pulse_used: vec![false; old.pulses.len()],
            known: BTreeMap::new(),
            map: old.map.clone(),
            map_used: vec![false; old.map.len()],
            gates: old.gates.clone(),
            gate_used: vec![false; old.gates.len()],
        }
    }

    /// Places the gates and returns their ids, `None` for those that do not fit.
    fn place(&mut self, wanted: &[(&String, &Placed)], old_id: impl Fn(&String) -> Option<u16>) -> Vec<Option<u16>> {
        let entry = |entry: Entry| (entry.parameters, entry.segment);
        let entries: Vec<Vec<(u8, Segment)>> = wanted
            .iter()
            .map(|(_, gate)| packed(gate).into_iter().map(entry).collect())
            .collect();
        let mut ids = vec![None; wanted.len()];
        // Ranges that are kept, and the segment wanted at each of their entries.
        let mut kept: BTreeMap<usize, Segment> = BTreeMap::new();
        for (n, (name, _)) in wanted.iter().enumerate() {
            let Some(id) = old_id(name) else { continue };
            if self.keeps(id, &entries[n], &kept) {
                let first = usize::from(self.old.gates[usize::from(id)].0);
                for (k, (_, segment)) in entries[n].iter().enumerate() {
                    kept.insert(first + k, *segment);
                    self.map_used[first + k] = true;
                }
                self.gate_used[usize::from(id)] = true;
                ids[n] = Some(id);
            }
        }
        self.write_kept(&kept);
        let moved = entries.iter().zip(&ids).filter(|(_, id)| id.is_none());
        for (_, segment) in moved.flat_map(|(entries, _)| entries) {
            self.keep(segment);
        }
        for (n, (name, _)) in wanted.iter().enumerate() {
            if ids[n].is_none() {
                ids[n] = self.put(&entries[n], old_id(name));
            }
        }
        ids
    }

    /// Whether a gate's entries are grouped as before, and no other gate wants different segments
    /// there.
    fn keeps(&self, id: u16, entries: &[(u8, Segment)], kept: &BTreeMap<usize, Segment>) -> bool {
        let (first, last) = self.old.gates[usize::from(id)];
        if (first, last) == EMPTY || usize::from(last) + 1 != usize::from(first) + entries.len() {
            return (first, last) == EMPTY && entries.is_empty();
        }
        entries.iter().enumerate().all(|(k, (mask, segment))| {
            let at = usize::from(first) + k;
            self.old.map[at].0 == *mask && kept.get(&at).is_none_or(|other| other == segment)
        })
    }

    /// Assigns segments to the entries that are kept.
    fn write_kept(&mut self, kept: &BTreeMap<usize, Segment>) {
        let mut at_address: BTreeMap<u16, BTreeMap<Segment, usize>> = BTreeMap::new();
        for (&at, segment) in kept {
            *at_address
                .entry(self.old.map[at].1)
                .or_default()
                .entry(*segment)
                .or_default() += 1;
        }
        for (&address, counts) in &at_address {
            let old = self.old.pulses[usize::from(address)];
            // The old segment is kept if any entry wants it; otherwise the most wanted one is
            // written, unless it is stored elsewhere already.
            let mut best = counts.contains_key(&old).then_some(old);
            let elsewhere = |segment: &Segment| {
                self.old
                    .known_at(segment)
                    .is_some_and(|at| at_address.get(&at).is_some_and(|wanted| wanted.contains_key(segment)))
            };
            if best.is_none() {
                let free = counts
                    .iter()
                    .filter(|(segment, _)| !self.known.contains_key(segment) && !elsewhere(segment));
                best = free.max_by_key(|(_, &count)| count).map(|(segment, _)| *segment);
            }
            if let Some(segment) = best {
                self.pulses[usize::from(address)] = segment;
                self.pulse_used[usize::from(address)] = true;
                self.known.entry(segment).or_insert(address);
            }
        }
        for (&at, segment) in kept {
            let now = self.map[at].1;
            if self.pulses[usize::from(now)] != *segment || !self.pulse_used[usize::from(now)] {
                if let Some(address) = self.address(segment) {
                    self.map[at].1 = address;
                }
            }
        }
    }

    /// Keeps a segment in place if the table contains it already.
    fn keep(&mut self, segment: &Segment) {
        let there = self.old.known_at(segment).map(usize::from);
        let there = there.filter(|&at| !self.pulse_used[at] && self.pulses[at] == *segment);
        if let (Some(at), false) = (there, self.known.contains_key(segment)) {
            self.pulse_used[at] = true;
            self.known.insert(*segment, at as u16);
        }
    }

    /// Returns the address of a segment, which is added if needed; `None` if the table is full.
    fn address(&mut self, segment: &Segment) -> Option<u16> {
        self.keep(segment);
        if let Some(&address) = self.known.get(segment) {
            return Some(address);
        }
        let at = self
            .pulse_used
            .iter()
            .position(|used| !used)
            .unwrap_or(self.pulses.len());
        if at == self.limits.pulses {
            return None;
        }
        if at == self.pulses.len() {
            self.pulses.push(*segment);
            self.pulse_used.push(true);
        }
        (self.pulses[at], self.pulse_used[at]) = (*segment, true);
        self.known.insert(*segment, at as u16);
        Some(at as u16)
    }

    /// Adds a gate at free entries.
    fn put(&mut self, entries: &[(u8, Segment)], old_id: Option<u16>) -> Option<u16> {
        let free_id = old_id.map(usize::from).filter(|&id| !self.gate_used[id]);
        let id = free_id
            .or_else(|| self.gate_used.iter().position(|used| !used))
            .unwrap_or(self.gates.len());
        let first = self.free_range(entries.len());
        if id >= self.limits.gates || first + entries.len() > self.limits.map {
            return None;
        }
        let mut placed = Vec::with_capacity(entries.len());
        for (mask, segment) in entries {
            placed.push((*mask, self.address(segment)?));
        }
        let end = first + entries.len();
        if self.map.len() < end {
            self.map.resize(end, (0, 0));
            self.map_used.resize(end, false);
        }
        self.map[first..end].copy_from_slice(&placed);
        self.map_used[first..end].fill(true);
        if id == self.gates.len() {
            self.gates.push(EMPTY);
            self.gate_used.push(false);
        }
        self.gate_used[id] = true;
        self.gates[id] = if entries.is_empty() {
            EMPTY
        } else {
            (first as u16, (end - 1) as u16)
        };
        Some(id as u16)
    }

    /// The first entry of the map that begins a free range of this length.
    fn free_range(&self, length: usize) -> usize {
        let mut first = 0;
        for (at, used) in self.map_used.iter().enumerate() {
            if at - first == length {
                break;
            }
            if *used {
                first = at + 1;
            }
        }
        first
    }

    /// Pauses of the old sequence that have not been overwritten.
    fn pauses(&self) -> BTreeMap<u64, Option<u16>> {
        let segment = |map: &[(u8, u16)], pulses: &[Segment], at: usize| (map[at].0, pulses[usize::from(map[at].1)]);
        let stays = |id: u16| {
            let (first, last) = self.old.gates[usize::from(id)];
            let mut entries = usize::from(first)..usize::from(last) + 1;
            !self.gate_used[usize::from(id)]
                && entries
                    .all(|at| segment(&self.map, &self.pulses, at) == segment(&self.old.map, &self.old.pulses, at))
        };
        let known = self.old.idle.iter();
        known
            .filter(|(_, id)| id.is_some_and(stays))
            .map(|(&cycles, &id)| (cycles, id))
            .collect()
    }

    fn finish(self) -> ChannelImage {
        let idle = self.pauses();
        let mut tables = ChannelImage::with_tables(self.pulses, self.map, self.gates);
        tables.idle = idle;
        tables
    }
}
