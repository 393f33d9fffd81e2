use kairos_contracts::chips::adf5356::{r0, r2, r4, r6, r9};
use proptest::prelude::*;

use super::*;

const OPTIONS: Options = Options {
    clocks: [100e6, 0.0, 0.0, 0.0],
    revision: 1,
    almazny: Some(Almazny::Legacy),
};

struct Bus {
    card: Mirny,
    at: Ns,
    out: Outbox,
    miso: bool,
}

impl Bus {
    fn new(options: Options) -> Self {
        let card = Mirny::new(options);
        let (at, out, miso) = (0, Outbox::default(), false);
        Self { card, at, out, miso }
    }

    fn set(&mut self, line: usize, level: bool) {
        self.at += 8;
        self.card.input(self.at, &[(line, Signal::Level(level))], &mut self.out);
        for (_, output, signal) in &self.out.sent {
            if let (&MISO, Signal::Level(level)) = (output, signal) {
                self.miso = *level;
            }
        }
    }

    fn transfer(&mut self, word: u64, width: u32) -> u64 {
        self.set(CS, true);
        let mut read = 0;
        for bit in (0..width).rev() {
            self.set(MOSI, word >> bit & 1 != 0);
            read = read << 1 | u64::from(self.miso);
            self.set(CLK, true);
            self.set(CLK, false);
        }
        self.set(CS, false);
        read
    }

    fn synthesiser(&mut self, n: u64, word: u32) {
        self.transfer((4 + n) << 33 | u64::from(word), 40);
    }
}

/// A second fraction of zero, and a clock of the band selection.
fn divided(bus: &mut Bus, n: u64) {
    bus.synthesiser(n, r2::MOD2.put(2, 2));
    bus.synthesiser(n, r9::BAND_DIVIDER.put(9, 42));
}

proptest! {
    /// Any changes at the pins: no panic.
    #[test]
    fn any_line_changes_cause_no_panic(changes in prop::collection::vec((0..INPUTS.len(), any::<bool>()), 0..500)) {
        let mut bus = Bus::new(OPTIONS);
        for (line, level) in changes {
            bus.set(line, level);
        }
        bus.card.report(bus.at);
    }

    #[test]
    fn written_register_is_read_back(word in 0u64..0x10000) {
        let mut bus = Bus::new(OPTIONS);
        bus.transfer(1 << 17 | 1 << 16 | word, 24);
        prop_assert_eq!(bus.transfer(1 << 17, 24) & 0xffff, word);
    }

    #[test]
    fn attenuator_message_sets_its_channel(n in 0usize..4, att in 0u64..256) {
        let mut bus = Bus::new(OPTIONS);
        bus.transfer((8 + n as u64) << 9 | att, 16);
        prop_assert_eq!(bus.card.attenuation(n), f64::from(63 - (att as u32 >> 2)) / 2.0);
        prop_assert_eq!(&bus.out.warnings, &Vec::<String>::new());
    }
}

#[test]
fn channel_locks_and_outputs_its_frequency() {
    let mut bus = Bus::new(OPTIONS);
    let reference = r4::R_COUNTER.put(r4::MUXOUT.put(4, r4::MUXOUT_DIGITAL_LOCK), 2);
    bus.synthesiser(1, reference);
    divided(&mut bus, 1);
    bus.synthesiser(1, r6::POWER.put(r6::ENABLE.put(r6::RF_DIVIDER.put(6, 1), 1), 3));
    bus.synthesiser(1, r0::AUTOCAL.put(r0::N.put(0, 80), 1));
    bus.transfer(9 << 9 | 255, 16);
    bus.set(SW0 + 1, true);
    assert_eq!(bus.transfer(0, 24) & 0xffff, 1, "it has not locked");
    bus.at = bus.card.next().expect("it locks");
    bus.card.act(bus.at, &mut bus.out);
    assert_eq!(bus.transfer(0, 24) & 0xffff, 0x201);
    let tones: Vec<_> = bus.out.sent.iter().filter(|sent| sent.1 == 1).collect();
    let tone = Tone {
        hz: 2e9,
        dbm: 5.0,
        turns: 0.0,
    };
    assert_eq!(tones, [&(0, 1, Signal::Tone(tone))]);
    assert_eq!(bus.out.warnings, Vec::<String>::new());
}

#[test]
fn forbidden_settings_are_reported() {
    let mut bus = Bus::new(Options {
        almazny: None,
        ..OPTIONS
    });
    bus.transfer(0, 23);
    bus.transfer(12 << 9, 16);
    bus.transfer(99 << 17, 24);
    bus.transfer(1 << 16, 24);
    divided(&mut bus, 0);
    bus.synthesiser(0, r4::R_COUNTER.put(4, 1));
    bus.synthesiser(0, r0::AUTOCAL.put(r0::N.put(0, 20), 1));
    bus.synthesiser(0, 14);
    bus.transfer(1 << 17 | 1 << 16 | 1 << 4, 24);
    bus.synthesiser(0, 0);
    for clock in [true, false].repeat(24) {
        bus.set(CLK, clock);
    }
    let texts = [
        "a message of 23 bits for number 0, which takes 24: ignored",
        "a message for channel 0 of an Almazny, which is not present (almazny)",
        "a message for number 99, which does not exist",
        "its register 0 cannot be written",
        "ch0: it is calibrated with 100 MHz at the phase detector: at most 75 MHz",
        "ch0: the integer part of its divider is 20: its prescaler needs at least 23",
        "ch0: it cannot lock: 2000.000 MHz is outside the range of its oscillator, 3400 to 6800 MHz",
        "ch0: there is no register 14",
        "ch0: it has no reference: check clk_sel of the card and its clocks here",
        "a message without a chip select: no chip receives it; check the chip select (cs)",
    ];
    assert_eq!(bus.out.warnings, texts);
}

#[test]
fn impossible_division_is_reported() {
    let mut bus = Bus::new(OPTIONS);
    let reference = r4::R_DOUBLER.put(r4::R_COUNTER.put(4, 4), 1);
    let tune = |bus: &mut Bus| bus.synthesiser(0, r0::AUTOCAL.put(r0::N.put(0, 80), 1));
    bus.card.chips[0].set_reference(200e6);
    bus.synthesiser(0, reference);
    bus.synthesiser(0, r2::FRAC2.put(r2::MOD2.put(2, 5), 5));
    bus.synthesiser(0, 9);
    tune(&mut bus);
    bus.card.chips[0].set_reference(100e6);
    divided(&mut bus, 0);
    bus.synthesiser(0, 4);
    tune(&mut bus);
    let texts = [
        "its doubler takes a reference of at most 100 MHz (r_doubler)",
        "its second fraction is 5/5: it must be less than 1",
        "the divider of its band selection is 0: at least 1 (band_divider)",
        "it is calibrated with 100 MHz at the phase detector: at most 75 MHz",
        "its reference divider is 0: at least 1 (r_counter)",
    ];
    for text in texts {
        assert!(
            bus.out.warnings.contains(&format!("ch0: {text}")),
            "{text}: {:?}",
            bus.out.warnings
        );
    }
}
