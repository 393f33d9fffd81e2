use proptest::prelude::*;

use super::*;
use crate::vectors::vectors;

const CLOCK: f64 = 75e6;
/// Half of the serial clock's period in ns.
const HALF_PERIOD: Ns = 50;
const RESET: u32 = 0x2100;
const ON: u32 = 0x2000;
/// Latency from a word to the output, rounded up.
const LATER: Ns = 107;

struct Bus {
    chip: Ad9834,
    at: Ns,
    out: Outbox,
    tones: Vec<(Ns, Tone)>,
}

impl Bus {
    /// With the serial clock idling high, as the chip requires.
    fn new(clock_hz: f64) -> Self {
        let chip = Ad9834::new(Options {
            clock_hz,
            full_scale_dbm: 3.0,
        });
        let mut bus = Self {
            chip,
            at: 0,
            out: Outbox::default(),
            tones: Vec::new(),
        };
        bus.set(CLK, true);
        bus
    }

    fn set(&mut self, line: usize, level: bool) {
        self.wait(HALF_PERIOD);
        self.chip.input(self.at, &[(line, Signal::Level(level))], &mut self.out);
    }

    fn wait(&mut self, ns: Ns) {
        self.at += ns;
        while let Some(at) = self.chip.next().filter(|at| *at <= self.at) {
            self.chip.act(at, &mut self.out);
            for (_, output, signal) in self.out.sent.drain(..) {
                let Signal::Tone(tone) = signal else { panic!("no tone") };
                assert_eq!(output, 0);
                self.tones.push((at, tone));
            }
        }
    }

    fn bits(&mut self, word: u32, count: u32) {
        for bit in (0..count).rev() {
            self.set(MOSI, word >> bit & 1 != 0);
            self.set(CLK, false);
            self.set(CLK, true);
        }
    }

    fn send(&mut self, words: &[u32]) {
        for word in words {
            self.set(CS, false);
            self.bits(*word, WORD);
            self.set(CS, true);
        }
    }

    /// Writes both halves of a frequency register.
    fn tune(&mut self, register: u32, word: u32) {
        let select = [0x4000, 0x8000][register as usize];
        self.send(&[select | word & 0x3fff, select | word >> 14]);
    }

    fn warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.out.warnings)
    }

    fn last(&mut self) -> Tone {
        self.wait(2 * LATER);
        self.tones.last().expect("there was one").1
    }
}

fn word(hz: f64) -> u32 {
    (hz / CLOCK * TURN).round() as u32
}

#[test]
fn tone_follows_the_selected_registers() {
    let mut bus = Bus::new(CLOCK);
    bus.send(&[RESET]);
    bus.tune(0, word(10e6));
    bus.tune(1, word(20e6));
    bus.send(&[0xc400, 0xe800]);
    assert_eq!(bus.tones, [], "it is held in reset");
    bus.send(&[ON]);
    let let_go = bus.at - HALF_PERIOD - HALF_PERIOD;
    let first = bus.last();
    assert_eq!(bus.tones.len(), 1);
    assert_eq!(bus.tones[0].0, let_go + LATER);
    assert!((first.hz - 10e6).abs() < 0.2 && (first.dbm - 3.0).abs() < 1e-12);
    // The register's phase, plus the advance during the rest of a nanosecond and of a cycle
    assert!((first.turns - 0.25).rem_euclid(1.0) < 0.14, "{}", first.turns);
    bus.send(&[ON | 0x0800]);
    assert!((bus.last().hz - 20e6).abs() < 0.2);
    bus.send(&[ON | 0x0c00]);
    let (before, after) = (bus.tones[1], bus.tones.len());
    let turned = bus.last();
    assert_eq!((turned.hz, bus.tones.len()), (before.1.hz, after + 1));
    assert_eq!(bus.warnings(), Vec::<String>::new());
    let report = bus.chip.report(bus.at);
    assert_eq!(report["phases_turns"], json!([0.25, 0.5]));
    assert_eq!(
        (&report["frequency_register"], &report["phase_register"]),
        (&json!(1), &json!(1))
    );
}

