use kairos_contracts::chips::ad9910 as dds;
use kairos_contracts::chips::urukul::cfg9;
use proptest::prelude::*;

use super::*;

const OPTIONS: Options = Options {
    chip: Chip::Ad9910,
    revision: Revision::Nine,
    clocks: [100e6, 0.0, 125e6],
    servo: None,
    sync_skew_ps: [300.0; CHANNELS],
};

/// A card on a bus whose clock has a period of 16 ns.
struct Bus {
    card: Urukul,
    at: Ns,
    out: Outbox,
    miso: bool,
}

impl Bus {
    fn new(options: Options) -> Self {
        Self {
            card: Urukul::new(options),
            at: 0,
            out: Outbox::default(),
            miso: false,
        }
    }

    fn set(&mut self, changes: &[(usize, bool)]) {
        let changes: Vec<Change> = changes
            .iter()
            .map(|(input, level)| (*input, Signal::Level(*level)))
            .collect();
        self.at += 8;
        self.card.input(self.at, &changes, &mut self.out);
        for (_, output, signal) in &self.out.sent {
            if let (&MISO, Signal::Level(level)) = (output, signal) {
                self.miso = *level;
            }
        }
        self.out.sent.retain(|sent| sent.1 != MISO);
    }

    fn select(&mut self, number: u32) {
        let pins: Vec<(usize, bool)> = (0..3).map(|n| (CS0 + n, number >> n & 1 != 0)).collect();
        self.set(&pins);
    }

    /// Sends a word and returns the word received.
    fn exchange(&mut self, word: u64, width: u32) -> u64 {
        let mut read = 0;
        for bit in (0..width).rev() {
            self.set(&[(MOSI, word >> bit & 1 != 0)]);
            self.set(&[(CLK, true)]);
            read = read << 1 | u64::from(self.miso);
            self.set(&[(CLK, false)]);
        }
        read
    }

    fn transfer(&mut self, select: u32, word: u64, width: u32) -> u64 {
        self.select(select);
        let read = self.exchange(word, width);
        self.select(0);
        read
    }

    fn write(&mut self, select: u32, address: u16, word: u64, width: u32) {
        self.select(select);
        self.exchange(address.into(), 8);
        self.exchange(word, width);
        self.select(0);
    }

    /// Sends a byte to an AD9912.
    fn write12(&mut self, address: u16, byte: u64) {
        self.select(words::CS_DDS_CH0);
        self.exchange(address.into(), 16);
        self.exchange(byte, 8);
        self.select(0);
    }

    fn update(&mut self) {
        self.set(&[(IO_UPDATE, true)]);
        self.set(&[(IO_UPDATE, false)]);
        self.wait();
    }

    /// Lets the chips do what they have to do soon: the latency of their pipelines.
    fn wait(&mut self) {
        while let Some(next) = self.card.next().filter(|next| *next < self.at + 1000) {
            self.at = next.max(self.at);
            self.card.act(self.at, &mut self.out);
        }
    }

    fn tones(&mut self) -> Vec<(usize, Tone)> {
        let sent = std::mem::take(&mut self.out.sent);
        sent.into_iter()
            .filter_map(|(_, output, signal)| match signal {
                Signal::Tone(tone) => Some((output, tone)),
                _ => None,
            })
            .collect()
    }
}

