//! The line to the camera: its changes to characters in 8B/10B, those to triggers and commands.

use std::collections::HashMap;

use kairos_contracts::chips::coaxpress as facts;
use kairos_contracts::chips::code8b10b::{ALTERNATIVE, ALTERNATIVES, CODE_BITS, CONTROL_SIX, FOUR, SIX};

use super::packets::{crc_of, vote};
use crate::signal::Ns;

/// Duration of a cycle, a character and a bit.
const CYCLE: Ns = 8;
const CHARACTER: Ns = facts::CHARACTER_CYCLES as Ns * CYCLE;
const BITS: Ns = CODE_BITS as Ns;
const BIT: Ns = CHARACTER / BITS;
/// The highest bit of a control character.
pub const CONTROL: u16 = 0x100;
/// The idle word.
pub const IDLE: [u16; 4] = [
    CONTROL | facts::COMMA as u16,
    CONTROL | facts::IDLE as u16,
    CONTROL | facts::IDLE as u16,
    facts::IDLE_END as u16,
];
const RISE: u16 = CONTROL | facts::TRIGGER_RISE as u16;
const FALL: u16 = CONTROL | facts::TRIGGER_FALL as u16;
const START: [u16; 4] = [CONTROL | facts::PACKET_START as u16; 4];
const END: [u16; 4] = [CONTROL | facts::PACKET_END as u16; 4];
/// Characters of a trigger's packet.
const TRIGGER: usize = 6;

/// What arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrived {
    /// A trigger: which of four, and the time of its event.
    Trigger { number: usize, event: Ns },
    /// A command.
    Command(Command),
    /// A packet that is not a valid command.
    Spoilt,
}

/// A command of the grabber.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub tag: Option<u8>,
    pub operation: u8,
    pub length: u32,
    pub address: u32,
    pub data: Vec<u8>,
}

/// The code of a character, and whether there have been more ones after it.
fn encode(character: u16, positive: bool) -> (u16, bool) {
    let (x, y) = (usize::from(character & 31), usize::from(character >> 5 & 7));
    let special = character & CONTROL != 0;
    let mut six = if special && x == 28 {
        CONTROL_SIX
    } else {
        SIX[x / 8][x % 8]
    };
    let unequal = six.count_ones() != 3;
    if positive && (unequal || six == 0b000111) {
        six ^= 0x3f;
    }
    let after = positive != unequal;
    let alternative = !special && y == 7 && ALTERNATIVES[usize::from(after)].contains(&(x as u32));
    let mut four = if alternative {
        ALTERNATIVE
    } else {
        FOUR[usize::from(special)][y]
    };
    let inverts = special || four.count_ones() != 2 || four == 0b0011;
    if after && inverts {
        four ^= 0xf;
    }
    ((four << 6 | six) as u16, after != (four.count_ones() != 2))
}

/// The characters by their codes.
fn characters() -> HashMap<u16, u16> {
    let controls = (0..8).map(|y| y << 5 | 28).chain([23, 27, 29, 30].map(|x| 7 << 5 | x));
    let all = (0..0x100).chain(controls.map(|control| CONTROL | control));
    all.flat_map(|character| [false, true].map(|positive| (encode(character, positive).0, character)))
        .collect()
}

/// The end of the line.
pub struct Line {
    characters: HashMap<u16, u16>,
    level: bool,
    /// Time of the last change.
    changed: Ns,
    /// The last bits, the newest highest.
    bits: u16,
    /// Number of the next bit, modulo those of a character, and of the first one of characters.
    place: Ns,
    first: Option<Ns>,
    /// Characters of the trigger or packet in progress, those of a trigger with their beginnings.
    trigger: Vec<(Ns, u16)>,
    packet: Vec<u16>,
}

impl Default for Line {
    /// A line at rest.
    fn default() -> Self {
        Self {
            characters: characters(),
            level: false,
            changed: 0,
            bits: 0,
            place: 0,
            first: None,
            trigger: Vec::new(),
            packet: Vec::new(),
        }
    }
}

