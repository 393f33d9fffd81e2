//! Samples computed from recorded changes of engine outputs equal those of the whole core.

mod support;

use kairos_contracts::pulse::{SINE_PHASE_BITS, TONES, TONE_FLAG_SYNC, TONE_FLAG_WAIT, TONE_SHIFT, VALUE_BITS};
use kairos_pulse::model::{Block, Config, Follower, Machine, Recording, Sine, Tone, FIELDS};
use kairos_pulse::units::Rates;
use kairos_pulse::{word, Segment};
use proptest::prelude::*;
use support::flagged;

const RATES: Rates = Rates {
    clock: 125e6,
    samples_per_cycle: 8,
};

/// Words of a recording, as recorded by the emulator from the logic.
#[derive(Default)]
struct Recorder {
    words: Vec<u64>,
    last: [[u64; FIELDS]; 2],
}

impl Recorder {
    fn see(&mut self, cycle: u64, output: usize, block: &Block) {
        let mut now = [0u64; FIELDS];
        for at in 0..block.cycles as usize {
            let runs = block.values.iter().chain(&block.applied);
            for (field, run) in now.iter_mut().zip(runs) {
                *field = run.at(at) as u64 & 0xff_ffff_ffff;
            }
            let sync = |t: usize| u64::from(at == 0 && block.sync[t]) << t;
            now[FIELDS - 1] = sync(0) | sync(1);
            let last = &mut self.last[output];
            let changed: Vec<usize> = (0..FIELDS).filter(|&n| now[n] != last[n]).collect();
            if !changed.is_empty() {
                let mask = changed.iter().fold(0, |mask, n| mask | 1 << n);
                self.words
                    .push((cycle + at as u64) << 16 | (output as u64) << 12 | mask);
                self.words.extend(changed.iter().map(|&n| now[n]));
                *last = now;
            }
        }
    }
}

/// Segments of both channels: frequency, slope, length, whether it synchronises, whether it waits.
fn program(segments: &[(i64, i64, u64, bool, bool)]) -> Machine {
    let config = Config {
        channels: 2,
        rates: RATES,
        ..Config::default()
    };
    let mut machine = Machine::new(config);
    for (n, &(frequency, slope, tau, sync, wait)) in segments.iter().enumerate() {
        let wait = if wait || n == 0 { TONE_FLAG_WAIT } else { 0 };
        let sync = if sync { TONE_FLAG_SYNC } else { 0 };
        for p in 0..8u8 {
            let segment = match p % 3 {
                0 if p < 6 => flagged(frequency >> p, tau, wait | sync),
                1 if p < 6 => Segment {
                    u: [frequency.wrapping_neg() >> 1, slope, 3, 0],
                    ..flagged(0, tau, wait)
                },
                _ => flagged(slope << p, tau, wait | if p > 5 { 0x30 } else { 0 }),
            };
            machine.feed([word::bypass(1 << (n % 2) | 2, 1 << p, &segment)]);
        }
    }
    machine
}

/// Samples of an output, computed from the tones reported while following the recording piece by
/// piece.
fn followed(words: &[u64], cores: &[usize], output: usize, cycles: u64, piece: usize) -> Vec<i16> {
    let mut follower = Follower::new(cores, 8);
    let mut changes: Vec<(u64, [Tone; TONES])> = vec![(0, Default::default())];
    let mut taken = 0;
    while taken < words.len() {
        // Entries may be split between pieces.
        let until = words.len().min(taken + piece.max(FIELDS + 2));
        taken += follower.take(&words[taken..until], |number, cycle, tones| {
            if number == output {
                changes.push((cycle, tones));
            }
        });
    }
    let sine = Sine::new();
    let part = |tone: &Tone, sample: u64| {
        let phase = tone.phase.wrapping_add((tone.frequency as u64).wrapping_mul(sample)) & ((1 << VALUE_BITS) - 1);
        let cosine = i64::from(sine.cosine(phase >> (VALUE_BITS - SINE_PHASE_BITS)));
        (tone.amplitude * cosine + (1 << (TONE_SHIFT - 1))) >> TONE_SHIFT
    };
    let mut samples = Vec::new();
    for at in 0..8 * cycles {
        let (from, tones) = changes
            .iter()
            .rev()
            .find(|changes| changes.0 <= at / 8)
            .expect("one from the begin on");
        let sum: i64 = tones.iter().map(|tone| part(tone, at - 8 * from)).sum();
        samples.push((sum >> 1).clamp(-32768, 32767) as i16);
    }
    samples
}

