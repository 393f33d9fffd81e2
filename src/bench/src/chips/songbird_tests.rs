use super::*;

const OUT: usize = 2;
const MISO: usize = 3;
const AMPLITUDE: u64 = 1;
const PHASE: u64 = 1 << 32;

/// A card with two tones, and what it has sent: (time, output, signal).
struct Bench {
    card: Songbird,
    at: Ns,
    sent: Vec<(Ns, usize, Signal)>,
    warnings: Vec<String>,
}

impl Bench {
    fn new(clock: bool) -> Self {
        let options = Options {
            tones: 2,
            clock,
            update: 1000,
        };
        Self {
            card: Songbird::new(options),
            at: 0,
            sent: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// As the driver does.
    fn configured() -> Self {
        let mut bench = Self::new(true);
        for [register, value, _] in chip::SETTINGS {
            bench.message(register << 24 | value << 16, 32);
        }
        bench
    }

    fn give(&mut self, at: Ns, changes: &[Change]) {
        while let Some(due) = self.card.next().filter(|due| *due < at) {
            let mut out = Outbox::default();
            self.card.act(due, &mut out);
            self.took(due, out);
        }
        let mut out = Outbox::default();
        self.card.input(at, changes, &mut out);
        self.took(at, out);
    }

    fn took(&mut self, at: Ns, out: Outbox) {
        let sent = out.sent.into_iter();
        self.sent.extend(sent.map(|(_, output, signal)| (at, output, signal)));
        self.warnings.extend(out.warnings);
    }

    fn line(&mut self, line: usize, level: bool) {
        self.at += 20;
        self.give(self.at, &[(line, Signal::Level(level))]);
    }

    /// Sends a message; returns what the DAC answers.
    fn message(&mut self, word: u32, bits: u32) -> u32 {
        self.line(CS, false);
        let mut answer = 0;
        for bit in (0..bits).rev() {
            self.line(MOSI, word >> bit & 1 != 0);
            let levels = self.sent.iter().rev().find(|(_, output, _)| *output == MISO);
            let level = levels.is_some_and(|(_, _, signal)| *signal == Signal::Level(true));
            answer = answer << 1 | u32::from(level);
            self.line(CLK, true);
            self.line(CLK, false);
        }
        self.line(CS, true);
        answer
    }

    fn words(&mut self, at: Ns, tone: usize, words: &[(usize, u64)]) {
        let place = |field| INPUTS.len() + tone * FIELDS + field;
        let changes: Vec<Change> = words
            .iter()
            .map(|(field, word)| (place(*field), Signal::Word(*word)))
            .collect();
        self.give(at, &changes);
    }

    fn volts(&self) -> Vec<(Ns, f64)> {
        let volts = self.sent.iter().filter_map(|(at, output, signal)| match signal {
            Signal::Volts(volts) if *output == OUT => Some((*at, *volts)),
            _ => None,
        });
        volts.collect()
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
fn registers_read_back_and_clocks_are_present() {
    let mut bench = Bench::configured();
    let read = |bench: &mut Bench, register: u32| bench.message(1 << 31 | register << 24, 32) >> 16 & 0xff;
    let found: Vec<u32> = [1, 2, 3, 4, 8].map(|register| read(&mut bench, register)).into();
    assert_eq!(found, [0, 2, 3, 0x0b, 8]);
    assert!(bench.warnings.is_empty());
    let mut without = Bench::new(false);
    assert_eq!(read(&mut without, 2), 0);
    // A reset.
    bench.message(0x0101_0000, 32);
    assert_eq!([4, 8].map(|register| read(&mut bench, register)), [0, 0]);
    bench.message(0x05, 5);
    assert_eq!(bench.warnings, ["a message of 5 bits instead of at least 16: ignored"]);
}

#[test]
fn tone_has_its_amplitude_frequency_and_phase() {
    let mut bench = Bench::configured();
    // A quarter of full scale, 100 MHz, an eighth of a turn.
    let frequency = (0.04 * 2f64.powi(32)) as u64;
    bench.words(800_000, 1, &[(0, 0x2000 << 32), (8, AMPLITUDE)]);
    bench.words(800_008, 1, &[(4, 1 << 15), (5, frequency), (8, AMPLITUDE | PHASE)]);
    let tone = bench.tone(1);
    assert!((tone.hz - 100e6).abs() < 1.0 && (tone.turns - 0.125).abs() < 1e-9);
    assert!((tone.dbm - 10.0 * (0.25f64.powi(2) / 100.0 * 1e3).log10()).abs() < 1e-9);
    assert_eq!(bench.tone(0), Tone::OFF);
    // The output is that of its times: 99.2 periods later, since 100 MHz times 992 ns.
    bench.give(802_000, &[]);
    let (at, volts) = *bench.volts().last().expect("voltages");
    assert_eq!(at, 801_000);
    let turns = 0.125 + 992e-9 * 100e6;
    assert!((volts - 0.25 * (turns * std::f64::consts::TAU).cos()).abs() < 1e-4);
    assert!(bench.warnings.is_empty());
}

#[test]
fn cleared_tone_rests_and_reset_silences_it() {
    let mut bench = Bench::configured();
    let both = AMPLITUDE | PHASE;
    bench.words(800_000, 0, &[(0, 0x4000 << 32), (5, 0x1234_5678), (8, both)]);
    bench.words(903_504, 0, &[(7, 1 << 4)]);
    assert_eq!((bench.tone(0).hz, bench.tone(0).turns), (0.0, 0.0));
    assert_eq!(bench.volts().last(), Some(&(903_504, 0.5)));
    bench.words(950_000, 0, &[(7, 0)]);
    assert!(bench.tone(0).hz > 1e8);
    bench.words(960_000, 0, &[(7, 1 << 5)]);
    assert_eq!(
        (bench.tone(0), bench.volts().last()),
        (Tone::OFF, Some(&(960_000, 0.0)))
    );
    bench.words(970_000, 0, &[(7, 0)]);
    assert_eq!(bench.tone(0), Tone::OFF, "until the next trigger");
}

#[test]
fn triggers_before_init_and_sums_beyond_full_scale_are_warned_of() {
    let mut bench = Bench::new(true);
    bench.words(1000, 0, &[(0, 0x4000 << 32), (8, AMPLITUDE)]);
    assert_eq!(bench.warnings.len(), 1);
    assert!(
        bench.warnings[0].contains("nothing comes out before `init`"),
        "{}",
        bench.warnings[0]
    );
    assert!(bench.volts().is_empty());
    let mut bench = Bench::configured();
    for tone in 0..2 {
        bench.words(800_000, tone, &[(0, 0x6000 << 32), (8, AMPLITUDE)]);
    }
    assert_eq!(bench.warnings, ["its tones add up to 1.500 V: they are limited to 1 V"]);
    assert_eq!(bench.volts().last(), Some(&(800_000, MOST * STEP)));
}