proptest! {
    #[test]
    fn written_attenuators_are_shifted_back(first: u32, second: u32) {
        let mut bus = Bus::new(OPTIONS);
        bus.transfer(words::CS_ATT, first.into(), 32);
        // Drivers read by shifting in zeros, then write the result back without a pause.
        bus.select(words::CS_ATT);
        prop_assert_eq!(bus.exchange(second.into(), 32), u64::from(first));
        prop_assert_eq!(bus.exchange(first.into(), 32), u64::from(second));
        bus.select(0);
        prop_assert_eq!(bus.card.attenuators, u64::from(first));
    }

    #[test]
    fn written_configuration_appears_in_the_status(word: u64, revision in prop_oneof![Just(Revision::Eight), Just(Revision::Nine)]) {
        let mut bus = Bus::new(Options { revision, ..OPTIONS });
        let width = revision.fields().width;
        let status = bus.transfer(words::CS_CFG, word & mask(width), width);
        prop_assert_eq!(sta::PROTO_REV.get(status), revision.number());
        prop_assert_eq!(bus.card.configuration, word & mask(width));
        let status = bus.transfer(words::CS_CFG, 0, width);
        prop_assert_eq!(sta::RF_SW.get(status), word & 0xf);
    }

    /// Any changes at the pins: no panic.
    #[test]
    fn any_line_changes_cause_no_panic(changes in prop::collection::vec((0..INPUTS.len(), any::<bool>()), 0..500)) {
        let mut bus = Bus::new(OPTIONS);
        for change in changes {
            bus.set(&[change]);
        }
        bus.card.report(bus.at);
    }
}

/// Lets the PLL of a channel lock at 1 GHz.
fn lock(bus: &mut Bus, n: usize) {
    let clock = dds::cfr3::PLL_N.put(dds::cfr3::REFCLK_DIVIDER_BYPASS.put(0, 1), 32);
    let clock = dds::cfr3::VCO_SEL.put(dds::cfr3::PLL_ENABLE.put(clock, 1), 5);
    bus.write(words::CS_DDS_CH0 + n as u32, dds::CFR3.address, clock, 32);
    bus.update();
    while !bus.card.chips[n].is_locked(bus.at) {
        bus.at = bus.card.next().expect("it locks");
        bus.card.act(bus.at, &mut bus.out);
    }
}

/// Channel 2 at 1 GHz from the MMCX connector, its switch closed by its pin.
fn playing() -> Bus {
    let mut bus = Bus::new(OPTIONS);
    let word = cfg9::CLK_SEL1.put(cfg9::PROFILE.at(2).put(0, 7), 1);
    bus.transfer(words::CS_CFG, word, 52);
    bus.transfer(words::CS_ATT, u64::from(u32::MAX), 32);
    lock(&mut bus, 2);
    let channel = words::CS_DDS_CH2;
    bus.write(channel, dds::CFR2.address, dds::cfr2::ASF_PROFILE_ENABLE.put(0, 1), 32);
    let tone = dds::profile::ASF.put(dds::profile::FTW.put(0, 1 << 28), 0x3fff);
    bus.write(channel, dds::PROFILE.address + 7, tone, 64);
    bus.set(&[(SW0 + 2, true)]);
    bus
}

#[test]
fn channel_outputs_its_tone_from_the_update_on() {
    let mut bus = playing();
    assert_eq!(bus.tones(), []);
    assert_eq!(bus.card.report(bus.at)["ch2"]["waits_for_update"], true);
    bus.update();
    let tones = bus.tones();
    assert_eq!(tones.len(), 1);
    assert_eq!((tones[0].0, tones[0].1.hz, tones[0].1.dbm), (2, 62.5e6, 10.0));
    bus.set(&[(SW0 + 2, false)]);
    assert_eq!(bus.tones(), [(2, Tone::OFF)]);
    assert_eq!(bus.out.warnings, Vec::<String>::new());
}

#[test]
fn attenuator_and_configured_switch_change_the_output() {
    let mut bus = playing();
    bus.update();
    bus.tones();
    bus.transfer(words::CS_ATT, 0xff00_00ff, 32);
    let quieter = bus.tones();
    assert_eq!((quieter.len(), quieter[0].1.dbm), (1, 10.0 - 31.5));
    bus.set(&[(SW0 + 2, false)]);
    bus.tones();
    let closed = cfg9::RF_SW.at(2).put(bus.card.configuration, 1);
    bus.transfer(words::CS_CFG, closed, 52);
    assert_eq!(bus.tones().len(), 1);
}

