use kairos_contracts::chips::sampler::PGIA;
use proptest::prelude::*;

use super::*;

struct Bus {
    card: Novogorny,
    at: Ns,
    out: Outbox,
    answer: bool,
}

impl Bus {
    fn new(vref: f64, volts: [f64; INPUTS_OF_CARD]) -> Self {
        Self {
            card: Novogorny::new(vref, volts),
            at: 0,
            out: Outbox::default(),
            answer: false,
        }
    }

    fn set(&mut self, line: usize, level: bool) {
        self.at += 32;
        self.card.input(self.at, &[(line, Signal::Level(level))], &mut self.out);
        for (_, output, signal) in self.out.sent.drain(..) {
            assert_eq!(output, 0);
            if let Signal::Level(level) = signal {
                self.answer = level;
            }
        }
    }

    /// Reads as a host that samples at the rising edge.
    fn bits(&mut self, word: u64, count: u32) -> u64 {
        (0..count).rev().fold(0, |read, bit| {
            self.set(MOSI, word >> bit & 1 != 0);
            let answer = self.answer;
            self.set(CLK, true);
            self.set(CLK, false);
            read << 1 | u64::from(answer)
        })
    }

    fn gains(&mut self, word: u32) {
        self.set(CS_PGIA, false);
        self.bits(word.into(), PGIA.width);
        self.set(CS_PGIA, true);
    }

    /// Sends control words in one message.
    fn table(&mut self, words: &[u64]) {
        self.set(CS_ADC, false);
        for word in words {
            self.bits(*word, ADC_CONTROL.width);
        }
        self.set(CS_ADC, true);
    }

    /// Starts a conversion and waits for its end.
    fn convert(&mut self) {
        self.at += TIMES.cycle;
        self.set(CNV, true);
        self.at += TIMES.high;
        self.set(CNV, false);
        self.at += TIMES.conversion;
    }

    /// Converts; returns code, channel and range.
    fn result(&mut self, next: u64) -> (u32, u32, u32) {
        self.convert();
        self.set(CS_ADC, false);
        let word = self.bits(next << 16, RESULT.width) as u32;
        self.set(CS_ADC, true);
        (
            result::CODE.get(word),
            result::CHANNEL.get(word),
            result::SOFTSPAN.get(word),
        )
    }

    fn warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.out.warnings)
    }
}

fn control(channel: u64, span: u64) -> u64 {
    1 << 7 | channel << 3 | span
}

#[test]
fn codes_follow_range_and_gain() {
    let mut bus = Bus::new(4.096, [1.0, -1.0, 0.02, 0.0, 0.0, 0.0, 0.0, 20.0]);
    // Channel 2 with a gain of 100
    bus.gains(2 << 4);
    let code = |volts: f64, span: f64| (volts / span * 65536.0).round() as i32 as u32 & 0xffff;
    // A range is two's complement from its lowest to its highest code, or begins at zero.
    for (channel, span, expected) in [
        (0, 7, code(1.0, 20.48)),
        (1, 7, code(-1.0, 20.48)),
        (1, 6, code(-1.0, 20.0)),
        (0, 5, code(1.0, 10.24)),
        (0, 4, code(1.0, 10.0)),
        (2, 3, code(2.0, 10.24)),
        (2, 2, code(2.0, 10.0)),
        (2, 1, code(2.0, 5.12)),
        (2, 0, code(2.0, 5.0)),
        (1, 5, 0),
        (7, 7, 0x7fff),
        (7, 0, 0xffff),
    ] {
        bus.table(&[control(channel, span)]);
        assert_eq!(bus.result(0), (expected, channel as u32, span as u32));
    }
    assert_eq!(bus.warnings(), Vec::<String>::new());
    assert_eq!(
        bus.card.report(bus.at)["ch2"],
        json!({ "volts": 0.02, "gain": 100.0, "code": code(2.0, 5.0) })
    );
}

