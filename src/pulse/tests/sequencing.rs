//! The specification's checks 45 to 52, by number: triggers, underruns, random programs, branches.

mod support;

use kairos_contracts::pulse::{self as facts, State};
use kairos_pulse::model::{Config, Machine, Status};
use kairos_pulse::word::{self, Branch, MapEntry, RunFormat};
use kairos_pulse::{Segment, Word};
use proptest::prelude::*;
use support::{flagged, gate, map, run_word, waiting};

proptest! {
    #[test]
    fn check_45_one_trigger_starts_all_at_once(after in 0u64..1000) {
        let mut machine = Machine::new(Config::default());
        machine.feed([waiting(255, 77, 8), waiting(255, 0, 8)]);
        machine.run_until_idle(100);
        prop_assert!(machine.armed());
        machine.run(after, &mut |_, _| (), &mut []);
        prop_assert!((0..8).all(|c| machine.channel(c).shown().values == [0; 8]));
        machine.step(true, &mut []);
        prop_assert!((0..8).all(|c| machine.channel(c).shown().values == [77; 8]));
        machine.run(8, &mut |_, _| (), &mut []);
        prop_assert!(machine.armed() && machine.status == Status::default());
    }
}

#[test]
fn check_46_early_trigger_is_reported_unless_strict() {
    for strict in [false, true] {
        let mut machine = Machine::new(Config {
            channels: 1,
            trigger_strict: strict,
            ..Config::default()
        });
        let part = |mask, value| word::bypass(1, mask, &flagged(value, 8, facts::TONE_FLAG_WAIT));
        machine.feed([part(0x7f, 5)]);
        machine.run_until_idle(100);
        machine.step(true, &mut []);
        let started = machine.channel(0).states()[0] == State::Run;
        assert_eq!(started, !strict);
        assert_eq!(
            machine.status.errors,
            if strict { 0 } else { facts::ERROR_TRIGGER_EARLY }
        );
        machine.feed([part(0x80, 5)]);
        if strict {
            machine.run(10, &mut |_, _| (), &mut []);
            assert_eq!(machine.channel(0).states(), [State::Run; 8]);
        }
    }
}

#[test]
fn check_48_gates_of_8_cycles_and_8_segments_follow_without_a_gap() {
    let mut all: Vec<Word> = (0..8)
        .map(|n| word::program_plut(1, n, &Segment::constant(n as i64 + 1, 8)))
        .collect();
    let entries: Vec<MapEntry> = (0..8).map(|n| map(n, 1 << n, n)).collect();
    all.extend(entries.chunks(6).map(|entries| word::program_mlut(1, entries)));
    all.push(word::program_glut(1, &[gate(0, 0, 7)]));
    all.extend((0..500).map(|_| run_word(1, &[0; 20])));
    let mut machine = Machine::new(Config::default());
    machine.feed(all);
    let mut cycles = 0;
    machine.run(
        90_000,
        &mut |c, block| {
            let running = c == 0 && block.frequency(0).at(0) != 0 && block.amplitude(0).at(0) != 0;
            cycles += if running { block.cycles } else { 0 };
        },
        &mut [],
    );
    assert_eq!(cycles, 80_000);
    // At the end the channel underflows, all engines in the same cycle.
    assert_eq!(machine.status.errors, facts::ERROR_UNDERRUN);
}

#[test]
fn check_49_underrun_at_a_boundary_is_reported() {
    let mut machine = Machine::new(Config::default());
    machine.feed([word::bypass(4, 255, &Segment::constant(50, 8))]);
    machine.run(30, &mut |_, _| (), &mut []);
    // Passed on in 0, executed in 1, at the heads in 2, output from 3 to 10.
    assert_eq!(
        (machine.status.underrun_channels, machine.status.underrun_parameters[2]),
        (4, 255)
    );
    assert_eq!(machine.status.first_cycle[2], Some(10));
    let shown = machine.channel(2).shown().values;
    assert_eq!(shown, [50, 0, 50, 50, 0, 50, 50, 50]);
    machine.feed([word::bypass(4, 255, &Segment::constant(60, 8))]);
    machine.run(5, &mut |_, _| (), &mut []);
    assert_eq!(machine.channel(2).shown().values, [60, 60, 60, 60, 60, 60, 110, 110]);
}

