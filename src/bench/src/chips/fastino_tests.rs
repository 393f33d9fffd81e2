use proptest::prelude::*;

use super::super::fastlink::{INPUTS, LANES};
use super::*;

const CRC_WIDTH: u32 = 12;
const BITS: u32 = words::FRAME_WORDS * words::FRAME_WORD_BITS;
const BIT: Ns = GEOMETRY.bit;
const FRAME: Ns = BITS as Ns * BIT;

/// The pads of a frame that begins at `start`: header, codes, and the CRC, which may be wrong.
fn send(card: &mut Fastino, start: Ns, header: u64, codes: &[u16; CHANNELS], good: bool) -> Outbox {
    let mut bits: Vec<bool> = (0..64).map(|n| header >> n & 1 != 0).collect();
    for code in codes {
        bits.extend((0..16).map(|n| code >> n & 1 != 0));
    }
    let mut crc = bits.iter().fold(0u32, |crc, bit| {
        let feedback = (crc >> (CRC_WIDTH - 1) & 1 != 0) != *bit;
        (crc << 1 ^ if feedback { words::CRC } else { 0 }) & ((1 << CRC_WIDTH) - 1)
    });
    crc ^= u32::from(!good);
    bits.extend((0..CRC_WIDTH).rev().map(|n| crc >> n & 1 != 0));
    assert_eq!(bits.len(), BITS as usize * LANES);
    let mut out = Outbox::default();
    let mut levels = [false; LANES + 1];
    for bit in 0..BITS as usize {
        let at = start + bit as Ns * BIT;
        let high = words::CLOCK_HIGH as usize - usize::from(bit < words::FRAME_WORD_BITS as usize);
        let mut now = [bit % words::FRAME_WORD_BITS as usize % 7 < high; LANES + 1];
        now[1..].copy_from_slice(&bits[bit * LANES..(bit + 1) * LANES]);
        let changed = (0..now.len()).filter(|line| now[*line] != levels[*line]);
        let changes: Vec<Change> = changed.map(|line| (line, Signal::Level(now[line]))).collect();
        if !changes.is_empty() {
            card.input(at, &changes, &mut out);
        }
        levels = now;
    }
    assert_eq!(card.next(), Some(start + FRAME));
    let low: Vec<Change> = (0..levels.len())
        .filter(|line| levels[*line])
        .map(|line| (line, Signal::Level(false)))
        .collect();
    card.input(start + FRAME, &low, &mut out);
    card.act(start + FRAME, &mut out);
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
    let staged = frame::INTERPOLATOR.put(frame::KIND.put(all, frame::KIND_INTERPOLATOR), 7);
    send(&mut card, 1600, staged, &codes, true);
    assert_eq!((card.codes[3], card.interpolators[3]), (0x8000, 7));
}

#[test]
fn frame_with_wrong_crc_is_ignored_and_reported() {
    let mut card = Fastino::new();
    let out = send(&mut card, 0, frame::MASK.put(0, 1), &[0; CHANNELS], false);
    assert_eq!(out.warnings, ["a frame with a wrong CRC: it is ignored"]);
    assert_eq!((card.codes[0], card.frames), (0x8000, 0));
}