#[test]
fn table_entries_are_converted_in_turn() {
    let mut bus = Bus::new(5.0, [0.0; INPUTS_OF_CARD]);
    let channel = |bus: &mut Bus, next| bus.result(next).1;
    assert_eq!(bus.result(0), (0, 0, 7), "after power-up");
    bus.table(&[control(5, 7), control(2, 3), control(7, 0)]);
    let found: Vec<u32> = (0..4).map(|_| channel(&mut bus, 0)).collect();
    assert_eq!(found, [5, 2, 7, 5]);
    // A transfer of a result may contain the next control word, which then is the whole table.
    assert_eq!(channel(&mut bus, control(6, 7)), 2);
    assert_eq!([channel(&mut bus, 0), channel(&mut bus, 0)], [6, 6]);
    assert_eq!(bus.warnings(), Vec::<String>::new());
}

#[test]
fn settings_forbidden_by_data_sheet_are_reported() {
    let mut bus = Bus::new(5.0, [0.0; INPUTS_OF_CARD]);
    bus.set(CS_ADC, false);
    bus.bits(0, 24);
    bus.set(CS_ADC, true);
    assert_eq!(
        bus.warnings(),
        ["the ADC is read, but has not converted anything (CNV)"]
    );
    bus.at += TIMES.cycle;
    bus.set(CNV, true);
    bus.at -= 16;
    bus.set(CNV, false);
    bus.set(CS_ADC, false);
    bus.bits(0, 24);
    assert_eq!(
        bus.warnings(),
        [
            "CNV is high for 16 ns: at least 40 ns",
            "the ADC is read 112 ns after CNV: a conversion takes up to 580 ns",
        ]
    );
    bus.convert();
    bus.bits(0, 1);
    bus.at -= 16;
    bus.set(CNV, true);
    assert_eq!(
        bus.warnings(),
        [
            "CNV rises 16 ns after the ADC's clock changed: the minimum is 20 ns",
            "CNV rises 764 ns after it last rose: conversions must be at least 1000 ns apart",
        ]
    );
    bus.set(CS_ADC, true);
    assert_eq!(
        bus.warnings(),
        ["a control word of the ADC ended after 1 of its 8 bits"]
    );
    bus.table(&[control(1, 7); 17]);
    assert_eq!(
        bus.warnings(),
        [
            "the ADC is read 128 ns after CNV: a conversion takes up to 580 ns",
            "the ADC takes at most 16 control words: the others are ignored",
        ]
    );
    assert_eq!(bus.card.table.len(), 16);
    bus.set(CS_PGIA, false);
    bus.bits(0, 12);
    bus.set(CS_PGIA, true);
    bus.bits(0, 8);
    assert_eq!(
        bus.warnings(),
        [
            "12 bits for the amplifiers: they have 16",
            "a message without a chip select: no chip receives it; check the chip select (cs)",
        ]
    );
}

proptest! {
    /// Conversions cycle through the leading valid words of the last message that had any.
    #[test]
    fn conversions_cycle_through_the_newest_table(
        messages in prop::collection::vec((prop::collection::vec(0u64..256, 1..6), 0usize..8), 1..8),
    ) {
        let mut bus = Bus::new(5.0, [0.0; INPUTS_OF_CARD]);
        bus.convert();
        let (mut table, mut next_word) = (vec![control(0, 7)], 1);
        for (words, conversions) in messages {
            bus.table(&words);
            let valid: Vec<u64> = words.into_iter().take_while(|word| word >> 7 != 0).collect();
            if !valid.is_empty() {
                (table, next_word) = (valid, 0);
            }
            for _ in 0..conversions {
                let word = table[next_word % table.len()];
                next_word += 1;
                let (_, channel, span) = bus.result(0);
                prop_assert_eq!((u64::from(channel), u64::from(span)), (word >> 3 & 7, word & 7));
            }
        }
        prop_assert_eq!(bus.warnings(), Vec::<String>::new());
    }
}
