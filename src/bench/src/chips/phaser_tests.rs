use proptest::prelude::*;

use super::super::fastlink::sending;
use super::oscillators::Word;
use super::*;
use crate::vectors::vectors;

const FRAME: Ns = 320;
/// Output of the base gateware's answers.
const MISO: usize = 10;

/// Sends a frame over the lines from `start` on, and lets the card act.
fn send(card: &mut Phaser, start: Ns, head: u32, body: &[bool]) -> Outbox {
    let mut bits: Vec<bool> = (0..chip::FRAME.width).map(|n| head >> n & 1 != 0).collect();
    bits.extend(body);
    let mut out = Outbox::default();
    for (at, changes) in sending::changes(&GEOMETRY, start, &bits, true) {
        run(card, at, &mut out);
        card.input(at, &changes, &mut Outbox::default());
    }
    run(card, start + GEOMETRY.frame(), &mut out);
    out
}

/// Lets the card act until a time.
fn run(card: &mut Phaser, until: Ns, out: &mut Outbox) {
    while let Some(next) = card.next().filter(|next| *next <= until) {
        card.act(next, out);
    }
}

/// Frames of the vectors, bit by bit: accesses to registers, and samples.
#[test]
fn frames_of_the_vectors_are_received_with_their_fields() {
    let hexadecimal = |value: &serde_json::Value| u32::from_str_radix(value.as_str().unwrap(), 16).unwrap();
    let mut frames = 0;
    for vector in vectors("phaser_frame") {
        let Some(digits) = vector["frame"].as_str() else {
            continue;
        };
        let levels = sending::levels_of(&GEOMETRY, &sending::bits_of(&GEOMETRY, digits));
        let (mut link, mut received) = (Receiver::new(GEOMETRY), Received::Nothing);
        for (at, changes) in sending::changes_of(&GEOMETRY, 0, levels) {
            link.receive(at, &changes);
        }
        while let Some(at) = link.next() {
            received = link.act(at);
        }
        let Received::Payload(bits) = received else {
            panic!("{vector}: {received:?}");
        };
        frames += 1;
        let head = fastlink::word(&bits, 0, chip::FRAME.width as usize) as u32;
        if vector["words"].is_array() {
            assert_eq!(frame::KIND.get(head), frame::KIND_PULSES);
            continue;
        }
        assert_eq!(u64::from(frame::WRITE.get(head)), vector["we"].as_u64().unwrap());
        assert_eq!(frame::REGISTER.get(head), hexadecimal(&vector["addr"]));
        assert_eq!(frame::DATA.get(head), hexadecimal(&vector["data"]));
        assert_eq!(u64::from(frame::KIND.get(head)), vector["type"].as_u64().unwrap());
        let (first, width) = (chip::FRAME.width as usize, chip::SAMPLE.width as usize / 2);
        for (n, samples) in vector["samples_recent_first"].as_array().unwrap().iter().enumerate() {
            for (part, value) in samples.as_array().unwrap().iter().enumerate() {
                let word = fastlink::word(&bits, first + (4 * n + part) * width, width);
                assert_eq!(word as i64, value.as_i64().unwrap() & 0x3fff);
            }
        }
    }
    assert_eq!(frames, 6);
}

fn access(write: bool, register: u32, data: u32) -> u32 {
    let head = frame::KIND.put(frame::WRITE.put(0, write.into()), frame::KIND_SAMPLES);
    frame::DATA.put(frame::REGISTER.put(head, register), data)
}

fn bits(fields: &[(u32, u32)]) -> Vec<bool> {
    let all = fields
        .iter()
        .flat_map(|(word, width)| (0..*width).map(move |n| word >> n & 1 != 0));
    all.collect()
}

/// Announces words of a channel.
fn announce(card: &mut Phaser, start: Ns, channel: u32, words: &Words) -> Outbox {
    let mut fields = vec![(channel, 1), (0, chip::ANNOUNCED_CYCLES_BITS)];
    for word in words {
        fields.extend([(word.accumulator >> 8, 24), (word.ftw, 32), (word.output, 32)]);
    }
    send(card, start, frame::KIND.put(0, frame::KIND_ANNOUNCED), &bits(&fields))
}

/// A card without upconverters whose DAC and attenuators are on.
fn on() -> Phaser {
    let mut card = Phaser::new(gw_rev::GATEWARE_BASE, true);
    let lines = [cfg::DAC_RESETB, cfg::DAC_TXENA, cfg::ATT0_RSTN, cfg::ATT1_RSTN];
    let lines = lines.iter().fold(0, |word, field| field.put(word, 1));
    assert!(send(&mut card, 0, access(true, chip::CFG.address.into(), lines), &[])
        .warnings
        .is_empty());
    card
}

