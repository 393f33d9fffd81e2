//! The line against an encoder of its own, which keeps the levels.

use super::*;

/// Changes of a line, which rests at a level, for characters, each at a multiple of its duration, from a time on.
pub fn changes(start: Ns, mut level: bool, characters: &[u16]) -> Vec<(Ns, bool)> {
    let (mut positive, mut found) = (false, Vec::new());
    for (n, character) in characters.iter().enumerate() {
        let (code, after) = encode(*character, positive);
        positive = after;
        for bit in 0..BITS {
            let now = code >> bit & 1 != 0;
            if now != level {
                found.push((start + n as Ns * CHARACTER + bit * BIT, now));
                level = now;
            }
        }
    }
    found
}

/// Characters of a command with a CRC.
pub fn command_of(kind: u32, body: &[u8]) -> Vec<u16> {
    let mut bytes = vec![kind as u8; 4];
    bytes.extend(body);
    bytes.extend(crc_of(body).to_le_bytes());
    let inner = bytes.into_iter().map(u16::from);
    IDLE.into_iter()
        .chain(START)
        .chain(inner)
        .chain(END)
        .chain(IDLE)
        .collect()
}

fn arrived(line: &mut Line, changes: &[(Ns, bool)]) -> Vec<Arrived> {
    changes
        .iter()
        .flat_map(|(at, level)| line.change(*at, *level))
        .collect()
}

#[test]
fn commands_and_triggers_arrive_after_rests_of_any_length() {
    let mut line = Line::default();
    let read = [0, 0, 0, 4, 0x12, 0x34, 0x56, 0x78];
    let edges = changes(CHARACTER * 1000, false, &command_of(facts::COMMAND, &read));
    let found = arrived(&mut line, &edges);
    let expected = Command {
        tag: None,
        operation: 0,
        length: 4,
        address: 0x1234_5678,
        data: vec![],
    };
    assert_eq!(found, [Arrived::Command(expected)]);

    // A trigger within a packet, whose event was 240 - 6 ns before it
    let mut write = command_of(
        facts::TAGGED_COMMAND,
        &[7, 7, 7, 7, 1, 0, 0, 4, 0, 0, 0x40, 0, 9, 8, 7, 6],
    );
    let falling = [FALL, RISE, RISE, 121, 121, 121];
    write.splice(9..9, falling);
    let start = CHARACTER * 5_000_000;
    let edges = changes(start, line.level(), &write);
    let found = arrived(&mut line, &edges);
    let expected = Command {
        tag: Some(7),
        operation: 1,
        length: 4,
        address: 0x4000,
        data: vec![9, 8, 7, 6],
    };
    let event = start + 9 * CHARACTER + 6 - 240;
    assert_eq!(
        found,
        [Arrived::Trigger { number: 3, event }, Arrived::Command(expected)]
    );
}

#[test]
fn wrong_crc_and_unknown_packets_are_reported() {
    let mut wrong = command_of(facts::COMMAND, &[0, 0, 0, 4, 0, 0, 0, 0]);
    wrong[14] ^= 1;
    let unknown = command_of(9, &[0; 8]);
    let half = &command_of(facts::COMMAND, &[0, 0, 0, 4, 0, 0, 0, 0])[..14];
    let whole = command_of(facts::COMMAND, &[0, 0, 0, 4, 0, 0, 0, 8]);
    let mut line = Line::default();
    let all: Vec<u16> = [&wrong[..], &unknown, half, &whole].concat();
    let found = arrived(&mut line, &changes(0, false, &all));
    assert_eq!(found[..2], [Arrived::Spoilt, Arrived::Spoilt]);
    assert!(
        matches!(&found[2..], [Arrived::Command(command)] if command.address == 8),
        "{found:?}"
    );
}

#[test]
fn one_wrong_copy_of_a_type_or_tag_is_outvoted() {
    assert_eq!(vote(&[5, 5, 9, 5]), 5);
    assert_eq!(vote(&[1, 2, 4]), 0);
    let mut packet: Vec<u16> = command_of(facts::COMMAND, &[0, 0, 0, 4, 0, 0, 0, 0]);
    packet[9] = 0xff;
    let found = arrived(&mut Line::default(), &changes(0, false, &packet));
    assert!(matches!(found[..], [Arrived::Command(_)]), "{found:?}");
}
