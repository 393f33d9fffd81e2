//! The generators of an AD9910: RAM playback, digital ramp, and amplitude shift keying.

use std::sync::Arc;

use kairos_contracts::chips::ad9910::{
    self as chip, asf, cfr1, cfr2, ram, ram_profile, ramp_limit, ramp_rate, ramp_step,
};

use super::clock::SYNC_CLK;
use super::course::{Course, Piece, Then};
use super::registers::Registers;
use super::RAM;

/// Levels at pins of the chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lines {
    /// OSK: the amplitude is on, or ramps up.
    pub osk: bool,
    /// DRCTL: the ramp rises.
    pub drctl: bool,
    /// DRHOLD: the ramp is held.
    pub drhold: bool,
}

/// RAM playback: addresses, and words by destination.
#[derive(Debug, Clone)]
pub struct Player {
    /// The sequence of addresses.
    addresses: Course,
    /// The words at these addresses, by destination.
    pub ftw: Option<Arc<Course>>,
    pub pow: Option<Arc<Course>>,
    pub asf: Option<Arc<Course>>,
}

impl Player {
    /// Starts playback in a cycle, in the profile that the pins select or through the profiles
    /// under internal control. `from` is the current address, at which a bidirectional ramp
    /// continues.
    pub fn new(registers: &Registers, ram: &[u32; RAM], profile: usize, cycle: u64, from: Option<i64>) -> Self {
        let sequence = cfr1::INTERNAL_PROFILE.get(registers.word(chip::CFR1));
        let addresses = match sequence {
            0 => in_profile(registers, profile, cycle, from),
            _ => through_profiles(registers, sequence, cycle),
        };
        let made = |of: &dyn Fn(u64) -> u64| {
            Some(Arc::new(
                addresses.map(|address| of(ram[address as usize].into()) as i64),
            ))
        };
        let (ftw, pow, asf) = match cfr1::RAM_DESTINATION.get(registers.word(chip::CFR1)) {
            cfr1::RAM_DESTINATION_FTW => (made(&|word| word), None, None),
            cfr1::RAM_DESTINATION_POW => (None, made(&|word| ram::POW.get(word)), None),
            cfr1::RAM_DESTINATION_ASF => (None, None, made(&|word| ram::ASF.get(word))),
            _ => (
                None,
                made(&|word| ram::POW.get(word)),
                made(&|word| ram::POLAR_ASF.get(word)),
            ),
        };
        Self {
            addresses,
            ftw,
            pow,
            asf,
        }
    }

    /// The address in a cycle.
    pub fn address(&self, cycle: u64) -> i64 {
        self.addresses.value(cycle)
    }
}

/// First and last address of a profile, and system clock cycles per address.
fn range(word: u64) -> (i64, i64, u64) {
    let [first, last] = [ram_profile::START, ram_profile::END].map(|field| field.get(word) as i64);
    (first, last.max(first), ram_profile::STEP.get(word).max(1) * SYNC_CLK)
}

/// A sequence of RAM addresses.
fn walk(first: i64, last: i64, every: u64) -> Piece {
    Piece {
        first,
        step: (last - first).signum(),
        steps: last.abs_diff(first) + 1,
        every,
    }
}

fn in_profile(registers: &Registers, profile: usize, cycle: u64, from: Option<i64>) -> Course {
    let word = registers.profile(profile);
    let (first, last, every) = range(word);
    let (pieces, then) = match ram_profile::MODE.get(word) {
        ram_profile::MODE_RAMPUP => {
            let rest = if ram_profile::NODWELL_HIGH.get(word) != 0 {
                first
            } else {
                last
            };
            (vec![walk(first, last, every)], Then::Stay(rest))
        }
        // Profile pin 0 is the direction; all other settings are those of profile 0.
        ram_profile::MODE_BIDIR_RAMP => {
            let (first, last, every) = range(registers.profile(0));
            let (from, to) = (
                from.unwrap_or(first).clamp(first, last),
                if profile & 1 != 0 { last } else { first },
            );
            (vec![walk(from, to, every)], Then::Stay(to))
        }
        ram_profile::MODE_CONT_BIDIR_RAMP if last > first => {
            let back = Piece {
                steps: last.abs_diff(first),
                ..walk(last, first, every)
            };
            let there = Piece {
                steps: last.abs_diff(first),
                ..walk(first, last, every)
            };
            (vec![there, back], Then::Again(0))
        }
        ram_profile::MODE_CONT_RAMPUP => (vec![walk(first, last, every)], Then::Again(0)),
        _ => (Vec::new(), Then::Stay(first)),
    };
    Course::new(cycle, pieces, then)
}