/// Writes registers, a frame each, and returns the end.
fn write(card: &mut Phaser, mut start: Ns, accesses: &[(u8, u32)]) -> Ns {
    for (address, data) in accesses {
        let out = send(card, start, access(true, (*address).into(), *data), &[]);
        assert!(out.warnings.is_empty(), "{:?}", out.warnings);
        start += FRAME;
    }
    start
}

/// Sends bytes to the SPI bus, the last one of them the end, and returns the bytes read and the end.
fn spi(card: &mut Phaser, mut start: Ns, select: u32, lsb_first: u32, sent: &[u8]) -> (Vec<u8>, Ns) {
    let mut read = Vec::new();
    for (n, byte) in sent.iter().enumerate() {
        let flags = spi_flags(u32::from(n + 1 == sent.len()), lsb_first);
        start = write(
            card,
            start,
            &[
                (chip::SPI_SEL.address, select),
                (chip::SPI_DIVLEN.address, 4 | 7 << 5),
                (chip::SPI_CFG.address, flags),
                (chip::SPI_DATW.address, (*byte).into()),
            ],
        );
        start += 9 * 34 * 4;
        read.push(card.read(start, chip::SPI_DATR.address.into()));
    }
    (read, start)
}

fn spi_flags(end: u32, lsb_first: u32) -> u32 {
    use kairos_contracts::chips::phaser::spi_cfg;
    spi_cfg::LSB_FIRST.put(spi_cfg::END.put(0, end), lsb_first)
}

fn dac_read(card: &mut Phaser, start: Ns, address: u8) -> (u16, Ns) {
    let (read, end) = spi(card, start, chip::DAC_SELECT, 0, &[address | 0x80, 0, 0]);
    (u16::from_be_bytes([read[1], read[2]]), end)
}

fn dac_write(card: &mut Phaser, start: Ns, address: u8, word: u16) -> Ns {
    let [high, low] = word.to_be_bytes();
    spi(card, start, chip::DAC_SELECT, 0, &[address, high, low]).1
}

#[test]
fn register_read_is_answered_in_the_next_frame() {
    let mut card = Phaser::default();
    let out = send(&mut card, 0, access(false, chip::BOARD_ID.address.into(), 0), &[]);
    // 19: 00010011, in words 1 to 8 of 32 ns.
    let bits: Vec<(Ns, bool)> = out
        .sent
        .iter()
        .map(|(delay, _, level)| (*delay / 32, *level == Signal::Level(true)))
        .collect();
    assert_eq!(bits, [(4, true), (5, false), (7, true), (9, false)]);
    let out = send(&mut card, 400, access(true, chip::BOARD_ID.address.into(), 7), &[]);
    assert_eq!(out.warnings, ["its register 0x00 cannot be written"]);
}

proptest! {
    #[test]
    fn tones_have_frequency_phase_and_amplitude_of_their_words(ftw: i32, duc: i32, asf in 1u32..0x8000, pow: u16, turns in 0u32..1 << 24, n in 0..2usize, m in 0..5usize) {
        let mut card = on();
        card.bus.reset_attenuator(n);
        for (offset, byte) in duc.to_be_bytes().into_iter().enumerate() {
            let register = u32::from(chip::DUC_F.address) + 16 * n as u32 + offset as u32;
            send(&mut card, 400 + 400 * offset as Ns, access(true, register, byte.into()), &[]);
        }
        prop_assert_eq!(card.unfinished().len(), 1);
        send(&mut card, 2000, access(true, chip::DUC_STB.address.into(), 0), &[]);
        prop_assert!(card.unfinished().is_empty());
        let mut words = Words::default();
        words[m] = Word { accumulator: turns << 8, ftw: ftw as u32, output: tone::POW.put(asf, pow.into()) };
        let mut out = announce(&mut card, 2400, n as u32, &words);
        prop_assert!(out.sent.iter().all(|(_, output, _)| *output == MISO), "it takes effect later");
        run(&mut card, 2400 + FRAME + Ns::from(chip::ANNOUNCED_NS), &mut out);
        prop_assert!(out.warnings.is_empty());
        let sent: Vec<_> = out.sent.iter().filter(|(_, output, _)| *output != MISO).collect();
        let [(_, output, Signal::Tone(sent_tone))] = sent[..] else { panic!("{:?}", out.sent) };
        let hz = f64::from(ftw) / 2f64.powi(30) * 6.25e6 + f64::from(duc) / 2f64.powi(30) * 125e6;
        prop_assert_eq!(*output, 5 * n + m);
        prop_assert!((sent_tone.hz - hz).abs() < 1e-6);
        let attenuation = 10f64.powf(-31.5 / 20.0);
        prop_assert!((10f64.powf(sent_tone.dbm / 20.0) - attenuation * f64::from(asf) / 32767.0).abs() < 1e-9);
        // The upconverter has been running since its strobe.
        let since = 400 + Ns::from(chip::ANNOUNCED_NS);
        let turns = turns_of(f64::from(duc) / 2f64.powi(30) * 125e6, since) + f64::from(pow) / 65536.0 + f64::from(turns) / 2f64.powi(24);
        prop_assert!(((sent_tone.turns - turns + 0.5).rem_euclid(1.0) - 0.5).abs() < 1e-6);
    }
}

