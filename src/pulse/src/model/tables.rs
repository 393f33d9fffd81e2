//! Gate table, memory map and pulse table of a channel.

use super::Config;
use crate::word::{GateEntry, MapEntry};
use crate::Segment;
use alloc::{vec, vec::Vec};

/// The three tables, with the depths of the configuration.
#[derive(Clone, Debug)]
pub struct Tables {
    gates: Vec<GateEntry>,
    map: Vec<MapEntry>,
    pulses: Vec<Segment>,
}

/// The address is beyond the table: the write is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeyondTheEnd;

/// A gate that has not been programmed.
const EMPTY: GateEntry = GateEntry {
    address: 0,
    first: 1,
    last: 0,
};

impl Tables {
    /// Creates the tables in the state after power-up: every gate is empty.
    pub fn new(config: &Config) -> Self {
        Self {
            gates: vec![EMPTY; 1 << config.glut_bits],
            map: vec![MapEntry::default(); 1 << config.mlut_bits],
            pulses: vec![Segment::default(); 1 << config.plut_bits],
        }
    }

    /// Writes a gate.
    pub fn write_gate(&mut self, entry: GateEntry) -> Result<(), BeyondTheEnd> {
        put(&mut self.gates, entry.address, entry)
    }

    /// Writes an entry of the memory map.
    pub fn write_map(&mut self, entry: MapEntry) -> Result<(), BeyondTheEnd> {
        put(&mut self.map, entry.address, entry)
    }

    /// Writes a segment.
    pub fn write_pulse(&mut self, address: u16, segment: Segment) -> Result<(), BeyondTheEnd> {
        put(&mut self.pulses, address, segment)
    }

    /// Reads a gate. Addresses beyond the table wrap, as in a memory.
    pub fn gate(&self, address: u16) -> GateEntry {
        self.gates[usize::from(address) & (self.gates.len() - 1)]
    }

    /// Reads an entry of the memory map; addresses wrap.
    pub fn map(&self, address: u16) -> MapEntry {
        self.map[usize::from(address) & (self.map.len() - 1)]
    }

    /// Reads a segment; addresses wrap.
    pub fn pulse(&self, address: u16) -> Segment {
        self.pulses[usize::from(address) & (self.pulses.len() - 1)]
    }
}

fn put<T>(table: &mut [T], address: u16, entry: T) -> Result<(), BeyondTheEnd> {
    *table.get_mut(usize::from(address)).ok_or(BeyondTheEnd)? = entry;
    Ok(())
}