/// Plays the profiles in turn, once or continuously, regardless of the profile pins and modes.
fn through_profiles(registers: &Registers, sequence: u64, cycle: u64) -> Course {
    let (last, endless) = match sequence {
        1..=7 => (sequence, false),
        8..=14 => (sequence - 7, true),
        _ => (0, false),
    };
    let ranges = (0..=last as usize).map(|profile| range(registers.profile(profile)));
    let pieces: Vec<Piece> = ranges.map(|(first, last, every)| walk(first, last, every)).collect();
    let rest = pieces
        .last()
        .map_or(0, |piece| piece.first + piece.step * (piece.steps as i64 - 1));
    Course::new(cycle, pieces, if endless { Then::Again(0) } else { Then::Stay(rest) })
}

/// The digital ramp.
#[derive(Debug, Clone)]
pub struct Ramp {
    course: Arc<Course>,
    /// The direction of an oscillating ramp.
    rises: bool,
    settings: [u64; 4],
}

/// The registers that control the ramp.
fn ramp_settings(registers: &Registers) -> [u64; 4] {
    let cfr2 = registers.word(chip::CFR2);
    let flags = [cfr2::DRG_ENABLE, cfr2::DRG_NODWELL_HIGH, cfr2::DRG_NODWELL_LOW].map(|field| field.get(cfr2));
    let clear = cfr1::DRG_CLEAR.get(registers.word(chip::CFR1));
    let control = flags.iter().fold(clear, |word, flag| word << 1 | flag);
    let [limit, step, rate] = [chip::RAMP_LIMIT, chip::RAMP_STEP, chip::RAMP_RATE].map(|of| registers.word(of));
    [control, limit, step, rate]
}

impl Ramp {
    /// A ramp at zero.
    pub fn new() -> Self {
        Self {
            course: Arc::new(Course::still(0)),
            rises: true,
            settings: [0; 4],
        }
    }

    /// The output sequence.
    pub fn course(&self) -> &Arc<Course> {
        &self.course
    }

    /// Handles an update in a cycle.
    pub fn update(&mut self, registers: &Registers, lines: Lines, cycle: u64) {
        let settings = ramp_settings(registers);
        let clears = cfr1::DRG_AUTOCLEAR.get(registers.word(chip::CFR1)) != 0;
        if settings == self.settings && !clears {
            return;
        }
        let begins = clears || settings[0] >> 3 != 0 || settings[0] & !self.settings[0] & 0b100 != 0;
        self.settings = settings;
        let from = if begins { 0 } else { self.course.value(cycle) };
        self.rises |= begins;
        self.go(registers, lines, cycle, from);
    }

    /// Handles a change of the pins in a cycle.
    pub fn set_lines(&mut self, registers: &Registers, before: Lines, lines: Lines, cycle: u64) {
        let cfr2 = registers.word(chip::CFR2);
        let [high, low] = [cfr2::DRG_NODWELL_HIGH, cfr2::DRG_NODWELL_LOW].map(|field| field.get(cfr2) != 0);
        // With no-dwell at one limit only, just one edge of DRCTL starts the ramp.
        let turned = before.drctl != lines.drctl;
        let ignored = high != low && turned && lines.drctl != high && before.drhold == lines.drhold;
        if !ignored {
            if turned {
                self.rises = lines.drctl;
            }
            self.go(registers, lines, cycle, self.course.value(cycle));
        }
    }

