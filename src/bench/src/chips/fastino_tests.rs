use proptest::prelude::*;

use super::super::fastlink::{sending, INPUTS};
use super::*;
use crate::vectors::vectors;

/// A frame that begins at `start`: header, codes, and a CRC, which may be wrong.
fn send(card: &mut Fastino, start: Ns, header: u64, codes: &[u16; CHANNELS], good: bool) -> Outbox {
    let mut bits: Vec<bool> = (0..words::FRAME.width).map(|n| header >> n & 1 != 0).collect();
    for code in codes {
        bits.extend((0..16).map(|n| code >> n & 1 != 0));
    }
    receive(card, start, sending::changes(&GEOMETRY, start, &bits, good))
}

/// Lets the card receive a frame that begins at `start`.
fn receive(card: &mut Fastino, start: Ns, frame: Vec<(Ns, Vec<Change>)>) -> Outbox {
    let mut out = Outbox::default();
    let mut act_until = |card: &mut Fastino, at: Ns| {
        while let Some(next) = card.next().filter(|next| *next <= at) {
            card.act(next, &mut out);
        }
    };
    for (at, changes) in frame {
        act_until(card, at);
        card.input(at, &changes, &mut Outbox::default());
    }
    act_until(card, start + GEOMETRY.frame());
    assert_eq!(card.next(), None);
    out
}

proptest! {
    #[test]
    fn masked_codes_of_a_frame_are_applied(codes: [u16; CHANNELS], mask: u32, leds: u8, start in 0u64..1000) {
        let mut card = Fastino::new();
        let header = frame::MASK.put(frame::LEDS.put(0, leds.into()), mask.into());
        let out = send(&mut card, start, header, &codes, true);
        for (n, code) in codes.into_iter().enumerate() {
            let expected = if mask >> n & 1 != 0 { code } else { 0x8000 };
            prop_assert_eq!(card.codes[n], expected);
        }
        prop_assert_eq!(card.leds, u64::from(leds));
        prop_assert!(out.warnings.is_empty());
    }

    /// Any changes at the pins: no panic.
    #[test]
    fn any_line_changes_cause_no_panic(changes in prop::collection::vec((0..INPUTS.len(), any::<bool>(), 0u64..20), 0..500)) {
        let (mut card, mut out, mut at) = (Fastino::new(), Outbox::default(), 0);
        for (line, level, wait) in changes {
            at += wait;
            while let Some(next) = card.next().filter(|next| *next <= at) {
                card.act(next, &mut out);
            }
            card.input(at, &[(line, Signal::Level(level))], &mut out);
        }
    }
}

#[test]
fn power_down_switches_volts_off() {
    let mut card = Fastino::new();
    let mut codes = [0x8000; CHANNELS];
    codes[3] = 0xc000;
    let all = frame::MASK.put(0, u32::MAX.into());
    let out = send(&mut card, 0, all, &codes, true);
    assert_eq!(out.sent, [(0, 3, Signal::Volts(5.0))]);
    let off = frame::CONFIGURATION.put(0, cfg::AFE_POWER_DOWN.put(0, 1));
    let out = send(&mut card, 400, off, &codes, true);
    assert_eq!(out.sent, [(0, 3, Signal::Volts(0.0))]);
    let out = send(&mut card, 800, 0, &codes, true);
    assert_eq!(out.sent, [(0, 3, Signal::Volts(5.0))]);
    let clear = frame::CONFIGURATION.put(0, cfg::DAC_CLR.put(0, 1));
    send(&mut card, 1200, clear, &codes, true);
    assert_eq!((card.volts[3], card.codes[3]), (0.0, 0x8000));
    let staged = frame::KIND.put(all, frame::KIND_INTERPOLATOR);
    send(&mut card, 1600, staged, &[7; CHANNELS], true);
    assert_eq!((card.codes[3], card.interpolators[3]), (0x8000, 7));
}

#[test]
fn frame_with_wrong_crc_is_ignored_and_reported() {
    let mut card = Fastino::new();
    let out = send(&mut card, 0, frame::MASK.put(0, 1), &[0; CHANNELS], false);
    assert_eq!(out.warnings, ["a frame with a wrong CRC: it is ignored"]);
    assert_eq!((card.codes[0], card.frames), (0x8000, 0));
}

/// A frame as it is on the lanes, its bits from the first word on, is that of the real card.
#[test]
fn lanes_of_a_frame_are_those_of_the_card() {
    let zero = vec![false; GEOMETRY.places().count()];
    let levels = sending::levels(&GEOMETRY, &zero, true);
    let lane = |n: usize| {
        levels
            .iter()
            .map(|now| if now[n] { '1' } else { '0' })
            .collect::<String>()
    };
    assert_eq!(lane(0), "1100011".repeat(14));
    // The marker at the end of the last word but one, and a CRC of 241h
    assert_eq!(lane(1), format!("{}1{}11", "0".repeat(90), "0".repeat(5)));
    let crc = |time: usize| (1..=6).rev().fold(0, |word, n| word << 1 | u32::from(levels[time][n]));
    assert_eq!(crc(96) << 6 | crc(97), 0x241);
}

/// Frames one after the other, with and without a gap.
#[test]
fn frames_are_received_back_to_back_and_after_gaps() {
    let mut card = Fastino::new();
    let all = frame::MASK.put(0, u32::MAX.into());
    for (n, start) in [0, 392, 784, 1200, 1592].into_iter().enumerate() {
        send(&mut card, start, all, &[n as u16; CHANNELS], true);
        assert_eq!((card.frames, card.codes[31]), (n as u64 + 1, n as u16));
    }
}

/// Frames of the vectors, bit by bit: each DAC in the mask has the word that the vector says.
#[test]
fn frames_of_the_vectors_have_the_effect_of_their_fields() {
    let hexadecimal = |text: &str| u64::from_str_radix(text, 16).unwrap();
    let mut frames = 0;
    for vector in vectors("fastino_frame") {
        let Some(digits) = vector["frame"].as_str() else {
            continue;
        };
        let mut card = Fastino::new();
        let levels = sending::levels_of(&GEOMETRY, &sending::bits_of(&GEOMETRY, digits));
        let out = receive(&mut card, 0, sending::changes_of(&GEOMETRY, 0, levels));
        assert!(out.warnings.is_empty(), "{:?}", out.warnings);
        let configuration = vector["cfg"].as_u64().unwrap();
        assert_eq!(u64::from(card.configuration), configuration);
        assert_eq!(card.leds, vector["leds"].as_u64().unwrap());
        let mask = hexadecimal(vector["enable"].as_str().unwrap());
        let same = vector["data"].as_str().map(|text| text.split(' ').next_back().unwrap());
        let resets = cfg::CARD_RESET.get(configuration) != 0;
        for n in (0..CHANNELS).filter(|n| mask >> n & 1 != 0 && !resets) {
            let word = hexadecimal(same.unwrap_or_else(|| vector["data"][n].as_str().unwrap()));
            match vector["typ"].as_u64() {
                Some(0) => assert_eq!(u64::from(card.codes[n]), word),
                _ => assert_eq!(card.interpolators[n], word),
            }
        }
        frames += card.frames;
    }
    assert_eq!(frames, 5);
}
