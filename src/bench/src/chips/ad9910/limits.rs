//! What the data sheet of the AD9910 forbids of settings that an update puts in effect.

use kairos_contracts::chips::ad9910::{self as chip, cfr1, cfr2, ram_profile, ramp_limit, ramp_rate};

use super::registers::Registers;

/// Complaints of settings: for the RAM, and for the ramp.
pub fn complaints(registers: &Registers, profile: usize) -> Vec<String> {
    let mut told = Vec::new();
    if cfr1::RAM_ENABLE.get(registers.word(chip::CFR1)) != 0 {
        let word = registers.profile(profile);
        let [start, end] = [ram_profile::START, ram_profile::END].map(|field| field.get(word));
        let mode = ram_profile::MODE.get(word);
        if end < start {
            told.push(format!(
                "profile {profile} of its RAM ends at word {end}, before its first, {start}"
            ));
        }
        if ram_profile::STEP.get(word) == 0 && mode != ram_profile::MODE_DIRECTSWITCH {
            told.push(format!(
                "profile {profile} of its RAM has steps of 0 cycles: at least 1"
            ));
        }
        if mode > ram_profile::MODE_CONT_RAMPUP {
            told.push(format!(
                "profile {profile} of its RAM has the mode {mode}, which there is not"
            ));
        }
    }
    if cfr2::DRG_ENABLE.get(registers.word(chip::CFR2)) != 0 {
        let limit = registers.word(chip::RAMP_LIMIT);
        let [low, high] = [ramp_limit::LOWER, ramp_limit::UPPER].map(|field| field.get(limit));
        if high <= low {
            told.push(format!(
                "the upper limit of its ramp, {high:#x}, is not above the lower one, {low:#x}"
            ));
        }
        let rate = registers.word(chip::RAMP_RATE);
        if ramp_rate::UP.get(rate) == 0 || ramp_rate::DOWN.get(rate) == 0 {
            told.push("a rate of its ramp is 0: at least 1".into());
        }
    }
    told
}