#[test]
fn samples_are_compared_with_the_announced_tones() {
    let mut words = Words::default();
    words[0] = Word {
        accumulator: 0,
        ftw: 0,
        output: tone::POW.put(0x7fff, 0x4000),
    };
    // A quarter turn: all of it is Q
    let sample = |q: u32| bits(&[(0, 14), (q, 14), (0, 14), (0, 14)]).repeat(8);
    for (q, warnings) in [(8191, 0), (8190, 0), (8000, 1)] {
        let mut card = on();
        announce(&mut card, 400, 0, &words);
        let out = send(&mut card, 400 + 2 * FRAME, access(false, 0, 0), &sample(q));
        assert_eq!(out.warnings.len(), warnings, "{:?}", out.warnings);
    }
}

#[test]
fn reset_dac_and_clipping_are_reported() {
    let mut card = Phaser::default();
    let mut words = Words::default();
    words[0].output = 0x5000;
    let mut out = announce(&mut card, 0, 0, &words);
    run(&mut card, 1150, &mut out);
    assert!(out.warnings[0].contains("the DAC is in reset"));
    words[3].output = 0x5000;
    let mut out = announce(&mut card, 1200, 0, &words);
    run(&mut card, 2400, &mut out);
    assert_eq!(
        out.warnings,
        ["channel 0: its oscillators add up to 1.25 of full scale: it clips"]
    );
    write(&mut card, 2800, &[(0x0b, 0xe4)]);
    assert!(send(&mut card, 3200, access(true, 0x0d, 1), &[]).warnings[0].contains("SPI bus selects no chip"));
}

#[test]
fn sample_of_the_dac_is_read() {
    let mut card = on();
    let mut words = Words::default();
    words[1].output = tone::POW.put(0x4000, 0x4000);
    let mut out = announce(&mut card, 400, 0, &words);
    run(&mut card, 2000, &mut out);
    assert_eq!(card.read(2000, 0x18), 0x3f);
    assert_eq!(
        card.get(chip::DAC_DATA, 0),
        0x3fff << 16,
        "a quarter turn: all of it is Q"
    );
}

#[test]
fn dac_on_the_bus_locks_and_compares_its_input() {
    let mut card = on();
    let at = dac_write(&mut card, 400, 2, 0x0080);
    let (version, at) = dac_read(&mut card, at, 0x7f);
    let (voltage, at) = dac_read(&mut card, at, 0x18);
    assert_eq!((version, voltage & 7), (0x5409, 0));
    // 125 MHz times 16 over 2
    let at = dac_write(&mut card, at, 0x19, 0x8814);
    let at = dac_write(&mut card, at, 0x18, 0x2c58);
    let at = dac_write(&mut card, at, 0x09, 4 << 13);
    let (voltage, at) = dac_read(&mut card, at, 0x18);
    assert_eq!(voltage & 7, 3);
    let at = dac_write(&mut card, at, 5, 0);
    let (alarms, mut at) = dac_read(&mut card, at, 5);
    assert_eq!(alarms, 0);
    // Both channels send their test words, of which one bit differs
    for place in 0..8 {
        at = dac_write(&mut card, at, 0x25 + place, 0x1234);
    }
    for n in 0..2u8 {
        let accesses: Vec<(u8, u32)> = [0x12, 0x34, 0x12, 0x34 ^ u32::from(n)]
            .into_iter()
            .enumerate()
            .map(|(place, byte)| (chip::DAC_TEST.address + 16 * n + place as u8, byte))
            .chain([(chip::DUC_CFG.address + 16 * n, 4)])
            .collect();
        at = write(&mut card, at, &accesses);
    }
    at = write(&mut card, at, &[(chip::DUC_STB.address, 0)]);
    at = dac_write(&mut card, at, 1, 0x8000);
    let (alarms, at) = dac_read(&mut card, at, 5);
    let (wrong, _) = dac_read(&mut card, at, 4);
    assert_eq!((alarms, wrong), (1 << 7, 1));
}

