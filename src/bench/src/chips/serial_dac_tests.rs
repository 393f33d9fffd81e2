use kairos_contracts::chips::ad53xx::{self as chip, select, word};
use proptest::prelude::*;

use super::super::ad53xx_chip::AD5372;
use super::*;

const ZOTINO: Options = Options {
    chip: AD5372,
    leds: true,
    shares: false,
    vref: 5.0,
    wired: [true; 2],
    selected: true,
};

/// A single chip by its name in a bench file.
fn alone(name: &str) -> Options {
    let chip = Kind::try_from(name.to_string()).expect("it is in the table");
    let leds = false;
    Options { chip, leds, ..ZOTINO }
}

/// A card on a bus whose clock has a period of 64 ns.
struct Bus {
    card: SerialDac,
    at: Ns,
    out: Outbox,
    miso: bool,
    half: Ns,
}

impl Bus {
    fn new(options: Options) -> Self {
        let mut bus = Self {
            card: SerialDac::new(options),
            at: 0,
            out: Outbox::default(),
            miso: false,
            half: 32,
        };
        bus.set(&[(CS_LED, true), (LDAC, true), (CLR, true)]);
        if options.selected {
            bus.set(&[(CS_DAC, true)]);
        }
        bus
    }

    fn set(&mut self, changes: &[(usize, bool)]) {
        self.at += self.half;
        let changes: Vec<Change> = changes
            .iter()
            .map(|(input, level)| (*input, Signal::Level(*level)))
            .collect();
        self.card.input(self.at, &changes, &mut self.out);
        for (_, output, signal) in &self.out.sent {
            if let Signal::Level(level) = signal {
                assert_eq!(*output, self.card.options.chip.channels);
                self.miso = *level;
            }
        }
        self.out.sent.retain(|sent| !matches!(sent.2, Signal::Level(_)));
    }

    fn transfer(&mut self, select: usize, bits: u32, width: u32) -> u32 {
        self.set(&[(select, false)]);
        let read = (0..width).rev().fold(0, |read, bit| {
            self.set(&[(MOSI, bits >> bit & 1 != 0), (CLK, true)]);
            self.set(&[(CLK, false)]);
            read << 1 | u32::from(self.miso)
        });
        self.set(&[(select, true)]);
        read
    }

    /// Clocks the bus without a select.
    fn lines_of_a_bus(&mut self, count: usize) {
        for _ in 0..count {
            self.set(&[(CLK, true)]);
            self.set(&[(CLK, false)]);
        }
    }

    fn word(&mut self, mode: u32, target: u32, data: u32) {
        let bits = word::MODE.put(word::TARGET.put(data, target), mode);
        self.transfer(CS_DAC, bits, chip::WORD.width);
    }

    fn read(&mut self, group: u32, address: u32) -> u32 {
        self.word(
            word::MODE_SPECIAL,
            word::TARGET_READ,
            select::CHANNEL.put(select::REGISTER.put(0, group), address),
        );
        self.at += 300;
        self.transfer(CS_DAC, 0, chip::WORD.width) & 0xffff
    }

    /// Pulses LDAC and waits.
    fn load(&mut self) {
        self.set(&[(LDAC, false)]);
        self.set(&[(LDAC, true)]);
        if let Some(at) = self.card.next() {
            self.at = at;
            self.card.act(at, &mut self.out);
        }
    }

    fn volts(&mut self) -> Vec<(usize, f64)> {
        let sent = std::mem::take(&mut self.out.sent);
        let volts = sent.into_iter().filter_map(|(_, output, signal)| match signal {
            Signal::Volts(volts) => Some((output, volts)),
            _ => None,
        });
        volts.collect()
    }
}

fn centred(options: Options) -> Bus {
    let mut bus = Bus::new(options);
    bus.word(word::MODE_SPECIAL, word::TARGET_OFS0, 0x2000);
    bus.word(word::MODE_SPECIAL, word::TARGET_OFS1, 0x2000);
    bus.word(word::MODE_DATA, 0, 0x8000);
    bus.load();
    bus.volts();
    bus
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn written_registers_are_read_back(channel in 0u32..32, values in prop::array::uniform3(any::<u16>())) {
        let mut bus = Bus::new(ZOTINO);
        let address = channel + chip::FIRST_CHANNEL;
        let modes = [word::MODE_DATA, word::MODE_OFFSET, word::MODE_GAIN];
        for (mode, value) in modes.into_iter().zip(values) {
            bus.word(mode, address, value.into());
        }
        let groups = [select::REGISTER_X1A, select::REGISTER_OFFSET, select::REGISTER_GAIN];
        for (group, value) in groups.into_iter().zip(values) {
            prop_assert_eq!(bus.read(group, address), u32::from(value));
        }
        prop_assert_eq!(bus.out.warnings, Vec::<String>::new());
    }

    #[test]
    fn any_line_changes_cause_no_panic(changes in prop::collection::vec((0..INPUTS.len(), any::<bool>()), 0..500)) {
        let mut bus = Bus::new(ZOTINO);
        for change in changes {
            bus.set(&[change]);
        }
        bus.card.report(bus.at);
    }
}