#[test]
fn masked_chip_ignores_common_messages_and_update_pin() {
    let mut bus = playing();
    let masked = cfg9::MASK_NU.at(2).put(bus.card.configuration, 1);
    bus.transfer(words::CS_CFG, masked, 52);
    bus.update();
    assert_eq!(bus.tones(), []);
    let writes = |bus: &Bus, n: usize| bus.card.chips[n].report(0)["writes"].as_u64().expect("a number");
    let before = [writes(&bus, 1), writes(&bus, 2)];
    bus.write(words::CS_DDS_MULTI, dds::FTW.address, 5, 32);
    assert_eq!([writes(&bus, 1), writes(&bus, 2)], [before[0] + 1, before[1]]);
    bus.transfer(words::CS_CFG, cfg9::IO_UPDATE.at(2).put(masked, 1), 52);
    bus.wait();
    assert_eq!(bus.tones().len(), 1);
}

#[test]
fn servo_writes_chips_over_its_own_bus() {
    for servo in [ServoBus::Counts, ServoBus::Selects] {
        let mut bus = Bus::new(Options {
            servo: Some(servo),
            ..OPTIONS
        });
        bus.transfer(words::CS_CFG, cfg9::MASK_NU.at(1).put(0, 1), 52);
        // Two messages, with a different frequency for each chip
        for _ in 0..2 {
            bus.set(&[(NU_CS, true)]);
            for bit in (0..72).rev() {
                let word = |n: u64| 0x0e << 64 | u128::from(0x1000_0000 + n);
                let pins: Vec<(usize, bool)> = (0..CHANNELS)
                    .map(|n| (NU_MOSI + n, word(n as u64) >> bit & 1 != 0))
                    .collect();
                bus.set(&pins);
                bus.set(&[(NU_CLK, true)]);
                bus.set(&[(NU_CLK, false)]);
            }
            bus.set(&[(NU_CS, false)]);
        }
        let writes: Vec<u64> = (0..CHANNELS)
            .map(|n| bus.card.chips[n].report(0)["writes"].as_u64().expect("a number"))
            .collect();
        assert_eq!(writes, [2, 0, 2, 2]);
        bus.write(words::CS_DDS_MULTI, dds::FTW.address, 5, 32);
        assert_eq!(bus.card.chips[1].report(0)["writes"], 1);
        assert_eq!(bus.card.chips[2].report(0)["writes"], 2);
        assert_eq!(bus.out.warnings, Vec::<String>::new());
    }
}

#[test]
fn chip_0_synchronises_others_as_sync_sel_selects() {
    let mut bus = Bus::new(OPTIONS);
    let leads = cfg9::SYNC_SEL.put(cfg9::CLK_SEL1.put(0, 1), 1);
    bus.transfer(words::CS_CFG, leads, 52);
    (0..3).for_each(|n| lock(&mut bus, n));
    let frequencies = |bus: &Bus| {
        let report = bus.card.report(bus.at);
        [0, 1, 2].map(|n| report[format!("ch{n}")]["sync_in_hz"].as_f64())
    };
    let follow = |bus: &mut Bus, n: u32, settings: u64| {
        let word = dds::sync::IN_DELAY.put(dds::sync::RECEIVER_ENABLE.put(settings, 1), 16);
        bus.write(
            words::CS_DDS_CH0 + n,
            dds::CFR2.address,
            dds::cfr2::SYNC_VALIDATION_DISABLE.put(0, 0),
            32,
        );
        bus.write(words::CS_DDS_CH0 + n, dds::SYNC.address, word, 32);
        bus.update();
        sta::SMP_ERR.get(bus.transfer(words::CS_CFG, leads, 52))
    };
    assert_eq!(follow(&mut bus, 1, 0), 0, "without edges there are no errors");
    assert_eq!(frequencies(&bus), [Some(0.0); 3]);
    let warnings = std::mem::take(&mut bus.out.warnings);
    assert!(warnings[0].starts_with("ch1: it is set to follow its SYNC_IN, which has no clock: check sync_device"));
    assert_eq!(warnings.len(), 1);
    // 300 ps of the bench and 16 steps of 75 ps are 500 ps away from the edges: windows of up to 6
    // steps contain none.
    let generator = dds::sync::GENERATOR_ENABLE.put(0, 1);
    assert_eq!(follow(&mut bus, 0, generator), 0);
    assert_eq!(frequencies(&bus), [Some(62.5e6); 3]);
    assert_eq!(follow(&mut bus, 1, dds::sync::WINDOW.put(0, 6)), 0);
    assert_eq!(follow(&mut bus, 2, dds::sync::WINDOW.put(0, 7)), 0b100);
    // A delay at SYNC_OUT applies to all chips.
    assert_eq!(follow(&mut bus, 0, dds::sync::OUT_DELAY.put(generator, 3)), 0b110);
    bus.transfer(words::CS_CFG, cfg9::SYNC_SEL.put(leads, 0), 52);
    assert_eq!(frequencies(&bus), [Some(0.0); 3]);
}

