use proptest::prelude::*;

use super::*;

const CLOCK: f64 = 3e9;

fn put(chip: &mut Ad9914, register: Register, word: u32) {
    let first = u32::from(register.address) * chip::ADDRESSES;
    assert_eq!(chip.write(first + chip::LOWER_HALF, word & 0xffff), None);
    assert_eq!(chip.write(first + chip::UPPER_HALF, word >> 16), None);
}

/// As initialised by the driver, at 1 ms.
fn ready() -> Ad9914 {
    let mut made = Ad9914::new(CLOCK, false);
    made.reset(0);
    put(&mut made, chip::CFR1, cfr1::OSK_ENABLE.put(chip::CFR1.reset, 1));
    put(&mut made, chip::CFR2, cfr2::PROFILE_ENABLE.put(chip::CFR2.reset, 1));
    put(&mut made, chip::CFR4, cfr4::DAC_CAL_ENABLE.put(chip::CFR4.reset, 1));
    assert_eq!(made.update(0), Vec::<String>::new());
    put(&mut made, chip::CFR4, chip::CFR4.reset);
    assert_eq!(made.update(1_000_000), Vec::<String>::new());
    made
}

proptest! {
    #[test]
    fn tone_has_frequency_phase_and_amplitude_of_its_words(ftw in 1u32..1 << 31, pow: u16, asf in 1u32..1 << 12, wait in 0u64..1_000_000) {
        let mut made = ready();
        put(&mut made, chip::PROFILE_FREQUENCY, ftw);
        put(&mut made, chip::PROFILE_OUTPUT, profile_output::ASF.put(pow.into(), asf));
        prop_assert_eq!(made.tone(1_000_000), Tone::OFF, "before the update");
        prop_assert_eq!(made.waiting(), ["PROFILE_FREQUENCY", "PROFILE_OUTPUT"]);
        prop_assert_eq!(made.update(1_000_000), Vec::<String>::new());
        let tone = made.tone(1_000_000 + wait);
        let cycles = (u128::from(3 * wait) * u128::from(ftw)) & 0xffff_ffff;
        let turns = (cycles as f64 / 2f64.powi(32) + f64::from(pow) / 65536.0).rem_euclid(1.0);
        prop_assert!((tone.hz - f64::from(ftw) / 2f64.powi(32) * CLOCK).abs() < 1e-5);
        prop_assert!(((tone.turns - turns + 0.5).rem_euclid(1.0) - 0.5).abs() < 1e-9);
        prop_assert!((10f64.powf(tone.dbm / 20.0) - f64::from(asf) / 4095.0).abs() < 1e-9);
    }
}

#[test]
fn modulus_adds_a_fraction_of_a_frequency_step() {
    let mut made = ready();
    put(&mut made, chip::PROFILE_OUTPUT, 0xfff << 16);
    put(
        &mut made,
        chip::CFR2,
        cfr2::MODULUS_ENABLE.put(cfr2::DRG_ENABLE.put(0, 1), 1),
    );
    put(&mut made, chip::MODULUS_FTW, 1 << 28);
    put(&mut made, chip::MODULUS_DENOMINATOR, chip::MODULUS_B);
    put(&mut made, chip::MODULUS_NUMERATOR, chip::MODULUS_B / 4);
    assert_eq!(made.update(1_000_000), Vec::<String>::new());
    let step = CLOCK / 2f64.powi(32);
    assert!((made.frequency() - (187.5e6 + step / 4.0)).abs() < 1e-6);
    // After 4/step s, the quarter of a step amounts to one turn, and the rest to whole turns.
    let second = 1_000_000_000;
    let tone = made.tone(1_000_000 + second);
    assert!((tone.turns - (step / 4.0).fract()).abs() < 1e-6, "{tone:?}");
}

#[test]
fn update_clears_the_phase_if_configured() {
    let mut made = ready();
    put(&mut made, chip::PROFILE_OUTPUT, 0xfff << 16);
    put(&mut made, chip::PROFILE_FREQUENCY, 12345);
    made.update(1_000_000);
    assert!(made.tone(1_900_001).turns > 0.0);
    put(
        &mut made,
        chip::CFR1,
        cfr1::PHASE_AUTOCLEAR.put(cfr1::OSK_ENABLE.put(0, 1), 1),
    );
    made.update(2_000_000);
    assert_eq!(made.tone(2_000_000).turns, 0.0);
}

#[test]
fn settings_forbidden_by_data_sheet_are_reported() {
    let mut made = Ad9914::new(CLOCK, false);
    assert!(made.write(0x2c, 0).expect("reported").contains("odd addresses"));
    assert!(made.write(0x71, 0).expect("reported").contains("no register at 0x71"));
    put(&mut made, chip::PROFILE_FREQUENCY, 1);
    let warnings = made.update(0);
    assert!(warnings[0].contains("not reset since power-up"), "{warnings:?}");
    assert!(warnings[1].contains("has not been calibrated"), "{warnings:?}");
    put(&mut made, chip::CFR4, cfr4::DAC_CAL_ENABLE.put(chip::CFR4.reset, 1));
    made.update(0);
    put(&mut made, chip::CFR4, chip::CFR4.reset);
    assert_eq!(
        made.update(100_000),
        ["the calibration of its DAC was stopped after 100 us: it takes 156.5 us"]
    );

    let mut made = Ad9914::new(CLOCK, false);
    made.reset(0);
    put(&mut made, chip::USR0, usr0::CAL_WITH_SYNC.put(chip::USR0.reset, 1));
    put(&mut made, chip::CFR4, cfr4::DAC_CAL_ENABLE.put(chip::CFR4.reset, 1));
    assert!(made.update(0)[0].contains("waits for a signal at SYNC_IN"));

    for (clock, text) in [
        (0.0, "has no clock"),
        (4e9, "and 3.5 GHz, not 4000 MHz"),
        (4e8, "500 MHz and 3.5 GHz, not 400 MHz"),
    ] {
        let mut made = Ad9914::new(clock, false);
        made.reset(0);
        put(&mut made, chip::PROFILE_FREQUENCY, 1);
        assert!(made.update(0)[0].contains(text));
    }
    let mut made = ready();
    put(&mut made, chip::PROFILE_FREQUENCY, 1 << 31);
    assert!(made.update(1_000_000)[0].contains("above half of its clock"));
    put(&mut made, chip::CFR2, cfr2::DRG_ENABLE.put(0, 1));
    put(&mut made, chip::PROFILE_FREQUENCY, 1);
    assert!(made.update(1_000_000)[0].contains("ramps are not modelled"));
}
