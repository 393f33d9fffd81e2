//! The specification's checks 23 to 44, by number: samples of splines, frames, tables.

mod support;

use kairos_contracts::pulse::{self as facts, State};
use kairos_pulse::model::{Channel, Config, Machine, Segments, Status};
use kairos_pulse::word::{self, MapEntry};
use kairos_pulse::{Segment, Word};
use support::{expanded, flagged, gate, map, play, run_word, vector, words};

fn machine() -> Machine {
    Machine::new(Config::default())
}

/// A gate of one segment for all parameters at address 0 of all tables.
fn one_gate(segment: &Segment) -> Vec<Word> {
    vec![
        word::program_plut(1, 0, segment),
        word::program_mlut(1, &[map(0, 255, 0)]),
        word::program_glut(1, &[gate(0, 0, 0)]),
    ]
}

#[test]
fn check_23_and_24_splines_give_their_samples() {
    for (name, parameter, p) in [("v06", "a0", 1), ("v07", "f1", 3), ("v08", "p0", 2)] {
        let vector = vector(name);
        let channel = vector["total_cycles"]
            .as_object()
            .unwrap()
            .keys()
            .next()
            .unwrap()
            .clone();
        let c: usize = channel.parse().unwrap();
        let cycles = vector["total_cycles"][&channel][parameter].as_u64().unwrap() as usize;
        let played = play(&mut machine(), words(&vector["words"]));
        assert_eq!(
            played[c].values[p],
            expanded(&vector["trajectory"][&channel][parameter], cycles),
            "{name}"
        );
    }
    let played = play(&mut machine(), words(&vector("v06")["words"]));
    let begin = [0, 9_851_099_136, 19_712_937_164, 29_596_252_978, 39_511_785_470];
    assert_eq!(played[0].values[1][..5], begin);
}

#[test]
fn check_25_and_26_segments_follow_without_a_gap() {
    let mut machine = Machine::new(Config {
        trigger_channels: 1,
        ..Config::default()
    });
    let mut words = Vec::new();
    for n in 0..16 {
        let flags = if n == 0 { facts::TONE_FLAG_WAIT } else { 0 };
        words.push(word::bypass(1, 255, &flagged(n, 1, flags)));
    }
    words.push(word::bypass(1, 255, &flagged(0, 4, facts::TONE_FLAG_WAIT)));
    machine.feed(words);
    machine.run_until_idle(1000);
    machine.step(true, &mut []);
    for n in 0..16 {
        assert_eq!(machine.channel(0).shown().values[..6], [n; 6]);
        machine.step(false, &mut []);
    }
    assert!(machine.channel(0).armed());
    assert_eq!(machine.status, Status::default());
}

#[test]
fn check_27_to_29_frames_accumulate_and_are_applied() {
    let played = play(&mut machine(), words(&vector("v10")["words"]));
    let degrees = |word: i64| word as f64 / (1u64 << 40) as f64 * 360.0;
    let at: Vec<f64> = (0..8).map(|n| degrees(played[0].values[6][16 * n + 15])).collect();
    for (value, expected) in at.iter().zip([10.0, 10.0, 20.0, -5.0, 0.0, 7.0, 8.0, 8.0]) {
        assert!((value - expected).abs() < 1e-9, "{at:?}");
    }
    // The pulse that is not forwarded, and those that clear and that add at the end.
    assert!(played[0].applied[0][96..112].iter().all(|&z| z == 0));
    let (one, other) = (&played[0].values[6][64..80], &played[0].values[6][80..96]);
    assert!(one.iter().all(|&z| z == 0) && other.iter().all(|&z| (degrees(z) - 7.0).abs() < 1e-9));
    let played = play(&mut machine(), words(&vector("v11")["words"]));
    for (tone, expected) in [
        [15.0, 0.0, -45.0, 45.0, 40.0, 0.0],
        [0.0, -30.0, 45.0, 45.0, -40.0, 0.0],
    ]
    .iter()
    .enumerate()
    {
        for (n, expected) in expected.iter().enumerate() {
            let value = degrees(played[0].applied[tone][8 * n + 3]);
            assert!((value - expected).abs() < 1e-9, "tone {tone}, pulse {n}: {value}");
        }
    }
}

