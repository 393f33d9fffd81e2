use kairos_contracts::chips::sampler::PGIA;
use proptest::prelude::*;

use super::*;

struct Bus {
    card: Sampler,
    at: Ns,
    out: Outbox,
    answers: [bool; ANSWERS.len()],
}

impl Bus {
    fn new(volts: [f64; INPUTS_OF_CARD]) -> Self {
        let mut bus = Self {
            card: Sampler::new(SPANS[1], volts),
            at: 0,
            out: Outbox::default(),
            answers: [false; ANSWERS.len()],
        };
        bus.set(PGIA_CS, true);
        bus
    }

    fn set(&mut self, line: usize, level: bool) {
        self.at += 32;
        self.card.input(self.at, &[(line, Signal::Level(level))], &mut self.out);
        for (_, output, signal) in self.out.sent.drain(..) {
            if let Signal::Level(level) = signal {
                self.answers[output] = level;
            }
        }
    }

    /// Reads as a host that samples at the rising edge.
    fn clock(&mut self, clk: usize, answer: usize) -> u64 {
        let bit = self.answers[answer];
        self.set(clk, true);
        self.set(clk, false);
        bit.into()
    }

    fn gains(&mut self, word: u64) -> u64 {
        self.set(PGIA_CS, false);
        let read = (0..PGIA.width).rev().fold(0, |read, bit| {
            self.set(PGIA_MOSI, word >> bit & 1 != 0);
            read << 1 | self.clock(PGIA_CLK, 1)
        });
        self.set(PGIA_CS, true);
        read
    }

    fn convert(&mut self) {
        self.set(CNV, true);
        self.set(CNV, false);
    }

    fn code(&mut self) -> i16 {
        (0..CODE).fold(0, |read, _| read << 1 | self.clock(CLK, 0)) as i16
    }
}

proptest! {
    #[test]
    fn written_gains_are_read_back(first in 0u64..1 << 16, second in 0u64..1 << 16) {
        let mut bus = Bus::new([0.0; INPUTS_OF_CARD]);
        bus.gains(first);
        prop_assert_eq!(bus.gains(second), first);
        prop_assert_eq!(u64::from(bus.card.amplifiers.gains), second);
        prop_assert_eq!(bus.out.warnings, Vec::<String>::new());
    }

    #[test]
    fn any_line_changes_cause_no_panic(changes in prop::collection::vec((0..INPUTS.len(), any::<bool>()), 0..500)) {
        let mut bus = Bus::new([0.0; INPUTS_OF_CARD]);
        for (line, level) in changes {
            bus.set(line, level);
        }
        bus.card.report(bus.at);
    }
}

#[test]
fn codes_of_all_channels_follow_their_voltages() {
    let mut bus = Bus::new(std::array::from_fn(|n| n as f64 - 3.5));
    bus.gains(1 << 14);
    bus.convert();
    bus.at += TIMES.conversion;
    let codes: Vec<i16> = (0..INPUTS_OF_CARD).map(|_| bus.code()).collect();
    let exact = |volts: f64| (volts / 20.48 * 65536.0).round() as i16;
    // The last one has a gain of ten, which saturates it.
    let expected = [
        32767,
        exact(2.5),
        exact(1.5),
        exact(0.5),
        exact(-0.5),
        exact(-1.5),
        exact(-2.5),
        exact(-3.5),
    ];
    assert_eq!(codes, expected);
    assert_eq!(bus.out.warnings, Vec::<String>::new());
}

#[test]
fn settings_forbidden_by_data_sheet_are_reported() {
    let mut bus = Bus::new([0.0; INPUTS_OF_CARD]);
    // Once per conversion, not per edge
    bus.clock(CLK, 0);
    bus.clock(CLK, 0);
    assert_eq!(
        bus.out.warnings,
        ["the ADC is read, but has not converted anything (CNV)"]
    );
    bus.out.warnings.clear();
    bus.convert();
    bus.clock(CLK, 0);
    assert_eq!(
        bus.out.warnings,
        ["the ADC is read 32 ns after CNV: a conversion takes up to 450 ns"]
    );
    bus.out.warnings.clear();
    bus.set(CNV, true);
    bus.at -= 16;
    bus.set(CNV, false);
    let texts = [
        "CNV is high for 16 ns: it samples for at least 30 ns",
        "CNV falls 112 ns after it last fell: conversions must be at least 667 ns apart",
    ];
    assert_eq!(bus.out.warnings, texts);
}
