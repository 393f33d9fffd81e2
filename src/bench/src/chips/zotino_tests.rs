use kairos_contracts::chips::ad53xx::{self as chip, select, word};
use proptest::prelude::*;

use super::*;

/// A card on a bus whose clock has a period of 64 ns.
struct Bus {
    card: Zotino,
    at: Ns,
    out: Outbox,
    miso: bool,
    half: Ns,
}

impl Bus {
    fn new() -> Self {
        let card = Zotino::new(Options {
            vref: 5.0,
            wired: [true; 2],
        });
        let mut bus = Self {
            card,
            at: 0,
            out: Outbox::default(),
            miso: false,
            half: 32,
        };
        bus.set(&[(CS_DAC, true), (CS_LED, true), (LDAC, true), (CLR, true)]);
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
            if let (&MISO, Signal::Level(level)) = (output, signal) {
                self.miso = *level;
            }
        }
        self.out.sent.retain(|sent| sent.1 != MISO);
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

    fn word(&mut self, mode: u32, target: u32, data: u32) {
        let bits = word::MODE.put(word::TARGET.put(data, target), mode);
        self.transfer(CS_DAC, bits, chip::WORD.width);
    }

    fn read(&mut self, group: u32, place: u32) -> u32 {
        self.word(
            word::MODE_SPECIAL,
            word::TARGET_READ,
            select::CHANNEL.put(select::REGISTER.put(0, group), place),
        );
        self.at += 300;
        self.transfer(CS_DAC, 0, chip::WORD.width) & 0xffff
    }

    /// LDAC is pulsed, and then there is time.
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

fn centred() -> Bus {
    let mut bus = Bus::new();
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
    fn registers_come_back(channel in 0u32..32, values in prop::array::uniform3(any::<u16>())) {
        let mut bus = Bus::new();
        let place = channel + chip::FIRST_CHANNEL;
        let modes = [word::MODE_DATA, word::MODE_OFFSET, word::MODE_GAIN];
        for (mode, value) in modes.into_iter().zip(values) {
            bus.word(mode, place, value.into());
        }
        let groups = [select::REGISTER_X1A, select::REGISTER_OFFSET, select::REGISTER_GAIN];
        for (group, value) in groups.into_iter().zip(values) {
            prop_assert_eq!(bus.read(group, place), u32::from(value));
        }
        prop_assert_eq!(bus.out.warnings, Vec::<String>::new());
    }

    #[test]
    fn any_changes(changes in prop::collection::vec((0..INPUTS.len(), any::<bool>()), 0..500)) {
        let mut bus = Bus::new();
        for change in changes {
            bus.set(&[change]);
        }
        bus.card.report(bus.at);
    }
}

#[test]
fn a_voltage_comes_with_the_update() {
    let mut bus = centred();
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
fn offset_and_gain_and_groups() {
    let mut bus = centred();
    bus.word(word::MODE_GAIN, 2, 0x7fff);
    bus.word(word::MODE_DATA, 2, 0x8000);
    bus.load();
    let channels: Vec<(usize, f64)> = (8..16).map(|n| (n, -5.0)).collect();
    assert_eq!(bus.volts(), channels);
    bus.word(word::MODE_OFFSET, chip::FIRST_CHANNEL + 8, 0xc000);
    bus.load();
    assert_eq!(bus.volts(), [(8, 0.0)]);
}

#[test]
fn leds() {
    let mut bus = Bus::new();
    bus.transfer(CS_LED, 0xa5, 8);
    assert_eq!(bus.card.report(0)["leds"], 0xa5);
    assert_eq!(bus.out.warnings, Vec::<String>::new());
}

#[test]
fn what_the_data_sheet_forbids_is_told() {
    let mut bus = Bus::new();
    bus.transfer(CS_DAC, 0, 23);
    assert_eq!(bus.out.warnings, ["a transfer of 23 bits: one has 24, and is ignored"]);
    bus.out.warnings.clear();
    bus.word(word::MODE_DATA, 50, 0);
    assert_eq!(bus.out.warnings, ["there is no channel at the address 50"]);
    bus.out.warnings.clear();
    bus.half = 8;
    bus.word(word::MODE_DATA, 8, 0);
    assert_eq!(bus.out.warnings, ["a clock faster than its least period of 20 ns"]);
}
