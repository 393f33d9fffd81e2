//! Miqro: memories of profiles and windows, and the pulses of a channel, for which 16 oscillators play a profile each
//! within the envelope of a window.
//!
//! The phase of an oscillator is that of its frequency since power-up, plus the profile's. The card's latency is not
//! published: a pulse begins when its frame has been received, and later by its `dt`.

use std::collections::VecDeque;

use kairos_contracts::chips::phaser::{self as chip, miqro, miqro_address, miqro_header, miqro_output};
use serde_json::{json, Value};

use super::super::fastlink;
use super::super::reported::used;
use super::envelope::{Envelope, FULL};
use super::tones::Part;
use crate::signal::Ns;

/// Oscillators of a channel.
pub const OSCILLATORS: usize = chip::MIQRO_OSCILLATORS as usize;
const WINDOWS: usize = chip::MIQRO_WINDOW as usize;
const PROFILE_WORDS: usize = 1 << 10;
/// A period of the oscillators, and a step of a pulse's `dt`.
const STEP: Ns = 4;

/// A pulse: the time of its event, and the address of its window and the profile of each oscillator.
#[derive(Clone, Copy)]
struct Pulse {
    at: Ns,
    window: u32,
    profiles: [u32; OSCILLATORS],
}

/// The pulse generator of a channel.
pub struct Generator {
    windows: Vec<u32>,
    profiles: Vec<u32>,
    last: Option<Pulse>,
    count: u64,
    /// Pulses by the times of their beginnings.
    waiting: VecDeque<(Ns, Pulse)>,
    /// Of the one that is played: its beginning, and the words of the profiles.
    began: Ns,
    playing: [(u32, u32); OSCILLATORS],
    envelope: Envelope,
    clipped: bool,
}

impl Generator {
    /// Empty memories.
    pub fn new() -> Self {
        Self {
            windows: vec![0; WINDOWS],
            profiles: vec![0; PROFILE_WORDS],
            last: None,
            count: 0,
            waiting: VecDeque::new(),
            began: 0,
            playing: [(0, 0); OSCILLATORS],
            envelope: Envelope::default(),
            clipped: false,
        }
    }

    /// Stores a word at an address of the memories.
    pub fn store(&mut self, address: u32, word: u32) {
        let memory = match miqro_address::PROFILES.get(address) {
            0 => &mut self.windows,
            _ => &mut self.profiles,
        };
        let place = miqro_address::PLACE.get(address) as usize % memory.len();
        memory[place] = word;
    }

    /// Takes a channel's part of a frame's body, whose bits begin at `first`, of a frame that was loaded at
    /// `loaded` and has been received at `at`. Returns a warning.
    pub fn take(&mut self, at: Ns, loaded: Ns, bits: &[bool], first: usize) -> Option<String> {
        let head = fastlink::word(bits, first, chip::MIQRO.width as usize) as u32;
        if miqro::STROBE.get(head) == 0 {
            return None;
        }
        let width = chip::MIQRO_WORD_BITS as usize;
        let mut bits = bits[first + chip::MIQRO.width as usize..][..chip::MIQRO_WORDS as usize * width].iter();
        let mut next = |count: u32| (0..count).fold(0, |word, n| word | u32::from(bits.next() == Some(&true)) << n);
        let window = next(chip::MIQRO_WINDOW_BITS);
        let profiles = std::array::from_fn(|_| next(chip::MIQRO_PROFILE_BITS));
        let since = Ns::from(miqro::DT.get(head)) * STEP;
        let pulse = Pulse {
            at: loaded + since,
            window,
            profiles,
        };
        self.last = Some(pulse);
        self.count += 1;
        self.waiting.push_back((at + since, pulse));
        let header = self.windows[window as usize];
        (miqro_header::LENGTH.get(header) == 0).then(|| format!("a pulse with the window at {window}, which is empty"))
    }