#[test]
fn upconverter_on_the_bus_is_calibrated_and_read() {
    let mut card = Phaser::default();
    let at = write(&mut card, 0, &[(chip::CFG.address, 0xc2)]);
    let send_word = |card: &mut Phaser, at: Ns, word: u32| spi(card, at, chip::TRF_SELECT, 1, &word.to_le_bytes());
    let mut at = at;
    // 125 MHz over 2 times 23 times 2
    for word in [
        0x7010_0049,
        0x0820_02ea,
        0x0b,
        0x4b00_700c,
        0x0d23_a28d,
        0x9090_100e,
        0xd041_100f,
    ] {
        at = send_word(&mut card, at, word).1;
    }
    assert!(!card.is_locked(0));
    at = send_word(&mut card, at, 0x8820_02ea).1;
    assert!(card.is_locked(0) && !card.is_locked(1));
    assert_eq!(card.read(at, chip::STA.address.into()) & 6, 2);
    assert_eq!(card.local(0), 0.0, "its output is off");
    at = send_word(&mut card, at, 0x4b00_000c).1;
    assert_eq!(card.local(0), 2.875e9);
    at = send_word(&mut card, at, 0xc000_0008).1;
    at = write(
        &mut card,
        at,
        &[
            (chip::SPI_SEL.address, 0),
            (chip::SPI_DIVLEN.address, 4),
            (chip::SPI_CFG.address, 2),
            (chip::SPI_DATW.address, 0),
        ],
    );
    let (read, _) = send_word(&mut card, at + 400, 8);
    assert_eq!(u32::from_le_bytes(read.try_into().unwrap()), 0x4b00_000c);
}

#[test]
fn attenuator_on_the_bus_returns_its_last_byte() {
    let mut card = on();
    let (_, at) = spi(&mut card, 400, chip::ATTENUATOR_SELECT << 1, 0, &[0x5a]);
    let (read, _) = spi(&mut card, at, chip::ATTENUATOR_SELECT << 1, 0, &[0, 0x5a]);
    assert_eq!(read[0], 0x5a);
    assert_eq!(
        (card.bus.attenuation(0), card.bus.attenuation(1)),
        (31.5, (0x3f - (0x5a >> 2)) as f64 / 2.0)
    );
}

#[test]
fn pulse_of_miqro_has_its_window_and_profiles() {
    let mut card = Phaser::new(gw_rev::GATEWARE_MIQRO, false);
    let mut at = 0;
    for byte in [(0x72, 0x00), (0x73, 0x20), (0x74, 0), (0x75, 0), (0x76, 0), (0x77, 1)] {
        at = write(&mut card, at, &[byte]);
    }
    let head = frame::KIND.put(0, frame::KIND_PULSES);
    let pulse = [
        (1 | 37 << 1, 8),
        (0x20 | 7 << 10 | 9 << 15, 30),
        (11, 30),
        (0, 30),
        (0, 30),
        (0, 128),
    ];
    let body: Vec<bool> = pulse
        .iter()
        .flat_map(|(word, width)| (0..*width).map(move |n| n < 32 && word >> n & 1 != 0))
        .collect();
    assert!(send(&mut card, at, head, &body).warnings.is_empty());
    let report = card.report(at)["channel0"]["miqro"]["last_pulse"].clone();
    assert_eq!(
        (report["window"].as_u64(), report["time_ns"].as_u64()),
        (Some(0x20), Some(at - FRAME + 4 * 37))
    );
    assert_eq!(report["profiles"][0], 7);
    assert_eq!(
        (report["profiles"][1].as_u64(), report["profiles"][4].as_u64()),
        (Some(9), Some(11))
    );
}

/// Amplitudes of the tones of an output.
fn amplitudes(out: &Outbox, output: usize) -> Vec<f64> {
    let tones = out.sent.iter().filter_map(|(_, n, signal)| match signal {
        Signal::Tone(tone) if *n == output => Some(10f64.powf(tone.dbm / 20.0)),
        _ => None,
    });
    tones.collect()
}