    fn go(&mut self, registers: &Registers, lines: Lines, cycle: u64, from: i64) {
        let limits = registers.word(chip::RAMP_LIMIT);
        let [low, high] = [ramp_limit::LOWER, ramp_limit::UPPER].map(|field| field.get(limits) as i64);
        let from = from.clamp(low, high.max(low));
        let cleared = cfr1::DRG_CLEAR.get(registers.word(chip::CFR1)) != 0;
        if cleared || lines.drhold || high <= low {
            self.course = Arc::new(Course::still(from));
            return;
        }
        let (step, rate) = (registers.word(chip::RAMP_STEP), registers.word(chip::RAMP_RATE));
        let steps = [
            signed(ramp_step::UP.get(step)),
            signed(ramp_step::DOWN.get(step)).wrapping_neg(),
        ];
        let [above, below] = steps.map(|step| if step < 0 { low } else { high });
        let up = |from| leg(from, above, steps[0].unsigned_abs().into(), ramp_rate::UP.get(rate));
        let down = |from| leg(from, below, steps[1].unsigned_abs().into(), ramp_rate::DOWN.get(rate));
        let cfr2 = registers.word(chip::CFR2);
        let nodwell = [cfr2::DRG_NODWELL_HIGH, cfr2::DRG_NODWELL_LOW].map(|field| field.get(cfr2) != 0);
        let legs = match nodwell {
            [true, true] if self.rises => vec![up(from), down(high), up(low)],
            [true, true] => vec![down(from), up(low), down(high)],
            [true, false] if self.rises && lines.drctl => vec![up(from)],
            [false, true] if !self.rises && !lines.drctl => vec![down(from)],
            [false, false] if lines.drctl => vec![up(from)],
            [false, false] => vec![down(from)],
            _ => Vec::new(),
        };
        // A leg with step 0 never ends.
        let stays = legs.iter().position(|leg| leg.is_none());
        let pieces: Vec<Piece> = legs
            .iter()
            .take(stays.unwrap_or(usize::MAX))
            .flatten()
            .copied()
            .collect();
        let then = match (nodwell, stays) {
            (_, Some(0)) => Then::Stay(from),
            (_, Some(leg)) => Then::Stay(if (leg == 1) == self.rises { above } else { below }),
            ([true, true], None) => Then::Again(1),
            _ if pieces.is_empty() => Then::Stay(from),
            ([true, false], _) => Then::Stay(low),
            ([false, true], _) => Then::Stay(high),
            _ => Then::Stay(if lines.drctl { above } else { below }),
        };
        self.course = Arc::new(Course::new(cycle, pieces, then));
    }

    /// Whether the ramp has reached the limit that it heads for.
    pub fn is_over(&self, registers: &Registers, lines: Lines, cycle: u64) -> bool {
        let limits = registers.word(chip::RAMP_LIMIT);
        let limit = if lines.drctl {
            ramp_limit::UPPER
        } else {
            ramp_limit::LOWER
        };
        let enabled = cfr2::DRG_ENABLE.get(registers.word(chip::CFR2)) != 0;
        enabled && self.course.value(cycle) == limit.get(limits) as i64
    }
}

/// A step as the accumulator of 32 bits adds it: from 2^31 on, adding a step is the same as
/// subtracting its complement. A ramp down with steps of 2^32 - 1 therefore rises by 1, which
/// drivers use to count (`measure_io_update_alignment`).
fn signed(step: u64) -> i32 {
    step as u32 as i32
}

/// A ramp from a number to a limit; `None` if the step is 0.
fn leg(from: i64, to: i64, step: u64, rate: u64) -> Option<Piece> {
    (step != 0).then(|| Piece {
        first: from,
        step: if to >= from { step as i64 } else { -(step as i64) },
        steps: to.abs_diff(from).div_ceil(step),
        every: rate.max(1) * SYNC_CLK,
    })
}

/// The amplitude ramp of automatic keying by the OSK pin.
pub fn keyed(registers: &Registers, lines: Lines, cycle: u64, from: i64) -> Course {
    let word = registers.word(chip::ASF);
    let top = asf::ASF.get(word) as i64;
    let (from, to) = (from.clamp(0, top), if lines.osk { top } else { 0 });
    let leg = leg(from, to, 1 << asf::STEP.get(word), asf::RAMP_RATE.get(word));
    Course::new(cycle, leg.into_iter().collect(), Then::Stay(to))
}
