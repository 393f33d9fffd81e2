use kairos_contracts::chips::ad9910::{asf, cfr3, profile, sync};
use proptest::prelude::*;

use super::registers::register;
use super::*;
use crate::signal::Square;

/// Latency from an edge of SYNC_CLK to the output: of frequency and phase, and of the amplitude.
const LATE: Ns = 79;
const LATE_AMPLITUDE: Ns = 47;

const CFR3_WORD: u64 = {
    let word = cfr3::PLL_N.put(0, 32);
    let word = cfr3::REFCLK_DIVIDER_BYPASS.put(word, 1);
    cfr3::VCO_SEL.put(cfr3::PLL_ENABLE.put(word, 1), 5)
};

pub(super) fn write(chip: &mut Ad9910, address: u16, value: u64) {
    chip.begin();
    let bits = register(address.into()).expect("a register").width;
    let complaint = [(address.into(), 8), (value, bits)].map(|(word, width)| send(chip, word, width));
    assert_eq!(complaint, [None, None]);
}

fn send(chip: &mut Ad9910, word: u64, width: u32) -> Option<String> {
    let mut sent = Sent::new(word, width);
    let mut complaint = None;
    for _ in 0..width {
        complaint = complaint.or(chip.rise(0, sent.take()));
        chip.fall();
    }
    complaint
}

/// Reads as a host that samples at the clock's falling edge, before the chip sends its next bit.
fn read(chip: &mut Ad9910, address: u16) -> u64 {
    chip.begin();
    let width = register(address.into()).expect("a register").width;
    let mut sent = Sent::new((0x80 | address).into(), 8);
    let mut bit = false;
    for _ in 0..8 {
        assert_eq!(chip.rise(0, sent.take()), None);
        bit = chip.fall().unwrap_or_default();
    }
    let mut word = 0;
    for _ in 0..width {
        assert_eq!(chip.rise(0, false), None);
        word = word << 1 | u64::from(bit);
        bit = chip.fall().unwrap_or_default();
    }
    word
}

/// With its output data at SDO, which drivers set first.
fn speaks(mut chip: Ad9910) -> Ad9910 {
    write(&mut chip, chip::CFR1.address, cfr1::SDIO_INPUT_ONLY.put(0, 1));
    chip.update(0);
    chip
}

/// With a reference of 31.25 MHz and the PLL at 1 GHz, locked at `LOCK`.
pub(super) fn clocked() -> Ad9910 {
    let mut chip = Ad9910::new(0);
    assert_eq!(chip.set_reference(0, 31.25e6), None);
    write(&mut chip, chip::CFR3.address, CFR3_WORD);
    assert_eq!(chip.update(0), None);
    chip.set_gain(0, 0.0);
    assert_eq!(chip.next(0), Some(LOCK));
    chip.act(LOCK);
    chip
}

#[test]
fn chip_never_initialised_is_reported() {
    let mut chip = Ad9910::new(0);
    assert_eq!(chip.set_reference(0, 31.25e6), None);
    write(&mut chip, chip::FTW.address, 1);
    chip.update(LOCK);
    let text = "an update of 8 ns: it must last longer than a period of SYNC_CLK, 256 ns; its PLL is off, as after \
                power-up: initialise it with init()";
    assert_eq!(chip.end_update(LOCK + 8).as_deref(), Some(text));
}

/// The output at a time, to which the chip is advanced.
pub(super) fn tone_at(chip: &mut Ad9910, at: Ns) -> Tone {
    chip.act(at);
    chip.tone(at)
}

fn tone_word(ftw: u64, pow: u64, asf: u64) -> u64 {
    profile::ASF.put(profile::POW.put(profile::FTW.put(0, ftw), pow), asf)
}

