use proptest::prelude::*;

use super::waveform::STEP;
use super::*;
use crate::signal::Tone;

const GAIN: f64 = chip::TONE_GAIN;

/// A card, and what it has sent: (time, output, signal).
struct Bench {
    card: Shuttler,
    sent: Vec<(Ns, usize, Signal)>,
    warnings: Vec<String>,
    triggers: u64,
}

impl Bench {
    fn new(relays: bool) -> Self {
        let options = Options {
            adc_volts: [0.0; ADC_INPUTS],
            relays,
            update: 1000,
        };
        Self {
            card: Shuttler::new(options),
            sent: Vec::new(),
            warnings: Vec::new(),
            triggers: 0,
        }
    }

    fn took(&mut self, at: Ns, out: Outbox) {
        self.sent
            .extend(out.sent.into_iter().map(|(_, output, signal)| (at, output, signal)));
        self.warnings.extend(out.warnings);
    }

    /// Acts until a time.
    fn run(&mut self, end: Ns) {
        while let Some(at) = self.card.next().filter(|at| *at < end) {
            let mut out = Outbox::default();
            self.card.act(at, &mut out);
            assert!(self.card.next().is_none_or(|next| next > at));
            self.took(at, out);
        }
    }

    /// Passes words of an output: (field, word).
    fn words(&mut self, at: Ns, output: usize, words: &[(usize, i64)]) {
        self.run(at);
        let number = |field| INPUTS.len() + output * FIELDS + field;
        let changes: Vec<Change> = words
            .iter()
            .map(|(field, word)| (number(field), Signal::Word(*word as u64)))
            .collect();
        let mut out = Outbox::default();
        self.card.input(at, &changes, &mut out);
        self.took(at, out);
    }

    /// Starts a waveform.
    fn start(&mut self, at: Ns, output: usize, words: &[(usize, i64)]) {
        self.triggers += 1;
        let all: Vec<_> = words
            .iter()
            .copied()
            .chain([(11, (self.triggers << 32) as i64)])
            .collect();
        self.words(at, output, &all);
    }

    fn volts(&self, output: usize) -> Vec<(Ns, f64)> {
        let volts = self.sent.iter().filter_map(|(at, of, signal)| match signal {
            Signal::Volts(volts) if *of == VOLTS + output => Some((*at, *volts)),
            _ => None,
        });
        volts.collect()
    }

    fn tones(&self, output: usize) -> Vec<(Ns, Tone)> {
        let tones = self.sent.iter().filter_map(|(at, of, signal)| match signal {
            Signal::Tone(tone) if *of == TONES + output => Some((*at, *tone)),
            _ => None,
        });
        tones.collect()
    }
}

/// The word for a level in volts.
fn level(volts: f64) -> i64 {
    (volts / STEP).round() as i64 * (1 << 32)
}

#[test]
fn constant_level_sends_no_events() {
    let mut bench = Bench::new(false);
    bench.start(100, 3, &[(0, level(2.5))]);
    assert_eq!(bench.volts(3), [(100, 2.5)]);
    assert_eq!(bench.card.next(), None);
    // The same waveform again: nothing changes.
    bench.start(300, 3, &[]);
    assert_eq!(bench.sent.len(), 1);
    // Coefficients have no effect before a trigger.
    bench.words(400, 3, &[(0, level(5.0))]);
    assert_eq!(bench.sent.len(), 1);
    // The converter has the upper 14 bits.
    bench.start(500, 3, &[(0, -1 << 32)]);
    assert_eq!(bench.volts(3)[1], (500, -4.0 * STEP));
}

#[test]
fn ramp_is_renewed_until_the_next_trigger() {
    let mut bench = Bench::new(false);
    // 1 V/us, which is 125 cycles.
    let ramp = (8e-3 / STEP * 2f64.powi(32)).round() as i64;
    bench.start(104, 0, &[(0, level(-1.0)), (1, ramp)]);
    bench.start(3504, 0, &[]);
    bench.run(5000);
    let volts = bench.volts(0);
    assert_eq!(
        volts.iter().map(|(at, _)| *at).collect::<Vec<_>>(),
        [104, 1104, 2104, 3104, 3504, 4504]
    );
    for ((_, volts), expected) in volts.iter().zip([-1.0, 0.0, 1.0, 2.0, -1.0, 0.0]) {
        assert!((volts - expected).abs() <= 4.0 * STEP, "{volts} {expected}");
    }
    assert!(bench.tones(0).is_empty());
}