proptest! {
    #[test]
    fn recorded_values_give_the_samples_of_the_core(
        segments in prop::collection::vec(
            (-(1i64 << 38)..1 << 38, -(1i64 << 20)..1 << 20, 1u64..60, any::<bool>(), any::<bool>()), 1..8,
        ),
        triggers in prop::collection::vec(1u64..150, 1..6),
        window in (0u64..900, 1u64..300),
    ) {
        let mut machine = program(&segments);
        let mut recorder = Recorder::default();
        let mut samples = vec![Vec::new(); 2];
        for wait in triggers {
            let end = machine.cycle() + wait;
            while machine.cycle() < end {
                let cycle = machine.cycle();
                machine.run(1, &mut |c, block| recorder.see(cycle, c, block), &mut samples);
            }
            // In the cycle of the trigger the outputs are those left by the one before it.
            let (mut seen, cycle) = (machine.clone(), machine.cycle());
            seen.run(1, &mut |c, block| recorder.see(cycle, c, block), &mut []);
            machine.step(true, &mut samples);
        }
        let cycles = machine.cycle();
        let (from, count) = (window.0.min(cycles - 1), window.1.min(cycles - window.0.min(cycles - 1)));
        let recording = Recording::new(&recorder.words, &[0, 0], 8).unwrap();
        for (output, samples) in samples.iter().enumerate() {
            let mut rendered = Vec::new();
            recording.samples(output, from, count, &mut rendered);
            prop_assert_eq!(&rendered[..], &samples[8 * from as usize..8 * (from + count) as usize]);
            let mut length = 0;
            recording.fields(output, from, count, |cycles, _| length += cycles);
            prop_assert_eq!(length, count);
            let followed = followed(&recorder.words, &[0, 0], output, from + count, window.1 as usize);
            prop_assert_eq!(&followed[8 * from as usize..], &rendered[..], "tones that are reported meanwhile");
        }
    }
}

#[test]
fn invalid_recording_is_refused() {
    assert!(
        Recording::new(&[1 << 16 | 3, 7], &[0], 8).is_none(),
        "a field is missing"
    );
    assert!(
        Recording::new(&[1 << 16 | 1 << 12 | 1, 7], &[0], 8).is_none(),
        "no such output"
    );
    assert!(
        Recording::new(&[2 << 16 | 1, 7, 1 << 16 | 1, 8], &[0], 8).is_none(),
        "time goes back"
    );
    assert!(
        Recording::new(&[1 << 16 | 1 << 12 | 1 << 11, 7], &[0, 0], 8).is_none(),
        "settings are with a core's first output"
    );
    assert!(
        Recording::new(&[1 << 16 | 1 << 11, 5 << 47], &[0], 8).is_none(),
        "no such setting"
    );
    let mut samples = Vec::new();
    let recording = Recording::new(&[], &[0], 8).unwrap();
    assert!(!recording.samples(0, 5, 3, &mut samples));
    assert_eq!((samples, recording.span(0)), (vec![0; 24], None));
}

#[test]
fn reset_restarts_phases_of_recorded_tones() {
    // A frequency from cycle 1 on, a reset in cycle 5, the frequency again from cycle 8 on; full
    // amplitude.
    let (quarter, full) = (1u64 << 38, 0x7f_ff80_0000u64);
    let head = |cycle: u64, mask: u64| cycle << 16 | mask;
    let words = [
        head(1, 3),
        quarter >> 3,
        full,
        head(5, 1 << 10),
        1 << 8,
        head(6, 0x403),
        0,
        0,
        0,
        head(8, 3),
        quarter >> 3,
        full,
    ];
    let recording = Recording::new(&words, &[0], 8).unwrap();
    let mut samples = Vec::new();
    recording.samples(0, 0, 12, &mut samples);
    assert_eq!(samples[8..16], samples[64..72]);
    assert_eq!(samples[48..64], [0; 16]);
    assert_ne!(samples[8..16], samples[16..24]);
    assert_eq!(recording.span(0), Some((1, 8)));
    assert_eq!(followed(&words, &[0], 0, 12, 5), samples);
}

#[test]
fn settings_are_per_core_and_end_with_its_reset() {
    let (quarter, full) = (1u64 << 38, 0x7f_ff80_0000u64);
    let head = |cycle: u64, output: u64, mask: u64| cycle << 16 | output << 12 | mask;
    // A frequency on both cores from cycle 1 on, synchronised to the global phase in cycles 1, 4
    // and 8; the first core's counter is a quarter of a turn ahead from cycle 3 on, and reset in
    // cycle 6.
    let mut words = Vec::new();
    for (output, counter) in [(0, 5), (1, 0)] {
        let shown = |cycle, levels, extra: Option<u64>| {
            let mut row = vec![
                head(cycle, output, 0x403 | u64::from(extra.is_some()) << 11),
                quarter >> 3,
                full,
                levels,
            ];
            row.extend(extra);
            row
        };
        words.extend(shown(1, 1, None));
        words.extend(shown(2, 0, None));
        if counter != 0 {
            words.extend([head(3, output, 1 << 11), 4 << 47 | (8 * 3 + counter)]);
        }
        words.extend(shown(4, 1, None));
        words.extend(shown(5, 0, None));
        words.extend(shown(6, 1 << 8, None));
        words.extend(shown(7, 0, (counter != 0).then_some(0)));
        words.extend(shown(8, 1, None));
        words.extend(shown(9, 0, None));
    }
    let recording = Recording::new(&words, &[0, 1], 8).unwrap();
    let samples = [0, 1].map(|output| {
        let mut samples = Vec::new();
        recording.samples(output, 0, 12, &mut samples);
        samples
    });
    assert_eq!(samples[0][..32], samples[1][..32]);
    assert_ne!(samples[0][32..48], samples[1][32..48]);
    // Five samples later in the same tone
    assert_eq!(samples[0][32..40], samples[1][37..45]);
    assert_eq!(samples[0][64..], samples[1][64..]);
    for (output, samples) in samples.iter().enumerate() {
        assert_eq!(&followed(&words, &[0, 1], output, 12, 20), samples, "output {output}");
    }
}