#[test]
fn wrong_revision_and_missing_clock_are_reported() {
    let mut bus = Bus::new(OPTIONS);
    bus.transfer(words::CS_CFG, 0, 24);
    let text = "a configuration of 24 bits: one of protocol revision 9 has 52 (proto_rev)";
    assert_eq!(bus.out.warnings, [text]);
    bus.out.warnings.clear();
    // The SMA connector has no clock.
    bus.transfer(words::CS_CFG, cfg9::CLK_SEL0.put(0, 1), 52);
    let pll = dds::cfr3::PLL_ENABLE.put(0, 1);
    bus.write(words::CS_DDS_CH0, dds::CFR3.address, pll, 32);
    bus.update();
    assert_eq!(bus.out.warnings.len(), 1);
    assert!(bus.out.warnings[0].starts_with("ch0: its PLL is on but the card has no clock"));
}

/// Acts as a driver with a wrong `chip_select`.
#[test]
fn unreceived_and_truncated_messages_are_reported() {
    let mut bus = playing();
    bus.update();
    bus.transfer(0, 0x1234, 16);
    assert_eq!(
        std::mem::take(&mut bus.out.warnings),
        ["a message without a chip select (cs is 0): no chip receives it"]
    );
    let masked = (0..4).fold(bus.card.configuration, |word, n| cfg9::MASK_NU.at(n).put(word, 1));
    bus.transfer(words::CS_CFG, masked, 52);
    bus.transfer(words::CS_DDS_MULTI, 0x1234, 16);
    assert_eq!(
        std::mem::take(&mut bus.out.warnings),
        ["a message to chip select 3, the chips of mask_nu, which selects none"]
    );
    // A configuration for another card's logic, and half of a word.
    bus.transfer(words::CS_DDS_CH0, 0x02_1234, 24);
    bus.transfer(words::CS_DDS_CH1, 1, 4);
    assert_eq!(
        std::mem::take(&mut bus.out.warnings),
        [
            "ch0: a message ended after 16 of the 32 bits for its register CFR3: check the chip select and the length",
            "ch1: a message ended after 4 of the 8 bits of its instruction: check the chip select and the length"
        ]
    );
    bus.write(words::CS_DDS_CH0, dds::CFR1.address, 0, 32);
    assert_eq!(bus.out.warnings, Vec::<String>::new());
}

#[test]
fn chip_select_with_switch_of_another_chip_is_reported() {
    let mut bus = Bus::new(OPTIONS);
    bus.set(&[(SW0 + 2, true)]);
    let since = bus.at;
    let never = "ch2: its switch was closed and nothing sent to its chip: initialise it with init() and set its tone";
    assert_eq!(bus.card.unfinished(), [(since, never.to_string())]);
    bus.write(words::CS_DDS_CH1, dds::FTW.address, 0, 32);
    let text =
        "ch2: its switch was closed and nothing sent to its chip, while ch1 was set behind an open switch: check \
                chip_select and sw_device";
    assert_eq!(bus.card.unfinished(), [(since, text.to_string())]);
    bus.set(&[(SW0 + 1, true)]);
    assert_eq!(bus.card.unfinished(), [(since, never.to_string())]);
    bus.write(words::CS_DDS_CH2, dds::FTW.address, 0, 32);
    assert_eq!(bus.card.unfinished(), []);
}