proptest! {
    #[test]
    fn written_register_is_read_back_after_update(index in 0usize..24, value: u64) {
        let addresses: Vec<u16> = (0..32u16).filter(|n| *n != chip::RAM.address && register((*n).into()).is_some()).collect();
        let address = addresses[index % addresses.len()];
        let width = register(address.into()).expect("a register").width;
        let mut value = value & super::super::shift::mask(width);
        if address == chip::CFR1.address {
            value |= cfr1::SDIO_INPUT_ONLY.mask();
        }
        let mut chip = speaks(Ad9910::new(0));
        let before = read(&mut chip, address);
        write(&mut chip, address, value);
        prop_assert_eq!(read(&mut chip, address), before);
        chip.update(0);
        prop_assert_eq!(read(&mut chip, address), value);
    }

    /// Any input on the serial port: no panic, and a selection begins a new message.
    #[test]
    fn any_bits_cause_no_panic(bits in prop::collection::vec(any::<bool>(), 0..400)) {
        let mut chip = Ad9910::new(0);
        for bit in bits {
            chip.rise(0, bit);
            chip.fall();
        }
        chip = speaks(chip);
        prop_assert_eq!(read(&mut chip, chip::AUX_DAC.address) >> 32, 0);
    }

    /// The phase follows the frequency word, however often it is observed.
    #[test]
    fn phase_follows_the_frequency_however_often_observed(ftw: u32, waits in prop::collection::vec(1u64..10_000_000, 1..10)) {
        let mut chip = clocked();
        write(&mut chip, chip::PROFILE.address, tone_word(ftw.into(), 0, 0x3fff));
        chip.update(LOCK);
        let mut at = LOCK + LATE;
        let start = tone_at(&mut chip, at).turns;
        for wait in waits {
            at += wait;
            tone_at(&mut chip, at);
            chip.apply(chip.clock.edge(at), false);
        }
        let at = at + 4 + LATE;
        let exact = (u128::from(ftw) * u128::from(at - LOCK - LATE) % (1 << 32)) as f64 / 4_294_967_296.0;
        let turned = (tone_at(&mut chip, at).turns - start - exact).rem_euclid(1.0);
        prop_assert!(turned.min(1.0 - turned) < 1e-9, "{}", turned);
    }
}

#[test]
fn tone_has_frequency_phase_and_amplitude_of_its_profile() {
    let mut chip = clocked();
    write(&mut chip, chip::CFR2.address, cfr2::ASF_PROFILE_ENABLE.put(0, 1));
    write(
        &mut chip,
        chip::PROFILE.address + 7,
        tone_word(1 << 29, 1 << 14, 0x1fff),
    );
    chip.set_profile(LOCK, 7);
    tone_at(&mut chip, LOCK + 200);
    chip.update(LOCK + 205);
    // Takes effect at an edge of SYNC_CLK, every 4 ns
    let edge = LOCK + 208;
    assert_eq!(chip.next(LOCK + 205), Some(edge + LATE_AMPLITUDE));
    assert_eq!(tone_at(&mut chip, edge + LATE - 1), Tone::OFF);
    let tone = tone_at(&mut chip, edge + LATE);
    assert_eq!((tone.hz, tone.turns), (125e6, 0.25));
    assert!((tone.dbm - (10.0 - 6.0206)).abs() < 1e-3, "{}", tone.dbm);
    let later = edge + 1000;
    chip.set_profile(later, 0);
    assert_eq!(tone_at(&mut chip, later + LATE_AMPLITUDE - 1).hz, 125e6);
    let silent = tone_at(&mut chip, later + LATE_AMPLITUDE);
    assert_eq!(silent, Tone::OFF, "the profile has no amplitude");
}

/// With a current of 96/223 of that after reset.
#[test]
fn dac_current_scales_the_tone() {
    let mut chip = clocked();
    write(&mut chip, chip::PROFILE.address, tone_word(1 << 28, 0, 0x3fff));
    write(&mut chip, chip::AUX_DAC.address, 0);
    chip.update(LOCK);
    let expected = FULL_SCALE_DBM + 20.0 * (96f64 / 223.0).log10();
    assert!((tone_at(&mut chip, LOCK + LATE).dbm - expected).abs() < 1e-9);
}

