//! Bench files with a value exchanged: each is accepted, or refused in one line with the location. What is accepted
//! runs for a moment.

use proptest::prelude::*;

use super::{assemble_bench, IONS};

/// A part of each kind that the pins of these tests can have.
const PARTS: &str = r#"
seed = 5
[crystal.c]
ions = 2
mode = { hz = 1e6, eta = 0.1 }
[aom.a]
tone = "urukul0.ch0"
centre_hz = 80e6
passes = 2
[ion.i]
drive = { light = "a", rabi_hz = 1e4, resonance_hz = 80e6 }
detection = { light = "a", photons_hz = 1e5 }
lifetime_s = 1.0
[photomultiplier.m]
pin = "ttl0"
sees = ["i", "c"]
efficiency = 0.5
dark_hz = 10
pulse_ns = 20
dead_ns = 30
afterpulses = 0.1
[source.s]
hz = 1e6
dbm = 0.0
[line.l]
pin = "ttl1"
hz = 50.0
[photodiode.d]
sees = []
volts = 1.5
"#;

/// Values that no part expects, or only at another place.
const HOSTILE: [&str; 22] = [
    "0",
    "-1",
    "1",
    "3",
    "255",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "1e-320",
    "1e308",
    "-0.0",
    "nan",
    "inf",
    "\"\"",
    "\"aom_729\"",
    "\"urukul0.ch9\"",
    "[]",
    "{}",
    "true",
    "1979-05-27",
];

/// The ends of the values in a file: what is between `=`, `,`, `[`, `{` and `,`, `]`, `}` or the end of the line.
fn values(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = None;
    for (index, character) in text.char_indices() {
        match character {
            '=' | '{' | '[' => start = Some(index + 1),
            ',' | ']' | '}' | '\n' => {
                found.extend(start.take().map(|start| (start, index)));
                start = (character == ',').then_some(index + 1);
            }
            _ => {}
        }
    }
    found.retain(|&(start, end)| !text[start..end].trim().is_empty());
    found
}

#[test]
fn parts_are_assembled_as_they_are() {
    assert_eq!(assemble_bench(PARTS).err(), None);
}

proptest! {
    #[test]
    fn file_with_an_exchanged_value_is_assembled_or_refused_in_one_line(
        parts in any::<bool>(),
        place in any::<proptest::sample::Index>(),
        value in proptest::sample::select(&HOSTILE[..]),
    ) {
        let text = if parts { PARTS } else { IONS };
        let all = values(text);
        let (start, end) = all[place.index(all.len())];
        let text = format!("{} {value}{}", &text[..start], &text[end..]);
        match assemble_bench(&text) {
            Ok(mut assembly) => assembly.engine.run(1_000_000),
            Err(message) => {
                prop_assert!(message.starts_with("bench.toml:"), "{message}");
                prop_assert!(!message.contains('\n'), "{message}");
            }
        }
    }
}
