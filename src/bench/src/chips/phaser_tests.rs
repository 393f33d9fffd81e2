use proptest::prelude::*;

use super::super::fastlink::sending;
use super::*;

type Words = [[u32; 2]; OSCILLATORS];

/// Sends a frame over the lines from `start` on, and lets the card act.
fn send(card: &mut Phaser, start: Ns, head: u32, words: &Words) -> Outbox {
    let mut bits: Vec<bool> = (0..chip::FRAME.width).map(|n| head >> n & 1 != 0).collect();
    for word in words.iter().flatten() {
        bits.extend((0..32).map(|n| word >> n & 1 != 0));
    }
    let mut out = Outbox::default();
    let mut act_until = |card: &mut Phaser, at: Ns| {
        while let Some(next) = card.next().filter(|next| *next <= at) {
            card.act(next, &mut out);
        }
    };
    for (at, changes) in sending::changes(&GEOMETRY, start, &bits, true) {
        act_until(card, at);
        card.input(at, &changes, &mut Outbox::default());
    }
    act_until(card, start + GEOMETRY.frame());
    assert_eq!(card.next(), None);
    out
}

fn access(write: bool, register: u32, data: u32) -> u32 {
    let head = frame::REQUEST.put(frame::WRITE.put(0, write.into()), 1);
    frame::DATA.put(frame::REGISTER.put(head, register), data)
}

fn on() -> Phaser {
    let mut card = Phaser::new();
    let lines = cfg::DAC_TXENA.put(cfg::DAC_RESETB.put(0, 1), 1);
    assert!(send(
        &mut card,
        0,
        access(true, chip::CFG.address.into(), lines),
        &Words::default()
    )
    .warnings
    .is_empty());
    card
}

#[test]
fn register_read_is_answered_in_the_next_frame() {
    let mut card = Phaser::new();
    let out = send(
        &mut card,
        0,
        access(false, chip::BOARD_ID.address.into(), 0),
        &Words::default(),
    );
    // 19: 00010011, in words 1 to 8 of 32 ns.
    let bits: Vec<(Ns, bool)> = out
        .sent
        .iter()
        .map(|(delay, _, level)| (*delay / 32, *level == Signal::Level(true)))
        .collect();
    assert_eq!(bits, [(4, true), (5, false), (7, true), (9, false)]);
    let out = send(
        &mut card,
        400,
        access(true, chip::BOARD_ID.address.into(), 7),
        &Words::default(),
    );
    assert_eq!(out.warnings, ["its register 0x00 cannot be written"]);
}

proptest! {
    #[test]
    fn tones_have_frequency_phase_and_amplitude_of_their_words(ftw: i32, duc: i32, asf in 1u32..0x8000, pow: u16, n in 0..2usize, m in 0..5usize) {
        let mut card = on();
        for (offset, byte) in duc.to_be_bytes().into_iter().enumerate() {
            let register = u32::from(chip::DUC_F.address) + 16 * n as u32 + offset as u32;
            send(&mut card, 400 + 400 * offset as Ns, access(true, register, byte.into()), &Words::default());
        }
        prop_assert_eq!(card.unfinished().len(), 1);
        send(&mut card, 2000, access(true, chip::DUC_STB.address.into(), 0), &Words::default());
        prop_assert!(card.unfinished().is_empty());
        let mut words = Words::default();
        words[m] = [ftw as u32, tone::POW.put(asf, pow.into())];
        let out = send(&mut card, 2400, frame::CHANNEL.put(0, n as u32), &words);
        prop_assert!(out.warnings.is_empty());
        let [(_, output, Signal::Tone(sent_tone))] = out.sent[..] else { panic!("{:?}", out.sent) };
        let hz = f64::from(ftw) / 2f64.powi(30) * 6.25e6 + f64::from(duc) / 2f64.powi(30) * 125e6;
        prop_assert_eq!(output, 5 * n + m);
        prop_assert!((sent_tone.hz - hz).abs() < 1e-6);
        prop_assert!((10f64.powf(sent_tone.dbm / 20.0) - f64::from(asf) / 32767.0).abs() < 1e-9);
        // The upconverter has been running since its strobe 400 ns earlier.
        let turns = turns_of(f64::from(duc) / 2f64.powi(30) * 125e6, 400) + f64::from(pow) / 65536.0;
        prop_assert!(((sent_tone.turns - turns + 0.5).rem_euclid(1.0) - 0.5).abs() < 1e-6);
    }
}

#[test]
fn reset_dac_and_clipping_are_reported() {
    let mut card = Phaser::new();
    let mut words = Words::default();
    words[0][1] = 0x5000;
    assert!(send(&mut card, 0, 0, &words).warnings[0].contains("the DAC is in reset"));
    words[3][1] = 0x5000;
    assert_eq!(
        send(&mut card, 400, 0, &words).warnings,
        ["channel 0: its oscillators add up to 1.25 of full scale: it clips"]
    );
    assert!(send(&mut card, 800, access(true, 0x0d, 1), &words).warnings[0].contains("SPI bus"));
}

#[test]
fn sample_of_the_dac_is_read() {
    let mut card = on();
    let mut words = Words::default();
    words[1][1] = tone::POW.put(0x4000, 0x4000);
    send(&mut card, 400, 0, &words);
    assert_eq!(card.read(1000, 0x18), 0x40);
    assert_eq!(
        card.get(chip::DAC_DATA, 0),
        0x4000 << 16,
        "a quarter turn: all of it is Q"
    );
}