impl Line {
    /// The level since the last change.
    #[cfg(test)]
    pub fn level(&self) -> bool {
        self.level
    }

    /// Takes a change, which ends the bits before it.
    pub fn change(&mut self, at: Ns, level: bool) -> Vec<Arrived> {
        let mut arrived = Vec::new();
        let mut count = (at - self.changed + BIT / 2) / BIT;
        // Of a rest only the last bits matter, and its length.
        let skipped = count.saturating_sub(2 * BITS) / BITS * BITS;
        count -= skipped;
        for left in (0..count).rev() {
            self.bit(at - left * BIT, &mut arrived);
        }
        (self.level, self.changed) = (level, at);
        arrived
    }

    /// Takes a bit that ends at a time.
    fn bit(&mut self, end: Ns, arrived: &mut Vec<Arrived>) {
        self.bits = self.bits >> 1 | u16::from(self.level) << (BITS - 1);
        self.place = (self.place + 1) % BITS;
        let character = self.characters.get(&self.bits).copied();
        if character == Some(IDLE[0]) {
            self.first = Some(self.place);
            // Half a word before it was none.
            self.packet.truncate(self.packet.len() / 4 * 4);
        }
        if let (Some(character), true) = (character, self.first == Some(self.place)) {
            self.character(end.saturating_sub(CHARACTER), character, arrived);
        }
    }

    fn character(&mut self, began: Ns, character: u16, arrived: &mut Vec<Arrived>) {
        if !self.trigger.is_empty() || [RISE, FALL].contains(&character) {
            self.trigger.push((began, character));
            if self.trigger.len() == TRIGGER {
                arrived.push(trigger(&std::mem::take(&mut self.trigger)));
            }
            return;
        }
        self.packet.push(character);
        let (words, []) = self.packet.as_chunks::<4>() else {
            return;
        };
        match words.last() {
            Some(&IDLE) => self.packet.truncate(self.packet.len() - 4),
            Some(&START) => self.packet = START.to_vec(),
            Some(&END) => {
                let whole = std::mem::take(&mut self.packet);
                arrived.push(command(&whole).map_or(Arrived::Spoilt, Arrived::Command));
            }
            _ => {}
        }
    }
}

/// The trigger of a packet. Its delay, in units of 2 ns, is the time from the event to the packet and 6 ns.
fn trigger(packet: &[(Ns, u16)]) -> Arrived {
    let delay = vote(&packet[3..].iter().map(|(_, value)| *value as u8).collect::<Vec<_>>());
    let falling = usize::from(packet[0].1 == FALL);
    Arrived::Trigger {
        number: falling | usize::from(delay & 1) << 1,
        event: (packet[0].0 + 6).saturating_sub(2 * Ns::from(delay & !1)),
    }
}

/// The command of a packet with its start and end; `None` if it is none, or its CRC is wrong.
fn command(packet: &[u16]) -> Option<Command> {
    let (start, body) = packet.split_at_checked(4)?;
    let bytes: Vec<u8> = body.iter().map(|character| *character as u8).collect();
    let (kind, body) = bytes.get(..bytes.len() - 4)?.split_at_checked(4)?;
    if start != START || crc_of(body) != 0 {
        return None;
    }
    let body = body.get(..body.len() - 4)?;
    let (tag, body) = match u32::from(vote(kind)) {
        facts::COMMAND => (None, body),
        facts::TAGGED_COMMAND => {
            let (tag, body) = body.split_at_checked(4)?;
            (Some(vote(tag)), body)
        }
        _ => return None,
    };
    let word = |at: usize| Some(u32::from_be_bytes(body.get(at..at + 4)?.try_into().ok()?));
    let head = word(0)?;
    Some(Command {
        tag,
        operation: (head >> 24) as u8,
        length: head & 0xff_ffff,
        address: word(4)?,
        data: body.get(8..)?.to_vec(),
    })
}

#[cfg(test)]
#[path = "line_tests.rs"]
pub mod tests;
