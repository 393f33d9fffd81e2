use rand::SeedableRng;

use super::super::line::tests::{changes, command_of};
use super::super::packets::{crc_of, vote};
use super::*;
use crate::physics::sensor::Spot;

fn camera(depth: u32) -> Camera {
    let options = Options {
        size: [6, 4],
        spread: 0.8,
        efficiency: 1.0,
        dark: 100.0,
        exposure_ns: 1_000_000,
        period_ns: None,
        spots: vec![Spot { position: [2.5, 1.5] }],
    };
    Camera::new(options, depth, Pcg64Mcg::seed_from_u64(7))
}

/// Sends characters to it from a time on; returns what it sends up to another one, as bytes with their control bits,
/// of each packet without its idle word, start and end.
fn exchange(camera: &mut Camera, start: Ns, characters: &[u16], end: Ns) -> Vec<Vec<u16>> {
    let mut out = Outbox::default();
    let mut sent = Vec::new();
    let levels = camera.levels;
    let mut act = |camera: &mut Camera, until: Ns, out: &mut Outbox| {
        while let Some(at) = camera.next().filter(|at| *at <= until) {
            camera.act(at, out);
            sent.extend(
                out.sent
                    .drain(..)
                    .map(|(delay, line, signal)| (at + delay, line, signal)),
            );
        }
    };
    for (at, level) in changes(start, camera.line.level(), characters) {
        act(camera, at, &mut out);
        camera.input(at, &[(0, Signal::Level(level))], &mut out);
    }
    act(camera, end, &mut out);
    assert!(out.warnings.is_empty(), "{:?}", out.warnings);
    packets(levels, &sent)
}

fn packets(mut levels: [bool; LINES.len()], sent: &[(Ns, usize, Signal)]) -> Vec<Vec<u16>> {
    let mut found = Vec::new();
    let mut changes = sent.iter().peekable();
    let mut at = sent.first().map_or(0, |first| first.0);
    while changes.peek().is_some() || levels[VALID] {
        while let Some((_, line, Signal::Level(level))) = changes.next_if(|change| change.0 <= at) {
            levels[*line] = *level;
        }
        if levels[VALID] {
            found.push((0..9).fold(0, |all, bit| all | u16::from(levels[bit]) << bit));
            at += CHARACTER;
        } else {
            at = changes.peek().map_or(at, |change| change.0);
        }
    }
    let start = [CONTROL | facts::PACKET_START as u16; 4];
    let mut whole = Vec::new();
    for word in found.chunks(4) {
        match word {
            _ if *word == start => whole.push(Vec::new()),
            [first, ..] if *first == CONTROL | facts::PACKET_END as u16 => {}
            [first, ..] if *first == CONTROL | facts::COMMA as u16 => {}
            _ => whole.last_mut().expect("a start").extend(word),
        }
    }
    whole
}

fn bytes(packet: &[u16]) -> Vec<u8> {
    packet.iter().map(|character| *character as u8).collect()
}

const SECOND: Ns = 1_000_000_000;

#[test]
fn registers_are_read_and_written_with_their_codes() {
    let mut camera = camera(8);
    let mut time = 480_000;
    let mut ask = |operation: u8, address: u32, value: Option<u32>| {
        let mut body = vec![operation, 0, 0, 4];
        body.extend(address.to_be_bytes());
        body.extend(value.into_iter().flat_map(u32::to_be_bytes));
        let found = exchange(
            &mut camera,
            time,
            &command_of(facts::COMMAND, &body),
            time + SECOND / 10,
        );
        time += SECOND / 10 + 480 - (SECOND / 10) % 480;
        let answers = found.iter().map(|packet| {
            let packet = bytes(packet);
            assert_eq!((packet[0], crc_of(&packet[4..])), (facts::ANSWER as u8, 0));
            let data = packet[8..packet.len() - 4].to_vec();
            (u32::from(vote(&packet[4..8])), data)
        });
        answers.collect::<Vec<_>>()
    };
    let data = |value: u32| {
        let mut data = vec![0, 0, 0, 4];
        data.extend(value.to_be_bytes());
        data
    };
    assert_eq!(ask(0, facts::STANDARD, None), [(facts::ANSWER_DATA, data(0xc0a7_9ae5))]);
    assert_eq!(ask(1, facts::MASTER_ID, Some(0x6303)), [(facts::ANSWER_DONE, vec![])]);
    assert_eq!(ask(0, facts::MASTER_ID, None), [(facts::ANSWER_DATA, data(0x6303))]);
    assert_eq!(ask(0, 0x7777_0000, None), [(facts::ANSWER_ADDRESS, vec![])]);
    assert_eq!(ask(1, facts::STANDARD, Some(1)), [(facts::ANSWER_READ_ONLY, vec![])]);
    assert_eq!(ask(1, FORMAT, Some(9)), [(facts::ANSWER_DATA_ERROR, vec![])]);
    assert_eq!(ask(2, FORMAT, None), [(facts::ANSWER_OPERATION, vec![])]);
    let longer = [(facts::ANSWER_WAIT, data(5)), (facts::ANSWER_DONE, vec![])];
    assert_eq!(ask(1, FORMAT, Some(0x105)), longer);
    assert_eq!(ask(1, facts::CONNECTION_RESET, Some(1)), []);
    assert_eq!(ask(0, facts::MASTER_ID, None), [(facts::ANSWER_DATA, data(0))]);
}

#[test]
fn trigger_exposes_at_a_fixed_time_and_the_image_follows_once_configured() {
    let mut camera = camera(12);
    let rising = [0x15c, 0x19c, 0x19c, 0, 0, 0];
    let idle = super::super::line::IDLE;
    let trigger: Vec<u16> = idle.into_iter().chain(rising).chain(idle).collect();
    assert_eq!(exchange(&mut camera, 480_000, &trigger, 3_000_000), [] as [Vec<u16>; 0]);
    let rate = facts::RATE_1G25.to_be_bytes();
    let body = [&[1, 0, 0, 4, 0, 0, 0x40, 0x14, 0, 1], &rate[2..]].concat();
    exchange(&mut camera, 4_800_000, &command_of(facts::COMMAND, &body), 5_000_000);
    camera.registers.set(facts::STREAM_PACKET_SIZE, 1 << 14);
    let found = exchange(&mut camera, 9_600_000, &trigger, 20_000_000);
    let [image] = &found[..] else {
        panic!("{} packets", found.len())
    };
    let image = bytes(image);
    assert_eq!((image[0], crc_of(&image[4..])), (facts::STREAM as u8, 0));
    // Type, packet's header, mark and type, 23 header bytes; of each line mark, type, three words
    let line = |row: usize| &image[4 * (5 + 25 + 5 * row + 2)..][..12];
    for (row, pixels) in camera.sensor.rows().enumerate() {
        let mut bits = [0u8; 12];
        for (n, pixel) in pixels.iter().enumerate() {
            (0..12)
                .filter(|bit| pixel >> bit & 1 != 0)
                .for_each(|bit| bits[(12 * n + bit) / 8] |= 1 << ((12 * n + bit) % 8));
        }
        assert_eq!(line(row), bits);
    }
    let report = camera.report(0);
    assert_eq!(report["link_triggers"], serde_json::json!([2, 0, 0, 0]));
    assert_eq!(
        (report["frames"].as_u64(), report["pixel_bits"].as_u64()),
        (Some(1), Some(12))
    );
    assert!(camera.sensor.rows().flatten().any(|pixel| *pixel > 50));
}
