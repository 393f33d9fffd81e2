//! Detection of a device's cards, from the names of its pins and from its device database.
//!
//! A gateware names the pins of a card `spi_CARD_clk`, `ttl_CARD_io_update` or `CARD_mosi0`. A
//! database lists the channels of the device that a card's driver uses, so a card in the database
//! is found at any pins.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use kairos_contracts::cards::{ATTACHED, WAVEFORMS};
pub use kairos_contracts::cards::{KINDS, SHARING};

use crate::pad::{board_name, Pad, Waveforms};

/// A card of a device database.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// One of [`KINDS`].
    pub kind: String,
    /// Its driver's entry in the database.
    pub device: String,
    /// Channels of the device by function: `spi` for the lines of a bus whose last name part
    /// identifies them (`clk`), else the beginning of the line's name (`adc` for `adc_clk`) or the
    /// whole name (`io_update`); `bus` for lines that are named by the part after the card's name;
    /// `servo` for the lines of an SU-Servo to a Sampler, `nu0` and `nu1` for those to its Urukuls;
    /// `config` for the settings of a card whose DACs have no pins: a Shuttler, Songbird, or Phaser as a satellite.
    pub channels: BTreeMap<String, u32>,
    /// Settings, in the format of a bench file.
    #[serde(default)]
    pub settings: Value,
}

/// A card found at the device's pins.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// One of [`KINDS`].
    pub kind: String,
    /// The gateware's name of the card, or of its bus if the gateware knows no card there. If
    /// several boards share a name, the board's name is prefixed.
    pub name: String,
    /// Its driver's entry in the database, if any.
    pub device: Option<String>,
    /// Pads by the names of their lines.
    pub lines: BTreeMap<String, u16>,
    /// Of a Shuttler or Songbird: the index of the first word of its outputs.
    pub words: Option<u16>,
    /// Number of these outputs.
    pub outputs: u16,
    /// What the gateware says of it.
    pub parameters: BTreeMap<String, u32>,
    /// Settings from the database.
    pub settings: Value,
}

/// Finds the cards of a device with these pins and waveforms, ordered by name.
pub fn find(pads: &[Pad], cards: &[Card], waveforms: &[Waveforms]) -> Vec<Found> {
    let mut found: BTreeMap<(String, usize), Found> = BTreeMap::new();
    let empty = |kind: &str, name: &str| Found {
        kind: kind.into(),
        name: name.into(),
        device: None,
        lines: BTreeMap::new(),
        words: None,
        outputs: 0,
        parameters: BTreeMap::new(),
        settings: Value::Null,
    };
    for pad in pads {
        let Some((kind, name, line)) = named(&pad.name) else {
            continue;
        };
        let card = found
            .entry((name.into(), pad.board))
            .or_insert_with(|| empty(kind, name));
        card.lines.insert(line.into(), pad.index);
    }
    for shown in waveforms {
        let card = found
            .entry((shown.name.clone(), shown.board))
            .or_insert_with(|| empty(&shown.kind, &shown.name));
        (card.words, card.outputs) = (Some(shown.words), shown.outputs);
        card.parameters.clone_from(&shown.parameters);
    }
    for card in cards {
        if let Some((board, mut described)) = described(card, pads, waveforms) {
            // The first chip on a bus takes the name of the bus.
            let place = (described.name.clone(), board);
            let known = found.get(&place);
            let taken = known.is_some_and(|other| other.device.is_some());
            if WAVEFORMS.contains(&card.kind.as_str()) {
                // A database without an entry for the settings leaves their place to the name.
                if let Some(other) = known.filter(|_| described.words.is_none()) {
                    (described.words, described.outputs) = (other.words, other.outputs);
                    described.parameters.clone_from(&other.parameters);
                }
            }
            if SHARING.contains(&card.kind.as_str()) && taken {
                described.name.clone_from(&card.device);
            }
            found.insert((described.name.clone(), board), described);
        }
    }
    let names: Vec<String> = found.keys().map(|(name, _)| name.clone()).collect();
    for ((name, board), card) in &mut found {
        if names.iter().filter(|other| *other == name).count() > 1 {
            card.name = format!("{}_{name}", board_name(*board));
        }
    }
    found.into_values().collect()
}

/// Kind, card and line of a pin, if its name has them.
fn named(pad: &str) -> Option<(&'static str, &str, &str)> {
    let name = pad
        .strip_prefix("spi_")
        .or_else(|| pad.strip_prefix("ttl_"))
        .unwrap_or(pad);
    let (card, line) = name.split_once('_')?;
    let is_of = |kind: &&&str| {
        let number = card.strip_prefix(**kind);
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
    };
    Some((KINDS.iter().find(is_of)?, card, line))
}