#[test]
fn voltage_changes_with_the_update() {
    let mut bus = centred(ZOTINO);
    bus.word(word::MODE_DATA, chip::FIRST_CHANNEL + 9, 0xc000);
    assert_eq!(bus.volts(), []);
    let written = bus.at;
    bus.load();
    assert_eq!(bus.volts(), [(9, 5.0)]);
    assert_eq!(bus.at - written, 1500, "the code was not ready when LDAC came");
    bus.set(&[(CLR, false)]);
    assert_eq!(bus.volts(), [(9, 0.0)]);
    bus.set(&[(CLR, true)]);
    assert_eq!(bus.volts(), [(9, 5.0)]);
}

#[test]
fn offset_gain_and_groups_determine_the_voltage() {
    // With 16 bits, and with 14
    for options in [ZOTINO, alone("ad5371")] {
        let mut bus = centred(options);
        bus.word(word::MODE_GAIN, 2, 0x7fff);
        bus.word(word::MODE_DATA, 2, 0x8000);
        bus.load();
        let channels: Vec<(usize, f64)> = (8..16).map(|n| (n, -5.0)).collect();
        assert_eq!(bus.volts(), channels);
        bus.word(word::MODE_OFFSET, chip::FIRST_CHANNEL + 8, 0xc000);
        bus.load();
        assert_eq!(bus.volts(), [(8, 0.0)]);
    }
}

#[test]
fn led_word_sets_the_leds() {
    let mut bus = Bus::new(ZOTINO);
    bus.transfer(CS_LED, 0xa5, 8);
    assert_eq!(bus.card.report(0)["leds"], 0xa5);
    assert_eq!(bus.out.warnings, Vec::<String>::new());
}

#[test]
fn report_has_registers_of_chip_and_channels() {
    let mut bus = Bus::new(ZOTINO);
    bus.word(word::MODE_DATA, chip::FIRST_CHANNEL + 2, 0x1234);
    bus.word(word::MODE_SPECIAL, word::TARGET_OFS0, 0x100);
    let report = bus.card.report(0);
    let channel = json!({ "X1A": 0x1234, "X1B": 0x7ffc, "GAIN": 0xffff, "OFFSET": 0x8000 });
    assert_eq!(report["ch2"]["registers"], channel);
    assert_eq!(report["registers"]["OFS0"], 0x100);
}

#[test]
fn settings_forbidden_by_data_sheet_are_reported() {
    let mut bus = Bus::new(ZOTINO);
    bus.transfer(CS_DAC, 0, 23);
    assert_eq!(bus.out.warnings, ["a transfer of 23 bits instead of 24: ignored"]);
    bus.out.warnings.clear();
    bus.word(word::MODE_DATA, 50, 0);
    assert_eq!(
        bus.out.warnings,
        ["there is no channel at the address 50: an AD5372 has 32"]
    );
    bus.out.warnings.clear();
    bus.half = 8;
    bus.word(word::MODE_DATA, 8, 0);
    assert_eq!(bus.out.warnings, ["a clock faster than its minimum period of 20 ns"]);
}

#[test]
fn channels_and_bits_match_the_table_of_chips() {
    for (name, last, beyond, code) in [
        ("ad5360", 8 + 15, 8 + 16, 0x8007),
        // A chip with 14 bits ignores the lowest two of 16.
        ("ad5361", 8 + 15, 8 + 16, 0x8004),
        // Two groups of four: the second one begins at the ninth address.
        ("ad5362", 8 + 11, 8 + 4, 0x8007),
        ("ad5370", 8 + 39, 8 + 40, 0x8007),
        ("ad5371", 8 + 39, 8 + 40, 0x8004),
        ("ad5373", 8 + 31, 8 + 32, 0x8004),
    ] {
        let mut bus = centred(alone(name));
        let channel = bus.card.volts.len() - 1;
        bus.word(word::MODE_DATA, last, 0x8007);
        bus.load();
        let volts = 20.0 * f64::from(code - 0x8000) / 65536.0;
        assert_eq!(bus.volts(), [(channel, volts)], "{name}");
        assert_eq!(bus.read(select::REGISTER_X1A, last), code, "{name}");
        assert_eq!(bus.out.warnings, Vec::<String>::new());
        bus.word(word::MODE_DATA, beyond, 0);
        assert!(bus.out.warnings[0].starts_with(&format!("there is no channel at the address {beyond}: an AD5")));
        bus.out.warnings.clear();
        bus.read(select::REGISTER_X1A, beyond);
        assert!(bus.out.warnings[0].starts_with("there is no readable register at"));
    }
}

#[test]
fn unselected_chip_receives_no_bits() {
    let mut bus = Bus::new(Options {
        selected: false,
        ..alone("ad5370")
    });
    bus.lines_of_a_bus(24);
    let text = "a message without a chip select: no chip receives it; check the chip select (cs)";
    assert_eq!(bus.out.warnings, [text]);
    let mut bus = Bus::new(Options {
        shares: true,
        ..alone("ad5370")
    });
    bus.lines_of_a_bus(24);
    assert_eq!(bus.out.warnings, Vec::<String>::new(), "it may be for another chip");
}

#[test]
fn missing_chip_type_is_reported() {
    let text = Kind::try_from("ad5375".to_string()).expect_err("there is none");
    assert!(
        text.starts_with("there is no chip ad5375: use one of ad5360, ad5361,"),
        "{text}"
    );
}