#[test]
fn tone_is_part_of_volts_and_sent_separately() {
    let mut bench = Bench::new(false);
    // 250 kHz, 1 V, a quarter of a turn ahead, falling frequency.
    let (amplitude, rate) = (level(1.0 / GAIN), -(250e3 * 8e-9 * 2f64.powi(32)).round() as i64);
    bench.start(1000, 5, &[(0, level(0.5)), (4, amplitude), (8, 1 << 30), (9, rate)]);
    bench.run(5000);
    let tones = bench.tones(5);
    assert_eq!(tones.len(), 1, "it goes on");
    let (at, tone) = tones[0];
    assert_eq!((at, tone.turns), (1000, 0.75));
    assert!(
        (tone.hz - 250e3).abs() < 0.1 && (tone.dbm - 10.0).abs() < 1e-3,
        "{tone:?}"
    );
    for ((_, volts), expected) in bench.volts(5).iter().zip([0.5, 1.5, 0.5, -0.5]) {
        assert!((volts - expected).abs() < 1e-3, "{volts}");
    }
    // A change of gain: half of it, in the same phase.
    bench.words(5000, 5, &[(11, (bench.triggers << 32) as i64 | 0x8000)]);
    let (_, half) = bench.tones(5)[1];
    assert!((half.dbm - 10.0 + 6.0206).abs() < 1e-3 && (half.turns - 0.75).abs() < 1e-6);
    bench.start(6000, 5, &[(4, 0)]);
    assert_eq!(bench.tones(5)[2], (6000, Tone::OFF));
    assert_eq!(bench.card.next(), None);
}

#[test]
fn chirp_is_renewed_with_its_exact_phase() {
    let mut bench = Bench::new(false);
    let chirp = 1 << 14;
    bench.start(0, 1, &[(4, level(-1.0 / GAIN)), (9, 1 << 25), (10, chirp)]);
    bench.run(4000);
    let tones = bench.tones(1);
    assert_eq!(tones.len(), 4);
    assert_eq!(tones[0].1.turns, 0.5, "a negative amplitude");
    for pair in tones.windows(2) {
        let [(before, tone), (at, next)] = pair else {
            unreachable!()
        };
        let on = tone.turns + tone.hz * (at - before) as f64 * 1e-9 - next.turns;
        assert!((on - on.round()).abs() < 1e-9);
        let rise = (next.hz - tone.hz) * 8e-9 / 125.0 * 2f64.powi(32);
        assert!((rise - chirp as f64).abs() < 1e-3, "{rise}");
    }
}

#[test]
fn changed_gain_and_offset_apply_at_once() {
    let mut bench = Bench::new(false);
    bench.start(0, 2, &[(0, level(3.75))]);
    let settings = |gain: i16, offset: i16| 1i64 << 32 | i64::from(offset as u16) << 16 | i64::from(gain as u16);
    bench.words(80, 2, &[(11, settings(0x4000, 0))]);
    bench.words(160, 2, &[(11, settings(-0x8000, 0))]);
    bench.words(240, 2, &[(11, settings(-0x8000, -0x2000))]);
    assert_eq!(bench.volts(2), [(0, 3.75), (80, 4.6875), (160, 1.875), (240, -0.625)]);
    let report = bench.card.report(240);
    assert_eq!(
        (&report["ch2"]["factor"], &report["ch2"]["offset_v"]),
        (&json!(0.5), &json!(-2.5))
    );
}

