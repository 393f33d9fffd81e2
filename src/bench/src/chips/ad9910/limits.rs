//! Violations of the AD9910's data sheet by settings that an update puts in effect.

use kairos_contracts::chips::ad9910::{
    self as chip, cfr1, cfr2, profile, ram_profile, ramp_limit, ramp_rate, ramp_step,
};

use super::registers::Registers;
use super::TURN;

/// A profile may hold RAM settings before the RAM is enabled; their bits at the amplitude are at
/// most this.
const RAM_SETTINGS: u64 = 0xff;

/// Warning about a profile's tone above half of the clock, from its frequency word and the clock in
/// Hz.
pub fn too_high(tone: u64, word: u32, clock: u64) -> Option<String> {
    let megahertz = f64::from(word) / TURN * clock as f64 / 1e6;
    let above = word > 1 << 31 && profile::ASF.get(tone) > RAM_SETTINGS;
    above.then(|| format!("its frequency, {megahertz:.3} MHz, is above half of its clock"))
}

/// Warnings about settings of the port, the RAM and the ramp.
pub fn complaints(registers: &Registers, profile: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    if cfr1::LSB_FIRST.get(registers.word(chip::CFR1)) != 0 {
        warnings.push("its serial port is LSB first from now on, which no card's bus supports (lsb_first)".into());
    }
    if cfr1::RAM_ENABLE.get(registers.word(chip::CFR1)) != 0 {
        let word = registers.profile(profile);
        let [start, end] = [ram_profile::START, ram_profile::END].map(|field| field.get(word));
        let mode = ram_profile::MODE.get(word);
        if end < start {
            warnings.push(format!(
                "profile {profile} of its RAM ends at word {end}, before its first, {start}"
            ));
        }
        if ram_profile::STEP.get(word) == 0 && mode != ram_profile::MODE_DIRECTSWITCH {
            warnings.push(format!(
                "profile {profile} of its RAM has steps of 0 cycles: at least 1"
            ));
        }
        if mode > ram_profile::MODE_CONT_RAMPUP {
            warnings.push(format!(
                "profile {profile} of its RAM has the mode {mode}, which does not exist"
            ));
        }
    }
    if cfr2::DRG_ENABLE.get(registers.word(chip::CFR2)) != 0 {
        let limit = registers.word(chip::RAMP_LIMIT);
        let [low, high] = [ramp_limit::LOWER, ramp_limit::UPPER].map(|field| field.get(limit));
        if high <= low {
            warnings.push(format!(
                "the upper limit of its ramp, {high:#x}, is not above the lower one, {low:#x}"
            ));
        }
        // The rate of a direction without steps does not matter.
        let (rate, step) = (registers.word(chip::RAMP_RATE), registers.word(chip::RAMP_STEP));
        let [up, down] = [ramp_rate::UP, ramp_rate::DOWN].map(|field| field.get(rate) == 0);
        let [rises, falls] = [ramp_step::UP, ramp_step::DOWN].map(|field| field.get(step) != 0);
        if up && (rises || down) || down && falls {
            warnings.push("a rate of its ramp is 0: at least 1".into());
        }
    }
    warnings
}
