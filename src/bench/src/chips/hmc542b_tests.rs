use proptest::prelude::*;

use super::*;

struct Bus {
    chip: Hmc542b,
    at: Ns,
    out: Outbox,
}

impl Bus {
    fn new() -> Self {
        Self {
            chip: Hmc542b::new(),
            at: 0,
            out: Outbox::default(),
        }
    }

    fn set(&mut self, line: usize, level: bool) {
        self.at += 20;
        self.chip.input(self.at, &[(line, Signal::Level(level))], &mut self.out);
    }

    fn bits(&mut self, word: u32, count: u32) {
        for bit in (0..count).rev() {
            self.set(MOSI, word >> bit & 1 != 0);
            self.set(CLK, true);
            self.set(CLK, false);
        }
    }

    fn send(&mut self, word: u32, count: u32) {
        self.set(CS, false);
        self.bits(word, count);
        self.set(CS, true);
    }

    fn tone(&mut self, tone: Tone) {
        self.at += 20;
        self.chip
            .input(self.at, &[(INPUTS.len(), Signal::Tone(tone))], &mut self.out);
    }

    /// Takes the tones output since the last call.
    fn tones(&mut self) -> Vec<Tone> {
        let sent = std::mem::take(&mut self.out.sent).into_iter();
        sent.map(|(later, output, signal)| match signal {
            Signal::Tone(tone) if (later, output) == (0, 0) => tone,
            other => panic!("{other:?}"),
        })
        .collect()
    }
}

#[test]
fn attenuation_has_steps_of_half_a_decibel() {
    let mut bus = Bus::new();
    assert_eq!(bus.chip.attenuation(), 31.5, "after power-up");
    for (code, attenuation) in [(255, 0.0), (251, 0.5), (254, 0.0), (247, 1.0), (127, 16.0), (0, 31.5)] {
        bus.send(code, 8);
        assert_eq!(bus.chip.attenuation(), attenuation, "{code}");
    }
    assert_eq!(bus.out.warnings, Vec::<String>::new());
    assert_eq!(bus.tones(), [], "nothing comes in");
}

#[test]
fn tone_is_attenuated_and_keeps_its_phase() {
    let (mut bus, hz) = (Bus::new(), 1e6);
    bus.send(247, 8);
    let tone = Tone {
        hz,
        dbm: 5.0,
        turns: 0.25,
    };
    bus.tone(tone);
    assert_eq!(bus.tones(), [Tone { dbm: 4.0, ..tone }]);
    let since = bus.at;
    bus.send(247, 8);
    assert_eq!(bus.tones(), [], "it is set to what it is");
    bus.send(127, 8);
    let turns = 0.25 + hz * (bus.at - since) as f64 * 1e-9;
    let after = bus.tones()[0];
    assert_eq!((after.hz, after.dbm), (hz, -11.0));
    assert!((after.turns - turns.rem_euclid(1.0)).abs() < 1e-9);
    bus.tone(Tone::OFF);
    assert_eq!(bus.tones()[0].dbm, f64::NEG_INFINITY);
}

#[test]
fn message_of_wrong_length_or_select_is_reported() {
    let mut bus = Bus::new();
    bus.bits(0, 8);
    bus.send(0, 9);
    assert_eq!(
        bus.out.warnings,
        [
            "a message without a chip select: no chip receives it; check the chip select (cs)",
            "9 bits for the attenuator: it has 8",
        ]
    );
}

proptest! {
    #[test]
    fn overlong_message_keeps_its_last_bits(sent in prop::collection::vec((any::<u32>(), 1u32..12), 1..10)) {
        let (mut bus, mut all) = (Bus::new(), 0u64);
        for (word, count) in sent {
            bus.send(word, count);
            all = all << count | u64::from(word) & mask(count);
            prop_assert_eq!(u64::from(bus.chip.code), all & 0xff);
        }
    }
}
