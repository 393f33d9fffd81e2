//! Time and table usage of gates.

use super::image::packed;
use super::stream::stream;
use super::Image;
use alloc::{string::String, vec::Vec};

/// Statistics of a gate on a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct GateStats {
    pub name: String,
    pub channel: u8,
    /// Its duration.
    pub cycles: u64,
    /// Number of segments, counted once for each parameter.
    pub segments: usize,
    /// Number of entries of the memory map.
    pub entries: usize,
    /// Number of words needed to stream it.
    pub streamed: usize,
    /// Whether it is in the tables.
    pub in_tables: bool,
    /// Largest deviation of the engines from samples, in the parameter's unit.
    pub error: f64,
}

/// Statistics of a gate set.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    pub gates: Vec<GateStats>,
    /// For each channel, used entries of gate table, memory map and pulse table.
    pub tables: Vec<[usize; 3]>,
    /// Number of words that program it.
    pub words: usize,
}

impl Image {
    /// Computes the statistics of its gates.
    pub fn stats(&self) -> Stats {
        let mut gates = Vec::new();
        for name in &self.names {
            for (&channel, placed) in &self.gates[name] {
                let errors = placed.pulses.iter().flat_map(|pulse| pulse.errors);
                gates.push(GateStats {
                    name: name.clone(),
                    channel,
                    cycles: placed.cycles,
                    segments: placed
                        .pulses
                        .iter()
                        .flat_map(|pulse| &pulse.segments)
                        .map(Vec::len)
                        .sum(),
                    entries: packed(placed).len(),
                    streamed: placed.pulses.iter().map(|pulse| stream(channel, pulse, 0).len()).sum(),
                    in_tables: placed.id.is_some(),
                    error: errors.fold(0.0, f64::max),
                });
            }
        }
        let tables = self
            .channels
            .iter()
            .map(|t| [t.gates.len() + t.branches.len(), t.map.len(), t.pulses.len()]);
        Stats {
            gates,
            tables: tables.collect(),
            words: self.programming().len(),
        }
    }
}
