use proptest::prelude::*;

use super::*;

const CFR3_WORD: u64 = {
    let word = cfr3::PLL_N.put(0, 32);
    let word = cfr3::REFCLK_DIVIDER_BYPASS.put(word, 1);
    cfr3::VCO_SEL.put(cfr3::PLL_ENABLE.put(word, 1), 5)
};

fn write(chip: &mut Ad9910, address: u16, value: u64) {
    chip.begin();
    let bits = register(address.into()).expect("a register").width;
    let complaint = [(address.into(), 8), (value, bits)].map(|(word, width)| send(chip, word, width));
    assert_eq!(complaint, [None, None]);
}

fn send(chip: &mut Ad9910, word: u64, width: u32) -> Option<String> {
    let mut sent = Sent::new(word, width);
    let mut complaint = None;
    for _ in 0..width {
        complaint = complaint.or(chip.rise(sent.take()));
        chip.fall();
    }
    complaint
}

/// As a host that samples at the clock's falling edge, before the chip sends its next bit.
fn read(chip: &mut Ad9910, address: u16) -> u64 {
    chip.begin();
    let width = register(address.into()).expect("a register").width;
    let mut sent = Sent::new((0x80 | address).into(), 8);
    let mut bit = false;
    for _ in 0..8 {
        assert_eq!(chip.rise(sent.take()), None);
        bit = chip.fall().unwrap_or_default();
    }
    let mut word = 0;
    for _ in 0..width {
        assert_eq!(chip.rise(false), None);
        word = word << 1 | u64::from(bit);
        bit = chip.fall().unwrap_or_default();
    }
    word
}

/// With 31.25 MHz and the PLL at 1 GHz, locked at `LOCK`.
fn clocked() -> Ad9910 {
    let mut chip = Ad9910::new();
    assert_eq!(chip.set_reference(0, 31.25e6), None);
    write(&mut chip, chip::CFR3.address, CFR3_WORD);
    assert_eq!(chip.update(0), None);
    chip.set_gain(0.0);
    chip
}

fn tone_word(ftw: u64, pow: u64, asf: u64) -> u64 {
    profile::ASF.put(profile::POW.put(profile::FTW.put(0, ftw), pow), asf)
}

proptest! {
    #[test]
    fn a_register_is_read_as_written_once_updated(index in 0usize..24, value: u64) {
        let places: Vec<u16> = (0..32u16).filter(|n| *n != chip::RAM.address && register((*n).into()).is_some()).collect();
        let address = places[index % places.len()];
        let width = register(address.into()).expect("a register").width;
        let value = value & super::super::shift::mask(width);
        let mut chip = Ad9910::new();
        let before = read(&mut chip, address);
        write(&mut chip, address, value);
        prop_assert_eq!(read(&mut chip, address), before);
        chip.update(0);
        prop_assert_eq!(read(&mut chip, address), value);
    }

    /// Whatever comes on the serial port: no panic, and a selection begins a new message.
    #[test]
    fn any_bits(bits in prop::collection::vec(any::<bool>(), 0..400)) {
        let mut chip = Ad9910::new();
        for bit in bits {
            chip.rise(bit);
            chip.fall();
        }
        chip.update(0);
        prop_assert_eq!(read(&mut chip, chip::AUX_DAC.address) >> 32, 0);
    }

    /// The phase is that of the frequency word, however often somebody looks.
    #[test]
    fn the_phase_goes_on(ftw: u32, looks in prop::collection::vec(1u64..10_000_000, 1..10)) {
        let mut chip = clocked();
        write(&mut chip, chip::PROFILE.address, tone_word(ftw.into(), 0, 0x3fff));
        chip.update(LOCK);
        let mut at = LOCK;
        let start = chip.tone(at).turns;
        for wait in looks {
            at += wait;
            chip.settle(at);
        }
        let exact = (u128::from(ftw) * u128::from(at - LOCK) % (1 << 32)) as f64 / 4_294_967_296.0;
        let turned = (chip.tone(at).turns - start - exact).rem_euclid(1.0);
        prop_assert!(turned.min(1.0 - turned) < 1e-9, "{}", turned);
    }
}

#[test]
fn a_tone() {
    let mut chip = clocked();
    write(&mut chip, chip::CFR2.address, cfr2::ASF_PROFILE_ENABLE.put(0, 1));
    write(
        &mut chip,
        chip::PROFILE.address + 7,
        tone_word(1 << 29, 1 << 14, 0x1fff),
    );
    chip.set_profile(0, 7);
    chip.update(LOCK);
    let tone = chip.tone(LOCK);
    assert_eq!((tone.hz, tone.turns), (125e6, 0.25));
    assert!((tone.dbm - (10.0 - 6.0206)).abs() < 1e-3, "{}", tone.dbm);
    chip.set_profile(LOCK, 0);
    assert_eq!(chip.tone(LOCK), Tone::OFF, "the profile has no amplitude");
}

#[test]
fn a_cleared_accumulator_starts_at_the_update() {
    let mut chip = clocked();
    write(&mut chip, chip::PROFILE.address, tone_word(12_345_678, 0, 0x3fff));
    write(&mut chip, chip::CFR1.address, cfr1::PHASE_AUTOCLEAR.put(0, 1));
    chip.update(LOCK + 777);
    assert_eq!(chip.tone(LOCK + 777).turns, 0.0);
    chip.settle(LOCK + 778);
    assert_eq!(chip.tone(LOCK + 778).turns, 12_345_678.0 / 4_294_967_296.0);
}

#[test]
fn the_ram_goes_round_in_the_range_of_the_profile() {
    let mut chip = Ad9910::new();
    let range = ram_profile::START.put(ram_profile::END.put(0, 6), 4);
    write(&mut chip, chip::PROFILE.address, range);
    chip.update(0);
    chip.begin();
    assert_eq!(send(&mut chip, chip::RAM.address.into(), 8), None);
    (1..=3).for_each(|word| assert_eq!(send(&mut chip, word << 20, 32), None));
    assert_eq!(read(&mut chip, chip::RAM.address), 1 << 20);
    assert_eq!(chip.ram[4..7], [1 << 20, 2 << 20, 3 << 20]);
}

#[test]
fn clocks_that_cannot_be_are_told() {
    let mut chip = Ad9910::new();
    write(&mut chip, chip::CFR3.address, CFR3_WORD);
    let text = chip.update(0).expect("no clock");
    assert!(text.starts_with("its PLL is on but the card has no clock"), "{text}");
    assert_eq!(
        chip.set_reference(0, 50e6).as_deref(),
        Some("its PLL cannot lock: 1600 MHz is outside of its oscillator, 820 to 1150 MHz")
    );
    assert_eq!(
        chip.set_reference(0, 100e6).as_deref(),
        Some("its PLL takes at most 60 MHz, not 100 MHz")
    );
    assert!(!chip.is_locked(u64::MAX));
    assert_eq!(chip.set_reference(5, 31.25e6), None);
    assert_eq!((chip.is_locked(4 + LOCK), chip.is_locked(5 + LOCK)), (false, true));
    assert_eq!(chip.clock(5 + LOCK), 1e9);
}

#[test]
fn a_register_that_is_not_there() {
    let mut chip = Ad9910::new();
    chip.begin();
    assert_eq!(send(&mut chip, 0x1f, 8).as_deref(), Some("there is no register 0x1f"));
}
