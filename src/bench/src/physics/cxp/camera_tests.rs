use rand::SeedableRng;

use super::super::line::tests::{changes, command_of};
use super::super::packets::{crc_of, vote};
use super::*;
use crate::physics::sensor::Spot;

fn camera(depth: u32) -> Camera {
    camera_at(depth, 0)
}

/// One whose rates are up to this one, at which it begins if a camera may.
fn camera_at(depth: u32, highest: usize) -> Camera {
    let options = Options {
        size: [6, 4],
        spread: 0.8,
        efficiency: 1.0,
        dark: 100.0,
        exposure_ns: 1_000_000,
        period_ns: None,
        spots: vec![Spot { position: [2.5, 1.5] }],
    };
    let discovery = if highest == 2 { 2 } else { 0 };
    Camera::new(options, depth, Rates { discovery, highest }, Pcg64Mcg::seed_from_u64(7))
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
            for place in 0..4 {
                let bits = (0..8).map(|bit| 8 * place + bit).chain([CONTROLS + place]).enumerate();
                found.push(bits.fold(0, |all, (bit, line)| all | u16::from(levels[line]) << bit));
            }
            at += CYCLE;
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
    let rate = facts::RATES[0][1].to_be_bytes();
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

/// Words that arrive, with their times.
fn times(camera: &mut Camera, from: Ns) -> Vec<Ns> {
    let (mut out, mut found) = (Outbox::default(), Vec::new());
    let packet = answer(None, facts::ANSWER_DATA, Some(&[0x5a; 96]));
    camera.send(from, &packet, &mut out);
    let mut valid = false;
    let mut changes: Vec<_> = out.sent.into_iter().filter(|(_, line, _)| *line == VALID).collect();
    changes.sort_by_key(|(delay, ..)| *delay);
    let mut changes = changes.into_iter().peekable();
    for delay in (0..10_000).step_by(CYCLE as usize) {
        while let Some((_, _, Signal::Level(level))) = changes.next_if(|change| change.0 <= delay) {
            valid = level;
        }
        found.extend(valid.then_some(delay));
    }
    found
}

#[test]
fn words_have_the_distances_of_the_rate_and_at_most_one_is_in_a_cycle() {
    for (rate, [mbit_s, _]) in facts::RATES.iter().enumerate() {
        let mut camera = camera_at(8, rate);
        (camera.rate, camera.received) = (rate, rate);
        camera.lock(&mut Outbox::default());
        let times = times(&mut camera, 0);
        let period = (40_000.0 / f64::from(*mbit_s)).max(8.0);
        assert_eq!(times.len(), 30, "all but the idle one");
        for (n, time) in times.iter().enumerate() {
            let exact = (n + 1) as f64 * period;
            assert!(
                (exact..exact + 8.0).contains(&(*time as f64)),
                "{mbit_s}: {time} {exact}"
            );
        }
    }
}

#[test]
fn camera_answers_at_the_rate_before_and_only_to_a_grabber_at_its_rate() {
    let configure = |rate: usize| {
        let code = facts::RATES[rate][1].to_be_bytes();
        let body = [&[1, 0, 0, 4, 0, 0, 0x40, 0x14, 0, 1], &code[2..]].concat();
        command_of(facts::COMMAND, &body)
    };
    let read = command_of(facts::COMMAND, &[0, 0, 0, 4, 0, 0, 0, 0]);
    let receive = |camera: &mut Camera, at: Ns, rate: usize| {
        let levels: Vec<_> = (0..3)
            .map(|bit| (2 + bit, Signal::Level(rate >> bit & 1 != 0)))
            .collect();
        let mut out = Outbox::default();
        camera.input(at, &levels, &mut out);
        out.sent
    };
    let mut camera = camera_at(8, 2);
    assert_eq!(
        exchange(&mut camera, 480_000, &read, 1_000_000).len(),
        0,
        "it begins at 3.125"
    );
    assert_eq!(receive(&mut camera, 1_000_000, 2), [(0, LOCK, Signal::Level(true))]);
    assert_eq!(exchange(&mut camera, 4_800_000, &read, 5_000_000).len(), 1);
    assert_eq!(
        exchange(&mut camera, 9_600_000, &configure(3), 10_000_000)[0][7],
        0x41,
        "5 is too much"
    );
    assert_eq!(exchange(&mut camera, 14_400_000, &configure(1), 15_000_000)[0][7], 1);
    assert_eq!((camera.rate, camera.levels[LOCK]), (1, false));
    assert_eq!(exchange(&mut camera, 19_200_000, &read, 20_000_000).len(), 0);
    assert_eq!(receive(&mut camera, 20_000_000, 1), [(0, LOCK, Signal::Level(true))]);
    assert_eq!(exchange(&mut camera, 24_000_000, &read, 25_000_000).len(), 1);
    // A reset brings the rate of the discovery back.
    let reset = command_of(facts::COMMAND, &[1, 0, 0, 4, 0, 0, 0x40, 0, 0, 0, 0, 1]);
    exchange(&mut camera, 28_800_000, &reset, 30_000_000);
    assert_eq!((camera.rate, camera.levels[LOCK]), (2, false));
}