    /// The time at which its output changes next.
    pub fn next(&self) -> Option<Ns> {
        let played = self.envelope.next().map(|period| self.began + Ns::from(period) * STEP);
        let begins = self.waiting.front().map(|(at, _)| *at);
        [played, begins].into_iter().flatten().min()
    }

    /// The time at which it is silent again, or stays as it is, if it plays.
    pub fn end(&self) -> Option<Ns> {
        let length = |periods: u32| Ns::from(periods) * STEP;
        let playing = self
            .envelope
            .next()
            .map(|_| self.began + length(self.envelope.length()));
        let waiting = self.waiting.iter().map(|(at, pulse)| {
            let header = self.windows[pulse.window as usize];
            let samples = miqro_header::LENGTH.get(header) + miqro_header::ORDER.get(header);
            at + length(samples * (miqro_header::RATE.get(header) + 1))
        });
        playing.into_iter().chain(waiting).max()
    }

    /// Acts at the time that [`Self::next`] returned. Returns a warning.
    pub fn act(&mut self, at: Ns) -> Option<String> {
        if let Some((_, pulse)) = self.waiting.pop_front_if(|(begins, _)| *begins <= at) {
            let first = pulse.window as usize;
            let header = self.windows[first];
            let count = miqro_header::LENGTH.get(header) as usize;
            let samples = (1..=count).map(|n| self.windows[(first + n) % WINDOWS]);
            self.envelope.begin(header, samples);
            (self.began, self.clipped) = (at, false);
            self.playing = std::array::from_fn(|n| {
                let place = (n << (chip::MIQRO_PROFILE_BITS + 1)) | (pulse.profiles[n] as usize) << 1;
                (self.profiles[place], self.profiles[place + 1])
            });
        }
        let due = self.envelope.next().map(|period| self.began + Ns::from(period) * STEP);
        if due.is_some_and(|due| due <= at) {
            self.envelope.advance();
        }
        let sum = self.parts(at).map(|part| part.amplitude).sum::<f64>();
        let clips = sum > 1.0 && !self.clipped;
        self.clipped |= clips;
        clips.then(|| format!("its oscillators add up to {sum:.2} of full scale: it clips"))
    }

    /// Whether one of its oscillators has an amplitude.
    pub fn is_loud(&self) -> bool {
        let plays = self
            .playing
            .iter()
            .any(|(_, output)| miqro_output::ASF.get(*output) != 0);
        plays && self.envelope.value() != [0; 2]
    }

    /// What its oscillators play at a time.
    pub fn parts(&self, at: Ns) -> impl Iterator<Item = Part> + '_ {
        let [i, q] = self.envelope.value().map(|part| part as f64 / FULL as f64);
        let (size, angle) = (i.hypot(q), q.atan2(i) / std::f64::consts::TAU);
        self.playing.iter().map(move |(ftw, output)| {
            let phase = ftw.wrapping_mul((at / STEP) as u32);
            let own = f64::from(miqro_output::POW.get(*output)) / 65536.0;
            Part {
                hz: f64::from(*ftw as i32) / 2f64.powi(32) * chip::MIQRO_RATE,
                amplitude: f64::from(miqro_output::ASF.get(*output)) / 65535.0 * size,
                turns: f64::from(phase) / 2f64.powi(32) + own + angle,
            }
        })
    }

    /// Its state.
    pub fn report(&self) -> Value {
        let last = self
            .last
            .as_ref()
            .map(|pulse| json!({ "time_ns": pulse.at, "window": pulse.window, "profiles": pulse.profiles }));
        let stored = |memory: &[u32]| -> serde_json::Map<String, Value> {
            let words = memory.iter().enumerate().filter(|(_, word)| **word != 0);
            words.map(|(n, word)| (n.to_string(), (*word).into())).collect()
        };
        let mut registers = used("WINDOW", &self.windows);
        registers.extend(used("PROFILE", &self.profiles));
        json!({
            "pulses": self.count,
            "last_pulse": last,
            "windows": stored(&self.windows),
            "profiles": stored(&self.profiles),
            "registers": registers,
        })
    }
}
