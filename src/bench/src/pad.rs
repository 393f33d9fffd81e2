//! The pins of the device, as the bench sees them, and their names.

use std::collections::BTreeMap;

/// A pin of the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pad {
    /// Index in the device's arrays; boards are concatenated.
    pub index: u16,
    /// Destination of its board: 0 for the master or the only board.
    pub board: usize,
    /// Channel of the device, with the board's destination in bits 23..16.
    pub channel: u32,
    /// The gateware's name: a device, or a device and a line.
    pub name: String,
    /// Whether the device can drive the pin…
    pub drives: bool,
    /// …and read it.
    pub reads: bool,
}

/// An output of a pulse core of the device.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Destination of its board.
    pub board: usize,
    /// Channel of the core, with the board's destination in bits 23..16.
    pub channel: u32,
    /// The gateware's name of the core.
    pub core: String,
    /// Number of the output in the core.
    pub number: u32,
    /// Index of its first tone among the pads; the others follow.
    pub tones: u16,
    /// Samples per second.
    pub sample_hz: f64,
}

/// A card whose waveforms the device makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waveforms {
    /// Destination of its board.
    pub board: usize,
    /// Its kind: `shuttler`, `songbird` or `mtdds`.
    pub kind: String,
    /// Channel of its settings, with the board's destination in bits 23..16.
    pub channel: u32,
    /// The gateware's name.
    pub name: String,
    /// Index of the first word of its outputs among the pads; the others follow.
    pub words: u16,
    /// Number of its outputs, or tones, or groups of words.
    pub outputs: u16,
    /// What the gateware says of it.
    pub parameters: BTreeMap<String, u32>,
}

/// The name of a board, as in recordings: `master`, `satellite1`, and so on.
pub fn board_name(board: usize) -> String {
    match board {
        0 => "master".into(),
        number => format!("satellite{number}"),
    }
}

/// Lookup of a device's pins by name: the gateware's names; where several boards share one, the
/// name prefixed with the board's; and the device database's names, for channels with a single pin.
pub struct Pins<'a> {
    pads: &'a [Pad],
    database: &'a BTreeMap<String, u32>,
    /// By the gateware's name.
    named: BTreeMap<&'a str, Vec<&'a Pad>>,
}

/// Why a name does not resolve to a pin.
#[derive(Debug, PartialEq, Eq)]
pub enum Missing {
    /// The name is unknown.
    Unknown,
    /// The name is ambiguous between these.
    Several(Vec<String>),
}

impl<'a> Pins<'a> {
    /// Creates the lookup of a device's pins, from its pads and its database's channels by name.
    pub fn new(pads: &'a [Pad], database: &'a BTreeMap<String, u32>) -> Self {
        let mut named: BTreeMap<&str, Vec<&Pad>> = BTreeMap::new();
        for pad in pads {
            named.entry(&pad.name).or_default().push(pad);
        }
        Self { pads, database, named }
    }

    /// All pins, in the order of their names.
    pub fn all(&self) -> impl Iterator<Item = &'a Pad> + '_ {
        self.named.values().flatten().copied()
    }

    /// The pin with this index.
    pub fn at(&self, index: u16) -> Option<&'a Pad> {
        self.pads.iter().find(|pad| pad.index == index)
    }

    /// The unambiguous name of a pin.
    pub fn name(&self, pad: &Pad) -> String {
        match self.named.get(pad.name.as_str()) {
            Some(same) if same.len() > 1 => format!("{}_{}", board_name(pad.board), pad.name),
            _ => pad.name.clone(),
        }
    }

    /// The database's name of a channel.
    pub fn device_at(&self, channel: u32) -> Option<&'a str> {
        let found = self.database.iter().find(|(_, known)| **known == channel);
        found.map(|(name, _)| name.as_str())
    }

    /// The pin with this name.
    pub fn find(&self, name: &str) -> Result<&'a Pad, Missing> {
        let same = self.named.get(name).map_or(&[][..], Vec::as_slice);
        if let [only] = same {
            return Ok(only);
        }
        let channel = self.database.get(name);
        let of_database = self.pads.iter().filter(|pad| Some(&pad.channel) == channel);
        if let [only] = of_database.collect::<Vec<_>>()[..] {
            return Ok(only);
        }
        let prefixed = |pad: &&Pad| {
            name.strip_prefix(&board_name(pad.board))
                .and_then(|rest| rest.strip_prefix('_'))
                == Some(&pad.name)
        };
        match self.pads.iter().find(prefixed) {
            Some(pad) => Ok(pad),
            None if same.is_empty() => Err(Missing::Unknown),
            None => Err(Missing::Several(same.iter().map(|pad| self.name(pad)).collect())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pads() -> Vec<Pad> {
        let all = [
            (0, 0, "ttl0"),
            (0, 1, "spi0_clk"),
            (0, 1, "spi0_mosi"),
            (1, 0, "ttl0"),
            (1, 1, "ttl1"),
            (2, 0, "ttl0"),
        ];
        let numbered = all.iter().enumerate();
        numbered
            .map(|(index, (board, channel, name))| Pad {
                index: index as u16,
                board: *board,
                channel: (*board as u32) << 16 | channel,
                name: (*name).into(),
                drives: true,
                reads: true,
            })
            .collect()
    }

    #[test]
    fn pin_names_are_those_of_gateware_board_or_database() {
        let (pads, database) = (
            pads(),
            BTreeMap::from([("trigger".into(), 0x10000), ("ttl1".into(), 0)]),
        );
        let pins = Pins::new(&pads, &database);
        let found = |name| pins.find(name).map(|pad| pad.index);
        assert_eq!(
            found("ttl1"),
            Ok(4),
            "the gateware's name counts where one board alone has it"
        );
        assert_eq!(found("trigger"), Ok(3));
        assert_eq!((found("master_ttl0"), found("satellite2_ttl0")), (Ok(0), Ok(5)));
        assert_eq!(found("satellite1_ttl1"), Ok(4), "also where it need not be said");
        let several = ["master_ttl0", "satellite1_ttl0", "satellite2_ttl0"].map(String::from);
        assert_eq!(found("ttl0"), Err(Missing::Several(several.into())));
        assert_eq!(found("satellite3_ttl0"), Err(Missing::Unknown));
        let names: Vec<String> = pins.all().map(|pad| pins.name(pad)).collect();
        assert_eq!(
            names,
            [
                "spi0_clk",
                "spi0_mosi",
                "master_ttl0",
                "satellite1_ttl0",
                "satellite2_ttl0",
                "ttl1"
            ]
        );
    }

    #[test]
    fn name_on_several_boards_is_resolved_by_database() {
        let (pads, database) = (pads(), BTreeMap::from([("ttl0".into(), 0x20000), ("spi0".into(), 1)]));
        let pins = Pins::new(&pads, &database);
        assert_eq!(pins.find("ttl0").map(|pad| pad.index), Ok(5));
        assert_eq!(pins.find("spi0"), Err(Missing::Unknown), "it has several pins");
    }
}