/// Words of the vectors after a reset: frequency and phase that they were computed for, in the registers named.
#[test]
fn words_of_the_vectors_give_frequency_and_phase() {
    let vectors = vectors("ad9834_set");
    assert_eq!(vectors.len(), 2);
    for vector in vectors {
        let mut bus = Bus::new(CLOCK);
        let words = vector["words"].as_array().unwrap().iter();
        let words = words.map(|word| u32::from_str_radix(word.as_str().unwrap(), 16).unwrap());
        bus.send(&words.collect::<Vec<u32>>());
        assert!((bus.last().hz - vector["f"].as_f64().unwrap()).abs() < 0.3);
        let report = bus.chip.report(bus.at);
        let register = vector["phase_reg"].as_u64().unwrap() as usize;
        let phase = report["phases_turns"][register].as_f64().unwrap();
        assert!((phase - vector["phase"].as_f64().unwrap()).abs() < 1e-3, "{phase}");
        assert_eq!(report["frequency_register"], vector["freq_reg"]);
        assert_eq!(report["phase_register"], vector["phase_reg"]);
        assert_eq!(bus.warnings(), Vec::<String>::new());
    }
}

#[test]
fn halves_of_a_frequency_word_are_written_separately() {
    let mut bus = Bus::new(CLOCK);
    bus.send(&[RESET]);
    bus.tune(0, 0x123_4567);
    // The upper half, then the lower one
    bus.send(&[0x1100, 0x4000 | 0x1abc, 0x0100, 0x4000 | 0x0def]);
    assert_eq!(bus.chip.frequencies[0], 0x1abc << 14 | 0x0def);
    assert_eq!(bus.warnings(), Vec::<String>::new());
}

#[test]
fn sleep_and_reset_silence_the_output() {
    let mut bus = Bus::new(CLOCK);
    bus.send(&[RESET]);
    bus.tune(0, word(1e6));
    for (control, on) in [
        (ON, true),
        (ON | 0x80, false),
        (ON, true),
        (ON | 0x40, false),
        (ON, true),
        (RESET, false),
    ] {
        bus.send(&[control]);
        assert_eq!(bus.last() != Tone::OFF, on, "{control:#x}");
    }
    // The pins, which are low, select register 0 and neither reset nor sleep.
    bus.send(&[RESET | 0x0200 | 0xc0 | 0x0c00]);
    assert!((bus.last().hz - 1e6).abs() < 0.2);
    assert_eq!(bus.warnings(), Vec::<String>::new());
}

#[test]
fn stopped_clock_freezes_phase_and_reset_clears_it() {
    let mut bus = Bus::new(50e6);
    bus.send(&[RESET]);
    // A quarter turn in a cycle of 20 ns
    bus.tune(0, 1 << 26);
    bus.send(&[ON, ON | 0x80]);
    let (phase, _) = bus.chip.accumulator;
    bus.wait(1000);
    bus.send(&[ON]);
    assert_eq!(bus.chip.accumulator.0, phase);
    bus.send(&[RESET, ON]);
    assert_eq!(bus.chip.accumulator.0, 0);
}

#[test]
fn output_waveform_and_sign_bit_follow_the_control_word() {
    let mut bus = Bus::new(CLOCK);
    bus.send(&[RESET]);
    bus.tune(0, word(1e6));
    bus.send(&[ON | 2]);
    assert!((bus.last().dbm - (3.0 - 1.824)).abs() < 1e-3);
    for (control, sign) in [
        (ON, "off"),
        (ON | 0x20, "msb/2"),
        (ON | 0x28, "msb"),
        (ON | 0x38, "comparator"),
    ] {
        bus.send(&[control]);
        assert_eq!(bus.chip.report(bus.at)["sign_bit_out"], sign);
        assert_eq!(bus.warnings(), Vec::<String>::new());
    }
    bus.send(&[ON | 0x22]);
    assert_eq!(
        bus.warnings(),
        ["its pin SIGN BIT OUT is on with a triangle (opbiten, mode): that is reserved"]
    );
    bus.send(&[ON | 0x30]);
    assert_eq!(
        bus.warnings(),
        ["its pin SIGN BIT OUT shows the comparator divided by two (sign_pib, div2): that is reserved"]
    );
}

