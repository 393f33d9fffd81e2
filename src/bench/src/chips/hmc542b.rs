//! The HMC542B attenuator: an 8-bit shift register whose upper six bits are the attenuation in
//! steps of 0.5 dB; the rising edge of its select (LE) latches them. A tone wired to the input is
//! output attenuated.
//!
//! The setting after power-up depends on two pins; here it is the maximum attenuation. Insertion
//! loss is not modelled.

use kairos_contracts::chips::hmc542b::{setting, SETTING};
use serde::Deserialize;
use serde_json::{json, Value};
use toml::Spanned;

use super::shift::{mask, Shift, UnselectedMessage};
use crate::assemble::outputs::{Kind, OutputKinds};
use crate::model::{set_levels, Change, Model, Outbox};
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings, Source};
use crate::signal::{turns_of, Ns, Signal, Tone};

/// Names of the input lines; the tone follows them.
pub const INPUTS: [&str; 3] = ["clk", "mosi", "cs0"];
const CLK: usize = 0;
const MOSI: usize = 1;
const CS: usize = 2;
/// Steps of the attenuation per dB.
const STEPS: f64 = 2.0;

/// The attenuation in dB of a setting of 8 bits, of which only the highest six count. Urukul and
/// Mirny have such attenuators, too.
pub fn attenuation_db(code: u32) -> f64 {
    let none = setting::ATT.get(setting::ATT.mask());
    f64::from(none - setting::ATT.get(code)) / STEPS
}

/// The chip.
pub struct Hmc542b {
    lines: [bool; INPUTS.len()],
    shift: Shift,
    unselected_message: UnselectedMessage,
    code: u32,
    /// The input tone, and its time.
    tone: (Tone, Ns),
    settings: u64,
}

impl Hmc542b {
    /// The state after power-up.
    pub fn new() -> Self {
        Self {
            lines: [false, false, true],
            shift: Shift::default(),
            unselected_message: UnselectedMessage::default(),
            code: SETTING.reset,
            tone: (Tone::OFF, 0),
            settings: 0,
        }
    }

    /// Sets what it has after power-up.
    pub(super) fn reset(&mut self) {
        self.code = SETTING.reset;
    }

    pub(super) fn attenuation(&self) -> f64 {
        attenuation_db(self.code)
    }

    /// Latches the shift register as the select is released. Bits that were not shifted out remain.
    fn take(&mut self, out: &mut Outbox) {
        let (Shift { bits, count }, width) = (std::mem::take(&mut self.shift), SETTING.width);
        if count == 0 {
            return;
        }
        if count != width {
            out.warn(format!("{count} bits for the attenuator: it has {width}"));
        }
        let kept = if count < width {
            u64::from(self.code) << count
        } else {
            0
        };
        self.code = ((kept | bits) & mask(width)) as u32;
        self.settings += 1;
    }

    /// Sends the output tone from `at` on.
    fn send(&self, at: Ns, out: &mut Outbox) {
        let (tone, since) = self.tone;
        let turns = (tone.turns + turns_of(tone.hz, at - since)).rem_euclid(1.0);
        let dbm = tone.dbm - self.attenuation();
        out.send(0, Signal::Tone(Tone { dbm, turns, ..tone }));
    }
}

impl Default for Hmc542b {
    fn default() -> Self {
        Self::new()
    }
}

impl Model for Hmc542b {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let (before, attenuation) = (self.lines, self.attenuation());
        set_levels(&mut self.lines, changes);
        let fresh = changes.iter().rev().find_map(|(_, signal)| match signal {
            Signal::Tone(tone) => Some(*tone),
            _ => None,
        });
        if before[CS] != self.lines[CS] {
            self.unselected_message.end();
        }
        match (before[CS], self.lines[CS]) {
            (false, true) => self.take(out),
            (true, false) => self.shift = Shift::default(),
            _ => {}
        }
        match (before[CLK], self.lines[CLK]) {
            (false, true) if self.lines[CS] => self.unselected_message.bit(out),
            (false, true) => self.shift.take(self.lines[MOSI]),
            _ => {}
        }
        if let Some(tone) = fresh {
            self.tone = (tone, at);
        }
        let sounds = self.tone.0.dbm != f64::NEG_INFINITY;
        if fresh.is_some() || sounds && attenuation != self.attenuation() {
            self.send(at, out);
        }
    }

    fn report(&self, _at: Ns) -> Value {
        json!({
            "chip": "HMC542B",
            "attenuation_db": self.attenuation(),
            "code": self.code,
            "settings": self.settings,
            "registers": { "SETTING": self.code },
        })
    }
}

/// An HMC542B in a bench file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Section {
    /// Source of its input: `CARD.chN`, or a part that outputs a tone.
    tone: Option<Spanned<String>>,
}

impl BenchSection for Section {
    fn model(settings: &Settings<Self>) -> Result<CardModel, Rejected> {
        let source = settings.in_file.and_then(|section| section.tone.clone());
        let source = source.map(|from| Source {
            input: INPUTS.len(),
            from,
            kind: Kind::Tone,
            label: None,
        });
        Ok(CardModel {
            sources: source.into_iter().collect(),
            ..CardModel::new(Hmc542b::new(), &INPUTS, OutputKinds::tones(1))
        })
    }
}

#[cfg(test)]
#[path = "hmc542b_tests.rs"]
mod tests;