#[test]
fn check_49_underrun_within_a_pulse_is_reported() {
    let mut machine = Machine::new(Config::default());
    let all = word::bypass(1, 255, &Segment::constant(50, 8));
    let most = word::bypass(1, 0xfd, &Segment::constant(51, 8));
    machine.feed([all, most]);
    machine.run(10, &mut |_, _| (), &mut []);
    assert_eq!(machine.channel(0).states(), [State::Run; 8]);
    machine.step(false, &mut []);
    assert_eq!(machine.channel(0).states(), [State::Fault; 8]);
    let errors = facts::ERROR_UNDERRUN | facts::ERROR_MISALIGN;
    assert_eq!(
        (machine.status.errors, machine.status.underrun_parameters[0]),
        (errors, 2)
    );
    assert_eq!(machine.channel(0).shown().values, [50, 0, 50, 50, 0, 50, 50, 50]);
    // Any number of segments is discarded up to the pulse that waits, which then starts at the
    // trigger.
    machine.feed((0..100).map(|n| word::bypass(1, 255 >> (n % 8), &Segment::constant(n, 4))));
    machine.feed([waiting(1, 7, 8), waiting(1, 0, 8)]);
    machine.run_until_idle(10_000);
    assert!(machine.channel(0).armed() && machine.is_fed());
    machine.step(true, &mut []);
    assert_eq!(machine.channel(0).shown().values[..6], [7; 6]);
    // Frames hold their value from before the stopped pulse, plus that of this one.
    assert_eq!(machine.channel(0).shown().values[6..], [57, 57]);
}

#[test]
fn differing_durations_exceed_the_misalignment_limit() {
    let mut machine = Machine::new(Config {
        misalign_limit: 5,
        ..Config::default()
    });
    machine.feed([
        word::bypass(1, 0xfe, &Segment::constant(1, 8)),
        word::bypass(1, 1, &Segment::constant(1, 40)),
        waiting(1, 0, 8),
    ]);
    machine.run(30, &mut |_, _| (), &mut []);
    assert_eq!(machine.status.errors, facts::ERROR_MISALIGN);
    // Output from 4 on; armed from 12 on; the sixth such cycle is one too many.
    assert_eq!(machine.status.first_cycle[0], Some(17));
}

#[test]
fn zero_length_segments_are_skipped() {
    let mut machine = Machine::new(Config::default());
    machine.feed([
        word::bypass(1, 255, &Segment::constant(5, 8)),
        word::bypass(1, 255, &Segment::constant(6, 0)),
        word::bypass(1, 255, &Segment::constant(7, 8)),
    ]);
    machine.run(11, &mut |_, _| (), &mut []);
    assert_eq!(machine.channel(0).shown().values, [7, 7, 7, 7, 7, 7, 18, 18]);
    assert_eq!(machine.status.errors, facts::ERROR_TAU0);
}

#[test]
fn zero_length_rotations_are_discarded_with_the_next_segment() {
    let mut machine = Machine::new(Config::default());
    let turn = |tau, flags| word::bypass(1, 0xc0, &flagged(100, tau, flags));
    machine.feed([
        word::bypass(1, 255, &Segment::constant(5, 8)),
        turn(3, 0),
        turn(0, 0),
        turn(5, 0),
        turn(0, 0),
    ]);
    machine.run(20, &mut |_, _| (), &mut []);
    machine.feed([waiting(1, 1, 8)]);
    machine.run(20, &mut |_, _| (), &mut []);
    assert_eq!(
        machine.status.errors,
        facts::ERROR_TAU0 | facts::ERROR_UNDERRUN | facts::ERROR_MISALIGN
    );
    assert!(machine.channel(0).armed());
    machine.step(true, &mut []);
    assert_eq!(machine.channel(0).shown().values[6..], [106, 106]);
}

#[test]
fn fault_is_armed_once_all_present_heads_wait() {
    let mut machine = Machine::new(Config {
        channels: 1,
        ..Config::default()
    });
    let body = Segment::constant(1, 4);
    assert!(machine.give(0, 255, body) && machine.give(0, 0x7f, body));
    // Started after cycle 0, output in 1 to 4; stopped after 4; discarded in 5, and all heads wait
    // in 6.
    machine.run(5, &mut |_, _| (), &mut []);
    assert!(machine.give(0, 255, flagged(0, 4, facts::TONE_FLAG_WAIT)));
    machine.run(1, &mut |_, _| (), &mut []);
    assert!(!machine.channel(0).armed());
    machine.run(1, &mut |_, _| (), &mut []);
    assert!(machine.channel(0).armed());
    assert_eq!(machine.status.first_cycle[0], Some(4));
}

#[derive(Clone, Debug)]
struct Program {
    segments: Vec<Vec<u64>>,
    values: Vec<i64>,
}