#[test]
fn matched_latency_changes_all_parameters_together() {
    for (osk, latency) in [(0, 79), (1, 91)] {
        let mut chip = clocked();
        let word = cfr2::MATCHED_LATENCY_ENABLE.put(cfr2::ASF_PROFILE_ENABLE.put(0, 1), 1);
        write(&mut chip, chip::CFR2.address, word);
        write(&mut chip, chip::CFR1.address, cfr1::OSK_ENABLE.put(0, osk));
        write(&mut chip, chip::ASF.address, asf::ASF.put(0, 0x3fff));
        write(&mut chip, chip::PROFILE.address, tone_word(1 << 29, 0, 0x3fff));
        chip.update(LOCK);
        assert_eq!(chip.next(LOCK), Some(LOCK + latency));
        assert_eq!(tone_at(&mut chip, LOCK + latency - 1), Tone::OFF);
        assert_eq!(tone_at(&mut chip, LOCK + latency).dbm, 10.0);
    }
}

#[test]
fn cleared_accumulator_starts_at_the_update() {
    let mut chip = clocked();
    write(&mut chip, chip::PROFILE.address, tone_word(12_345_678, 0, 0x3fff));
    write(&mut chip, chip::CFR1.address, cfr1::PHASE_AUTOCLEAR.put(0, 1));
    chip.update(LOCK + 776);
    let at = LOCK + 776 + LATE;
    assert_eq!(tone_at(&mut chip, at).turns, 0.0);
    assert_eq!(tone_at(&mut chip, at + 1).turns, 12_345_678.0 / 4_294_967_296.0);
}

#[test]
fn ram_repeats_the_range_of_its_profile() {
    let mut chip = speaks(Ad9910::new(0));
    let range = ram_profile::START.put(ram_profile::END.put(0, 6), 4);
    write(&mut chip, chip::PROFILE.address, range);
    chip.update(0);
    chip.begin();
    assert_eq!(send(&mut chip, chip::RAM.address.into(), 8), None);
    (1..=3).for_each(|word| assert_eq!(send(&mut chip, word << 20, 32), None));
    assert_eq!(read(&mut chip, chip::RAM.address), 1 << 20);
    assert_eq!(
        chip.ram[4..7],
        [3 << 20, 2 << 20, 1 << 20],
        "downwards from the last address"
    );
    chip.begin();
    send(&mut chip, chip::RAM.address.into(), 8);
    (4..=8).for_each(|word| assert_eq!(send(&mut chip, word << 20, 32), None));
    assert_eq!(chip.ram[4..7], [6 << 20, 8 << 20, 7 << 20], "round again");
    assert_eq!((chip.ram[3], chip.ram[7]), (0, 0));
}

#[test]
fn ram_words_of_one_profile_are_read_through_another() {
    let mut chip = speaks(Ad9910::new(0));
    for (profile, last) in [(0, 3), (1, 1)] {
        write(
            &mut chip,
            chip::PROFILE.address + profile,
            ram_profile::END.put(0, last),
        );
    }
    chip.update(0);
    chip.begin();
    send(&mut chip, chip::RAM.address.into(), 8);
    (10..14).for_each(|word| assert_eq!(send(&mut chip, word, 32), None));
    chip.set_profile(0, 1);
    assert_eq!(chip.first_word(), 1);
    assert_eq!(read(&mut chip, chip::RAM.address), 12);
    assert_eq!(chip.ram[..4], [13, 12, 11, 10]);
}

/// Frequency words at the output in steps of 8 ns while four words of the RAM play, for a no-dwell
/// bit and a mode.
fn played(mode: u64, nodwell: u64, profiles: &[(Ns, usize)], count: usize) -> Vec<u64> {
    let mut chip = clocked();
    for n in 0..4usize {
        chip.ram[n + 10] = (n as u32 + 1) << 20;
    }
    let range = ram_profile::START.put(ram_profile::END.put(ram_profile::STEP.put(0, 2), 13), 10);
    let range = ram_profile::NODWELL_HIGH.put(ram_profile::MODE.put(range, mode), nodwell);
    for profile in 0..2 {
        let word = ram_profile::START.put(range, 10 + profile);
        write(&mut chip, chip::PROFILE.address + profile as u16, word);
    }
    write(&mut chip, chip::CFR1.address, cfr1::RAM_ENABLE.put(0, 1));
    write(&mut chip, chip::ASF.address, asf::ASF.put(0, 0x3fff));
    chip.update(LOCK);
    let mut words = Vec::new();
    for n in 0..count as u64 {
        let at = LOCK + 8 * n;
        for (_, profile) in profiles.iter().filter(|change| change.0 == 8 * n) {
            chip.set_profile(at, *profile);
        }
        words.push((tone_at(&mut chip, at + 94 - 8 * 12).hz, tone_at(&mut chip, at)));
    }
    let of = |tone: &(f64, Tone)| (tone.1.hz / 1e9 * 4096.0).round() as u64;
    // The latency of the RAM is 94 cycles: twelve steps less 2 ns.
    words.iter().map(of).skip(12).collect()
}