#[test]
fn check_31_only_the_first_forwarded_frame_is_used() {
    let mut channel = Channel::new(&Config::default());
    channel.push(0x3f, Segment::constant(0, 8));
    channel.push(0x40, flagged(100, 8, facts::FRAME_FLAG_FORWARD0));
    channel.push(
        0x80,
        flagged(7, 8, facts::FRAME_FLAG_FORWARD0 | facts::FRAME_FLAG_FORWARD1),
    );
    channel.finish(1, false, &mut Status::default(), 0, 0);
    assert_eq!(channel.shown().applied, [100, 7]);
}

#[test]
fn check_32_two_half_turns_cancel_each_other() {
    let played = play(&mut machine(), words(&vector("v20")["words"]));
    let z0 = &played[0].values[6];
    assert!(z0.contains(&-549_755_813_888));
    assert_eq!(z0.last(), Some(&0));
}

#[test]
fn check_34_and_35_packed_ids_play_in_order() {
    let of = |name: &str, n: usize| words(&vector(name)["words"])[n];
    let counts =
        |name: &str, n: std::ops::Range<usize>, at, bits| n.map(|n| of(name, n).get(at, bits)).collect::<Vec<_>>();
    assert_eq!(counts("v16", 0..2, facts::RUN_COUNT_AT, facts::RUN_COUNT_BITS), [20, 3]);
    assert_eq!(of("v16", 0).get(0, 11), 100);
    assert_eq!(
        counts("v16", 2..6, facts::PROGRAM_COUNT_AT, facts::PROGRAM_COUNT_BITS),
        [6, 1, 6, 1]
    );
    assert_eq!(counts("v17", 0..4, facts::MODE_AT, facts::MODE_BITS), [4, 5, 6, 4]);
    assert_eq!(
        counts("v17", 0..4, facts::RUN_COUNT_AT, facts::RUN_COUNT_BITS),
        [2, 20, 3, 1]
    );
    let mut machine = machine();
    machine.feed(words(&vector("v17")["words"])[4..].iter().copied());
    machine.run_until_idle(100);
    let addresses = [0x800, 0x801, 0x880, 0x881, 0x900, 0x901, 0x980, 0x981];
    let firsts = addresses.map(|address| machine.sequencer(0).tables.gate(address).first);
    assert_eq!(firsts, [0, 1, 10, 11, 20, 21, 30, 31]);
}

#[test]
fn check_38_gate_runs_with_current_table_content() {
    let mut all = one_gate(&Segment::constant(5, 8));
    all.push(run_word(1, &[0]));
    all.push(word::program_plut(1, 0, &Segment::constant(9, 8)));
    all.push(run_word(1, &[0]));
    let played = play(&mut machine(), all);
    assert_eq!(played[0].values[1], [[5; 8], [9; 8]].concat());
}

#[test]
fn check_39_masks_of_parameters_are_not_stored() {
    let mut machine = machine();
    let body = Segment::constant(3, 8);
    let word = word::program_plut(1, 7, &body).with(facts::PARAMETER_MASK_AT, 8, 255);
    machine.feed([word]);
    machine.run_until_idle(100);
    assert_eq!(machine.sequencer(0).tables.pulse(7), body);
}

#[test]
fn check_40_masks_of_the_map_select_parameters() {
    let mut all = one_gate(&Segment::constant(5, 8));
    all.push(word::program_mlut(1, &[map(1, 0, 0), map(2, 255, 0)]));
    all.push(word::program_glut(1, &[gate(1, 1, 2)]));
    let mut machine = machine();
    machine.feed(all);
    machine.run_until_idle(100);
    machine.feed([run_word(1, &[1])]);
    // One cycle to pass the word on, one for the entry without parameters, one for that with all of
    // them.
    let mut queued = Vec::new();
    for _ in 0..4 {
        machine.step(false, &mut []);
        queued.push(machine.channel(0).queued());
    }
    assert_eq!(queued[1], [0; 8]);
    assert_eq!(queued[2], [1; 8]);
}