/// A database card with its pins, and its board; `None` if none of its channels has several lines
/// on the device, whose common name becomes the card's. A Shuttler or Songbird has the name
/// of its settings.
fn described(card: &Card, pads: &[Pad], waveforms: &[Waveforms]) -> Option<(usize, Found)> {
    let mut lines = BTreeMap::new();
    let settings = card.channels.get("config");
    let waves = waveforms
        .iter()
        .find(|shown| shown.kind == card.kind && settings == Some(&shown.channel));
    let mut place = waves.map(|shown| (shown.name.as_str(), shown.board));
    for (part, channel) in &card.channels {
        let attached = ATTACHED
            .iter()
            .find_map(|(function, kind)| Some((function, kind, part.strip_prefix(function)?)));
        let of_it: Vec<&Pad> = pads.iter().filter(|pad| pad.channel == *channel).collect();
        for pad in &of_it {
            let (bus, last) = pad.name.rsplit_once('_').unwrap_or((&pad.name, &pad.name));
            let line = match (part.as_str(), attached) {
                ("spi" | "config", _) => last.to_string(),
                // A servo has separate lines to the ADC of a Sampler and to the chips of Urukuls.
                ("servo" | "bus", _) => pad.name.split_once('_').map_or(last, |(_, line)| line).to_string(),
                (_, Some((function, kind, number))) => {
                    let Some((_, line)) = pad.name.split_once(&format!("_{kind}{number}_")) else {
                        continue;
                    };
                    format!("{function}_{line}")
                }
                (part, None) if of_it.len() > 1 => format!("{part}_{last}"),
                (part, None) => part.to_string(),
            };
            let known = named(&pad.name).map(|(_, card, _)| card);
            if of_it.len() > 1 && attached.is_none() && part != "servo" {
                place = place.or(Some((known.unwrap_or(bus), pad.board)));
            }
            lines.insert(line, pad.index);
        }
    }
    let (name, board) = place?;
    // Line names in the gateware's pin names override those of the database.
    let called = |index: u16| {
        let pad = pads.iter().find(|pad| pad.index == index)?;
        named(&pad.name)
            .filter(|(_, card, _)| *card == name)
            .map(|(_, _, line)| line.to_string())
    };
    let found = Found {
        kind: card.kind.clone(),
        name: name.into(),
        device: Some(card.device.clone()),
        lines: lines
            .into_iter()
            .map(|(line, index)| (called(index).unwrap_or(line), index))
            .collect(),
        words: waves.map(|shown| shown.words),
        outputs: waves.map_or(0, |shown| shown.outputs),
        parameters: waves.map_or_else(BTreeMap::new, |shown| shown.parameters.clone()),
        settings: card.settings.clone(),
    };
    Some((board, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pads() -> Vec<Pad> {
        let all = [
            (0, "ttl0"),
            (1, "spi_urukul0_clk"),
            (1, "spi_urukul0_mosi"),
            (2, "ttl_urukul0_io_update"),
            (3, "dio_spi0_clk"),
            (3, "dio_spi0_cs0"),
            (4, "ttl16"),
            (5, "spi_sampler0_adc_clk"),
            (5, "spi_sampler0_adc_miso"),
            (6, "fastino0_clk"),
        ];
        let numbered = all.iter().enumerate();
        numbered
            .map(|(index, (channel, name))| Pad {
                index: index as u16,
                board: 0,
                channel: *channel,
                name: (*name).into(),
                drives: true,
                reads: false,
            })
            .collect()
    }

    fn lines(found: &Found) -> Vec<(&str, u16)> {
        found
            .lines
            .iter()
            .map(|(name, index)| (name.as_str(), *index))
            .collect()
    }

    #[test]
    fn cards_are_found_by_their_pin_names() {
        let found = find(&pads(), &[], &[]);
        let names: Vec<&str> = found.iter().map(|card| card.name.as_str()).collect();
        assert_eq!(names, ["fastino0", "sampler0", "urukul0"]);
        assert_eq!(lines(&found[1]), [("adc_clk", 7), ("adc_miso", 8)]);
        assert_eq!(lines(&found[2]), [("clk", 1), ("io_update", 3), ("mosi", 2)]);
    }

    #[test]
    fn servo_lines_belong_to_the_cards_of_the_servo() {
        let mut all = pads();
        for (n, line) in ["cnv", "urukul0_clk", "urukul1_clk", "urukul1_mosi3"]
            .iter()
            .enumerate()
        {
            all.push(Pad {
                index: 50 + n as u16,
                board: 0,
                channel: 9,
                name: format!("suservo0_{line}"),
                drives: true,
                reads: false,
            });
        }
        let card = |json| serde_json::from_value::<Card>(json).expect("a card");
        let cards = [
            card(json!({ "kind": "urukul", "device": "cpld", "channels": { "nu1": 9, "spi": 1 } })),
            card(json!({ "kind": "sampler", "device": "adc", "channels": { "adc": 5, "servo": 9 } })),
        ];
        let found = find(&all, &cards, &[]);
        let of = |name: &str| {
            found
                .iter()
                .find(|card| card.name == name)
                .map(lines)
                .expect("it is found")
        };
        assert_eq!(
            of("urukul0"),
            [("clk", 1), ("mosi", 2), ("nu_clk", 52), ("nu_mosi3", 53)]
        );
        assert_eq!(of("sampler0")[..3], [("adc_clk", 7), ("adc_miso", 8), ("cnv", 50)]);
    }

    #[test]
    fn card_of_the_device_database_takes_its_pins() {
        let card: Card = serde_json::from_value(json!({
            "kind": "zotino", "device": "dac", "channels": { "spi": 3, "ldac": 4 }, "settings": { "vref": 4 },
        }))
        .expect("a card");
        let found = find(&pads(), &[card], &[]);
        let zotino = &found[0];
        assert_eq!(
            (zotino.name.as_str(), zotino.device.as_deref()),
            ("dio_spi0", Some("dac"))
        );
        assert_eq!(lines(zotino), [("clk", 4), ("cs0", 5), ("ldac", 6)]);
        assert_eq!(zotino.settings["vref"], 4);
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn pin_names_take_precedence_over_the_database() {
        let card: Card = serde_json::from_value(json!({
            "kind": "urukul", "device": "cpld", "channels": { "spi": 1, "sw0": 2, "sw1": 4 },
        }))
        .expect("a card");
        let found = find(&pads(), &[card], &[]);
        let urukul = found.iter().find(|card| card.name == "urukul0").expect("it is found");
        assert_eq!(lines(urukul), [("clk", 1), ("io_update", 3), ("mosi", 2), ("sw1", 6)]);
    }

    #[test]
    fn shuttler_is_found_by_its_settings_channel() {
        let waveforms = [Waveforms {
            board: 0,
            kind: "shuttler".into(),
            channel: 9,
            name: "shuttler0".into(),
            words: 20,
            outputs: 16,
            parameters: BTreeMap::new(),
        }];
        let card = |channels| -> Card {
            serde_json::from_value(json!({ "kind": "shuttler", "device": "dac", "channels": channels }))
                .expect("a card")
        };
        let of = |cards: &[Card], name: &str| {
            let found = find(&pads(), cards, &waveforms);
            let card = found.into_iter().find(|card| card.name == name)?;
            Some((card.device.is_some(), card.words, card.lines.len()))
        };
        assert_eq!(of(&[], "shuttler0"), Some((false, Some(20), 0)), "by its name");
        assert_eq!(
            of(&[card(json!({ "config": 9 }))], "shuttler0"),
            Some((true, Some(20), 0))
        );
        // Relays at any bus; without the settings they are a card of their own.
        let both = [card(json!({ "config": 9, "relay": 3 }))];
        assert_eq!(of(&both, "shuttler0"), Some((true, Some(20), 2)));
        assert_eq!(of(&both, "dio_spi0"), None);
        assert_eq!(of(&[card(json!({ "relay": 3 }))], "dio_spi0"), Some((true, None, 2)));
        assert_eq!(
            of(&[card(json!({ "config": 8 }))], "shuttler0"),
            Some((false, Some(20), 0))
        );
    }

    #[test]
    fn several_chips_on_one_bus_are_found() {
        let chip = |device: &str| -> Card {
            serde_json::from_value(json!({ "kind": "ad53xx", "device": device, "channels": { "spi": 3 } }))
                .expect("a chip")
        };
        let found = find(&pads(), &[chip("dac_a"), chip("dac_b")], &[]);
        let names: Vec<&str> = found.iter().map(|card| card.name.as_str()).collect();
        assert_eq!(names, ["dac_b", "dio_spi0", "fastino0", "sampler0", "urukul0"]);
        assert_eq!(lines(&found[0]), lines(&found[1]));
    }

    #[test]
    fn each_board_has_its_own_cards() {
        let mut all = pads();
        let count = all.len() as u16;
        let other = pads().into_iter().filter(|pad| pad.name.contains("urukul0"));
        all.extend(other.map(|pad| Pad {
            index: count + pad.index,
            board: 1,
            channel: 1 << 16 | pad.channel,
            ..pad
        }));
        let card: Card = serde_json::from_value(json!({
            "kind": "urukul", "device": "far", "channels": { "spi": 0x10001, "io_update": 0x10002 },
        }))
        .expect("a card");
        let found = find(&all, &[card], &[]);
        let names: Vec<&str> = found.iter().map(|card| card.name.as_str()).collect();
        assert_eq!(names, ["fastino0", "sampler0", "master_urukul0", "satellite1_urukul0"]);
        assert_eq!(
            (found[2].device.as_deref(), found[3].device.as_deref()),
            (None, Some("far"))
        );
        assert_eq!(lines(&found[3]), [("clk", 11), ("io_update", 13), ("mosi", 12)]);
    }
}