#[test]
fn bus_timing_forbidden_by_data_sheet_is_reported() {
    let mut bus = Bus::new(CLOCK);
    bus.set(CS, false);
    bus.bits(0x2100, 9);
    bus.set(CS, true);
    assert_eq!(bus.warnings(), ["a message ended after 9 of the 16 bits of a word"]);
    bus.bits(0x2100, 16);
    assert_eq!(
        bus.warnings(),
        ["a message without a chip select: no chip receives it; check the chip select (cs)"]
    );
    bus.set(CLK, false);
    bus.set(CS, false);
    assert_eq!(
        bus.warnings(),
        ["its clock is low when it is selected: it must be high (SPI_CLK_POLARITY)"]
    );
    bus.set(CLK, true);
    for level in [false, true, false, true, false, true] {
        bus.at -= HALF_PERIOD - 8;
        bus.set(CLK, level);
    }
    assert_eq!(bus.warnings(), ["a clock of 16 ns: the minimum period is 25 ns"]);
}

#[test]
fn incomplete_or_repeated_frequency_word_is_reported() {
    let mut bus = Bus::new(CLOCK);
    bus.send(&[RESET]);
    bus.tune(1, HALF);
    assert_eq!(bus.warnings(), Vec::<String>::new());
    bus.send(&[RESET]);
    bus.tune(1, HALF + (1 << 20));
    assert_eq!(
        bus.warnings(),
        ["the frequency in register 1, 37.793 MHz, is above half of its clock"]
    );
    bus.send(&[RESET]);
    bus.tune(0, 5);
    bus.tune(1, 5);
    bus.tune(0, 6);
    assert_eq!(bus.warnings(), Vec::<String>::new());
    bus.tune(0, 7);
    assert_eq!(
        bus.warnings(),
        ["frequency register 0 is written in full twice in a row: another word must come between"]
    );
    bus.send(&[0x4003, RESET]);
    let missing = "the second half of the word for frequency register 0 is missing (b28)";
    assert_eq!(bus.warnings(), [format!("{missing}: another word came")]);
    bus.send(&[0x4003]);
    assert_eq!(bus.chip.unfinished(), [(bus.at - 2 * HALF_PERIOD, missing.to_string())]);
}

#[test]
fn incomplete_setup_is_reported_at_release() {
    for (clock, texts) in [
        (0.0, vec!["a tone is set but it has no clock (clock_hz)"]),
        (80e6, vec!["its clock is at most 75 MHz, not 80 MHz"]),
        (75e6, vec![]),
    ] {
        let mut bus = Bus::new(clock);
        bus.send(&[RESET]);
        bus.tune(0, 1 << 20);
        bus.send(&[ON, ON]);
        assert_eq!(bus.warnings(), texts, "{clock}");
    }
    let mut bus = Bus::new(CLOCK);
    bus.send(&[ON]);
    bus.tune(0, 1 << 20);
    assert_eq!(bus.warnings(), ["it is started without a reset since power-up (init)"]);
}

proptest! {
    /// The active tone continues as that of a single phase accumulator, whatever settings preceded
    /// it.
    #[test]
    fn phase_equals_that_of_an_accumulator(
        words in prop::collection::vec((0u32..2, 1u32..HALF, 1u64..5000), 1..20),
    ) {
        let mut bus = Bus::new(50e6);
        bus.send(&[RESET, 0xc000]);
        bus.tune(0, 1);
        bus.send(&[ON]);
        // Turns since release from reset, with the frequencies in use: (word, since)
        let let_go = bus.at - 2 * HALF_PERIOD;
        let (mut turns, mut used, mut since) = (0.0, [1, 0], let_go);
        let mut selected = 0;
        for (register, word, wait) in words {
            bus.wait(wait);
            bus.send(&[0xc000]);
            bus.tune(register, word);
            let at = bus.at - 2 * HALF_PERIOD;
            let cycles = |from: Ns, to: Ns| to / 20 - from / 20;
            turns += f64::from(used[selected]) / TURN * cycles(since, at) as f64;
            since = at;
            used[register as usize] = word;
            bus.send(&[ON | register << 11]);
            let at = bus.at - 2 * HALF_PERIOD;
            turns += f64::from(used[selected]) / TURN * cycles(since, at) as f64;
            (selected, since) = (register as usize, at);
            let off = turns - f64::from(bus.chip.accumulator.0) / TURN;
            prop_assert!((off - off.round()).abs() < 1e-6, "{}", off);
        }
        prop_assert_eq!(bus.warnings(), Vec::<String>::new());
    }
}
