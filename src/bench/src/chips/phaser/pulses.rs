//! Miqro: memories of profiles and windows, and the words of pulses. What the oscillators play is not modelled.

use kairos_contracts::chips::phaser::{self as chip, miqro, miqro_address, miqro_header};
use serde_json::{json, Value};

use super::super::fastlink;
use crate::signal::Ns;

const OSCILLATORS: usize = chip::MIQRO_OSCILLATORS as usize;
const PROFILE_WORDS: usize = 1 << 10;
const PROFILE_BITS: u32 = 5;
const WINDOW_BITS: u32 = 10;
/// Time of a step of a pulse's `dt`.
const STEP: Ns = 4;

/// A pulse: its time, and the address of its window and the profile of each oscillator.
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
}

impl Generator {
    /// Empty memories.
    pub fn new() -> Self {
        Self {
            windows: vec![0; chip::MIQRO_WINDOW as usize],
            profiles: vec![0; PROFILE_WORDS],
            last: None,
            count: 0,
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
    /// `loaded`. Returns a warning.
    pub fn take(&mut self, loaded: Ns, bits: &[bool], first: usize) -> Option<String> {
        let head = fastlink::word(bits, first, chip::MIQRO.width as usize) as u32;
        if miqro::STROBE.get(head) == 0 {
            return None;
        }
        let width = chip::MIQRO_WORD_BITS as usize;
        let mut bits = bits[first + chip::MIQRO.width as usize..][..chip::MIQRO_WORDS as usize * width].iter();
        let mut next = |count: u32| (0..count).fold(0, |word, n| word | u32::from(bits.next() == Some(&true)) << n);
        let window = next(WINDOW_BITS);
        let profiles = std::array::from_fn(|_| next(PROFILE_BITS));
        let at = loaded + Ns::from(miqro::DT.get(head)) * STEP;
        self.last = Some(Pulse { at, window, profiles });
        self.count += 1;
        let header = self.windows[window as usize];
        (miqro_header::LENGTH.get(header) == 0).then(|| format!("a pulse with the window at {window}, which is empty"))
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
        json!({ "pulses": self.count, "last_pulse": last, "windows": stored(&self.windows), "profiles": stored(&self.profiles) })
    }
}
