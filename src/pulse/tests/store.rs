//! Gates that a kernel makes in the tables, and the words by which a kernel changes a gate set into another.

mod support;

use kairos_contracts::pulse::{CHANNEL_MASK_BITS, ERROR_UNDERRUN, KERNEL_PULSE_FLAG_SYNC0};
use kairos_pulse::compile::{Gate, Image, Limits, Shape};
use kairos_pulse::difference::differences;
use kairos_pulse::kernel_pulse::{KernelPulse, KernelPulseError};
use kairos_pulse::model::{Config, Machine};
use kairos_pulse::store::Room;
use kairos_pulse::units::Rates;
use kairos_pulse::{word, Word};
use proptest::prelude::*;
use support::{constant, play, pulse, run_word, waiting, Played};

const CYCLES: u64 = 200;
const RATES: Rates = Rates::REFERENCE;

fn as_word(numbers: &[u32; 8]) -> Word {
    Word(std::array::from_fn(|n| {
        u64::from(numbers[2 * n + 1]) << 32 | u64::from(numbers[2 * n])
    }))
}

fn numbers(words: &[Word]) -> Vec<u32> {
    let limbs = words.iter().flat_map(|word| word.0);
    limbs.flat_map(|limb| [limb as u32, (limb >> 32) as u32]).collect()
}

/// Other gates, and "new" with room for `segments` segments on channels 1 and 2.
fn image(segments: usize) -> Image {
    let beside = |name: &str, value| Gate {
        name: name.into(),
        pulses: vec![
            pulse(1, 80, &[(1, constant(value))]),
            pulse(2, 90, &[(4, constant(value))]),
        ],
    };
    let zeros = |p| (p, Shape::Steps(vec![0.0; segments / 8]));
    let shapes: Vec<(usize, Shape)> = (0..8).map(zeros).collect();
    let mut pulses = [1, 2].map(|channel| pulse(channel, CYCLES, &shapes)).to_vec();
    pulses.iter_mut().for_each(|pulse| pulse.own = 0xff);
    let new = Gate {
        name: "new".into(),
        pulses,
    };
    Image::new(&[beside("a", 20.0), new, beside("b", 30.0)], Limits::default()).unwrap()
}

/// The list of its places that the host gives to kernels.
fn room(image: &Image) -> Vec<u32> {
    let mut list = vec![CYCLES as u32];
    for (channel, id, first) in image.places("new").unwrap() {
        let owned = image.owned("new").unwrap().into_iter();
        let addresses: Vec<u32> = owned
            .filter(|o| o.channel == channel)
            .map(|o| o.address.into())
            .collect();
        list.extend([channel.into(), id.into(), first.into(), addresses.len() as u32]);
        list.extend(addresses);
    }
    list
}

/// Zeros, the words, and zeros that wait.
fn between(words: &[Word]) -> Vec<Word> {
    let ends = [waiting(6, 0, 20), waiting(6, 0, 30)];
    [&ends[..1], words, &ends[1..]].concat()
}

fn played(words: Vec<Word>) -> [Played; 2] {
    let config = Config {
        trigger_channels: 6,
        ..Config::default()
    };
    let mut machine = Machine::new(config);
    let mut all = play(&mut machine, words);
    // After the last zeros the channels run out of segments.
    assert_eq!(machine.status.errors & !ERROR_UNDERRUN, 0);
    [all.swap_remove(1), all.swap_remove(1)]
}

