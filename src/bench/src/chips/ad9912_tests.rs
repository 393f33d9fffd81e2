use proptest::prelude::*;

use super::*;

fn send(chip: &mut Ad9912, word: u64, width: u32) -> Vec<String> {
    let mut sent = Sent::new(word, width);
    let mut said = Vec::new();
    for _ in 0..width {
        said.extend(chip.rise(0, sent.take()));
        chip.fall();
    }
    said
}

fn write(chip: &mut Ad9912, address: u16, value: u64, bytes: u64) {
    chip.begin();
    let head = instruction::LENGTH.put(address.into(), bytes - 1);
    assert_eq!(send(chip, head, 16), Vec::<String>::new());
    assert_eq!(send(chip, value, 8 * bytes as u32), Vec::<String>::new());
}

fn read(chip: &mut Ad9912, address: u16, bytes: u64) -> u64 {
    chip.begin();
    let head = instruction::READ.put(instruction::LENGTH.put(address.into(), bytes - 1), 1);
    let mut sent = Sent::new(head, 16);
    let mut bit = false;
    for _ in 0..16 {
        chip.rise(0, sent.take());
        bit = chip.fall().unwrap_or_default();
    }
    (0..8 * bytes).fold(0, |word, _| {
        let word = word << 1 | u64::from(bit);
        chip.rise(0, false);
        bit = chip.fall().unwrap_or_default();
        word
    })
}

/// As the driver initialises it, with 125 MHz and the PLL at 1 GHz, locked at `LOCK`.
fn clocked() -> Ad9912 {
    let mut chip = Ad9912::new();
    assert_eq!(chip.set_reference(0, 125e6), None);
    write(&mut chip, chip::SERIAL_CONFIG.address, 0x99, 1);
    write(&mut chip, chip::N_DIVIDER.address, 2, 1);
    let settings = pll::CHARGE_PUMP.put(pll::VCO_HIGH_RANGE.put(0, 1), pll::CHARGE_PUMP_UA375);
    write(&mut chip, chip::PLL.address, settings, 1);
    assert_eq!(chip.update(0), None);
    chip.set_gain(0, 0.0);
    chip
}

proptest! {
    #[test]
    fn written_register_reads_back_after_update(ftw in 0u64..1 << 48, pow in 0u64..1 << 14) {
        let mut chip = clocked();
        chip.begin();
        let head = instruction::LENGTH.put(chip::TONE.address.into(), instruction::LENGTH_STREAM);
        send(&mut chip, head, 16);
        send(&mut chip, pow << 48 | ftw, 64);
        prop_assert_eq!(read(&mut chip, chip::TONE.address, 4), 0);
        prop_assert_eq!(chip.update(LOCK), None);
        prop_assert_eq!(read(&mut chip, chip::TONE.address, 4), pow << 16 | ftw >> 32);
        prop_assert_eq!(read(&mut chip, chip::LOWER_FREQUENCY as u16, 4), ftw & 0xffff_ffff);
    }

    #[test]
    fn any_bits_cause_no_panic(bits in prop::collection::vec(any::<bool>(), 0..400)) {
        let mut chip = clocked();
        chip.begin();
        for bit in bits {
            chip.rise(0, bit);
            chip.fall();
        }
        chip.update(LOCK);
        chip.report(LOCK);
    }
}

#[test]
fn tone_has_frequency_and_phase_of_its_registers() {
    let mut chip = clocked();
    assert_eq!(read(&mut chip, chip::PART_ID.address, 2), 0x1982);
    write(&mut chip, chip::FREQUENCY.address, 1 << 12, 2);
    write(&mut chip, chip::PHASE.address, 1 << 12, 2);
    assert_eq!(chip.update(LOCK), None);
    let tone = chip.tone(LOCK);
    assert_eq!((tone.hz, tone.dbm, tone.turns), (62.5e6, 10.0, 0.25));
    chip.advance_phase(LOCK + 4);
    assert_eq!(chip.tone(LOCK + 4).turns, 0.5);
}

#[test]
fn frequency_without_clock_is_reported() {
    let mut chip = Ad9912::new();
    write(&mut chip, chip::FREQUENCY.address, 1, 2);
    let text = chip.update(0).expect("no clock");
    assert!(text.starts_with("its PLL is on but the card has no clock"), "{text}");
    chip.set_reference(0, 125e6);
    write(&mut chip, chip::FREQUENCY.address, 1, 2);
    assert_eq!(
        chip.update(0).as_deref(),
        Some("its PLL cannot lock: 5000 MHz is outside the range of its oscillator, 900 to 1000 MHz")
    );
}

#[test]
fn unsupported_register_or_setting_is_reported() {
    let mut chip = Ad9912::new();
    assert_eq!(send(&mut chip, 0x1fff, 16), ["there is no register 0x1fff"]);
    chip.begin();
    let said = send(&mut chip, 0x8003, 16);
    assert!(said[0].contains("sdo_active"), "{said:?}");
}

#[test]
fn reference_and_frequency_beyond_limits_are_reported() {
    let mut chip = clocked();
    write(&mut chip, chip::FREQUENCY.address, 3 << 46, 6);
    assert_eq!(chip.update(LOCK), None);
    assert_eq!(
        chip.complaints(),
        ["its frequency, 750.000 MHz, is above half of its clock"]
    );
    assert_eq!(chip.complaints(), Vec::<String>::new());
    for (hz, doubler, text) in [
        (10e6, 0, "its PLL takes 11 to 200 MHz without the doubler, not 10 MHz"),
        (125e6, 1, "its PLL takes 6 to 100 MHz with the doubler, not 125 MHz"),
    ] {
        chip.set_reference(LOCK, hz);
        write(
            &mut chip,
            chip::PLL.address,
            pll::DOUBLER.put(chip::PLL.reset, doubler),
            1,
        );
        write(&mut chip, chip::FREQUENCY.address, 1, 6);
        assert_eq!(chip.update(LOCK).as_deref(), Some(text));
    }
}