/// Several segments for each parameter; all parameters have the same total number of cycles.
fn programs() -> impl Strategy<Value = Program> {
    let shares = prop::collection::vec(prop::collection::vec(1u64..200, 1..40), 8);
    (shares, prop::collection::vec(-1i64 << 30..1 << 30, 64)).prop_map(|(mut segments, values)| {
        let longest = segments.iter().map(|taus| taus.iter().sum::<u64>()).max().unwrap() + 1;
        for taus in &mut segments {
            let left = longest - taus.iter().sum::<u64>();
            taus.push(left);
        }
        Program { segments, values }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Check 50, for the model: the output is the same for FIFOs of 16 and 32 and any stalls that
    /// do not cause an underflow, whether run cycle by cycle or many cycles at once.
    #[test]
    fn check_50_random_programs_play_independently_of_stalls(program in programs(), deep in any::<bool>()) {
        let mut all = Vec::new();
        for (p, taus) in program.segments.iter().enumerate() {
            let mut at = 0;
            for (n, &tau) in taus.iter().enumerate() {
                let mut segment = Segment::constant(program.values[(7 * p + n) % 64], tau);
                segment.u[1] = program.values[(3 * p + 5 * n) % 64];
                segment.u[2] = program.values[(p + n) % 64] >> 8;
                segment.shift = (n % 9) as u8;
                segment.flags = if n == 0 { facts::TONE_FLAG_WAIT } else { 0 };
                all.push((at, p, word::bypass(1, 1 << p, &segment)));
                at += tau;
            }
        }
        all.sort_by_key(|&(at, p, _)| (at, p));
        let mut words: Vec<Word> = all.iter().map(|&(.., word)| word).collect();
        words.push(waiting(1, 0, 8));
        let config = Config { channels: 1, segment_fifo: if deep { 32 } else { 16 }, ..Config::default() };
        let total: u64 = program.segments[0].iter().sum();
        let start = |config: Config| {
            let mut machine = Machine::new(config);
            machine.feed(words.iter().copied());
            machine.run_until_idle(10_000);
            machine
        };
        let mut one = start(config.clone());
        let mut other = start(config);
        let mut samples = [vec![Vec::new()], vec![Vec::new()]];
        one.step(true, &mut samples[0]);
        other.step(true, &mut samples[1]);
        let mut shown = Vec::new();
        for _ in 0..total {
            shown.push(one.channel(0).shown());
            one.step(false, &mut samples[0]);
        }
        let mut at = 0;
        other.run(total, &mut |_, block| {
            for cycle in 0..block.cycles as usize {
                let expected = &shown[at + cycle];
                assert!((0..8).all(|p| block.values[p].at(cycle) == expected.values[p]));
                assert!((0..2).all(|t| block.applied[t].at(cycle) == expected.applied[t]));
            }
            at += block.cycles as usize;
        }, &mut samples[1]);
        // A program that needs segments faster than its words arrive may underflow, but then does
        // so in both.
        prop_assert_eq!(one.channel(0).states(), other.channel(0).states());
        prop_assert_eq!(&one.status, &other.status);
        prop_assert_eq!(&samples[0], &samples[1]);
        if one.status.errors & !facts::ERROR_SATURATED == 0 {
            for (p, taus) in program.segments.iter().enumerate().take(6) {
                let mut cycle = 0;
                for (n, &tau) in taus.iter().enumerate() {
                    prop_assert_eq!(shown[cycle].values[p], program.values[(7 * p + n) % 64], "parameter {} segment {}", p, n);
                    cycle += tau as usize;
                }
            }
        }
    }
}

#[test]
fn check_51_and_52_branches_follow_their_results() {
    let wait = word::run(3, Branch::Wait, &[0], RunFormat::Counted);
    let program = |channels: u8| {
        let segments = (0..2u16).map(move |n| word::program_plut(channels, n, &Segment::constant(i64::from(n) + 1, 8)));
        segments.chain([
            word::program_mlut(channels, &[map(0, 255, 0), map(1, 255, 1)]),
            word::program_glut(channels, &[gate(0x800, 0, 0), gate(0x880, 1, 1)]),
        ])
    };
    let mut machine = Machine::new(Config {
        channels: 2,
        ..Config::default()
    });
    machine.feed(program(3).chain([wait]));
    machine.run_until_idle(100);
    machine.result(2, 1);
    machine.run(5, &mut |_, _| (), &mut []);
    // Channel 0 still waits, channel 1 plays the gate selected by the result.
    assert!(machine.sequencer(0).waits_for_result());
    assert_eq!(machine.channel(1).shown().values, [2; 8]);
    // A result that arrives before its word is kept.
    machine.result(1, 0);
    machine.result(2, 1);
    machine.run(30, &mut |_, _| (), &mut []);
    let before = machine.cycle();
    machine.feed([word::run(2, Branch::Wait, &[0], RunFormat::Counted)]);
    machine.run(4, &mut |_, _| (), &mut []);
    assert_eq!(
        (machine.cycle() - before, machine.channel(1).states()),
        (4, [State::Run; 8])
    );
    let mut machine = Machine::new(Config {
        channels: 1,
        branch_timeout: 50,
        ..Config::default()
    });
    machine.feed(program(1).chain([wait]));
    machine.run(54, &mut |_, _| (), &mut []);
    assert_eq!(machine.status.errors, 0);
    machine.run(10, &mut |_, _| (), &mut []);
    assert_eq!(
        machine.status.errors & facts::ERROR_BRANCH_TIMEOUT,
        facts::ERROR_BRANCH_TIMEOUT
    );
    assert_eq!(machine.channel(0).shown().values[0], 1);
}