#[test]
fn check_41_gates_of_no_or_one_entry_are_played() {
    let mut all = one_gate(&Segment::constant(5, 8));
    all.push(word::program_glut(1, &[gate(1, 3, 2)]));
    all.push(run_word(1, &[0, 1, 1, 0, 2000, 0]));
    let played = play(&mut machine(), all);
    assert_eq!(played[0].values[1], [5; 24]);
}

#[test]
fn check_42_and_43_malformed_words_are_dropped_or_truncated() {
    let mut machine = machine();
    machine.feed([Word::default().with(facts::CHANNEL_MASK_AT, 8, 1)]);
    machine.run_until_idle(100);
    assert_eq!(machine.status.errors, facts::ERROR_MODE);
    let entries: Vec<MapEntry> = (0..6).map(|n| map(n, n as u8 + 1, 0)).collect();
    let mut many = word::program_mlut(1, &entries);
    many.0[3] |= 25 << (facts::PROGRAM_COUNT_AT - 192);
    machine.feed([many]);
    machine.run_until_idle(100);
    assert_eq!(machine.status.errors, facts::ERROR_MODE | facts::ERROR_COUNT);
    assert_eq!(machine.sequencer(0).tables.map(5).parameters, 6);
    let mut machine = Machine::new(Config::default());
    machine.feed([word::bypass(0, 255, &Segment::constant(1, 8)), Word::default()]);
    machine.run_until_idle(100);
    assert_eq!((machine.is_fed(), machine.status.errors), (true, 0));
}

#[test]
fn writes_beyond_a_small_table_are_dropped() {
    let mut machine = Machine::new(Config {
        plut_bits: 10,
        ..Config::default()
    });
    machine.feed([word::program_plut(1, 1024, &Segment::constant(1, 8))]);
    machine.run_until_idle(100);
    assert_eq!(machine.status.errors, facts::ERROR_ADDRESS);
    assert_eq!(machine.sequencer(0).tables.pulse(0), Segment::default());
}

#[test]
fn check_44_broadcast_waits_for_room_in_all_channels() {
    let mut machine = Machine::new(Config {
        input_fifo: 2,
        segment_fifo: 16,
        ..Config::default()
    });
    // Channel 0 is filled first; broadcast words must reach both channels exactly once, in order.
    let wait = facts::TONE_FLAG_WAIT;
    let mut all: Vec<Word> = (0..20)
        .map(|n| word::bypass(1, 255, &flagged(n, 4, if n == 0 { wait } else { 0 })))
        .collect();
    all.extend((0..20).map(|n| word::bypass(3, 255, &flagged(100 + n, 4, if n == 0 { wait } else { 0 }))));
    machine.feed(all);
    machine.run_until_idle(1000);
    assert!(!machine.is_fed());
    let mut seen: [Vec<i64>; 2] = Default::default();
    for cycle in 0..400 {
        let trigger = cycle % 120 == 10;
        for (c, seen) in seen.iter_mut().enumerate() {
            let channel = machine.channel(c);
            if channel.states()[0] == State::Run {
                seen.push(channel.shown().values[0]);
            }
        }
        machine.step(trigger, &mut []);
    }
    let first: Vec<i64> = (0..20).flat_map(|n| [n; 4]).collect();
    let second: Vec<i64> = (100..120).flat_map(|n| [n; 4]).collect();
    assert_eq!(seen, [[first, second.clone()].concat(), second]);
}

#[test]
fn result_in_last_cycle_is_in_time_and_branch_without_gates_takes_none() {
    let branch = |ids: &[u16]| word::run(1, word::Branch::Wait, ids, word::RunFormat::Counted);
    let mut machine = Machine::new(Config {
        branch_timeout: 10,
        ..Config::default()
    });
    machine.feed([branch(&[]), branch(&[3])]);
    while !machine.sequencer(0).waits_for_result() {
        machine.step(false, &mut []);
    }
    machine.run(9, &mut |_, _| (), &mut []);
    machine.result(1, 2);
    machine.run(9, &mut |_, _| (), &mut []);
    assert_eq!(machine.status.errors, 0);
    machine.feed([branch(&[3])]);
    machine.run(20, &mut |_, _| (), &mut []);
    assert_eq!(machine.status.errors, facts::ERROR_BRANCH_TIMEOUT);
}
