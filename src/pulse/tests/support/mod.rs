//! Shared by the tests of the model: the vectors, and playing a core to its end.
#![allow(dead_code)]

use kairos_contracts::pulse::{State, TONE_FLAG_WAIT};
use kairos_pulse::compile::{Pulse, Shape};
use kairos_pulse::model::{Config, Cycle, FrameCommit, Machine};
use kairos_pulse::word::{self, Branch, GateEntry, MapEntry, RunFormat};
use kairos_pulse::{Segment, Word};
use serde_json::Value;

/// The example vectors, in order.
pub fn vectors() -> Vec<Value> {
    let text = include_str!("../vectors.json");
    let all: Value = serde_json::from_str(text).expect("vectors.json is JSON");
    all["vectors"].as_array().expect("a list").clone()
}

/// The vector whose name begins with `name`.
pub fn vector(name: &str) -> Value {
    let found = vectors()
        .into_iter()
        .find(|v| v["name"].as_str().unwrap().starts_with(name));
    found.unwrap_or_else(|| panic!("there is no vector {name}"))
}

/// Parses a word from its 64 hexadecimal digits.
pub fn word(digits: &str) -> Word {
    Word(std::array::from_fn(|n| {
        u64::from_str_radix(&digits[48 - 16 * n..64 - 16 * n], 16).unwrap()
    }))
}

/// Words of a vector.
pub fn words(value: &Value) -> Vec<Word> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|w| word(w.as_str().unwrap()))
        .collect()
}

/// The reference core with the frame behaviour of JaqalPaw's emulator.
pub fn emulator() -> Machine {
    Machine::new(Config {
        frame_commit: FrameCommit::Emulator,
        ..Config::default()
    })
}

/// Outputs of a channel in the cycles in which its engines ran: the values of each parameter, and
/// the frame of each tone.
#[derive(Clone, Default, Debug, PartialEq)]
pub struct Played {
    pub values: [Vec<i64>; 8],
    pub applied: [Vec<i64>; 2],
}

/// Plays all words; triggers whenever all engines of some channel wait and nothing else is in
/// progress.
pub fn play(machine: &mut Machine, words: Vec<Word>) -> Vec<Played> {
    machine.feed(words);
    let mut played = vec![Played::default(); 8];
    let mut still = 0;
    let mut triggers = 0;
    while still < 200 && triggers < 100 && machine.cycle() < 1_000_000 {
        let mut ran = false;
        for (c, played) in played.iter_mut().enumerate() {
            let (states, shown) = (machine.channel(c).states(), machine.channel(c).shown());
            record(played, &states, &shown);
            ran |= states.contains(&State::Run);
        }
        let armed = (0..8).any(|c| machine.channel(c).armed());
        still = if ran || !(armed || machine.is_fed()) {
            0
        } else {
            still + 1
        };
        // Delayed, so that all words have reached the engines.
        let trigger = armed && still == 100 && !is_done(machine);
        if trigger {
            (still, triggers) = (0, triggers + 1);
        }
        machine.step(trigger, &mut []);
    }
    played
}

/// Whether only segments that wait for a trigger are left: a closing packet.
fn is_done(machine: &Machine) -> bool {
    machine.is_fed() && (0..8).all(|c| machine.channel(c).queued().iter().all(|&n| n == 0))
}

fn record(played: &mut Played, states: &[State; 8], shown: &Cycle) {
    for (p, state) in states.iter().enumerate() {
        if *state == State::Run {
            played.values[p].push(shown.values[p]);
        }
    }
    if states[6] == State::Run && states[7] == State::Run {
        for t in 0..2 {
            played.applied[t].push(shown.applied[t]);
        }
    }
}

/// Expands a change list of a vector to one value per cycle, modulo 2^40.
pub fn expanded(changes: &Value, cycles: usize) -> Vec<i64> {
    let changes: Vec<(usize, i64)> = changes
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| (pair[0].as_u64().unwrap() as usize, pair[1].as_i64().unwrap()))
        .collect();
    let mut out = Vec::with_capacity(cycles);
    for (n, &(at, value)) in changes.iter().enumerate() {
        let end = changes.get(n + 1).map_or(cycles, |next| next.0);
        out.extend(std::iter::repeat_n(kairos_pulse::wrap(value, 40), end - at));
    }
    out
}

pub const NAMES: [&str; 8] = ["f0", "a0", "p0", "f1", "a1", "p1", "z0", "z1"];

/// Compares played values with a vector's trajectory.
pub fn compare(name: &str, played: &[Played], trajectory: &Value, total: &Value) {
    for (channel, parameters) in trajectory.as_object().unwrap() {
        let c: usize = channel.parse().unwrap();
        for (p, parameter) in NAMES.iter().enumerate() {
            let cycles = total[channel][*parameter].as_u64().unwrap() as usize;
            let expected = expanded(&parameters[*parameter], cycles);
            let got = &played[c].values[p];
            assert_eq!(got.len(), cycles, "{name}: cycles of {parameter} on channel {c}");
            if let Some(at) = (0..cycles).find(|&at| got[at] != expected[at]) {
                panic!(
                    "{name}: {parameter} of channel {c} in cycle {at}: {} and not {}",
                    got[at], expected[at]
                );
            }
        }
    }
}

/// A segment that holds a value, with these flags.
pub fn flagged(value: i64, tau: u64, flags: u8) -> Segment {
    Segment {
        flags,
        ..Segment::constant(value, tau)
    }
}

/// Makes a word that runs gates.
pub fn run_word(channels: u8, ids: &[u16]) -> Word {
    word::run(channels, Branch::None, ids, RunFormat::Counted)
}

/// Makes a gate.
pub fn gate(address: u16, first: u16, last: u16) -> GateEntry {
    GateEntry { address, first, last }
}

/// Makes an entry of the memory map.
pub fn map(address: u16, parameters: u8, plut: u16) -> MapEntry {
    MapEntry {
        address,
        parameters,
        plut,
    }
}

/// Makes a word that passes a waiting pulse to all parameters of the channels in the mask.
pub fn waiting(channels: u8, value: i64, tau: u64) -> Word {
    word::bypass(channels, 255, &flagged(value, tau, TONE_FLAG_WAIT))
}

/// Makes a pulse in which these parameters have these shapes.
pub fn pulse(channel: u8, cycles: u64, shapes: &[(usize, Shape)]) -> Pulse {
    let mut pulse = Pulse::idle(channel, cycles);
    for (p, shape) in shapes {
        pulse.shapes[*p] = shape.clone();
    }
    pulse
}

/// A constant value.
pub fn constant(value: f64) -> Shape {
    Shape::Constant(value)
}