#[test]
fn ram_playback_follows_each_mode() {
    let modes = [
        (ram_profile::MODE_DIRECTSWITCH, 0, [1, 1, 1, 1, 1, 1, 1, 1]),
        (ram_profile::MODE_RAMPUP, 0, [1, 2, 3, 4, 4, 4, 4, 4]),
        (ram_profile::MODE_RAMPUP, 1, [1, 2, 3, 4, 1, 1, 1, 1]),
        (ram_profile::MODE_BIDIR_RAMP, 0, [1, 1, 1, 1, 1, 1, 1, 1]),
        (ram_profile::MODE_CONT_BIDIR_RAMP, 0, [1, 2, 3, 4, 3, 2, 1, 2]),
        (ram_profile::MODE_CONT_RAMPUP, 0, [1, 2, 3, 4, 1, 2, 3, 4]),
    ];
    for (mode, nodwell, words) in modes {
        assert_eq!(played(mode, nodwell, &[], 20), words, "mode {mode}, no dwell {nodwell}");
    }
}

#[test]
fn profile_pins_control_the_ram_playback() {
    let direct = ram_profile::MODE_DIRECTSWITCH;
    assert_eq!(played(direct, 0, &[(16, 1), (32, 0)], 20), [1, 1, 2, 2, 1, 1, 1, 1]);
    let ramp = ram_profile::MODE_BIDIR_RAMP;
    assert_eq!(
        played(ramp, 0, &[(8, 1), (40, 0)], 20),
        [1, 1, 2, 3, 4, 4, 3, 2][..8].to_vec()
    );
    let once = ram_profile::MODE_RAMPUP;
    assert_eq!(played(once, 0, &[(8, 1)], 20), [1, 2, 3, 4, 4, 4, 4, 4]);
}

#[test]
fn ram_plays_phase_and_amplitude_together() {
    let mut chip = clocked();
    chip.ram[0] = 0x4000_7ffc;
    let word = cfr1::RAM_DESTINATION.put(cfr1::RAM_ENABLE.put(0, 1), cfr1::RAM_DESTINATION_POWASF);
    write(&mut chip, chip::CFR1.address, word);
    write(&mut chip, chip::CFR1.address, cfr1::PHASE_AUTOCLEAR.put(word, 1));
    write(&mut chip, chip::FTW.address, 1 << 29);
    chip.update(LOCK);
    let tone = tone_at(&mut chip, LOCK + 94);
    assert_eq!((tone.hz, tone.turns), (125e6, 0.25));
    assert!((tone.dbm - (10.0 - 6.0206)).abs() < 1e-3);
}

#[test]
fn internal_profile_control_steps_through_profiles() {
    let mut chip = clocked();
    for n in 0..3usize {
        chip.ram[n] = (n as u32 + 1) << 20;
        let range = ram_profile::START.put(ram_profile::END.put(ram_profile::STEP.put(0, 2), n as u64), n as u64);
        write(&mut chip, chip::PROFILE.address + n as u16, range);
    }
    for (sequence, words) in [(2, [1, 2, 3, 3, 3]), (9, [1, 2, 3, 1, 2])] {
        let word = cfr1::INTERNAL_PROFILE.put(cfr1::RAM_ENABLE.put(0, 1), sequence);
        write(&mut chip, chip::CFR1.address, word);
        chip.update(LOCK);
        let addresses = (0..5).map(|n| chip.player.as_ref().expect("it plays").address(8 * n) + 1);
        assert_eq!(addresses.collect::<Vec<_>>(), words);
    }
}

