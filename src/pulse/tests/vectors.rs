//! All example vectors, bit for bit: words decoded and re-encoded, and what the core plays of them.

mod support;

use kairos_pulse::model::Machine;
use kairos_pulse::word::{self, Branch, Decoded, GateEntry, MapEntry, RunFormat};
use kairos_pulse::{Segment, Word};
use serde_json::Value;
use support::{compare, emulator, expanded, play, vector, vectors, words};

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is not a number"))
}

fn segment(fields: &Value) -> Segment {
    Segment {
        u: ["U0", "U1", "U2", "U3"].map(|name| number(&fields[name])),
        tau: number(&fields["tau"]) as u64,
        shift: number(&fields["shift"]) as u8,
        flags: number(&fields["flags"]) as u8,
    }
}

/// The word that a vector describes.
fn encoded(fields: &Value) -> Word {
    let channels = number(&fields["channel_mask"]) as u8;
    let entries = || fields["entries_slot0_first"].as_array().unwrap().iter();
    match number(&fields["mode"]) {
        7 => word::bypass(channels, number(&fields["param_mask"]) as u8, &segment(fields)),
        3 => word::program_plut(channels, number(&fields["plut_addr"]) as u16, &segment(fields)),
        2 => {
            let entry = |e: &Value| MapEntry {
                address: number(&e["addr"]) as u16,
                parameters: number(&e["param_mask"]) as u8,
                plut: number(&e["plut_addr"]) as u16,
            };
            word::program_mlut(channels, &entries().map(entry).collect::<Vec<_>>())
        }
        1 => {
            let entry = |e: &Value| GateEntry {
                address: number(&e["addr"]) as u16,
                first: number(&e["first"]) as u16,
                last: number(&e["last"]) as u16,
            };
            word::program_glut(channels, &entries().map(entry).collect::<Vec<_>>())
        }
        mode => {
            let branch = [Branch::None, Branch::Wait, Branch::Continue][mode as usize - 4];
            let ids = fields["gate_ids_slot0_first"].as_array().unwrap();
            let ids: Vec<u16> = ids.iter().map(|id| number(id) as u16).collect();
            word::run(channels, branch, &ids, RunFormat::Counted)
        }
    }
}

#[test]
fn words_of_all_vectors_round_trip() {
    let mut seen = 0;
    for vector in vectors() {
        let Some(decoded) = vector["decoded_words"].as_array() else {
            continue;
        };
        for (fields, word) in decoded.iter().zip(words(&vector["words"])) {
            assert_eq!(encoded(fields), word, "{}", vector["name"]);
            let count = |of: &Decoded| match of {
                Decoded::Glut(slots) => slots.items().len(),
                Decoded::Mlut(slots) => slots.items().len(),
                Decoded::Run { ids, .. } => ids.items().len(),
                _ => 0,
            };
            let taken = word::decode(&word, RunFormat::Counted).expect("a mode");
            assert_eq!(
                fields["count"].as_u64().unwrap_or(0),
                count(&taken) as u64,
                "{}",
                vector["name"]
            );
            seen += 1;
        }
    }
    assert!(seen > 200, "{seen}");
}

