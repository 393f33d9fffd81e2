//! What kernels have written to the gateware's own memories and settings, which no bus shows: those of an SU-Servo,
//! and of a Shuttler. A reset of the RTIO core keeps them.

use std::collections::{BTreeMap, HashMap};

use kairos_contracts::descriptor::ChannelKind as Number;
use kairos_contracts::servo::COEFF_WIDTH;
use kairos_proto::descriptor::Descriptor;

/// The latest value of each address.
#[derive(Default)]
pub struct Written {
    /// For each channel with such addresses, the bits of a value; an address continues above them.
    widths: HashMap<u32, u32>,
    /// By target and the address above a value: time in machine units, and value.
    values: BTreeMap<(u32, u32), (i64, u32)>,
}

impl Written {
    /// Of a gateware with this descriptor.
    pub fn new(descriptor: &[u8]) -> Self {
        let Ok(descriptor) = Descriptor::new(descriptor) else {
            return Self::default();
        };
        let width = |kind: u8| match kind {
            kind if kind == Number::Suservo as u8 => Some(COEFF_WIDTH as u32),
            kind if [Number::SuservoChannel as u8, Number::Shuttler as u8].contains(&kind) => Some(u32::BITS),
            _ => None,
        };
        let channels = descriptor.channels();
        Self {
            widths: channels
                .filter_map(|each| Some((each.number, width(each.kind.0)?)))
                .collect(),
            values: BTreeMap::new(),
        }
    }

    /// Takes an output: of those to one address the latest in time counts.
    pub fn take(&mut self, target: u32, time: i64, data: u32) {
        let Some(width) = self.widths.get(&(target >> 8)) else {
            return;
        };
        let above = data.checked_shr(*width).unwrap_or_default();
        let value = (time, data & u32::MAX.checked_shr(u32::BITS - width).unwrap_or_default());
        let kept = self.values.entry((target, above)).or_insert(value);
        if kept.0 <= time {
            *kept = value;
        }
    }

    /// Channels with such addresses.
    pub fn channels(&self) -> impl Iterator<Item = u32> + '_ {
        self.widths.keys().copied()
    }

    /// Targets, addresses above a value, and values.
    pub fn values(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        self.values
            .iter()
            .map(|((target, above), (_, value))| [*target, *above, *value])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latest_value_of_each_address_is_kept() {
        let mut written = Written {
            widths: HashMap::from([(3, 18), (4, 32)]),
            ..Written::default()
        };
        for (target, time, data) in [
            (3 << 8 | 5, 10, 1 << 18 | 7),
            (3 << 8 | 5, 20, 2 << 18 | 8),
            (3 << 8 | 5, 30, 1 << 18 | 9),
            (3 << 8 | 5, 25, 1 << 18 | 10), // submitted later, due earlier
            (4 << 8, 5, u32::MAX),
            (9 << 8, 5, 1),
        ] {
            written.take(target, time, data);
        }
        let found: Vec<_> = written.values().collect();
        assert_eq!(found, [[3 << 8 | 5, 1, 9], [3 << 8 | 5, 2, 8], [4 << 8, 0, u32::MAX]]);
    }
}