#[test]
fn settings_forbidden_by_data_sheet_are_reported() {
    let mut chip = clocked();
    write(&mut chip, chip::FTW.address, 1);
    chip.update(LOCK);
    assert_eq!(chip.end_update(LOCK + 8), None);
    write(&mut chip, chip::FTW.address, 1);
    chip.update(LOCK + 100);
    let text = "an update of 3 ns: it must last longer than a period of SYNC_CLK, 4 ns";
    assert_eq!(chip.end_update(LOCK + 103).as_deref(), Some(text));
    let word = ram_profile::START.put(ram_profile::MODE.put(0, ram_profile::MODE_CONT_RAMPUP), 5);
    write(&mut chip, chip::PROFILE.address, word);
    write(&mut chip, chip::CFR1.address, cfr1::RAM_ENABLE.put(0, 1));
    chip.complaints();
    chip.update(LOCK + 200);
    let texts = [
        "profile 0 of its RAM ends at word 0, before its first, 5",
        "profile 0 of its RAM has steps of 0 cycles: at least 1",
    ];
    assert_eq!(chip.complaints(), texts);
    chip.begin();
    let text = "its RAM is written or read while it plays (ram_enable)";
    assert_eq!(send(&mut chip, chip::RAM.address.into(), 8).as_deref(), Some(text));
    chip.begin();
    send(&mut chip, 0x0e, 8);
    send(&mut chip, 5, 16);
    let text = "a message ended after 16 of the 64 bits for its register PROFILE: check the chip select and the length";
    assert_eq!(chip.end().as_deref(), Some(text));
    write(&mut chip, chip::CFR1.address, 0);
    write(&mut chip, chip::CFR2.address, cfr2::DRG_ENABLE.put(0, 1));
    chip.update(LOCK + 300);
    let texts = [
        "the upper limit of its ramp, 0x0, is not above the lower one, 0x0",
        "a rate of its ramp is 0: at least 1",
    ];
    assert_eq!(chip.complaints(), texts);
}

#[test]
fn edge_in_window_is_reported_until_cleared() {
    let mut chip = clocked();
    let wave = Square { hz: 62.5e6, edge: 8 };
    chip.set_sync(Some(SyncSignal { wave, skew_ps: 300.0 }));
    let set = |chip: &mut Ad9910, delay, window, disable| {
        let word = sync::RECEIVER_ENABLE.put(sync::WINDOW.put(sync::IN_DELAY.put(0, delay), window), 1);
        write(chip, chip::SYNC.address, word);
        write(chip, chip::CFR2.address, cfr2::SYNC_VALIDATION_DISABLE.put(0, disable));
        chip.update(LOCK);
        chip.is_out_of_step()
    };
    assert!(!set(&mut chip, 3, 6, 0));
    assert!(set(&mut chip, 2, 6, 0));
    assert!(set(&mut chip, 3, 6, 0), "it is kept");
    assert!(!set(&mut chip, 3, 6, 1));
    assert!(!set(&mut chip, 3, 6, 0));
}

#[test]
fn sync_generator_runs_if_enabled_and_clocked() {
    let mut chip = clocked();
    assert_eq!(chip.sync_out(), None);
    let on = sync::OUT_DELAY.put(sync::GENERATOR_ENABLE.put(0, 1), 4);
    write(&mut chip, chip::SYNC.address, on);
    assert_eq!(chip.sync_out(), None, "no update came");
    chip.update(LOCK);
    let signal = chip.sync_out().expect("it is on");
    assert_eq!((signal.wave.hz, signal.skew_ps), (62.5e6, 300.0));
    write(&mut chip, chip::SYNC.address, sync::GENERATOR_POLARITY.put(on, 1));
    chip.update(LOCK);
    assert_eq!(chip.sync_out().map(|falling| falling.skew_ps), Some(800.0));
    chip.set_reference(LOCK, 0.0);
    assert_eq!(chip.sync_out(), None);
}