#[test]
fn pulse_of_miqro_sounds_in_its_window() {
    let mut card = Phaser::new(gw_rev::GATEWARE_MIQRO, true);
    let lines = [cfg::DAC_RESETB, cfg::DAC_TXENA, cfg::ATT0_RSTN, cfg::ATT1_RSTN];
    let lines = lines.iter().fold(0, |word, field| field.put(word, 1));
    let mut at = write(&mut card, 0, &[(chip::CFG.address, lines)]);
    at = spi(&mut card, at, chip::ATTENUATOR_SELECT << 1, 0, &[0xff]).1;
    // Oscillator 2 of channel 1, profile 3: 25 MHz, half amplitude, a quarter turn; a window of two samples, 40 ns each
    let header = 2 | 9 << 10 | 3 << 30;
    let mut memory = |address: u16, words: [u32; 2]| {
        let bytes = address
            .to_be_bytes()
            .into_iter()
            .chain(words.into_iter().flat_map(u32::to_be_bytes));
        let bytes: Vec<u8> = bytes.collect();
        let registers = [0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x74, 0x75, 0x76, 0x77];
        let accesses: Vec<(u8, u32)> = registers.into_iter().zip(bytes.into_iter().map(u32::from)).collect();
        at = write(&mut card, at, &accesses);
        at
    };
    memory(0xc000 | 2 << 6 | 3 << 1, [429_496_730, 0x4000_8000]);
    memory(0x8010, [header, 0x7fff]);
    at = memory(0x8012, [0x4000, 0]);
    let silent = vec![(0, 30); 3];
    let played = [(1 | 5 << 1, 8), (0x10 | 3 << 20, 30), (0, 30), (0, 30), (0, 30)];
    let first = [vec![(0, 8)], silent, vec![(0, 30)]].concat();
    let mut out = send(
        &mut card,
        at,
        frame::KIND.put(0, frame::KIND_PULSES),
        &bits(&[first, played.to_vec()].concat()),
    );
    let begin = at + FRAME + 4 * 5;
    assert_eq!(card.under_way(), Some(begin + 80));
    run(&mut card, begin - 1, &mut out);
    assert!(amplitudes(&out, 18).is_empty());
    run(&mut card, begin, &mut out);
    let [sounds] = amplitudes(&out, 18)[..] else {
        panic!("{:?}", out.sent)
    };
    assert!((sounds - 0.5).abs() < 1e-4);
    let (turns, hz) = (card.channels[1].tones[2].0.turns, card.channels[1].tones[2].0.hz);
    let expected = (turns_of(25e6, begin) + 0.25).rem_euclid(1.0);
    assert!(
        (hz - 25e6).abs() < 0.1 && (turns - expected).abs() < 1e-3,
        "{turns} {expected}"
    );
    run(&mut card, begin + 1000, &mut out);
    let found = amplitudes(&out, 18);
    assert!(
        found.len() == 3 && (found[1] - 0.25).abs() < 1e-4 && found[2] == 0.0,
        "{found:?}"
    );
    assert!(amplitudes(&out, 0).is_empty() && out.warnings.is_empty() && card.under_way().is_none());
}

#[test]
fn servo_multiplies_the_tones_of_its_channel() {
    let mut card = on();
    let mut out = Outbox::default();
    let at = spi(&mut card, 400, chip::ATTENUATOR_SELECT, 0, &[0xff]).1;
    let mut words = Words::default();
    words[0] = Word {
        accumulator: 0,
        ftw: 1 << 27,
        output: 0x7fff,
    };
    announce(&mut card, at, 0, &words);
    run(&mut card, at + 2000, &mut out);
    assert_eq!(amplitudes(&out, 0), [1.0]);
    // An integrator: y grows by x/4 each time
    let coefficients = [0x10, 0x00, 0, 0, 0x40, 0x00, 0, 0];
    let registers: Vec<(u8, u32)> = (0x32..).zip(coefficients).collect();
    let mut at = write(&mut card, at + 2000, &registers);
    at = write(&mut card, at, &[(chip::SERVO.address, 1)]);
    assert!(card.servos.due().is_none(), "nothing changes without a voltage");
    let first = fastlink::INPUTS.len();
    let mut out = Outbox::default();
    card.input(at, &[(first, Signal::Volts(0.25))], &mut out);
    run(&mut card, at + 3 * 264, &mut out);
    let steps: Vec<i64> = amplitudes(&out, 0)
        .iter()
        .map(|part| (part * 32768.0).round() as i64)
        .collect();
    assert_eq!(steps, [2048, 4096, 6144]);
    write(&mut card, at + 3 * 264, &[(chip::SERVO.address, 3)]);
    run(&mut card, at + 100 * 264, &mut out);
    assert_eq!(
        card.report(at)["channel0"]["servo"]["output"],
        6144 + 2048,
        "one more before the write"
    );
    assert!(card.servos.due().is_none(), "it holds");
}
