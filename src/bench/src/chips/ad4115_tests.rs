use proptest::prelude::*;

use super::*;

fn send(adc: &mut Ad4115, at: Ns, word: u32, width: u32) -> (u32, Vec<String>) {
    let (mut read, mut warnings) = (0, Vec::new());
    for bit in (0..width).rev() {
        warnings.extend(adc.rise(at, word >> bit & 1 != 0));
        read = read << 1 | u32::from(adc.fall().unwrap_or_default());
    }
    (read, warnings)
}

/// The bit on the line is that of the preceding falling edge.
fn read(adc: &mut Ad4115, at: Ns, register: u8) -> u32 {
    let bits = width(register.into());
    adc.begin();
    let (first, warnings) = send(adc, at, communication::READ.put(register.into(), 1), 8);
    let (rest, _) = send(adc, at, 0, bits);
    assert_eq!((warnings, adc.end()), (vec![], None));
    (first & 1) << (bits - 1) | rest >> 1
}

fn write(adc: &mut Ad4115, at: Ns, register: u8, word: u32) -> Vec<String> {
    adc.begin();
    let (_, mut warnings) = send(adc, at, register.into(), 8);
    warnings.extend(send(adc, at, word, width(register.into())).1);
    warnings.extend(adc.end());
    warnings
}

fn default_adc() -> Ad4115 {
    Ad4115::new(std::array::from_fn(|n| n as f64 - 5.0))
}

#[test]
fn conversion_result_is_available_after_its_duration() {
    let mut adc = default_adc();
    assert_eq!(read(&mut adc, 0, chip::ADC_ID.address) & 0xfff0, 0x38d0);
    let input = adc_channel::INPUT.put(chip::ADC_CHANNEL.reset, 8 << PAIR | COMMON);
    assert_eq!(
        write(&mut adc, 0, chip::ADC_CHANNEL.address, input),
        Vec::<String>::new()
    );
    assert_eq!(write(&mut adc, 0, chip::ADC_FILTER.address, 0), Vec::<String>::new());
    let mode = adc_mode::MODE.put(adc_mode::REF_EN.put(0, 1), adc_mode::MODE_SINGLE);
    assert_eq!(
        write(&mut adc, 1000, chip::ADC_MODE.address, mode),
        Vec::<String>::new()
    );
    let status = |adc: &mut Ad4115, at| adc_status::NOT_READY.get(read(adc, at, chip::ADC_STATUS.address));
    assert_eq!(status(&mut adc, 41_000), 1);
    assert_eq!(status(&mut adc, 42_000), 0);
    let code = f64::from(read(&mut adc, 42_000, chip::ADC_DATA.address));
    assert!((code / 8_388_608.0 - (1.0 + 3.0 * 0.1 / 2.5)).abs() < 1e-6);
    assert_eq!(status(&mut adc, 42_000), 1, "it has been read");
    assert_eq!(adc.mode(), adc_mode::MODE_STANDBY);
}

#[test]
fn power_down_is_ended_only_by_reset() {
    let mut adc = default_adc();
    let mode = |mode| adc_mode::MODE.put(adc_mode::REF_EN.put(0, 1), mode);
    write(&mut adc, 0, chip::ADC_MODE.address, mode(adc_mode::MODE_POWER_DOWN));
    let warnings = write(&mut adc, 0, chip::ADC_MODE.address, mode(adc_mode::MODE_STANDBY));
    assert_eq!(warnings, ["ADC: it is powered down: only a reset wakes it"]);
    adc.begin();
    send(&mut adc, 0, u32::MAX, 32);
    send(&mut adc, 0, u32::MAX, 32);
    assert_eq!(adc.end(), None);
    assert_eq!(read(&mut adc, 0, chip::ADC_MODE.address), chip::ADC_MODE.reset);
}

#[test]
fn invalid_register_access_is_reported() {
    let mut adc = default_adc();
    assert!(write(&mut adc, 0, chip::ADC_ID.address, 0)[0].contains("cannot be written"));
    assert!(write(&mut adc, 0, chip::ADC_MODE.address, 0)[0].contains("not modelled"));
    adc.begin();
    assert!(send(&mut adc, 0, 0x0a, 8).1[0].contains("no register 0x0a"));
    adc.begin();
    send(&mut adc, 0, chip::ADC_MODE.address.into(), 8);
    send(&mut adc, 0, 0, 5);
    assert!(adc.end().expect("reported").contains("after 5 bits"));
}

proptest! {
    #[test]
    fn written_register_is_read_back(word: u32, offset in 0u8..8) {
        let registers = [chip::ADC_CHANNEL, chip::ADC_SETUP, chip::ADC_FILTER, chip::ADC_OFFSET, chip::ADC_GAIN];
        for register in registers {
            let mut adc = default_adc();
            let number = register.address + offset;
            let word = word & ((1 << width(number.into())) - 1);
            prop_assert_eq!(write(&mut adc, 0, number, word), Vec::<String>::new());
            prop_assert_eq!(read(&mut adc, 0, number), word);
        }
    }
}