#[test]
fn settings_without_update_are_reported() {
    let mut bus = playing();
    // The switch was closed afterwards.
    let since = bus.at - 8;
    assert_eq!(
        bus.card.unfinished(),
        [(
            since,
            "ch2: CFR2, PROFILE written but not applied: no update (IO_UPDATE) followed".to_string()
        )]
    );
    bus.update();
    assert_eq!(bus.card.unfinished(), []);
    // The state that a driver leaves if it clears the phase with one update and not with the next.
    let clears = dds::cfr1::PHASE_AUTOCLEAR.put(0, 1);
    bus.write(words::CS_DDS_CH2, dds::CFR1.address, clears, 32);
    assert_eq!(bus.card.unfinished(), []);
}

#[test]
fn tone_without_clock_is_reported() {
    for (chip, register, word, width) in [
        (Chip::Ad9910, dds::PROFILE.address + 7, dds::profile::FTW.put(0, 5), 64),
        (Chip::Ad9912, 0x61ab, 1 << 40, 48),
    ] {
        let mut bus = Bus::new(Options {
            chip,
            clocks: [0.0; 3],
            ..OPTIONS
        });
        bus.transfer(words::CS_CFG, cfg9::PROFILE.at(0).put(0, 7), 52);
        bus.select(words::CS_DDS_CH0);
        let instruction = if chip == Chip::Ad9910 { 8 } else { 16 };
        bus.exchange(register.into(), instruction);
        bus.exchange(word, width);
        bus.select(0);
        if chip == Chip::Ad9912 {
            // Its PLL is on after reset.
            bus.write12(0x10, 0x90);
        }
        bus.update();
        let warnings: Vec<&String> = bus
            .out
            .warnings
            .iter()
            .filter(|text| text.contains("has no clock"))
            .collect();
        assert_eq!(warnings.len(), 1, "{:?}", bus.out.warnings);
    }
}

/// Bits shifted out of the register are lost, and the rest moves up.
#[test]
fn short_attenuator_message_is_reported() {
    let mut bus = Bus::new(OPTIONS);
    bus.transfer(words::CS_ATT, 0x1234_5678, 32);
    bus.transfer(words::CS_ATT, 0xffff_ffff_1234_5678, 64);
    bus.transfer(words::CS_ATT, 0xab, 8);
    assert_eq!(bus.card.attenuators, 0x3456_78ab);
    assert_eq!(bus.out.warnings, ["8 bits for the attenuators: they have 32"]);
}

#[test]
fn disabled_attenuator_is_reported_once() {
    let mut bus = Bus::new(OPTIONS);
    for enabled in [0b1111, 0b1011, 0b1011] {
        bus.transfer(words::CS_CFG, enabled << cfg9::ATT_EN.mask().trailing_zeros(), 52);
    }
    assert_eq!(bus.out.warnings, [format!("ch2: {DISABLED}")]);
}

/// The missing clock is reported when it stops, not at the next event.
#[test]
fn stopped_synchronisation_clock_is_reported_at_once() {
    let mut bus = Bus::new(OPTIONS);
    let clock = |bus: &mut Bus, wave| bus.card.input(bus.at, &[(SYNC, Signal::Clock(wave))], &mut bus.out);
    clock(&mut bus, Some(Square { hz: 3.125e6, edge: 0 }));
    bus.write(
        words::CS_DDS_CH0,
        dds::SYNC.address,
        dds::sync::RECEIVER_ENABLE.put(0, 1),
        32,
    );
    bus.set(&[(IO_UPDATE, true)]);
    bus.at += 500;
    bus.set(&[(IO_UPDATE, false)]);
    assert_eq!(bus.out.warnings, Vec::<String>::new());
    clock(&mut bus, None);
    assert!(
        bus.out.warnings[0].starts_with("ch0: it is set to follow its SYNC_IN"),
        "{:?}",
        bus.out.warnings
    );
}