proptest! {
    #[test]
    fn stored_gate_equals_the_streamed_pulse(
        courses in prop::collection::vec((0u32..8, prop::collection::vec(-90.0..90.0f64, 1..6)), 0..4),
        channels in 1u32..4,
    ) {
        let mut list = vec![channels << 1, !(channels << 1) & 6, CYCLES as u32, KERNEL_PULSE_FLAG_SYNC0];
        let mut values = Vec::new();
        let mut seen = 0u32;
        for (parameter, course) in courses {
            if seen >> parameter & 1 == 0 {
                seen |= 1 << parameter;
                list.extend([parameter, course.len() as u32]);
                values.extend(course);
            }
        }
        let made = KernelPulse::new(&list).unwrap();
        let (mut streamed, mut stored) = (Vec::new(), Vec::new());
        made.words(&values, &RATES, &mut |word| streamed.push(as_word(word))).unwrap();
        let image = image(40);
        let place = room(&image);
        made.store(&Room::new(&place).unwrap(), &values, &RATES, &mut |word| stored.push(as_word(word))).unwrap();
        // On the other channel the gate is the pause that it was.
        let ids = image.places("new").unwrap();
        let run: Vec<Word> = ids.iter().map(|&(channel, id, _)| run_word(1 << channel, &[id])).collect();
        let a: Vec<Word> = image.gates["a"].iter().map(|(&c, gate)| run_word(1 << c, &[gate.id.unwrap()])).collect();
        let from_tables = played([image.programming(), stored, between(&[&a[..], &run].concat())].concat());
        let wanted = played([image.programming(), between(&[&a[..], &streamed].concat())].concat());
        prop_assert_eq!(from_tables, wanted);
    }

    #[test]
    fn differences_lead_from_any_set_to_any_other(
        old in prop::collection::vec((0u8..3, 1u8..5), 0..20),
        new in prop::collection::vec((0u8..3, 1u8..5), 0..20),
    ) {
        let set = |gates: &[(u8, u8)]| {
            let gate = |(n, &(channel, value)): (usize, &(u8, u8))| Gate {
                name: format!("g{n}"),
                pulses: vec![pulse(channel, 50 + u64::from(value), &[(1, constant(f64::from(value)))])],
            };
            let gates: Vec<Gate> = gates.iter().enumerate().map(gate).collect();
            let mut words = Image::new(&gates, Limits::default()).unwrap().programming();
            words.sort_by_key(|word| std::cmp::Reverse(content(word)));
            words
        };
        let (old, new) = (set(&old), set(&new));
        let mut changes = Vec::new();
        differences(&numbers(&old), &numbers(&new), &mut |word| changes.push(as_word(word)));
        prop_assert!(changes.len() <= new.len());
        // Every wanted word is in the tables for each of its channels, and no other has been written after it.
        let there = |word: &Word| [&old[..], &changes].concat().iter().filter(|w| content(w) == content(word))
            .fold(0, |mask, w| mask | word::channels(w));
        for word in &new {
            prop_assert_eq!(word::channels(word) & !there(word), 0);
            let sent = changes.iter().filter(|w| content(w) == content(word)).count();
            prop_assert!(sent <= new.iter().filter(|w| content(w) == content(word)).count());
        }
        let mut none = 0;
        differences(&numbers(&new), &numbers(&new), &mut |_| none += 1);
        prop_assert_eq!(none, 0);
    }
}

/// A word without its channels, the most significant part first.
fn content(word: &Word) -> [u64; 4] {
    let [a, b, c, d] = word.0;
    [d & u64::MAX >> CHANNEL_MASK_BITS, c, b, a]
}

#[test]
fn pulse_without_room_or_place_is_refused_before_any_word() {
    let image = image(8);
    let place = room(&image);
    let store = |list: &[u32], values: &[f64]| {
        let made = KernelPulse::new(list).unwrap();
        made.store(&Room::new(&place).unwrap(), values, &RATES, &mut |_| panic!("a word"))
    };
    let knots = [0.0, 10.0, 20.0, 10.0, 5.0, 0.0, 7.0, 3.0, 1.0];
    let too_many = KernelPulseError::Room { segments: 9 };
    assert_eq!(store(&[2, 0, 200, 0, 1, 9], &knots), Err(too_many));
    assert_eq!(store(&[2, 0, 201, 0, 1, 1], &[1.0]), Err(KernelPulseError::Malformed));
    assert_eq!(store(&[8, 0, 200, 0, 1, 1], &[1.0]), Err(KernelPulseError::Malformed));
    assert!(Room::new(&[]).is_none());
    assert!(Room::new(&place[..place.len() - 1]).is_none());
    assert!(Room::new(&[200, 1, 1, 1, 1, 4096]).is_none());
}