#[test]
fn output_beyond_range_is_limited_and_reported_once_per_start() {
    let mut bench = Bench::new(false);
    // 9 V with a tone of 2 V at 10 MHz: the renewals do not meet its peaks.
    let words = [
        (0, level(9.0)),
        (4, level(2.0 / GAIN)),
        (8, 1 << 30),
        (9, (0.08 * 2f64.powi(32)) as i64),
    ];
    bench.start(0, 0, &words);
    bench.run(5000);
    assert_eq!(
        bench.warnings,
        ["ch0: its waveform reaches 11.000 V: it is limited to 10 V"]
    );
    bench.start(5000, 0, &[]);
    assert_eq!(bench.warnings.len(), 2);
    // A setting that takes a level beyond.
    bench.start(6000, 1, &[(0, level(-8.75)), (4, 0)]);
    bench.words(6400, 1, &[(11, (bench.triggers << 32) as i64 | 0x7fff)]);
    assert_eq!(bench.volts(1), [(6000, -8.75), (6400, -10.0)]);
    assert_eq!(
        bench.warnings[2],
        "ch1: its waveform reaches -13.125 V: it is limited to 10 V"
    );
}

#[test]
fn output_with_open_relay_is_silent() {
    let mut bench = Bench::new(true);
    let relays = |bench: &mut Bench, at: Ns, mask: u16| {
        bench.run(at);
        let mut out = Outbox::default();
        let lines = |clk, mosi, cs| {
            [clk, mosi, cs]
                .map(Signal::Level)
                .into_iter()
                .enumerate()
                .collect::<Vec<_>>()
        };
        bench.card.input(at - 64, &lines(false, false, true), &mut out);
        for bit in (0..16).rev() {
            let level = mask >> bit & 1 != 0;
            bench.card.input(at - 48 + bit, &lines(false, level, false), &mut out);
            bench.card.input(at - 48 + bit, &lines(true, level, false), &mut out);
        }
        let mut out = Outbox::default();
        bench.card.input(at, &lines(false, false, true), &mut out);
        bench.took(at, out);
    };
    let ramp = (1e-3 / STEP * 2f64.powi(32)).round() as i64;
    bench.start(0, 4, &[(0, level(1.0)), (1, ramp), (4, level(0.5)), (9, 1 << 28)]);
    bench.start(0, 5, &[(0, level(3.75))]);
    assert!(
        bench.sent.is_empty() && bench.card.next().is_none(),
        "open after power-up"
    );
    relays(&mut bench, 500, 0x30);
    // 62 cycles after the start.
    let volts = bench.volts(4)[0].1;
    assert_eq!((bench.volts(4)[0].0, bench.volts(5)), (500, vec![(500, 3.75)]));
    assert!((volts - 1.062 - 0.5 * GAIN * (62.0f64 / 16.0 * std::f64::consts::TAU).cos()).abs() < 2e-3);
    assert_eq!(bench.tones(4)[0].0, 500);
    relays(&mut bench, 2500, 0x20);
    let times: Vec<Ns> = bench.volts(4).iter().map(|(at, _)| *at).collect();
    assert_eq!((times, bench.volts(4)[3].1), (vec![500, 1000, 2000, 2500], 0.0));
    assert_eq!(bench.tones(4)[1], (2500, Tone::OFF));
    assert_eq!(bench.card.next(), None);
    let report = bench.card.report(2500);
    assert_eq!(
        (&report["relays"], &report["ch4"]["relay"]),
        (&json!(0x20), &json!(false))
    );
}

proptest! {
    /// Any words, at any times: it acts in the future only, and what it sends are numbers.
    #[test]
    fn any_words_give_finite_outputs_in_the_future(changes in prop::collection::vec((0..WORDS, any::<u64>(), 0u64..3000), 0..200)) {
        let mut bench = Bench::new(false);
        let mut at = 0;
        for (number, word, later) in changes {
            at += later;
            bench.words(at, number / FIELDS, &[(number % FIELDS, word as i64)]);
        }
        for (_, _, signal) in &bench.sent {
            let sound = match signal {
                Signal::Volts(volts) => (-10.0..10.0).contains(volts),
                Signal::Tone(tone) => {
                    (0.0..=62.5e6).contains(&tone.hz) && !tone.dbm.is_nan() && (0.0..=1.0).contains(&tone.turns)
                }
                _ => false,
            };
            prop_assert!(sound, "{signal:?}");
        }
        prop_assert!(bench.card.report(at).is_object());
    }
}
