use super::*;
use crate::signal::turns_of;

const TONES: usize = 3;
/// Tones as the source of both RF channels.
const BOTH: u64 = 0b0101;

struct Bench {
    card: Mtdds,
    sent: Vec<(Ns, usize, Signal)>,
    warnings: Vec<String>,
}

fn word(ftw: u32, phase: u16, amplitude: u16, clear: bool) -> u64 {
    u64::from(ftw) | u64::from(phase) << PHASE | u64::from(amplitude) << AMPLITUDE | u64::from(clear) << CLEAR
}

impl Bench {
    /// A baseband card whose DAC transmits.
    fn new() -> Self {
        let options = Options {
            tones: TONES,
            samples: 2,
            upconverters: false,
        };
        let mut bench = Self {
            card: Mtdds::new(options),
            sent: Vec::new(),
            warnings: Vec::new(),
        };
        bench.lines(
            0,
            &[
                (TXENA, true),
                (RESETB, true),
                (ATTENUATOR_RESET, true),
                (ATTENUATOR_RESET + 1, true),
            ],
        );
        bench
    }

    fn give(&mut self, at: Ns, changes: &[Change]) {
        let mut out = Outbox::default();
        self.card.input(at, changes, &mut out);
        let sent = out.sent.into_iter();
        self.sent.extend(sent.map(|(_, output, signal)| (at, output, signal)));
        self.warnings.extend(out.warnings);
    }

    fn lines(&mut self, at: Ns, levels: &[(usize, bool)]) {
        let changes: Vec<Change> = levels
            .iter()
            .map(|(line, level)| (*line, Signal::Level(*level)))
            .collect();
        self.give(at, &changes);
    }

    fn words(&mut self, at: Ns, words: &[(usize, u64)]) {
        let changes: Vec<Change> = words
            .iter()
            .map(|(place, word)| (INPUTS.len() + place, Signal::Word(*word)))
            .collect();
        self.give(at, &changes);
    }

    /// Sends a byte to an attenuator.
    fn attenuate(&mut self, at: Ns, n: usize, byte: u8) {
        let first = BUSES + (1 + CHANNELS + n) * BUS_LINES;
        self.lines(at, &[(first + 2, false)]);
        for bit in (0..8).rev() {
            self.lines(at, &[(first + 1, byte >> bit & 1 != 0)]);
            self.lines(at, &[(first, true)]);
            self.lines(at, &[(first, false)]);
        }
        self.lines(at, &[(first + 2, true)]);
    }

    fn tone(&self, number: usize) -> Tone {
        let tones = self.sent.iter().rev().filter_map(|(_, output, signal)| match signal {
            Signal::Tone(tone) if *output == number => Some(*tone),
            _ => None,
        });
        tones.into_iter().next().unwrap_or(Tone::OFF)
    }
}

#[test]
fn tone_has_frequency_phase_and_power_of_its_word() {
    let mut bench = Bench::new();
    bench.attenuate(8, 1, 0xff);
    // A quarter of the bandwidth below 0, an eighth of a turn, a half of full scale
    let place = COMMON_WORDS + TONES + 2;
    bench.words(80, &[(0, BOTH), (place, word(0xc000_0000, 0x2000, 0x3fff, false))]);
    let tone = bench.tone(TONES + 2);
    assert_eq!(tone.hz, -62.5e6);
    assert_eq!(tone.turns, 0.125);
    assert!((tone.dbm + 6.02).abs() < 0.01, "{tone:?}");
    assert!(bench.warnings.is_empty(), "{:?}", bench.warnings);
    // 62.5 MHz make half a turn in 8 ns; what goes on is not sent anew
    bench.words(88, &[(1, 5)]);
    assert_eq!(bench.card.report(88)["channel1"]["tones"][2]["turns"], 0.625);
    assert_eq!(bench.tone(TONES + 2), tone);
}

#[test]
fn cleared_tone_begins_again_at_its_phase() {
    let mut bench = Bench::new();
    bench.attenuate(8, 0, 0xff);
    let ftw = 0x0123_4567;
    bench.words(80, &[(0, BOTH), (COMMON_WORDS, word(ftw, 0, 0x7fff, false))]);
    bench.words(800, &[(COMMON_WORDS, word(ftw, 0x4000, 0x7fff, true))]);
    assert_eq!((bench.tone(0).hz, bench.tone(0).turns), (0.0, 0.25));
    bench.words(1600, &[(COMMON_WORDS, word(ftw, 0x4000, 0x7fff, false))]);
    assert_eq!((bench.tone(0).turns, bench.tone(0).dbm), (0.25, 0.0));
    let later = turns_of(bench.tone(0).hz, 80) + 0.25;
    bench.words(1680, &[(COMMON_WORDS, word(ftw, 0x4000, 0x7ffe, false))]);
    assert!((bench.tone(0).turns - later.rem_euclid(1.0)).abs() < 1e-9);
}

#[test]
fn accumulator_goes_on_when_the_frequency_changes() {
    let mut bench = Bench::new();
    bench.words(80, &[(0, BOTH), (COMMON_WORDS, word(1 << 24, 0, 1, false))]);
    bench.words(160, &[(COMMON_WORDS, word(3 << 24, 0, 1, false))]);
    bench.words(240, &[(COMMON_WORDS, word(0, 0, 1, false))]);
    // Ten cycles of two samples with each
    assert_eq!(bench.card.tones[0].accumulator, (20 * 4) << 24);
}

#[test]
fn silent_tones_are_warned_of_with_the_reason() {
    let loud = [(COMMON_WORDS, word(0, 0, 1, false))];
    let said = |prepare: fn(&mut Bench)| {
        let mut bench = Bench::new();
        prepare(&mut bench);
        bench.words(80, &loud);
        assert_eq!(bench.tone(0), Tone::OFF);
        bench.warnings.join(" ")
    };
    assert!(said(|bench| bench.words(40, &[(0, 0)])).contains("test words"));
    let asleep = |bench: &mut Bench| {
        bench.words(40, &[(0, BOTH)]);
        bench.lines(41, &[(SLEEP, true)]);
    };
    assert!(said(asleep).contains("RF channel 0: it has a tone, but the DAC is in reset, asleep or off"));
    let unlocked = |bench: &mut Bench| {
        bench.words(40, &[(0, BOTH)]);
        bench.card.options.upconverters = true;
    };
    assert!(said(unlocked).contains("its upconverter is off or has not locked"));
}

#[test]
fn tones_above_full_scale_are_warned_of_once() {
    let mut bench = Bench::new();
    let half = |n: usize| (COMMON_WORDS + TONES + n, word(0, 0, 0x5000, false));
    bench.words(80, &[(0, BOTH), half(0)]);
    assert!(bench.warnings.is_empty());
    bench.words(88, &[half(1)]);
    bench.words(96, &[half(2)]);
    assert_eq!(
        bench.warnings,
        ["RF channel 1: its tones add up to 1.25 of full scale: it clips"]
    );
}

#[test]
fn resets_put_chips_into_their_first_state() {
    let mut bench = Bench::new();
    bench.attenuate(8, 0, 0xff);
    bench.card.dac.dac.registers[3] = 7;
    let attenuation = |bench: &Bench| {
        bench.card.report(0)["channel0"]["attenuation_db"]
            .as_f64()
            .unwrap_or_default()
    };
    assert_eq!(attenuation(&bench), 0.0);
    bench.lines(20, &[(ATTENUATOR_RESET, false), (RESETB, false)]);
    assert_eq!(attenuation(&bench), 31.5);
    assert_eq!(bench.card.dac.dac.registers[3], 0);
}
