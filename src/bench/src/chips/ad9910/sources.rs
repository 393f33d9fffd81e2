//! Sources of an AD9910's frequency, phase and amplitude, by priority (data sheet, table "Data
//! source priority"), and their latency to the output.

use kairos_contracts::chips::ad9910::{self as chip, asf, aux_dac, cfr1, cfr2, ftw, pow, profile};

use super::generators::Player;
use super::output::Source;
use super::{Ad9910, FULL_SCALE};

impl Ad9910 {
    /// The output of the ramp, if the ramp has this destination.
    fn ramped(&self, destination: u64, bits: u32) -> Option<Source> {
        let word = self.registers.word(chip::CFR2);
        let on = cfr2::DRG_ENABLE.get(word) != 0 && cfr2::DRG_DESTINATION.get(word) == destination;
        on.then(|| Source::Ramp(self.ramp.course().clone(), 32 - bits))
    }

    pub(super) fn frequency(&self) -> Source {
        let tone = profile::FTW.get(self.registers.profile(self.profile));
        let register = ftw::FTW.get(self.registers.word(chip::FTW));
        match (&self.player, self.ramped(cfr2::DRG_DESTINATION_FTW, 32)) {
            (Some(Player { ftw: Some(words), .. }), _) => Source::Course(words.clone()),
            (_, Some(ramp)) => ramp,
            (Some(_), None) => Source::Word(register as u32),
            (None, None) => Source::Word(tone as u32),
        }
    }

    pub(super) fn phase(&self) -> Source {
        let tone = profile::POW.get(self.registers.profile(self.profile));
        let register = pow::POW.get(self.registers.word(chip::POW));
        match (&self.player, self.ramped(cfr2::DRG_DESTINATION_POW, 16)) {
            (Some(Player { pow: Some(words), .. }), _) => Source::Course(words.clone()),
            (_, Some(ramp)) => ramp,
            (Some(_), None) => Source::Word(register as u32),
            (None, None) => Source::Word(tone as u32),
        }
    }

    pub(super) fn amplitude(&self) -> Source {
        let cfr1 = self.registers.word(chip::CFR1);
        if cfr1::POWER_DOWN.get(cfr1) & 0b1100 != 0 {
            return Source::Word(0);
        }
        let register = asf::ASF.get(self.registers.word(chip::ASF)) as u32;
        if cfr1::OSK_ENABLE.get(cfr1) != 0 {
            let external = cfr1::MANUAL_OSK_EXTERNAL.get(cfr1) != 0;
            return match cfr1::SELECT_AUTO_OSK.get(cfr1) {
                0 if external && !self.lines.osk => Source::Word(0),
                0 => Source::Word(register),
                _ => Source::Course(self.key.clone()),
            };
        }
        let scaled = cfr2::ASF_PROFILE_ENABLE.get(self.registers.word(chip::CFR2)) != 0;
        let tone = profile::ASF.get(self.registers.profile(self.profile)) as u32;
        match (&self.player, self.ramped(cfr2::DRG_DESTINATION_ASF, 14)) {
            (Some(Player { asf: Some(words), .. }), _) => Source::Course(words.clone()),
            (_, Some(ramp)) => ramp,
            (Some(_), None) => Source::Word(register),
            (None, None) => Source::Word(if scaled { tone } else { FULL_SCALE }),
        }
    }

    /// Full scale of its DAC relative to that after reset: the current is proportional to 1 +
    /// code/96 (data sheet, "Auxiliary DAC").
    pub(super) fn full_scale(&self) -> f64 {
        let current = |word| 96.0 + aux_dac::FULL_SCALE_CURRENT.get(word) as f64;
        current(self.registers.word(chip::AUX_DAC)) / current(chip::AUX_DAC.reset)
    }

    /// Latency from a change to the output in cycles: of frequency and phase, and of the amplitude.
    pub(super) fn latency(&self) -> [u64; 2] {
        let [cfr1, cfr2] = [chip::CFR1, chip::CFR2].map(|of| self.registers.word(of));
        let row = match (
            self.player.is_some(),
            cfr2::DRG_ENABLE.get(cfr2),
            cfr1::OSK_ENABLE.get(cfr1),
        ) {
            (true, ..) => chip::LATENCY[1],
            (_, 1, _) => chip::LATENCY[2],
            (.., 1) => chip::LATENCY[3],
            _ => chip::LATENCY[0],
        };
        let matched = cfr2::MATCHED_LATENCY_ENABLE.get(cfr2) as usize;
        [row[2 * matched], row[2 * matched + 1]].map(|cycles| cycles as u64)
    }
}
