//! A gate that a kernel makes in a core's tables, in the room that the compiler has kept for it, without a heap.

use crate::adjust::Numbers;
use crate::kernel_pulse::{numbers, KernelPulse, KernelPulseError};
use crate::units::Rates;
use crate::word::{self, GateEntry, MapEntry};
use crate::Segment;
use kairos_contracts::pulse::{KERNEL_PULSE_SEGMENTS, MLUT_SLOTS, PARAMETERS, PLUT_ADDRESS_BITS};

/// Most entries of a gate: each parameter has segments of its own.
const ENTRIES: usize = PARAMETERS * KERNEL_PULSE_SEGMENTS;
/// Numbers of a channel before its addresses.
const HEAD: usize = 4;

/// Where a gate is in the tables of each of its channels.
#[derive(Clone, Copy, Debug)]
pub struct Room<'a> {
    /// Length of the gate.
    pub cycles: u32,
    places: &'a [u32],
}

struct ChannelSlot<'a> {
    channel: u32,
    gate: u16,
    first: u16,
    /// Of segments in the pulse table, as many as there are entries of the map from `first` on.
    addresses: &'a [u32],
}

impl<'a> Room<'a> {
    /// Parses the host's list: cycles, then for each channel its number, the gate's id, its first entry of the map, the
    /// number of segments, and their addresses. `None` if it is malformed.
    pub fn new(list: &'a [u32]) -> Option<Self> {
        let (&cycles, places) = list.split_first()?;
        let mut rest = places;
        while !rest.is_empty() {
            (_, rest) = slot(rest)?;
        }
        Some(Self { cycles, places })
    }

    fn slots(&self) -> impl Iterator<Item = ChannelSlot<'a>> {
        let mut rest = self.places;
        core::iter::from_fn(move || {
            let (found, after) = slot(rest)?;
            rest = after;
            Some(found)
        })
    }
}

fn slot(list: &[u32]) -> Option<(ChannelSlot<'_>, &[u32])> {
    let (&[channel, gate, first, count], rest) = list.split_first_chunk::<HEAD>()?;
    let (addresses, rest) = rest.split_at_checked(count as usize)?;
    let exist = addresses.iter().all(|&address| address >> PLUT_ADDRESS_BITS == 0);
    let found = ChannelSlot {
        channel,
        gate: gate.try_into().ok()?,
        first: first.try_into().ok()?,
        addresses,
    };
    (exist && channel < u8::BITS).then_some((found, rest))
}

/// Entry of the memory map: it starts at this cycle of the gate.
#[derive(Clone, Copy, Default)]
struct Entry {
    start: u64,
    parameters: u8,
    segment: Segment,
}

/// Entries in the order in which the core must read them.
struct Entries {
    all: [Entry; ENTRIES],
    count: usize,
}

impl Entries {
    /// Segments that are equal and start together share an entry, as the compiler's do.
    #[inline(never)]
    fn of(made: &KernelPulse, values: &[f64], rates: &Rates) -> Result<Self, KernelPulseError> {
        let mut entries = Self {
            all: [Entry::default(); ENTRIES],
            count: 0,
        };
        made.check(values)?;
        for parameter in 0..PARAMETERS as u32 {
            let mut start = 0;
            made.parameter(parameter, values, rates, &mut |segment| {
                entries.add(start, parameter, segment);
                start += segment.tau;
            })?;
        }
        Ok(entries)
    }

    fn add(&mut self, start: u64, parameter: u32, segment: &Segment) {
        let known = self.all[..self.count].iter_mut();
        let mut same = known.filter(|entry| entry.start == start && entry.segment == *segment);
        if let Some(entry) = same.next() {
            entry.parameters |= 1 << parameter;
        } else if self.count < self.all.len() {
            self.all[self.count] = Entry {
                start,
                parameters: 1 << parameter,
                segment: *segment,
            };
            // Parameters come one after another, so those that start together stay in their order.
            let later = self.all[..self.count]
                .iter()
                .rev()
                .take_while(|entry| entry.start > start);
            let at = self.count - later.count();
            self.count += 1;
            self.all[at..self.count].rotate_right(1);
        }
    }
}

impl KernelPulse<'_> {
    /// Passes the words that make the pulse a gate to `give`: the gate of `room`, on the pulse's channels. Nothing is
    /// given if there is an error.
    pub fn store(
        &self,
        room: &Room,
        values: &[f64],
        rates: &Rates,
        give: &mut dyn FnMut(&Numbers),
    ) -> Result<(), KernelPulseError> {
        let channels = room.slots().fold(0, |mask, place| mask | 1 << place.channel);
        if self.cycles != room.cycles || self.channels & !channels != 0 {
            return Err(KernelPulseError::Malformed);
        }
        let entries = Entries::of(self, values, rates)?;
        let entries = &entries.all[..entries.count];
        let own = || room.slots().filter(|place| self.channels >> place.channel & 1 != 0);
        if own().any(|place| place.addresses.len() < entries.len()) {
            return Err(KernelPulseError::Room {
                segments: entries.len() as u32,
            });
        }
        for place in own() {
            let channel = 1 << place.channel;
            let mut give = |word| give(&numbers(&word));
            for (entry, &address) in entries.iter().zip(place.addresses) {
                give(word::program_plut(channel, address as u16, &entry.segment));
            }
            let addresses = entries.chunks(MLUT_SLOTS).zip(place.addresses.chunks(MLUT_SLOTS));
            for ((entries, addresses), at) in addresses.zip((place.first..).step_by(MLUT_SLOTS)) {
                let mut map = [MapEntry::default(); MLUT_SLOTS];
                for (((slot, entry), &plut), address) in map.iter_mut().zip(entries).zip(addresses).zip(at..) {
                    *slot = MapEntry {
                        address,
                        parameters: entry.parameters,
                        plut: plut as u16,
                    };
                }
                give(word::program_mlut(channel, &map[..entries.len()]));
            }
            give(word::program_glut(
                channel,
                &[GateEntry {
                    address: place.gate,
                    first: place.first,
                    last: place.first + entries.len() as u16 - 1,
                }],
            ));
        }
        Ok(())
    }
}
