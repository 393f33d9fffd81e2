//! An output of a Shuttler: from the words that the gateware shows to volts and a tone at the
//! connector.

use kairos_contracts::chips::shuttler::{DAC_BITS, GAIN_STEPS, LEVEL_BITS};
use serde_json::{json, Value};

use super::super::reported::named;
use super::waveform::{Waveform, STEP};
use super::{FIELDS, TONES, VOLTS};
use crate::model::Outbox;
use crate::signal::{Ns, Signal, Tone};

/// Place of the settings and of the number of triggers among an output's words.
const SETTINGS: usize = 11;
const CYCLE: Ns = 8;
/// The 16-bit range, in steps.
const MOST: f64 = ((1u32 << (LEVEL_BITS - 1)) - 1) as f64;
const LEAST: f64 = -MOST - 1.0;
/// Steps of the level in one of the DAC.
const COARSE: f64 = (1u32 << (LEVEL_BITS - DAC_BITS)) as f64;

/// An output, the relay behind it, and what is at the connector.
pub struct Output {
    number: usize,
    words: [u64; FIELDS],
    waveform: Waveform,
    /// When the waveform started, and whether it has been limited since.
    start: Ns,
    limited: bool,
    pub closed: bool,
    volts: f64,
    /// The last tone sent, and its time.
    tone: (Tone, Ns),
    /// When it is renewed, if it changes by itself.
    pub next: Option<Ns>,
}

impl Output {
    /// An output at 0 V.
    pub fn new(number: usize, closed: bool) -> Self {
        Self {
            number,
            words: [0; FIELDS],
            waveform: Waveform::default(),
            start: 0,
            limited: false,
            closed,
            volts: 0.0,
            tone: (Tone::OFF, 0),
            next: None,
        }
    }

    /// Takes new words, all of the same time. A waveform starts if the number of triggers changes.
    pub fn take(&mut self, at: Ns, words: impl Iterator<Item = (usize, u64)>) {
        let before = self.triggers();
        for (field, word) in words {
            self.words[field] = word;
        }
        if self.triggers() != before {
            self.waveform = Waveform::of(&self.words);
            (self.start, self.limited) = (at, false);
        }
    }

    fn triggers(&self) -> u64 {
        self.words[SETTINGS] >> 32
    }

    fn factor(&self) -> f64 {
        1.0 + f64::from(self.words[SETTINGS] as i16) / f64::from(GAIN_STEPS)
    }

    /// In steps.
    fn offset(&self) -> f64 {
        f64::from((self.words[SETTINGS] >> 16) as i16)
    }

    /// Renews what is at the connector, and plans the next renewal, at a multiple of `update` after
    /// the start.
    pub fn renew(&mut self, at: Ns, update: Ns, out: &mut Outbox) {
        let passed = at - self.start;
        let due = self.start + (passed / update + 1) * update;
        self.next = (self.closed && self.waveform.moves()).then_some(due);
        let (mut volts, mut tone) = (0.0, Tone::OFF);
        if self.closed {
            let sum = self.waveform.sum(passed / CYCLE) * self.factor() + self.offset();
            volts = (sum.clamp(LEAST, MOST) / COARSE).floor() * COARSE * STEP + 0.0;
            tone = self.tone(passed, due - at);
            self.check_range(passed / CYCLE, sum, tone.hz * (update as f64) * 1e-9, out);
        }
        if volts != self.volts {
            self.volts = volts;
            out.send(VOLTS + self.number, Signal::Volts(volts));
        }
        let (before, since) = self.tone;
        if !before.goes_on(at - since, &tone) {
            self.tone = (tone, at);
            out.send(TONES + self.number, Signal::Tone(tone));
        }
    }

    /// The cosine part, `passed` after the start, with its mean frequency in the `ahead` to come.
    fn tone(&self, passed: Ns, ahead: Ns) -> Tone {
        let n = passed / CYCLE;
        let steps = self.waveform.amplitude(n) * self.factor();
        if steps == 0.0 {
            return Tone::OFF;
        }
        let hz = self.waveform.hz(n, ahead.div_ceil(CYCLE));
        let turns = self.waveform.turns(n) + hz * (passed % CYCLE) as f64 * 1e-9;
        cosine(steps * STEP, hz, turns)
    }

    /// Warns, once per start, of a sum beyond the range. Where the cosine is too fast for the
    /// renewals to show its peaks (`turns` from one to the next), these count.
    fn check_range(&mut self, n: u64, sum: f64, turns: f64, out: &mut Outbox) {
        let peaks = self.waveform.reach(n).map(|peak| peak * self.factor() + self.offset());
        let seen = if turns >= 0.25 { peaks } else { [sum; 2] };
        let beyond = seen.into_iter().find(|steps| !(LEAST..=MOST + 1.0).contains(steps));
        if let Some(steps) = beyond.filter(|_| !self.limited) {
            self.limited = true;
            let text = format!("its waveform reaches {:.3} V: it is limited to 10 V", steps * STEP);
            out.warn_of(self.number, [text]);
        }
    }

    /// Voltage, relay, settings and waveform.
    pub fn report(&self) -> Value {
        let (tone, _) = self.tone;
        let mut report = self.waveform.report();
        report["volts"] = json!(self.volts);
        report["relay"] = json!(self.closed);
        report["tone_dbm"] = json!(tone.dbm.is_finite().then_some(tone.dbm));
        report["factor"] = json!(self.factor());
        report["offset_v"] = json!(self.offset() * STEP);
        report["triggers"] = json!(self.triggers());
        let mut registers = named("WORD", &self.words[..SETTINGS]);
        registers.insert("SETTINGS".into(), (self.words[SETTINGS] & u64::from(u32::MAX)).into());
        report["registers"] = registers.into();
        report
    }
}

/// A cosine of which amplitude in V and frequency may be negative: the same with positive ones and another phase.
pub fn cosine(volts: f64, hz: f64, turns: f64) -> Tone {
    let turns = if hz < 0.0 { -turns } else { turns };
    let turns = if volts < 0.0 { turns + 0.5 } else { turns };
    Tone {
        hz: hz.abs(),
        dbm: dbm(volts.abs()),
        turns: turns.rem_euclid(1.0),
    }
}

/// Power of a sine with this peak voltage in 50 ohm.
fn dbm(volts: f64) -> f64 {
    10.0 * (volts * volts / (2.0 * 50.0) * 1e3).log10()
}