#[test]
fn receiver_without_clock_is_reported_once() {
    let mut chip = clocked();
    write(&mut chip, chip::SYNC.address, sync::RECEIVER_ENABLE.put(0, 1));
    chip.update(LOCK);
    assert_eq!(chip.complaints(), [NO_SYNC]);
    assert_eq!(chip.complaints(), Vec::<String>::new());
    let wave = Square { hz: 62.5e6, edge: 8 };
    chip.set_sync(Some(SyncSignal { wave, skew_ps: 300.0 }));
    assert_eq!(chip.complaints(), Vec::<String>::new());
    chip.set_sync(None);
    assert_eq!(chip.complaints(), [NO_SYNC]);
}

#[test]
fn impossible_clock_settings_are_reported() {
    let mut chip = Ad9910::new(0);
    write(&mut chip, chip::CFR3.address, CFR3_WORD);
    let text = chip.update(0).expect("no clock");
    assert!(text.starts_with("its PLL is on but the card has no clock"), "{text}");
    assert_eq!(
        chip.set_reference(0, 50e6).as_deref(),
        Some("its PLL cannot lock: 1600 MHz is outside the range of its oscillator, 820 to 1150 MHz")
    );
    assert_eq!(
        chip.set_reference(0, 100e6).as_deref(),
        Some("its PLL takes at most 60 MHz, not 100 MHz")
    );
    assert!(!chip.is_locked(u64::MAX));
    assert_eq!(chip.set_reference(5, 31.25e6), None);
    assert_eq!((chip.is_locked(4 + LOCK), chip.is_locked(5 + LOCK)), (false, true));
    chip.act(5 + LOCK);
    assert_eq!(chip.clock(5 + LOCK), 1e9);
}

/// Without the PLL the reference is the clock, limited as the core by the data sheet.
#[test]
fn frequencies_and_clocks_beyond_limits_are_reported() {
    let mut chip = clocked();
    write(&mut chip, chip::PROFILE.address, tone_word(1 << 31, 0, 0x3fff));
    chip.update(LOCK);
    assert_eq!(chip.complaints(), Vec::<String>::new(), "half is half");
    write(&mut chip, chip::PROFILE.address, tone_word(0xc000_0000, 0, 0x3fff));
    chip.update(LOCK);
    assert_eq!(
        chip.complaints(),
        ["its frequency, 750.000 MHz, is above half of its clock"]
    );
    write(&mut chip, chip::CFR3.address, cfr3::PLL_N.put(CFR3_WORD, 10));
    let text = "its PLL multiplies by 12 to 127, not by 10 (pll_n)";
    assert_eq!(chip.update(LOCK).as_deref(), Some(text));

    let mut chip = Ad9910::new(0);
    chip.set_reference(0, 1.2e9);
    write(&mut chip, chip::CFR3.address, cfr3::REFCLK_DIVIDER_BYPASS.put(0, 1));
    assert_eq!(chip.update(0), None, "nothing is to be heard yet");
    write(&mut chip, chip::PROFILE.address, tone_word(1, 0, 1));
    assert_eq!(
        chip.update(0).as_deref(),
        Some("its clock is at most 1 GHz, not 1200 MHz")
    );
}

#[test]
fn unusable_serial_port_mode_is_reported() {
    let mut chip = Ad9910::new(0);
    let warnings = send(&mut chip, (0x80 | chip::CFR3.address).into(), 8);
    let text = "it is read, but its data output pin is disabled (sdio_input_only)";
    assert_eq!((warnings.as_deref(), chip.fall()), (Some(text), None));
    write(&mut chip, chip::CFR1.address, cfr1::LSB_FIRST.put(0, 1));
    chip.update(0);
    assert!(chip.complaints()[0].contains("LSB first"));
}

#[test]
fn missing_register_is_reported() {
    let mut chip = Ad9910::new(0);
    chip.begin();
    assert_eq!(send(&mut chip, 0x1f, 8).as_deref(), Some("there is no register 0x1f"));
}