#[test]
fn all_vectors_play_as_in_the_emulator() {
    let mut seen = 0;
    for vector in vectors() {
        let name = vector["name"].as_str().unwrap();
        if vector["trajectory"].is_null() {
            continue;
        }
        let mut machine = emulator();
        machine.result(u8::MAX, 0);
        let played = play(&mut machine, words(&vector["words"]));
        compare(name, &played, &vector["trajectory"], &vector["total_cycles"]);
        // Checks 27 and 28: the rotation applied to each tone.
        for (channel, tones) in vector["applied_frame"].as_object().into_iter().flatten() {
            let c: usize = channel.parse().unwrap();
            for t in 0..2 {
                let cycles = vector["total_cycles"][channel]["z0"].as_u64().unwrap() as usize;
                let expected = expanded(&tones[format!("tone{t}")], cycles);
                assert_eq!(played[c].applied[t], expected, "{name}, tone {t}");
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 20);
}

/// A machine that has played the words of a vector.
fn played(name: &str) -> (Machine, Vec<support::Played>, Value) {
    let vector = vector(name);
    let mut machine = Machine::new(Default::default());
    let played = play(&mut machine, words(&vector["words"]));
    (machine, played, vector)
}

#[test]
fn check_30_frames_continue_without_a_step() {
    let (_, played, vector) = played("v12");
    for (p, name) in [(6, "z0"), (7, "z1")] {
        let cycles = vector["total_cycles"]["0"][name].as_u64().unwrap() as usize;
        let trajectory = &vector["trajectory_continuous_commit"];
        let of_channel = if trajectory["0"].is_null() {
            trajectory
        } else {
            &trajectory["0"]
        };
        assert_eq!(played[0].values[p], expanded(&of_channel[name], cycles), "{name}");
    }
    assert_eq!(played[0].values[6].last(), Some(&30_541_989_638));
    let emulated = play(&mut emulator(), words(&vector["words"]));
    assert_eq!(emulated[0].values[6].last(), Some(&32_893_722_846));
}

#[test]
fn check_33_tables_hold_programmed_words() {
    let (machine, played, vector) = played("v15");
    let tables = &machine.sequencer(4).tables;
    for (address, body) in vector["plut"].as_object().unwrap() {
        let body = support::word(body.as_str().unwrap());
        assert_eq!(tables.pulse(address.parse().unwrap()), Segment::from_word(&body));
    }
    for (address, entry) in vector["mlut"].as_object().unwrap() {
        let map = tables.map(address.parse().unwrap());
        assert_eq!(i64::from(map.parameters), number(&entry["param_mask"]));
        assert_eq!(i64::from(map.plut), number(&entry["plut_addr"]));
    }
    for (address, range) in vector["glut"].as_object().unwrap() {
        let gate = tables.gate(address.parse().unwrap());
        assert_eq!(
            [gate.first, gate.last].map(i64::from),
            [number(&range[0]), number(&range[1])]
        );
    }
    assert!(played[4].values.iter().all(|values| values.len() == 52));
}

#[test]
fn check_36_result_selects_gate() {
    let vector = vector("v18");
    for (result, frame) in [(0, 0), (1, 1i64 << 38)] {
        let mut machine = Machine::new(Default::default());
        machine.result(1 << 4, result);
        let played = play(&mut machine, words(&vector["words"]));
        let cycles = if result == 0 { 36 } else { 32 };
        assert!(played[4].values.iter().all(|values| values.len() == cycles));
        assert_eq!(played[4].values[6].last(), Some(&frame));
        let on = played[4].values[1].iter().filter(|&&amplitude| amplitude != 0).count();
        assert_eq!(on, if result == 0 { 12 } else { 0 });
    }
}

#[test]
fn check_37_tables_and_stream_play_alike() {
    let (_, tables, _) = played("v20");
    let (_, stream, _) = played("v21");
    assert_eq!(tables, stream);
    for channel in &tables[..2] {
        assert!(channel.values.iter().all(|values| values.len() == 216));
    }
}

#[test]
fn check_47_closing_packet_holds_the_channel() {
    let vector = vector("v19");
    let mut machine = Machine::new(Default::default());
    machine.feed(words(&vector["words"]));
    machine.run_until_idle(10_000);
    assert!(machine.channel(0).armed());
    assert_eq!(machine.channel(0).shown().values, [0; 8]);
    assert_eq!(machine.status, Default::default());
}

#[test]
fn check_67_core_plays_words_in_their_order() {
    let vector = vector("v22");
    let played = play(
        &mut Machine::new(Default::default()),
        words(&vector["faulty_table_words"]),
    );
    for (p, name) in [(1, "a0"), (4, "a1")] {
        assert_eq!(
            played[0].values[p],
            expanded(&vector["faulty_table_trajectory"][name], 60),
            "{name}"
        );
    }
}
